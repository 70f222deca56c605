"""The page on paper: as wide as a sheet, without what can only be clicked."""

from pathlib import Path

import streamlit as st


def fit_paper() -> None:
    """Have the browser lay the page out at the width of a sheet before it prints; nothing of it is seen."""
    source = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
    st.components.v2.component("headlight_paper", html="<span></span>", js=source)(key="paper", height=1)
