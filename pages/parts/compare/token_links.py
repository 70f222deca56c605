"""The tokens of two texts with a line between partners, as a browser component in which they are joined and parted."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from pages.parts.components.component import component

KEY = "token_links"
MARKUP = '<div class="paired" role="group" aria-label="Which tokens are partners"></div>'
WIDE = "The texts are wider than the page: move them sideways to see the other tokens."
Token = dict[str, Any]  # its name, what is said of it, and whether the tokenizer added it


def token_links(
    first: Sequence[Token],
    second: Sequence[Token],
    pairs: Sequence[tuple[int, int]],
    hint: str,
    on_link: Callable[[], None],
) -> None:
    """Draw it. After a token of each was pressed, both stand in the session state under the key, as ``.link``."""
    draw = component("token_links", __file__, MARKUP)
    data = {"first": list(first), "second": list(second), "pairs": list(map(list, pairs)), "hint": hint, "wide": WIDE}
    draw(key=KEY, data=data, height="content", on_link_change=on_link)


def pressed_link(first: int, second: int) -> tuple[int, int] | None:
    """The two that were pressed; None for what is none of so many."""
    link = st.session_state[KEY].link if KEY in st.session_state else None
    if not isinstance(link, list) or [type(place) for place in link] not in ([int, int], [float, float]):
        return None
    one, other = map(int, link)
    return (one, other) if 0 <= one < first and 0 <= other < second else None


def with_link(pairs: Sequence[tuple[int, int]], link: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    """The pairs without a link that is among them; or with it, and without those that either had."""
    if link in pairs:
        return tuple(pair for pair in pairs if pair != link)
    kept = [pair for pair in pairs if pair[0] != link[0] and pair[1] != link[1]]
    return tuple(sorted([*kept, link]))
