"""The sidebar: the app's name, and every page under its group."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st
from streamlit.navigation.page import Page

from pages.parts.components.component import component

NAME, WIDTH = "Headlight", 220  # pixels


def configure() -> None:
    """The name in the browser's tab and the sidebar's width: the first of all that a visitor's first run sends.

    A browser takes the width only as it draws the sidebar for the first time.
    """
    st.set_page_config(page_title=NAME, page_icon="🔦", layout="wide", initial_sidebar_state=WIDTH)


def style_sheet() -> None:
    """What Streamlit's own options cannot say: no empty space above, small links. It takes no height of its own."""
    st.html(f"<style>{Path(__file__).with_name('frame.css').read_text(encoding='utf-8')}</style>")


def sidebar(groups: Mapping[str, Sequence[Page]], chosen: Page) -> None:
    """The links; the chosen page's name is none, for its link would lead to the page without what was chosen on it.

    Streamlit's own navigation in groups is taller, and its markup breaks two rules of accessibility.
    """
    with st.sidebar, st.container(key="pages", gap=None):
        st.markdown(f"**{NAME}**")
        for group, listed in groups.items():
            st.caption(group)
            for page in listed:
                if page.title == chosen.title:
                    with st.container(key="page_here"):
                        st.markdown(f"**{page.title}**")
                else:
                    st.page_link(page, label=page.title)
        follow_navigation(chosen.title)


def follow_navigation(title: str) -> None:
    """What the sidebar does in the browser.

    It tells screen-reader users which page is the current one, folds on a phone once one was chosen, lets the button
    that opens it scroll away, and has Back lead where it leads, however soon it is pressed.
    """
    came = st.session_state.setdefault("_came", urlencode(st.query_params.to_dict()))
    component("sidebar", __file__)(key="sidebar", data={"here": title, "came": came}, height=1)
