"""The page Learn stop by stop, and the pages beside it."""
