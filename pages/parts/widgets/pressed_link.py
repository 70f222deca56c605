"""A link to another page that the page presses itself: so that going there is one entry in the history."""

from collections.abc import Mapping

import streamlit as st

from pages.parts.components.component import component
from pages.parts.frame.page_links import link_to


def press_link(page: str, address: Mapping[str, str]) -> None:
    """Have the browser go to a page at this address now. Call it in the one run that is to lead there."""
    st.session_state["_leads"] = st.session_state.get("_leads", 0) + 1
    with st.container(key="links_of_lead"):  # the style sheet of the frame hides it
        link_to(page, "On", address)
    component("pressed_link", __file__)(key="lead", data={"time": st.session_state["_leads"]}, height=1)
