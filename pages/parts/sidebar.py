"""The sidebar: the app's name, and every page under its group."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import Page

NAME, WIDTH = "Headlight", 220  # pixels


def style_sheet() -> None:
    """What Streamlit's own options cannot say: no empty space above, small links. It takes no height of its own."""
    st.html(f"<style>{Path(__file__).with_name('frame.css').read_text(encoding='utf-8')}</style>")


def sidebar(groups: Mapping[str, Sequence[Page]], chosen: Page) -> None:
    """The links, that of the chosen page marked; where a page has two addresses, it is the one that it was opened at.

    Streamlit's own navigation in groups is taller, and its markup breaks two rules of accessibility.
    """
    with st.sidebar, st.container(key="pages", gap=None):
        st.markdown(f"**{NAME}**")
        for group, listed in groups.items():
            st.caption(group)
            for page in listed:
                st.page_link(chosen if chosen.title == page.title else page, label=page.title)
