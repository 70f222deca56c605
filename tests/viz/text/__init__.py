"""Sentences say what the numbers say."""
