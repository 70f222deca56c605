"""The explorer, and what is drawn beside it, as components of a page: the one file of viz that knows Streamlit."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from viz.explorer import source


def explorer(packed: bytes, *, key: str, on_view: Callable[[], None]) -> None:
    """Draw it. ``on_view`` is called after the visitor chose something.

    What was chosen then stands in the session state under the key as ``.view``. Where the view that it is steered by
    says that its picture is awaited, it has the page run again once that is seen.
    """
    script, styles = source.script("streamlit"), source.styles()
    component = st.components.v2.component("headlight_explorer", html=source.MARKUP, css=styles, js=script)
    component(key=key, data=packed, height="content", on_view_change=on_view, on_drawn_change=lambda: None)


def steer(*, key: str, message: Mapping[str, Any] | bytes) -> None:
    """Bring the explorer of this page a view (a mapping) or one more layer (bytes)."""
    mailbox()(key=key, data=message, height=1)


def answers(*, key: str, message: Mapping[str, Any], on_row: Callable[[], None], on_layer: Callable[[], None]) -> None:
    """Bring the explorer of this page exact numbers; ``on_row`` and ``on_layer`` are called when it asks for some.

    What it asks for then stands in the session state under the key: ``["row"]`` or ``["layer"]``.
    """
    mailbox()(key=key, data=message, height=1, on_row_change=on_row, on_layer_change=on_layer)


def comparison(compared: Mapping[str, Any], *, key: str) -> None:
    """Two runs' weights and their difference, as ``viz.charts.causes.comparison.comparison_data`` gives them."""
    markup = '<div class="compared" role="group" aria-label="Attention before and after"></div>'
    drawing_component("comparison", markup)(key=key, data=dict(compared), height="content")


def matrices(tables: Sequence[Mapping[str, Any]], *, key: str, hint: str) -> None:
    """Small matrices, as ``number_matrices.matrix_table`` gives them; the hint is below until one points at a cell."""
    data = {"matrices": list(tables), "hint": hint}
    drawing_component("tables", '<div class="matrices"></div>')(key=key, data=data, height="content")


def drawing_component(name: str, markup: str) -> Callable[..., Any]:
    """A component that draws what it is given and tells nothing."""
    script, styles = source.drawing_script(name), source.styles(name)
    return st.components.v2.component(f"headlight_{name}", html=markup, css=styles, js=script)


def mailbox() -> Callable[..., Any]:
    """The small component that the explorer of a page is told things through."""
    return st.components.v2.component("headlight_mailbox", html="<span></span>", js=source.mailbox())
