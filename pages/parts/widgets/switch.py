"""A switch whose explanation can be read without switching."""

from collections.abc import Callable
from typing import Any

import streamlit as st


def switch(label: str, explained: str, *, key: str, on_change: Callable[..., None], args: tuple[Any, ...] = ()) -> None:
    """A toggle with its explanation beside it: Streamlit's own question mark is part of the label, and switches."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", width="content"):
        st.toggle(label, key=key, on_change=on_change, args=args)
        st.markdown("", help=explained, width="content")
