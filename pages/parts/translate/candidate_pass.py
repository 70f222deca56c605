"""A translation as it is produced, stopped or typed, and the one pass that all pictures of it are drawn from."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import streamlit as st

from model import Checkpoint, InputError, Trace
from model.measures.teacher_forcing import ForcedToken, forced_tokens
from pages.parts.shared_cache import bytes_of, check_lengths, checkpoint_key, traces
from pages.parts.state.selection import Selection
from pages.parts.translate.productions import (
    MOST_TOKENS,
    Candidate,
    Key,
    Production,
    compact,
    production_key,
    productions,
    source_of,
)
from pages.parts.translate.settings import Options

PATIENCE = 0.7  # seconds before the page shows what there is so far


@dataclass(frozen=True, kw_only=True)
class ForcedPass:
    """What all pictures are of: a pass over a source and a target, and the tokens that it predicts."""

    key: Key
    trace: Trace
    predicted: tuple[int, ...]  # one for each position of the decoder
    tokens: tuple[ForcedToken, ...]


def produce(selection: Selection, checkpoint: Checkpoint, options: Options) -> Production:
    """What decoding comes to: from memory, or token by token before the visitor's eyes, who may stop it.

    Stop starts the page anew: Streamlit leaves this loop at the next thing it shows, and what there was is kept.
    """
    key, place = production_key(selection, options), st.empty()  # the Stop of a run that was stopped is gone at once
    if key not in productions():
        began = time.monotonic()
        parts = checkpoint.stream(source_of(selection.text), MOST_TOKENS, **options.settings())
        written: Callable[[str], object] | None = None
        for part in parts:
            st.session_state["_partial"] = (key, part)
            if time.monotonic() - began > PATIENCE:
                written = written or show_progress(place)
                written(f"{len(part.token_ids)} tokens: {part.text}")
        productions()[key] = compact(part)
        st.session_state.pop("_partial", None)
        place.empty()
    productions().move_to_end(key)
    return productions()[key]


def show_progress(place: st.delta_generator.DeltaGenerator) -> Callable[[str], object]:
    """A line that grows, and a button that ends it."""
    with place.container(horizontal=True, vertical_alignment="center"):
        st.button("Stop", key="stop", on_click=stop, help="Stops here and keeps the tokens produced so far.")
        line = st.empty()
    return line.text


def stop() -> None:
    """Keep what there is."""
    key, part = st.session_state.pop("_partial", (None, None))
    if part is not None:
        productions()[key] = replace(compact(part), stopped=True)


def go_on(key: Key) -> None:
    """Forget what was stopped: it is produced anew, to its end."""
    productions().pop(key, None)


def pass_over_candidate(selection: Selection, checkpoint: Checkpoint, chosen: Candidate) -> ForcedPass:
    """The pass over the source and the target: what was typed, or else the chosen translation."""
    if selection.target.strip():
        return pass_over_typed(selection, checkpoint)
    key = ("translated", checkpoint_key(selection.checkpoint), selection.text, chosen.ids)
    trace: Trace = traces().get(key, lambda: checkpoint.trace(selection.text, target=chosen.ids), bytes_of)
    return pass_over(key, trace, chosen.ids)


def pass_over_typed(selection: Selection, checkpoint: Checkpoint) -> ForcedPass:
    """The pass over a target that was typed; after its last token comes the end of the text."""
    check_lengths(selection.target)
    text, target = source_of(selection.text), selection.target
    key = ("typed", checkpoint_key(selection.checkpoint), text, target)
    trace: Trace = traces().get(key, lambda: checkpoint.trace(text, target=target), bytes_of)
    assert trace.decoder is not None
    read = tuple(trace.decoder.ids.tolist())[1:]
    end = checkpoint.config.end_id
    if end is None or trace.decoder.dropped:  # the token after the last one that was read is not known
        return pass_over(key, trace, read)
    return pass_over(key, trace, (*read, end))


def pass_over(key: Key, trace: Trace, predicted: tuple[int, ...]) -> ForcedPass:
    """What a pass says of the tokens that it predicts."""
    if trace.logits is None or not predicted:
        raise InputError("The model has no room for a target, so there is no token to show.")
    tokens = forced_tokens(trace.logits[: len(predicted)], predicted)
    return ForcedPass(key=key, trace=trace, predicted=predicted, tokens=tokens)
