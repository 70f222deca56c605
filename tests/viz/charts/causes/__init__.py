"""Figures of what causes an answer, read back."""
