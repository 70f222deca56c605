"""Doors from page to page: what is selected goes along, and stands in the address that is opened."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import streamlit as st

from model.measures.one_weight import WeightPath
from pages.parts.selection import choose, current, shows, to_address
from pages.parts.switch import switch

FOLDER = Path(__file__).parent.parent
EXPLORE_HELP = "This head, query and key among all others of the sentence, on the page Explore."
POSITIONS_HELP = "What positions add, for this text and beyond it: waves, rotations, biases."
MUTE_HELP = (
    "Runs the model without what this head found: it is set to zero before the layer's output projection. Every number "
    "here is then one of that run."
)


def door(label: str, page: str, explained: str, before: Callable[[], None]) -> None:
    """A button that opens another page; ``before`` puts what that page shall show into the selection."""
    if st.button(label, key=f"door_{page}", help=explained, on_click=before):
        st.switch_page(FOLDER / f"{page}.py", query_params=to_address(current()))


def doors_of_weight(path: WeightPath) -> None:
    """From a weight: to its place among the others, to what positions are, and what is left without its head."""
    with st.container(horizontal=True):
        door("See it in Explore", "explore", EXPLORE_HELP, partial(keep_weight, path))
        door("About positions", "positions", POSITIONS_HELP, partial(keep_weight, path))
    key = shows("inside_mute", current().mute and place_of(path) in current().view.off)
    switch("Mute this head", MUTE_HELP, key=key, on_change=take_mute, args=(path,))


def place_of(path: WeightPath) -> tuple[int, int]:
    """Layer and head."""
    return path.site.layer, path.site.head


def keep_weight(path: WeightPath) -> None:
    """The text, query and key that are shown are chosen from now on; a head that was hidden is shown alone."""
    selection, site = current(), path.site
    off = selection.view.off
    if place_of(path) in off and not selection.mute:
        off = (off | {(site.layer, head) for head in range(path.module.heads)}) - {place_of(path)}
    choose(text=selection.text, query=site.query, key=site.key, off=off)


def take_mute(path: WeightPath) -> None:
    """Mute the head beside those that are muted, or give it back."""
    muted = current().view.off if current().mute else frozenset()
    here = frozenset({place_of(path)})
    muted = muted | here if st.session_state["inside_mute"] else muted - here
    choose(off=muted, mute=bool(muted))
