"""The explorer as a component of a Streamlit page: the one file of viz that knows Streamlit."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from viz.explorer import source


def explorer(packed: bytes, *, key: str, on_view: Callable[[], None], on_row: Callable[[], None]) -> None:
    """Draw it. ``on_view`` is called after the visitor chose something, ``on_row`` when an exact row is asked for.

    What was chosen, or asked for, then stands in the session state under the key: ``.view`` or ``.row``.
    """
    script, styles = source.script("streamlit"), source.styles()
    component = st.components.v2.component("headlight_explorer", html=source.MARKUP, css=styles, js=script)
    component(key=key, data=packed, height="content", on_view_change=on_view, on_row_change=on_row)


def steer(*, key: str, message: Mapping[str, Any] | bytes) -> None:
    """Bring the explorer of this page a view and exact numbers (a mapping), or one more layer (bytes)."""
    component = st.components.v2.component("headlight_mailbox", html="<span></span>", js=source.mailbox())
    component(key=key, data=message, height=1)
