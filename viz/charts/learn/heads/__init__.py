"""Heads, their rows and masks, and the verdicts with some of them muted. Nothing is measured here."""
