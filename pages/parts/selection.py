"""What the visitor looks at: carried from page to page, and written in the address, where everything counts from 0."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from model import Checkpoint, available_checkpoints
from model.trace import StackTrace

EXAMPLES = (
    "The film was slow and far too long, but I loved every minute of it.",
    "The acting is not bad at all.",
    "I wanted to like it, but the plot makes no sense.",
    "Nobody who saw it with me was bored.",
    "A great cast, a big budget, and nothing to say.",
)
LONGEST_TEXT = 2000  # characters
VIEWS = ("picture", "table")


@dataclass(frozen=True, kw_only=True)
class Selection:
    """One view of the app. Every field is a plain value, so that it can be a cache key and an address."""

    text: str = EXAMPLES[0]
    checkpoint: str = "sentiment"
    layer: int = 0
    heads: tuple[int, ...] | None = None  # None: all of them
    query: int | None = None  # None: where the weight is largest
    key: int | None = None
    mute: bool = False
    view: str = "picture"


def from_address(address: Mapping[str, str]) -> tuple[Selection, list[str]]:
    """The selection that an address holds, and the names of the values in it that cannot be used."""
    selection, unusable = Selection(), []
    for name, read in READERS.items():
        if name in address:
            try:
                selection = replace(selection, **{name: read(address[name])})
            except ValueError:
                unusable.append(name)
    return selection, unusable


def to_address(selection: Selection) -> dict[str, str]:
    """The address of a selection: what differs from the default, so that the opening page's own is bare."""
    plain = Selection()
    changed = {name: getattr(selection, name) for name in READERS if getattr(selection, name) != getattr(plain, name)}
    if len(selection.text) > LONGEST_TEXT or typable(selection.text) != selection.text:
        del changed["text"]  # it is refused anyway, and no address carries it
    return {name: written(found) for name, found in changed.items()}


def typable(text: str) -> str:
    """The text as a browser can hold it: half of a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def written(found: object) -> str:
    """One value as it stands in an address."""
    if isinstance(found, tuple):
        return ",".join(map(str, found)) or "none"
    return "1" if found is True else str(found)


def index(text: str) -> int:
    """A layer, a head or a position. int() alone would also read "+1", "1_0" and "１"."""
    if not re.fullmatch("[0-9]{1,4}", text):
        raise ValueError("an index is a number of at most four digits")
    return int(text)


def indices(text: str) -> tuple[int, ...]:
    """ "0,2,5", or "none"."""
    return () if text == "none" else tuple(sorted({index(part) for part in text.split(",", maxsplit=1000)}))


def one_of(text: str, allowed: tuple[str, ...]) -> str:
    """A word that stands in a list."""
    if text not in allowed:
        raise ValueError(f"wanted one of {allowed}")
    return text


READERS: dict[str, Callable[[str], Any]] = {
    "text": str,
    "checkpoint": lambda text: one_of(text, tuple(available_checkpoints())),
    "layer": index,
    "heads": indices,
    "query": index,
    "key": index,
    "mute": lambda text: one_of(text, ("0", "1")) == "1",
    "view": lambda text: one_of(text, VIEWS),
}


def selected() -> Selection:
    """The current selection: the visitor's own, or the address's where the visitor came by one or went back to one.

    An address other than the one last written is news, unless a control was touched, for then it is only the older
    copy that the browser sent along; or unless the page is another, for the menu's links carry no selection.
    """
    state, address, page = st.session_state, st.query_params.to_dict(), st.context.url
    touched, same_page = state.pop("_touched", False), state.get("_page") == page
    if "_selection" not in state or (same_page and not touched and address != state.get("_address")):
        state["_selection"], state["_unusable"] = from_address(address)
    state["_page"] = page
    names = available_checkpoints()
    if names and state["_selection"].checkpoint not in names:  # deleted, or never there
        state["_selection"] = replace(state["_selection"], checkpoint=names[0])
    return state["_selection"]


def choose(**changes: Any) -> None:
    """Change the selection; for the callbacks of controls, which run before the page does."""
    st.session_state["_touched"] = True
    st.session_state["_selection"] = replace(st.session_state.get("_selection", Selection()), **changes)


def take(name: str) -> None:
    """Put the value of the control of that name into the selection."""
    choose(**{name: st.session_state[name]})


def shows(name: str, wanted: object) -> str:
    """The key of a control, after making the control show what is selected."""
    if st.session_state.get(name) != wanted:
        st.session_state[name] = wanted
    return name


def remember(selection: Selection) -> None:
    """Keep what is shown, for the other pages too, and write its address."""
    address = to_address(selection)
    st.session_state["_selection"] = selection
    st.session_state["_address"] = address
    if st.query_params.to_dict() != address:
        st.query_params.from_dict(address)


def fit_to_checkpoint(selection: Selection, checkpoint: Checkpoint) -> Selection:
    """The selection with a layer and heads that the checkpoint has."""
    if selection.layer not in range(checkpoint.config.layers):
        selection = unset(selection, "layer")
    if not set(heads_on(selection, checkpoint)) <= set(range(checkpoint.config.heads)):
        selection = unset(selection, "heads")
    all_on = heads_on(selection, checkpoint) == tuple(range(checkpoint.config.heads))
    return replace(selection, heads=None) if all_on else selection


def heads_on(selection: Selection, checkpoint: Checkpoint) -> tuple[int, ...]:
    """The heads to show."""
    return tuple(range(checkpoint.config.heads)) if selection.heads is None else selection.heads


def fit_to_text(selection: Selection, stack: StackTrace) -> Selection:
    """The selection with a query and a key that the text has."""
    for name in ("query", "key"):
        place = getattr(selection, name)
        if place is not None and place not in range(len(stack.ids)):
            selection = unset(selection, name)
    return selection


def unset(selection: Selection, name: str) -> Selection:
    """The selection with the default of one field, which is noted."""
    st.session_state.setdefault("_unusable", []).append(name)
    return replace(selection, **{name: getattr(Selection(), name)})


def address_notice() -> None:
    """One sentence, once, where the address asked for something that does not exist."""
    unusable = st.session_state.pop("_unusable", None)
    if unusable:
        what = " and ".join([", ".join(unusable[:-1]), unusable[-1]] if len(unusable) > 1 else unusable)
        st.info(f"The address gives no usable value for {what}; the default is shown.")
