"""The bar at the top of every page, as a browser component: texts, model, device, examples, and the address to share.

Streamlit's own text area is twice as high, is sent by Ctrl + Enter alone, and cannot say that it holds what is not
shown yet.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.parts.components.component import component

KEY = "bar"
MARKUP = '<div class="bar" role="group" aria-label="Text and model"></div>'


@dataclass(frozen=True, kw_only=True)
class BarState:
    """What the bar shows. models, devices: value and label of each.

    text: None on a page that reads none: then only the menus Share and Download are there. pair: None where the model
    reads one text.
    """

    text: str | None
    pair: str | None
    models: Sequence[tuple[str, str]]
    model: str
    devices: Sequence[tuple[str, str]]
    device: str
    examples: Sequence[str]
    longest: int  # characters of a text


@dataclass(frozen=True, kw_only=True)
class Takers:
    """What is called with what the visitor asked for, once that was checked."""

    texts: Callable[[str, str], None]
    model: Callable[[str], None]
    other: Callable[[str], None]  # the id of a model that is not listed
    device: Callable[[str], None]
    example: Callable[[str], None]


def bar(state: BarState, take: Takers) -> None:
    """Draw it."""
    names = [name for name, _ in state.models], [name for name, _ in state.devices]

    def listed(field: str, among: Sequence[str], taker: Callable[[str], None]) -> Callable[[], None]:
        def taken() -> None:
            value = browser_message(field)
            if isinstance(value, str) and value in among:
                taker(value)

        return taken

    def texts() -> None:
        take_texts(browser_message("show"), take.texts)

    def other() -> None:
        typed = browser_message("other")
        if isinstance(typed, str) and typed.strip():
            take.other(typed)

    draw = component("bar", __file__, MARKUP)
    draw(
        key=KEY,
        data={name: getattr(state, name) for name in vars(state)},
        height="content",
        on_show_change=texts,
        on_model_change=listed("model", names[0], take.model),
        on_other_change=other,
        on_device_change=listed("device", names[1], take.device),
        on_example_change=listed("example", state.examples, take.example),
    )


def browser_message(field: str) -> Any:
    """What the browser sent; None where it is gone with the page."""
    return getattr(st.session_state.get(KEY), field, None)


def take_texts(message: Any, taker: Callable[[str, str], None]) -> None:
    """Two texts, if it is these that came: what a browser sends can be anything."""
    texts = [message.get(name) for name in ("text", "pair")] if isinstance(message, dict) else [None]
    if all(isinstance(text, str) for text in texts):
        taker(*texts)
