"""The left and right arrow keys of a page, each press of which counts, however fast they come."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.parts.components.component import component

KEY = "arrows"


def arrow_keys(on_steps: Callable[[int], None]) -> None:
    """Call back with the steps that the keys ask for: 1 for each right, −1 for each left since the last time.

    The shortcut of a button loses presses: of those that reach the server before it has begun to answer the first, one
    is left, since a button is either clicked or not.
    """
    component("arrows", __file__)(key=KEY, height=1, on_presses_change=lambda: on_steps(steps_since()))


def steps_since() -> int:
    state = st.session_state
    before = state.get("_steps", {})
    state["_steps"] = state[KEY].presses
    return steps_between(before, state["_steps"])


def steps_between(before: Any, now: Any) -> int:
    """From one sum that the browser told to the next; a sum starts at 0 whenever the page is drawn anew."""
    told = [each if isinstance(each, dict) and isinstance(each.get("steps"), int) else {} for each in (before, now)]
    if not told[1]:  # no page of ours sends that
        return 0
    again = bool(told[0]) and told[0].get("mounted") == told[1].get("mounted")
    return int(told[1]["steps"] - (told[0]["steps"] if again else 0))
