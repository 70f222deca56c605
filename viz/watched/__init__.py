"""Trainings that can be watched: what their player draws, and their pictures as a file."""
