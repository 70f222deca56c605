"""Charts in the page's colours, and the words of an experiment beside them."""

from collections.abc import Callable
from typing import Any

import streamlit as st
from altair.utils.schemapi import debug_mode
from streamlit.delta_generator import DeltaGenerator

from pages.parts.frame.theme import theme
from viz.tokens import markdown_text


def show_chart(key: Any, make: Callable[[], Any], alt: str) -> None:
    """A chart in the page's own colours; the key decides everything in it."""
    st.vega_lite_chart(chart_spec((key, theme().background), make), theme=None, alt=alt)


@st.cache_data(show_spinner=False, max_entries=128)
def chart_spec(key: Any, _make: Callable[[], Any]) -> dict[str, Any]:
    """A chart as Vega-Lite: making and checking it takes longer than the model, so the tests alone check it."""
    with debug_mode(False):
        spec: dict[str, Any] = _make().to_dict(validate=False)
    return spec


def explain(title: str, explained: str, look_for: str) -> tuple[DeltaGenerator, DeltaGenerator]:
    """The words of an experiment, and a place for its outcome or its controls beside them."""
    st.subheader(title, anchor=False)
    words, beside = st.columns([5, 2], gap="large")
    with words:
        st.markdown(explained)
        st.markdown(f"**What to look for.** {look_for}")
    return words, beside


def show_measured(words: DeltaGenerator, sentence: str, explained: str | None = None) -> None:
    """What was measured, under the words."""
    with words:
        st.markdown(f"**Measured here.** {markdown_text(sentence)}", help=explained)
