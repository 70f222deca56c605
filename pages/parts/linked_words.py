"""Words above words as a browser component: a word of the translation is a button that goes to its step."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import streamlit as st

KEY = "linked_words"
MARKUP = '<div class="linked"><div class="strip"><div class="sheet"></div></div><p class="more" hidden></p></div>'


def linked_words(links: Mapping[str, Any], on_step: Callable[[], None]) -> None:
    """Draw it. After a click the step of the word stands in the session state under the key, as ``.step``."""
    here = Path(__file__)
    source, style = (here.with_suffix(ending).read_text(encoding="utf-8") for ending in (".js", ".css"))
    component = st.components.v2.component("headlight_linked_words", html=MARKUP, css=style, js=source)
    component(key=KEY, data=dict(links), height="content", on_step_change=on_step)


def step_clicked(steps: int) -> int | None:
    """The step that a click asks for; None for what is none of so many."""
    step = st.session_state[KEY].step if KEY in st.session_state else None
    return int(step) if isinstance(step, int | float) and 0 <= step < steps else None
