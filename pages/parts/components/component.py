"""Browser components: a Python file beside the script, and the style sheet if there is one, of the same name."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from viz.explorer import source

NOTHING_SEEN = "<span></span>"


def component(name: str, file: str | Path, markup: str = NOTHING_SEEN) -> Callable[..., Any]:
    """The component whose files stand under the name of ``file``; its own name is what the browser knows it by."""
    script, styles = (Path(file).with_suffix(ending) for ending in (".js", ".css"))
    return st.components.v2.component(
        f"headlight_{name}",
        html=markup,
        js=source.with_element(script),
        css=styles.read_text(encoding="utf-8") if styles.exists() else None,
    )
