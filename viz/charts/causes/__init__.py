"""Figures of what causes an answer."""
