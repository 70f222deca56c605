"""What a decoder beside an encoder produced for a visitor: token by token, stopped or whole."""

from collections import OrderedDict
from dataclasses import dataclass

import streamlit as st

from model import Checkpoint, Edits, InputError
from model.decoding.steps import Generation, Node
from model.edits import NO_EDITS
from pages.parts.shared_cache import check_lengths, checkpoint_key
from pages.parts.state.selection import Selection
from pages.parts.translate.settings import Options
from viz.export.trace_code import Target

KEPT = 16  # productions a visitor
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
class Production:
    """What decoding came to, the best first."""

    candidates: tuple[Candidate, ...]
    tree: tuple[Node, ...] = ()
    stopped: bool = False

    @property
    def steps(self) -> int:
        """How many tokens decoding came to; in a beam search the best may have ended earlier."""
        return max(len(candidate.ids) for candidate in self.candidates)


def source_of(text: str) -> str:
    """The text to translate. InputError where there is none or too much."""
    check_lengths(text)
    if not text.strip():
        raise InputError("There is nothing to translate: type a sentence above.")
    return text


def production_key(selection: Selection, options: Options, edits: Edits = NO_EDITS) -> Key:
    """What decides what is produced."""
    return ("produced", checkpoint_key(selection.checkpoint), selection.text, edits, *options.settings().items())


def productions() -> OrderedDict[Key, Production]:
    """What was produced for this visitor, the latest last."""
    kept: OrderedDict[Key, Production] = st.session_state.setdefault("_produced", OrderedDict())
    while len(kept) > KEPT:
        kept.popitem(last=False)
    return kept


def produced_of(selection: Selection, checkpoint: Checkpoint, options: Options, edits: Edits = NO_EDITS) -> Production:
    """What decoding comes to, all at once; from memory where it was produced, or stopped, before."""
    key = production_key(selection, options, edits)
    if key not in productions():
        *_, last = checkpoint.stream(source_of(selection.text), MOST_TOKENS, edits=edits, **options.settings())
        productions()[key] = compact(last)
    productions().move_to_end(key)
    return productions()[key]


def compact(generation: Generation) -> Production:
    """What is kept of a generation, which itself holds the logits of every step."""
    every = (generation, *generation.alternatives)
    return Production(candidates=tuple(map(candidate, every)), tree=generation.tree)


def candidate(one: Generation) -> Candidate:
    # In a beam search nothing is drawn.
    chances = tuple(float(step.after[step.token_id]) for step in one.steps) if one.score is None else ()
    return Candidate(text=one.text, ids=one.token_ids, ended=one.ended, score=one.score, chances=chances)


def candidate_of(produced: Production, options: Options) -> Candidate:
    """The translation that is looked at; the best where there is none of that rank."""
    return produced.candidates[options.choice if options.choice < len(produced.candidates) else 0]


def candidate_target(selection: Selection, options: Options, produced: Production) -> Target:
    """What the decoder read, and how it came to be: typed, or produced as scripts produce it again."""
    if selection.target.strip():
        return Target(text=selection.target)
    most = produced.steps if produced.stopped else MOST_TOKENS
    text = candidate_of(produced, options).text
    return Target(text=text, options={"max_tokens": most} | options.settings(), rank=options.choice)
