"""A translation as it is produced, stopped or typed, and the one pass that all pictures of it are drawn from."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

import streamlit as st

from model import Checkpoint, InputError, Trace
from model.checkpoint import describe
from model.decoding import Generation, Node
from model.measures.forced import Forced, forced
from pages.parts.computed import bytes_of, check_lengths, checkpoint_key, traces
from pages.parts.selection import Selection
from pages.parts.translation import Options

KEPT = 16  # productions a visitor
PATIENCE = 0.7  # seconds before the page shows what there is so far
MOST_TOKENS = 512

Key = tuple[object, ...]


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One translation, without the logits that it came from."""

    text: str
    ids: tuple[int, ...]
    ended: bool  # by the end token
    score: float | None = None
    chances: tuple[float, ...] = ()  # with which each token was drawn, after temperature, top-k and top-p


@dataclass(frozen=True, kw_only=True)
class Produced:
    """What decoding came to, the best first."""

    candidates: tuple[Candidate, ...]
    tree: tuple[Node, ...] = ()
    stopped: bool = False


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What all pictures are of: a pass over a source and a target, and the tokens that it predicts."""

    key: Key
    trace: Trace
    predicted: tuple[int, ...]  # one for each position of the decoder
    tokens: tuple[Forced, ...]


def source_of(selection: Selection) -> str:
    """The text to translate. InputError where there is none or too much."""
    check_lengths(selection.text, selection.target)
    if not selection.text.strip():
        raise InputError("There is nothing to translate: type a sentence above.")
    return selection.text


def production_key(selection: Selection, options: Options) -> Key:
    """What decides what is produced."""
    return ("produced", checkpoint_key(selection.checkpoint), selection.text, *options.settings().items())


def kept() -> OrderedDict[Key, Produced]:
    """What was produced for this visitor, the latest last."""
    found: OrderedDict[Key, Produced] = st.session_state.setdefault("_produced", OrderedDict())
    while len(found) > KEPT:
        found.popitem(last=False)
    return found


def produce(selection: Selection, checkpoint: Checkpoint, options: Options) -> Produced:
    """What decoding comes to: from memory, or token by token before the visitor's eyes, who may stop it.

    Stop starts the page anew: Streamlit leaves this loop at the next thing it shows, and what there was is kept.
    """
    key = production_key(selection, options)
    if key not in kept():
        place, began = st.empty(), time.monotonic()
        parts = checkpoint.stream(source_of(selection), MOST_TOKENS, **options.settings())
        written: Callable[[str], object] | None = None
        for part in parts:
            st.session_state["_partial"] = (key, part)
            if time.monotonic() - began > PATIENCE:
                written = written or show_progress(place)
                written(f"{len(part.token_ids)} tokens: {part.text}")
        kept()[key] = compact(part)
        st.session_state.pop("_partial", None)
        place.empty()
    kept().move_to_end(key)
    return kept()[key]


def show_progress(place: st.delta_generator.DeltaGenerator) -> Callable[[str], object]:
    """A line that grows, and a button that ends it."""
    with place.container(horizontal=True, vertical_alignment="center"):
        st.button("Stop", key="stop", on_click=stop, help="Ends here; what there is so far is kept.")
        line = st.empty()
    return line.text


def stop() -> None:
    """Keep what there is."""
    key, part = st.session_state.pop("_partial", (None, None))
    if part is not None:
        kept()[key] = replace(compact(part), stopped=True)


def go_on(key: Key) -> None:
    """Forget what was stopped: it is produced anew, to its end."""
    kept().pop(key, None)


def compact(generation: Generation) -> Produced:
    """What is kept of a generation, which itself holds the logits of every step."""
    every = (generation, *generation.alternatives)
    return Produced(candidates=tuple(map(candidate, every)), tree=generation.tree)


def candidate(one: Generation) -> Candidate:
    """One translation."""
    # In a beam search nothing is drawn.
    chances = tuple(float(step.after[step.token_id]) for step in one.steps) if one.score is None else ()
    return Candidate(text=one.text, ids=one.token_ids, ended=one.ended, score=one.score, chances=chances)


def candidate_of(produced: Produced, options: Options) -> Candidate:
    """The translation that is looked at; the best where there is none of that rank."""
    return produced.candidates[options.choice if options.choice < len(produced.candidates) else 0]


def shown_of(selection: Selection, checkpoint: Checkpoint, chosen: Candidate) -> Shown:
    """The pass over the source and the target: what was typed, or else the chosen translation."""
    if selection.target.strip():
        return shown_typed(selection, checkpoint)
    key = ("translated", checkpoint_key(selection.checkpoint), selection.text, chosen.ids)
    trace: Trace = traces().get(key, lambda: trace_written(checkpoint, source_of(selection), chosen.ids), bytes_of)
    return predicting(key, trace, chosen.ids)


def shown_typed(selection: Selection, checkpoint: Checkpoint) -> Shown:
    """The pass over a target that was typed; after its last token comes the end of the text."""
    text, target = source_of(selection), selection.target
    key = ("typed", checkpoint_key(selection.checkpoint), text, target)
    trace: Trace = traces().get(key, lambda: checkpoint.trace(text, target=target), bytes_of)
    assert trace.decoder is not None
    read = tuple(trace.decoder.ids.tolist())[1:]
    end = checkpoint.config.end_id
    if end is None or trace.decoder.dropped:  # the token after the last one that was read is not known
        return predicting(key, trace, read)
    return predicting(key, trace, (*read, end))


def predicting(key: Key, trace: Trace, predicted: tuple[int, ...]) -> Shown:
    """What a pass says of the tokens that it predicts."""
    if trace.logits is None or not predicted:
        raise InputError("There is no token to look at: the model has no room for a target.")
    tokens = forced(trace.logits[: len(predicted)], predicted)
    return Shown(key=key, trace=trace, predicted=predicted, tokens=tokens)


def trace_written(checkpoint: Checkpoint, text: str, ids: tuple[int, ...]) -> Trace:
    """The pass in which the decoder has read its start and all but the last of these ids, with the facts of both texts.

    The target's words are known where its text is cut into the same tokens again.
    """
    source = checkpoint.tokenizer.encode(text)
    used = source.cut(checkpoint.longest)
    read = (int(checkpoint.config.start_id or 0), *ids[:-1])
    trace = checkpoint.trace_ids(used.ids, read)
    assert trace.encoder is not None
    assert trace.decoder is not None
    encoder = describe(trace.encoder, used, len(source.ids) - len(used.ids))
    return replace(trace, encoder=encoder, decoder=describe(trace.decoder, checkpoint.produced(read), 0))
