"""The formula as a browser component: what is pressed in it, and that more of it is waited for."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

import viz.formula
from pages.parts.components.component import component

FILES = Path(viz.formula.__file__).with_name("formula")
MARKUP = '<div class="formula" role="group"></div>'
LABEL = "The formula of this model"


def switchboard(
    groups: Sequence[Mapping[str, Any]],
    take: Callable[[str], object],
    *,
    key: str,
    parts: Collection[str],
    pending: int = 0,
) -> None:
    """Draw the formula as ``viz.formula`` gives it. ``take`` is called with the part that was pressed.

    parts: those that can be. pending: a number that is another one in each run while results are missing: the browser
    then has the run repeated; 0: nothing is missing.
    """

    def pressed() -> None:
        part = getattr(st.session_state.get(key), "press", None)
        if isinstance(part, str) and part in parts:  # a browser can send anything
            take(part)

    data = {"label": LABEL, "groups": list(groups), "pending": pending, "small": False}
    formula()(key=key, data=data, height="content", on_press_change=pressed, on_more_change=lambda: None)


def reading(groups: Sequence[Mapping[str, Any]], *, key: str) -> None:
    """Draw the formula, smaller, to be read alone."""
    formula()(key=key, data={"label": LABEL, "groups": list(groups), "small": True}, height="content")


def formula() -> Callable[..., Any]:
    """The one renderer of formulas."""
    return component("formula", FILES, MARKUP)
