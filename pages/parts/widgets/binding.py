"""Controls bound to the selection: each shows what is selected, and what a browser sends is checked before it counts.

A list sends the label that it shows. After its labels have changed with the text, a browser may still hold one of the
old ones and send that with the next run of anything: as a string, in the place of an option. So a list is told what is
chosen at every run, and what is none of its options is never taken.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import streamlit as st

from pages.parts.state.fields import address_text
from pages.parts.state.page_fields import CODEC
from pages.parts.state.session import choose

Option = TypeVar("Option")


def bind(name: str, value: object, *, told: bool = False) -> str:
    """The key of a control, after making the control show what is selected.

    On another page it is another control, which begins empty unless it is told again. Told at every run, a text would
    lose what is being typed.

    told: True tells it at every run. All but a text needs that: a browser that the next run overtakes before it has
    mounted a switch or a number would begin at its own default, its least, and report that as chosen.
    """
    pages_of, page = st.session_state.setdefault("_shown", {}), st.session_state.get("_at")
    if told or st.session_state.get(name) != value or pages_of.get(name) != page:
        st.session_state[name] = value
    pages_of[name] = page
    return name


def bind_text(name: str, value: str) -> dict[str, Any]:
    """The key of a field for a text, as ``bind`` gives it, and what the field begins with: the arguments for Streamlit.

    What is selected is its beginning at every run as well: a browser that the next run overtakes before it has mounted
    the field mounts what that run sends, and would otherwise stay empty.
    """
    return {"key": bind(name, value), "value": value}


def take(name: str) -> None:
    """Put the value of the control of that name into the selection, unless no address may hold it."""
    with suppress(ValueError):  # a browser can send anything
        choose({name: CODEC.parse(name, address_text(st.session_state[name]))})


def select(
    label: str, options: Sequence[Option], chosen: Option, take: Callable[[Option], object], *, key: str, **looks: Any
) -> None:
    """A list to open. ``take`` is called with the option that was chosen."""
    st.selectbox(label, options, **listed(key, options, chosen, take), **looks)


def radio(
    label: str,
    options: Sequence[Option],
    chosen: Option | None,
    take: Callable[[Option], object],
    *,
    key: str,
    **looks: Any,
) -> None:
    """A few options, all in sight, side by side; None: none is marked. ``take`` is called with what was chosen."""
    st.radio(label, options, **listed(key, options, chosen, take), **({"horizontal": True} | looks))


def listed(key: str, options: Sequence[Any], chosen: Any, take: Callable[[Any], object]) -> dict[str, Any]:
    """What makes a list show its choice and take another."""
    st.session_state[key] = chosen
    return {"key": key, "on_change": take_option, "args": (key, options, take)}


def take_option(key: str, options: Sequence[Any], take: Callable[[Any], object]) -> None:
    """Another option, if what the browser sent is one."""
    value = st.session_state.get(key)
    if is_among(value, options):
        take(value)


def is_among(value: object, options: Sequence[Any]) -> bool:
    """Whether a value is one of the options, and of their type: "1" is not 1, and neither is True."""
    return any(type(value) is type(option) and value == option for option in options)
