"""The page Models, and what it and the bar do to get a model."""
