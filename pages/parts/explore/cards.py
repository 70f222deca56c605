"""A few cards to choose from, each with a number, as a browser component."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from pages.parts.components.component import component

MARKUP = '<div class="cards" role="group"></div>'


def cards(records: Sequence[Mapping[str, str]], take: Callable[[str], None], *, key: str) -> None:
    """Draw them. ``take`` is called with the id of the one that was chosen.

    records: id, title, number, whole (what the number is a share of), where, chance and explained of each.
    """
    ids = [card["id"] for card in records]

    def taken() -> None:
        chosen = getattr(st.session_state.get(key), "chosen", None)
        if isinstance(chosen, str) and chosen in ids:
            take(chosen)

    draw = component("cards", __file__, MARKUP)
    draw(key=key, data={"cards": [dict(card) for card in records]}, height="content", on_chosen_change=taken)
