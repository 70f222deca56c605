"""Figures: a function takes arrays and tokens and returns a figure object; it shows nothing and knows no page."""

# Plotly looks for pandas while it is imported. Two sessions that start a cold server together can then meet a
# half-imported pandas; importing it first, here, closes that gap.
import pandas  # noqa: F401

from model import PROGRAM
from viz.explorer import html_page, show

__all__ = ["PROGRAM", "html_page", "show"]
