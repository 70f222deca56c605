"""Words above words as a browser component: a word of the translation is a button that goes to its step."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from pages.parts.components.component import component

KEY = "linked_words"
MARKUP = (
    '<div class="linked"><p class="caption"></p><div class="strip"><div class="sheet"></div></div>'
    '<p class="more" hidden></p></div>'
)


def linked_words(links: Mapping[str, Any], on_step: Callable[[], None]) -> None:
    """Draw it. After a click the step of the word stands in the session state under the key, as ``.step``."""
    draw = component("linked_words", __file__, MARKUP)
    draw(key=KEY, data=dict(links), height="content", on_step_change=on_step)


def step_clicked(steps: int) -> int | None:
    """The step that a click asks for; None for what is none of so many."""
    step = st.session_state[KEY].step if KEY in st.session_state else None
    return int(step) if isinstance(step, int | float) and 0 <= step < steps else None
