"""The explorer on a page: its bytes computed once, what it reports checked, what it asks for answered."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st

from model import Checkpoint, Edits
from model.measures.heads import head_statistics, is_punctuation
from model.trace import Trace
from pages.parts.computed import Shelf, edits_of, trace_key, trace_of
from pages.parts.selection import Selection, choose
from viz.explorer.component import explorer, steer
from viz.explorer.kinds import Kind, kinds_of
from viz.explorer.packing import is_whole, pack, pack_layer
from viz.explorer.view import View, exact_row

KEY = "explorer"
PACKED_BYTES = 24_000_000
LONGEST_REQUEST = 100_000  # characters; every head of a layer named takes a few hundred


@st.cache_resource(show_spinner=False)
def packed() -> Shelf:
    """What was sent to browsers, of all visitors."""
    return Shelf(PACKED_BYTES)


def traced(selection: Selection, checkpoint: Checkpoint) -> tuple[Trace, dict[str, Kind]]:
    """The pass on the screen and the kinds of attention in it."""
    trace = trace_of(selection, edits_of(selection, checkpoint))
    return trace, kinds_of(trace)


def show_explorer(selection: Selection, edits: Edits, kinds: Mapping[str, Kind], name: str = "") -> None:
    """The explorer, after the mailbox that tells it what to show.

    Of a model whose layers do not all fit into the first message, the chosen one comes as a message of its own. name:
    what the numbers are called, where they are of another pass than that of the selection's text.
    """
    name = name or name_of(selection, edits)
    kind = kinds[selection.view.attention]
    message = {"name": name, "revision": st.session_state.get("_revision", 0), "view": selection.view.to_message()}
    sent = sent_first(name, kinds)
    with st.container(gap=None):
        steer(key=f"{KEY}_mailbox", message=message | {"exact": answered(name, kinds)})
        if not is_whole(sent):
            send_layer(name, kind, selection.view.layer, "chosen")
        explorer(sent, key=KEY, on_view=take_view, on_row=keep_request)


def show_neighbours(selection: Selection, edits: Edits, kinds: Mapping[str, Kind], name: str = "") -> None:
    """Bring the explorer the layers before and after the chosen one too, so that going to them waits for nothing.

    Comes last, for nobody waits for it.
    """
    name, kind, layer = name or name_of(selection, edits), kinds[selection.view.attention], selection.view.layer
    if not is_whole(sent_first(name, kinds)):
        with st.container(gap=None):
            for place, step in (("before", -1), ("after", 1)):
                send_layer(name, kind, (layer + step) % kind.layers, place)


def sent_first(name: str, kinds: Mapping[str, Kind]) -> bytes:
    """What the explorer is drawn from."""
    return packed().get(name, lambda: pack(kinds, name=name), len)


def send_layer(name: str, kind: Kind, layer: int, place: str) -> None:
    """One layer for the explorer."""
    key = (name, kind.name, layer)
    message = packed().get(key, lambda: pack_layer(kind, layer, name=name), len)
    steer(key=f"{KEY}_layer_{place}", message=message)


@st.cache_data(show_spinner=False, max_entries=64)
def computed_statistics(name: str, attention: str, _kind: Kind) -> dict[str, np.ndarray]:
    """The statistics of the heads; name and attention say which numbers they are of."""
    punctuation = [is_punctuation(token) for token in _kind.keys.tokens]
    special = _kind.keys.special if _kind.keys.special is not None and any(_kind.keys.special) else None
    return head_statistics(np.stack(_kind.weights), special, punctuation, cross=_kind.queries is not _kind.keys)


def statistics_of(selection: Selection, edits: Edits, kind: Kind) -> dict[str, np.ndarray]:
    """What every head of one attention does with the text."""
    return computed_statistics(name_of(selection, edits), kind.name, kind)


def name_of(selection: Selection, edits: Edits) -> str:
    """A short name for the numbers of one pass."""
    return name_under(trace_key(selection, edits))


def name_under(key: object) -> str:
    """A short name for what a key decides."""
    return hashlib.sha256(repr(key).encode("utf-8", "replace")).hexdigest()[:16]


def take_view() -> None:
    """Put what was chosen in the explorer into the selection; what no control of it can say is left aside."""
    if KEY not in st.session_state:  # it was on its way when the visitor left the page
        return
    message = st.session_state[KEY].view
    try:
        view = View.from_message(message)
    except ValueError:
        return
    # One that was made on an older view goes back to the explorer, so that both sides show the same.
    current_one = message.get("revision") == st.session_state.get("_revision", 0)
    choose(steers=not current_one, **vars(view))


def keep_request() -> None:
    """Note which row is asked for; the page answers while it runs."""
    if KEY not in st.session_state:
        return
    st.session_state["_row"] = st.session_state[KEY].row


def answered(name: str, kinds: Mapping[str, Kind]) -> dict[str, Any] | None:
    """The exact numbers of the row that was asked for; None where there is none, or it is no row of these numbers."""
    request = st.session_state.get("_row")
    if not isinstance(request, str) or len(request) > LONGEST_REQUEST:
        return None
    try:
        wanted = json.loads(request)
        if wanted.pop("name") != name:
            return None
        query = wanted.pop("query")
        view = View.from_message(wanted)
        return {"request": request} | exact_row(kinds[view.attention], view, query)
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError):
        return None
