"""The text written so far as a browser component: every written token is a button that goes back to its step."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import streamlit as st

KEY = "written"
MARKUP = '<div class="text" role="group" aria-label="The text written so far"></div>'
STYLE = """
.text { font: 400 1rem/1.35 var(--st-font); color: var(--st-text-color); overflow-wrap: anywhere; }
.prompt { white-space: pre-wrap; font-weight: 600; }
button {
  display: inline-block; vertical-align: top; margin: 0 0 4px; padding: 0 1px; border: 0; border-radius: 3px;
  font: inherit; text-align: center; color: var(--st-text-color); background: none; cursor: pointer;
}
button.spaced { margin-left: 4px; }
button .token { display: block; padding: 0 2px; border-radius: 3px; }
button .number { display: block; font-size: 0.6875rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
button.later .token, button.later .number { font-style: italic; text-decoration: underline dotted; }
button[aria-current] { outline: 2px solid var(--st-link-color); }
button:hover, button:focus-visible { outline: 2px solid var(--st-link-color); outline-offset: 1px; }
"""


def written_tokens(row: Mapping[str, Any], on_step: Callable[[], None]) -> None:
    """Draw it. After a click the place of the token stands in the session state under the key, as ``.step``."""
    source = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
    component = st.components.v2.component("headlight_written", html=MARKUP, css=STYLE, js=source)
    component(key=KEY, data=dict(row), height="content", on_step_change=on_step)
