"""The Share button: it copies the address of what is on the screen."""

from pathlib import Path

import streamlit as st

MARKUP = '<button type="button" title="Copy the address of this view">Share</button><span role="status"></span>'
STYLE = """
button {
  width: 100%; height: 40px; padding: 0 12px; font: 400 0.875rem var(--st-font); cursor: pointer;
  color: var(--st-text-color); background: var(--st-background-color);
  border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius);
}
button:hover { border-color: var(--st-link-color); color: var(--st-link-color); }
button:focus-visible { outline: 2px solid var(--st-link-color); outline-offset: 2px; }
span { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
"""


def share_button() -> None:
    """The browser copies its own address bar, so that nothing is asked of the server."""
    source = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
    button = st.components.v2.component("headlight_share", html=MARKUP, css=STYLE, js=source)
    button(key="share", width=76, height=40)
