"""How good a trained model is, on data it has not learned from. What is measured here stands on a checkpoint's card."""
