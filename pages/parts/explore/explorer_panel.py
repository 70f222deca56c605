"""The explorer on a page: its bytes computed once, what it reports checked, what it asks for answered."""

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import streamlit as st

from model import Checkpoint, CheckpointError, Edits, InputError
from model.measures.head_statistics import head_statistics, is_punctuation
from model.trace import Trace
from pages.parts.lru_cache import LRUCache
from pages.parts.passes import edits_of, trace_key, trace_of
from pages.parts.shared_cache import checkpoint_named
from pages.parts.state.selection import Selection
from pages.parts.state.session import choose, current, fit, forget
from viz.explorer.attention_kinds import Kind, kinds_of
from viz.explorer.component import answers, explorer, steer
from viz.explorer.packing import is_whole, pack, pack_layer
from viz.explorer.view import View, exact_row, giver, shown_numbers
from viz.text import weight_sentences

KEY = "explorer"
PACKED_BYTES = 24_000_000
LONGEST_REQUEST = 100_000  # characters; every head of a layer named takes a few hundred


@st.cache_resource(show_spinner=False)
def packed_cache() -> LRUCache:
    """What was sent to browsers, of all visitors."""
    return LRUCache(PACKED_BYTES)


def trace_and_kinds(selection: Selection, checkpoint: Checkpoint) -> tuple[Trace, dict[str, Kind]]:
    """The pass on the screen and the kinds of attention in it."""
    trace = trace_of(selection, edits_of(selection, checkpoint))
    return trace, kinds_of(trace)


class ShownAttention(NamedTuple):
    """The attention that an explorer shows.

    selection: fitted to these kinds.
    name: what the numbers are called; no others have this name.
    packed: where what is sent to the browser is kept; None: with that of all visitors.
    """

    selection: Selection
    kinds: Mapping[str, Kind]
    name: str
    packed: LRUCache | None = None

    @property
    def kind(self) -> Kind:
        """The attention that is looked at."""
        return self.kinds[self.selection.view.attention]


def shown_attention() -> ShownAttention:
    """The attention of the selection's text. InputError or CheckpointError where there is none."""
    selection = current()
    checkpoint = checkpoint_named(selection.checkpoint)
    _, kinds = trace_and_kinds(selection, checkpoint)
    return ShownAttention(fit(selection, kinds), kinds, name_of(selection, edits_of(selection, checkpoint)))


def show_explorer(
    attention: ShownAttention, find: Callable[[], ShownAttention] = shown_attention, *, awaited: bool = False
) -> None:
    """The explorer, after the mailboxes that tell it what to show.

    Of a model whose layers do not all fit into the first message, the chosen one comes as a message of its own.

    find: what gives the same again when the explorer asks for some of it.
    awaited: whether the page, or the fragment that this is called in, shall run again once the picture is seen.
    """
    message = {
        "name": attention.name,
        "revision": st.session_state.get("_revision", 0),
        "view": attention.selection.view.to_message(),
        "awaited": awaited,
        "taken": st.session_state.get("_taken"),
    }
    st.session_state.pop("_layer", None)
    kept, told = vars(st.session_state["_selection"].view), vars(attention.selection.view)
    st.session_state["_told"] = {name: value for name, value in told.items() if value != kept[name]}
    with st.container(gap=None):
        steer(key=f"{KEY}_mailbox", message=message)
        reply(attention.name, find)
        explorer(sent_first(attention), key=KEY, on_view=take_view)


@st.fragment
def reply(name: str, find: Callable[[], ShownAttention]) -> None:
    """Exact rows and layers that the explorer asked for.

    A fragment of its own, because nothing else on the page changes with them: to run and draw all that is around the
    explorer takes a browser several times as long as one layer.
    """
    try:
        attention = find()
    except (CheckpointError, InputError):  # its file is gone, say; the page says so when it is run the next time
        return
    if attention.name != name:  # the page is about to be run with what was chosen since
        return
    if not is_whole(sent_first(attention)):
        send_layer(attention, *requested_layer(attention, request_of(attention, "layer") or {}), "chosen")
    asked = {"on_row": partial(keep_request, "row"), "on_layer": partial(keep_request, "layer")}
    answers(key=f"{KEY}_answers", message={"exact": exact_answer(attention)}, **asked)


def show_neighbours(attention: ShownAttention) -> None:
    """Bring the explorer the layers before and after the chosen one too, so that going to them waits for nothing.

    Comes last, for nobody waits for it.
    """
    if not is_whole(sent_first(attention)):
        with st.container(gap=None):
            for place, step in (("before", -1), ("after", 1)):
                layer = (attention.selection.view.layer + step) % attention.kind.layers
                send_layer(attention, attention.kind, layer, place)


def sent_first(attention: ShownAttention) -> bytes:
    """What the explorer is drawn from."""
    kept, name = attention.packed or packed_cache(), attention.name
    return kept.get(name, lambda: pack(attention.kinds, name=name), len)


def send_layer(attention: ShownAttention, kind: Kind, layer: int, place: str) -> None:
    """One layer for the explorer."""
    kept, name = attention.packed or packed_cache(), attention.name
    message = kept.get((name, kind.name, layer), lambda: pack_layer(kind, layer, name=name), len)
    steer(key=f"{KEY}_layer_{place}", message=message)


def heads_sentence(attention: ShownAttention) -> str:
    """Where the heads that are on look, in one sentence."""
    view, kind = attention.selection.view, attention.kind
    if not view.heads_on(kind.heads):
        return "No head is on. Press All beside the heads, or switch one on."
    seen = shown_numbers(kind, view)
    if not seen.weights.size:
        return "All tokens are hidden: no weight is left to show."
    return weight_sentences.sentence(
        seen.mean,
        [key.name for key in seen.keys],
        layer=view.layer,
        heads=seen.heads,
        every=len(seen.heads) == kind.heads,
        one_text=kind.queries is kind.keys and seen.queries == seen.keys,
        unit="word" if view.words and kind.keys.words else "token",
    )


@st.cache_data(show_spinner=False, max_entries=64)
def computed_statistics(name: str, attention: str, _kind: Kind) -> dict[str, np.ndarray]:
    """The statistics of the heads; name and attention say which numbers they are of."""
    punctuation = [is_punctuation(token) for token in _kind.keys.tokens]
    special = _kind.keys.special if _kind.keys.special is not None and any(_kind.keys.special) else None
    return head_statistics(np.stack(_kind.weights), special, punctuation, cross=_kind.queries is not _kind.keys)


def statistics_of(attention: ShownAttention) -> dict[str, np.ndarray]:
    """What every head of one attention does with the text."""
    return computed_statistics(attention.name, attention.kind.name, attention.kind)


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
    when = message.get("told")
    st.session_state["_taken"] = when if isinstance(when, int | float) else None
    # One that was made on an older view goes back to the explorer, so that both sides show the same.
    current_one = message.get("revision") == st.session_state.get("_revision", 0)
    told = st.session_state.get("_told", {})  # what a page showed there without anybody's choice
    changes = {name: value for name, value in vars(view).items() if name not in told or told[name] != value}
    before = heads_seen()
    choose(changes, steers=not current_one)
    if heads_seen() != before:  # a head that was chosen on the page Inside a head is not what is looked at any longer
        forget("head")


def heads_seen() -> tuple[Any, ...]:
    """What decides which heads the explorer shows."""
    view = st.session_state["_selection"].view
    return view.attention, view.layer, view.off


def explorer_keeps_nothing() -> bool:
    """Whether what the explorer reported last, on the view that it was told last, keeps no query."""
    message = getattr(st.session_state.get(KEY), "view", None)
    if not isinstance(message, dict):
        return False
    return message.get("query") is None and message.get("revision") == st.session_state.get("_revision", 0)


def keep_request(name: str) -> None:
    """Note what is asked for, a row or a layer; the answer follows."""
    if f"{KEY}_answers" in st.session_state:
        st.session_state[f"_{name}"] = st.session_state[f"{KEY}_answers"][name]


def request_of(attention: ShownAttention, name: str) -> dict[str, Any] | None:
    """What was asked of these numbers; None where nothing was, or it is no request."""
    request = st.session_state.get(f"_{name}")
    if not isinstance(request, str) or len(request) > LONGEST_REQUEST:
        return None
    try:
        fields = json.loads(request)
        return dict(fields) if fields.pop("name") == attention.name else None
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError):
        return None


def requested_layer(attention: ShownAttention, fields: Mapping[str, Any]) -> tuple[Kind, int]:
    """The layer that was asked for, and the attention that it is of; or else those that are looked at."""
    kind, layer = attention.kinds.get(str(fields.get("attention"))), fields.get("layer")
    if kind is None or type(layer) is not int or layer not in range(kind.layers):
        return attention.kind, attention.selection.view.layer
    return kind, layer


def exact_answer(attention: ShownAttention) -> dict[str, Any] | None:
    """The exact numbers of the row that was asked for; None where there is none, or it is no row of these numbers.

    Asked for by its query, or by the key that it gives more to than any other does.
    """
    fields = request_of(attention, "row")
    if fields is None:
        return None
    try:
        query, key = fields.pop("query"), fields.pop("key", None)
        view = View.from_message(fields)
        kind = attention.kinds[view.attention]
        query = giver(kind, view, key) if query is None else query
        return {"request": st.session_state["_row"], "query": query} | exact_row(kind, view, query)
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError):
        return None
