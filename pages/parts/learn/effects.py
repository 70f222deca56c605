"""The effects of a text's heads on the model's answer: measured once, kept, and asked for by several stops."""

from typing import Any

import streamlit as st

from model import Checkpoint, Edits
from model.measures.learn.heads.head_effects import LONGEST, HeadEffects, head_effects, outcomes_under
from model.measures.outcome import Outcome, outcome_of
from model.trace import Trace
from pages.parts.learn.stop import Door, StopQuestion
from pages.parts.passes import trace_key, trace_of
from pages.parts.shared_cache import checkpoint_named
from pages.parts.state.selection import Selection
from viz.text.learn import model_answers

EXPLORE = "See all heads of this text"
EXPLORE_EXPLAINED = "Shows where every head of every layer looks."
Shared = tuple[Any, ...]


def why_no_effects(selection: Selection) -> str:
    """Why no effects can be measured; "" where they can."""
    checkpoint, trace = checkpoint_named(selection.checkpoint), trace_of(selection, Edits())
    count, config = len(trace.output_stack.ids), checkpoint.config
    if outcome_of(checkpoint, trace).kind not in model_answers.ANSWERS:
        return model_answers.NO_ANSWER
    if count > LONGEST:
        return model_answers.TOO_LONG.format(count=count, heads=config.layers * config.heads, longest=LONGEST)
    return ""


def effects_of(selection: Selection) -> HeadEffects:
    """The effects of all heads, none muted before."""
    checkpoint, trace = checkpoint_named(selection.checkpoint), trace_of(selection, Edits())
    return kept_effects(trace_key(selection, Edits()), checkpoint, trace)


@st.cache_data(show_spinner=False, max_entries=64)
def kept_effects(key: Shared, _checkpoint: Checkpoint, _trace: Trace) -> HeadEffects:
    """The same; the key decides all numbers."""
    return head_effects(_checkpoint, _trace)


def outcome_under(selection: Selection, outcome: Outcome, edits: Edits) -> tuple[float, bool]:
    """The probability of the answer with these edits, and whether it is still the likeliest."""
    checkpoint, trace = checkpoint_named(selection.checkpoint), trace_of(selection, Edits())
    return kept_outcome(trace_key(selection, Edits()), edits, checkpoint, trace, outcome)


@st.cache_data(show_spinner=False, max_entries=256)
def kept_outcome(
    key: Shared, edits: Edits, _checkpoint: Checkpoint, _trace: Trace, _outcome: Outcome
) -> tuple[float, bool]:
    """The same; the key and the edits decide it."""
    shares, stays = outcomes_under(_checkpoint, _trace, _outcome, [edits])
    return float(shares[0]), bool(stays[0])


def even_chance(selection: Selection) -> float | None:
    """The probability below which the other class is the likelier; None where there are not two classes."""
    return 0.5 if len(checkpoint_named(selection.checkpoint).config.labels) == 2 else None


def answer_of(selection: Selection, outcome: Outcome) -> str:
    """What the model answers: the name of a class, or a token."""
    checkpoint = checkpoint_named(selection.checkpoint)
    (answer,) = outcome.answers
    return checkpoint.config.labels[answer] if outcome.kind == "label" else checkpoint.tokenizer.pieces([answer])[0]


def unclear(name: str, selection: Selection, why: str) -> StopQuestion:
    """A stop that has nothing to ask of this text, and why."""
    text = {"checkpoint": selection.checkpoint, "text": selection.text}
    return StopQuestion(
        question=name,
        setting="",
        options=(),
        right=frozenset(),
        answer="",
        sentence="",
        picture=lambda seen: None,
        door=Door(page="explore", label=EXPLORE, explained=EXPLORE_EXPLAINED, changes=text),
        unclear=why,
    )
