"""Measures against computations that share no code with them."""
