"""The colours of the visitor's page, light or dark."""

from pathlib import Path

import streamlit as st

from viz.theme import Theme, theme_of


def theme() -> Theme:
    """The colours to draw in."""
    return theme_of(st.context.theme.type)


def follow_theme() -> None:
    """Run the page again when its theme changes, as a system's does in the evening; nothing of it is seen."""
    source = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
    follower = st.components.v2.component("headlight_theme", html="<span></span>", js=source)
    follower(key="theme", height=1, on_changed_change=lambda: None)
