"""A link to another page that the page presses itself: so that going there is one entry in the history."""

from collections.abc import Mapping

import streamlit as st

from pages.parts.components.component import component
from pages.parts.frame.page_links import link_to

LEAD = "_lead"  # in the session: how many links were pressed, the last one, and the page that it was pressed on


def press_link(page: str, address: Mapping[str, str]) -> None:
    """Have the browser go to a page at this address now.

    Call it in every run until the visitor is there, which ``end_lead`` is told of: the link is pressed once, and a run
    that comes before the browser has pressed it must not take it away.
    """
    count, last, _ = st.session_state.get(LEAD, (0, None, ""))
    lead = (page, dict(address))
    count += lead != last
    st.session_state[LEAD] = count, lead, st.session_state["_at"]
    with st.container(key="links_of_lead"):  # the style sheet of the frame hides it
        link_to(page, "On", address)
    component("pressed_link", __file__)(key="lead", data={"time": count}, height=1)


def end_lead(page: str) -> None:
    """Note which page the visitor is on: the same link may be pressed again, once it has led somewhere."""
    count, _, origin = st.session_state.get(LEAD, (0, None, page))
    if origin != page:
        st.session_state[LEAD] = count, None, page
