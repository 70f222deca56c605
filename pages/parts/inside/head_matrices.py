"""One head as matrices side by side, as a browser component: a weight that is pointed at lights up what makes it."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from pages.parts.components.component import component
from pages.parts.frame.finding import picture_alone

KEY = "head_matrices"
MARKUP = '<div class="whole"></div>'


def head_matrices(figure: Mapping[str, Any], on_choose: Callable[[int, int], None] | None = None) -> None:
    """Draw what ``viz.walkthrough.whole_head`` gives. on_choose: called with the query and key of a click."""
    data = dict(figure) | {"chooses": on_choose is not None, "alone": picture_alone()}
    draw = component("head_matrices", __file__, MARKUP)
    draw(key=KEY, data=data, height="content", on_chosen_change=lambda: take_choice(on_choose))


def take_choice(taker: Callable[[int, int], None] | None) -> None:
    """Hand on the weight that was clicked."""
    places = places_in(getattr(st.session_state.get(KEY), "chosen", None))
    if taker is not None and places is not None:
        taker(*places)


def places_in(sent: object) -> tuple[int, int] | None:
    """A query and a key, if it is these that came: what a browser sends can be anything."""
    if not isinstance(sent, list) or len(sent) != 2 or not all(type(place) is int and place >= 0 for place in sent):
        return None
    return sent[0], sent[1]
