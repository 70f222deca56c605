"""Figures and sentences hold the numbers that they are given; each package of ``viz`` has a folder here."""
