"""Links from page to page: what is on the screen goes along, in the address that is opened."""

from pathlib import Path
from typing import Any

import streamlit as st

from model.measures.one_weight import WeightPath
from pages.parts.inside.opening_weight import place_to_keep
from pages.parts.state.session import address_of, choose, current
from pages.parts.widgets.binding import bind
from pages.parts.widgets.head_switches import muted_heads, one_head_on, with_mute
from pages.parts.widgets.switch import switch

FOLDER = Path(__file__).parents[2]
EXPLORE_HELP = "Shows this head, query and key among all others of the sentence, on the page Explore."
POSITIONS_HELP = "Shows what positions add, for this text and in general: waves, rotations, biases."
MUTE_HELP = (
    "Runs the model without this head: its context, the weighted sum of the values, is set to zero before the "
    "layer's output projection. Every number here then belongs to that run."
)


def page_link(label: str, page: str, explained: str, **changes: Any) -> None:
    """A link to another page, which shows there what is on the screen here, with these changes.

    A link and not a button: a button that changes page and address makes two entries in the browser's history.
    """
    st.page_link(
        FOLDER / f"{page}.py",
        label=label,
        icon=":material/arrow_forward:",
        help=explained,
        query_params=address_of(page, **changes),
    )


def links_of_weight(path: WeightPath) -> None:
    """From a weight: to its place among the others, and what is left without its head."""
    page_link("See it in Explore", "explore", EXPLORE_HELP, **alone(path))
    muted = place_of(path) in muted_heads(current())
    key = bind("inside_mute", muted, told=True)
    switch("Mute this head", MUTE_HELP, key=key, on_change=take_mute, args=(path,))


def place_of(path: WeightPath) -> tuple[int, int]:
    return path.site.layer, path.site.head


def alone(path: WeightPath) -> dict[str, Any]:
    """The weight's head as the only one of its layer that is on, with its query and key kept."""
    on = one_head_on(current(), path.site.layer, path.site.head, path.module.heads)
    return on | {"layer": path.site.layer, "query": path.site.query, "key": path.site.key}


def take_mute(path: WeightPath) -> None:
    """Mute the head beside those that are muted, or give it back."""
    muted = bool(st.session_state["inside_mute"])
    choose(place_to_keep(path.site) | with_mute(current(), place_of(path), path.module.heads, muted=muted))
