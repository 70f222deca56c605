"""Sentences about what causes an answer."""
