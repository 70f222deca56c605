"""The colours of the visitor's page, light or dark."""

import streamlit as st

from pages.parts.components.component import component
from viz.theme import Theme, theme_of


def theme() -> Theme:
    """The colours to draw in."""
    return theme_of(st.context.theme.type)


def follow_theme() -> None:
    """Run the page again when its theme changes, as a system's does in the evening; nothing of it is seen."""
    component("theme", __file__)(key="theme", height=1, on_changed_change=lambda: None)
