"""The large picture of a sentence and one head, as a browser component."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from pages.parts.components.component import component
from pages.parts.frame.finding import picture_alone

KEY = "sentence"
MARKUP = '<div class="sentence"></div>'


def sentence_picture(figure: Mapping[str, Any], name: str, swappable: str | None, on_swap: Callable[..., None]) -> None:
    """Draw it.

    name: what the numbers are called; no others have this name.
    swappable: the side, "rows" or "columns", or "both", whose words a visitor can swap; None where none can be.
    on_swap: called with two positions of tokens.
    """
    sides = ["rows", "columns"] if swappable == "both" else [swappable]
    alone = picture_alone()
    swaps = swappable is not None and not alone
    data = dict(figure) | {"name": name, "swaps": swaps, "swappable": sides, "alone": alone}
    draw = component("sentence", __file__, MARKUP)
    draw(key=KEY, data=data, height="content", on_swap_change=lambda: take_swap(on_swap))


def take_swap(taker: Callable[..., None]) -> None:
    """Two positions, if it is these that came: what a browser sends can be anything."""
    places = getattr(st.session_state.get(KEY), "swap", None)
    if isinstance(places, list) and len(places) == 2 and all(type(place) is int and place >= 0 for place in places):
        taker(*places)
