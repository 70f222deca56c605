"""The player of a training as a browser component: it plays, is dragged and points without asking the server."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from pages.parts.components.component import component

KEY = "watch_player"
MARKUP = '<div class="player"></div>'
STEERED = "_watch_steered"  # in the session: which training's which step the player was told last, and how often


def player(data: Mapping[str, Any], step: int | None, on_step: Callable[[], None], *, live: bool) -> None:
    """Draw what ``viz.watched.player`` gives, at a step; None: it plays as it opens.

    The step where it is dragged to comes back, and is not told again: its data would be sent anew.

    live: whether the training still goes on, so that the last moment is shown.
    """
    draw = component(KEY, __file__, MARKUP)
    told = dict(data) | steering(str(data["key"]), step) | {"live": live}
    draw(key=KEY, data=told, height="content", on_step_change=on_step)


def steering(key: str, step: int | None) -> dict[str, Any]:
    """What the player is told of a step: what it was told before, unless the step is another than it has reported."""
    before = st.session_state.get(STEERED)
    if before is None or before["key"] != key:
        steered = {"key": key, "step": step, "revision": 0}
    elif step in (before["step"], step_sent()):
        steered = before
    else:
        steered = {"key": key, "step": step, "revision": before["revision"] + 1}
    st.session_state[STEERED] = steered
    return {"step": steered["step"], "revision": steered["revision"]}


def step_sent() -> int | None:
    """The step that the player reported last; None for anything else."""
    step = getattr(st.session_state.get(KEY), "step", None)
    return step if type(step) is int else None
