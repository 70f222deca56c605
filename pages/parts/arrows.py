"""The left and right arrow keys of a page, each press of which counts, however fast they come."""

from collections.abc import Callable
from pathlib import Path

import streamlit as st

KEY = "arrows"


def arrow_keys(on_steps: Callable[[int], None]) -> None:
    """Call back with the steps that the keys ask for: 1 for each right, −1 for each left since the last time.

    The shortcut of a button loses presses: of those that reach the server before it has begun to answer the first, one
    is left, since a button is either clicked or not.
    """
    source = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
    listener = st.components.v2.component("headlight_arrows", html="<span></span>", js=source)
    listener(key=KEY, height=1, on_presses_change=lambda: on_steps(steps_since()))


def steps_since() -> int:
    """The steps since the last time. The browser tells a sum, which starts at 0 whenever it draws the page anew."""
    told, state = st.session_state[KEY].presses, st.session_state
    mounted, steps = (told.get(name) if isinstance(told, dict) else None for name in ("mounted", "steps"))
    if not isinstance(steps, int):  # no page of ours sends that
        return 0
    before = state.get("_steps", (None, 0))
    state["_steps"] = (mounted, steps)
    return steps - (before[1] if before[0] == mounted else 0)
