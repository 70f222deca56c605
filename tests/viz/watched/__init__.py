"""Trainings that can be watched: their player and their picture, read back."""
