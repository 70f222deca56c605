"""A few cards to choose from, each with a number, as a browser component."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import streamlit as st

MARKUP = '<div class="cards" role="group"></div>'


def cards(shown: Sequence[Mapping[str, str]], take: Callable[[str], None], *, key: str) -> None:
    """Draw them. ``take`` is called with the id of the one that was chosen.

    shown: id, title, number, where, chance and explained of each.
    """
    script, styles = (Path(__file__).with_suffix(f".{ending}").read_text(encoding="utf-8") for ending in ("js", "css"))
    component = st.components.v2.component("headlight_cards", html=MARKUP, css=styles, js=script)
    ids = [card["id"] for card in shown]

    def taken() -> None:
        chosen = getattr(st.session_state.get(key), "chosen", None)
        if isinstance(chosen, str) and chosen in ids:
            take(chosen)

    component(key=key, data={"cards": [dict(card) for card in shown]}, height="content", on_chosen_change=taken)
