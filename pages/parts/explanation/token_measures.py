"""What each token of a text is worth to the answer by five measures, taken step by step and kept for all visitors."""

import csv
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import SEEK_END, StringIO
from threading import Lock

import numpy as np
import streamlit as st
from jaxtyping import Bool, Float

from model import Checkpoint, Edits
from model.measures.causes.ablation import said_before
from model.measures.causes.gradients import attribution_steps
from model.measures.causes.omission import leave_one_out, omissible
from model.measures.causes.rank_agreement import RankAgreement, rank_agreement
from model.measures.causes.token_shares import attention_shares, gradient_shares, moved_shares
from model.measures.outcome import Outcome, outcome_of
from model.trace import Trace
from pages.parts.ablations.part_effects import name_of
from pages.parts.explanation.settings import ROLLOUTS, ExplanationSettings
from pages.parts.lru_cache import LRUCache
from pages.parts.passes import trace_key, trace_of
from pages.parts.shared_cache import checkpoint_named
from pages.parts.state.selection import Selection
from viz.export.provenance import fact_lines
from viz.text.causes.token_measures import MEASURES, OMISSION, first_of
from viz.tokens import counted

NO = Edits()
CACHE_BYTES, MEASURED_BYTES = 32_000_000, 4_000_000  # of one: a pass is held until its measures are whole
STOPPED = "_token_measures_stopped"
AT_ONCE = 0.5  # seconds of measuring before the page shows what there is
Numbers = Float[np.ndarray, " token"]


@dataclass(frozen=True, kw_only=True, eq=False)
class TokenMeasures:
    """The tokens of a text and what is known of them so far; NaN where it is not, or cannot be.

    values: by the names of ``MEASURES``. Attention, the size moved and attention × gradient are shares of 1; integrated
    gradients are parts of the logit; ``OMISSION`` is the probability that is lost without the token.
    without, turned: the probability without each token, and whether another answer is likelier then.
    rollout: attention rolled out, by layer. difference, error: of the integrated gradients.
    """

    tokens: tuple[str, ...]
    outcome: Outcome
    named: str
    before: float
    comparable: tuple[int, ...]
    values: dict[str, Numbers]
    without: Numbers
    turned: Bool[np.ndarray, " token"]
    rollout: Float[np.ndarray, "layer token"]
    difference: float = np.nan
    error: float = np.nan
    steps: int = 0  # of the integral, so far
    left: str = ""  # what is being measured, "" at the end

    def agreement(self, name: str, *, signed: bool = False) -> RankAgreement:
        """How far a measure and leaving out put the same tokens into one order: by size, or with signs."""
        places = list(self.comparable)
        return rank_agreement(self.values[name][places], self.values[OMISSION][places], signed=signed)

    def top(self, name: str, least: float = 0.0) -> int | None:
        """The token that stands out of those that can be left out; None where none does, or none is above ``least``."""
        return first_of(self.values[name], self.comparable, least)

    def most(self, name: str) -> int:
        """The first of those with the largest size. ValueError where none is known."""
        known = [at for at in self.comparable if np.isfinite(self.values[name][at])]
        return max(known, key=lambda at: abs(self.values[name][at]))

    def rolled_out(self, rollout: Float[np.ndarray, "layer token"]) -> "TokenMeasures":
        """The same with attention rolled out in another way."""
        return replace(self, rollout=rollout, values=self.values | {"attention": rollout[-1]})

    def table(self, facts: Mapping[str, str]) -> str:
        """A line for each token, as CSV; positions count from 1. facts: lines before the header."""
        written = StringIO("".join(fact_lines(facts)))
        written.seek(0, SEEK_END)
        table = csv.writer(written, lineterminator="\n")
        table.writerow(["position", "token", *MEASURES, "probability", "probability without it"])
        for at, token in enumerate(self.tokens):
            numbers = [repr(float(self.values[name][at])) for name in MEASURES]
            table.writerow([counted(at), token, *numbers, repr(self.before), repr(float(self.without[at]))])
        return written.getvalue()


class Measuring:
    """The measures of one pass, as far as they are; whoever looks moves them on."""

    def __init__(self, steps: Iterator[TokenMeasures]) -> None:
        self.steps, self.lock = steps, Lock()
        self.known = next(steps)

    def advance(self, seconds: float) -> TokenMeasures:
        """What there is after so many seconds more."""
        with self.lock:
            end = time.monotonic() + seconds
            while self.known.left and time.monotonic() < end:
                self.known = next(self.steps)
            return self.known


@st.cache_resource(show_spinner=False)
def measurings() -> LRUCache:
    """Of all visitors."""
    return LRUCache(CACHE_BYTES)


def token_measures(selection: Selection) -> TokenMeasures:
    """The tokens of the selection's text. ValueError where the model gives no answer."""
    checkpoint, trace = checkpoint_named(selection.checkpoint), trace_of(selection, NO)
    key = ("tokens", trace_key(selection, NO))

    def measure() -> Measuring:
        return Measuring(measured_steps(checkpoint, trace))

    measuring: Measuring = measurings().get(key, measure, lambda _: MEASURED_BYTES)
    known = measuring.known if is_stopped(selection) else measuring.advance(AT_ONCE)
    if with_residual(selection):
        return known
    return known.rolled_out(attention_shares(checkpoint, trace, residual=False).double().numpy())


def is_stopped(selection: Selection) -> bool:
    """Whether the visitor has stopped measuring this text."""
    return bool(st.session_state.get(STOPPED) == trace_key(selection, NO))


def stop(selection: Selection) -> None:
    """Leave what is not measured of this text as it is, for this visitor."""
    st.session_state[STOPPED] = trace_key(selection, NO)


def go_on() -> None:
    """Measure again what is left."""
    st.session_state.pop(STOPPED, None)


def with_residual(selection: Selection) -> bool:
    """Whether attention is rolled out with the residual stream as one half."""
    return selection.of(ExplanationSettings).rollout == ROLLOUTS[0]


def top_otherwise(selection: Selection, measures: TokenMeasures) -> int | None:
    """The token that stands out if attention is rolled out in the way that was not chosen; None where none does."""
    checkpoint, trace = checkpoint_named(selection.checkpoint), trace_of(selection, NO)
    shares = attention_shares(checkpoint, trace, residual=not with_residual(selection))
    return measures.rolled_out(shares.double().numpy()).top("attention")


def head_looking_at(weights: Sequence[Float[np.ndarray, "head query key"]], key: int) -> tuple[int, int]:
    """Layer and head with the largest mean weight on a key, over all queries. weights: of each layer."""
    means = [layer[:, :, key].mean(axis=1) for layer in weights]
    layer = max(range(len(means)), key=lambda at: means[at].max())
    return layer, int(means[layer].argmax())


def measured_steps(checkpoint: Checkpoint, trace: Trace) -> Iterator[TokenMeasures]:
    """What is known after each step: first the three that follow attention, then leaving out, then the integral."""
    outcome = outcome_of(checkpoint, trace)
    names = trace.text_stack.names()
    unknown = np.full(len(names), np.nan)
    rollout = attention_shares(checkpoint, trace, residual=True).double().numpy()
    known = TokenMeasures(
        tokens=names,
        outcome=outcome,
        named=name_of(checkpoint, outcome),
        before=float(said_before(checkpoint, trace, outcome).probability),
        comparable=tuple(omissible(checkpoint, trace)),
        values={
            "attention": rollout[-1],
            "moved": moved_shares(checkpoint, trace)[-1].double().numpy(),
            "gradient": gradient_shares(checkpoint, trace)[-1].double().numpy(),
            "integrated": unknown,
            OMISSION: unknown,
        },
        without=unknown,
        turned=np.zeros(len(names), bool),
        rollout=rollout,
        left=OMISSION,
    )
    yield known
    for after in with_omissions(checkpoint, trace, known):
        known = after
        yield known
    yield from with_integral(checkpoint, trace, known)


def with_omissions(checkpoint: Checkpoint, trace: Trace, known: TokenMeasures) -> Iterator[TokenMeasures]:
    """The same with some tokens more left out, until all are."""
    for places, said in leave_one_out(checkpoint, trace):
        without, turned = known.without.copy(), known.turned.copy()
        without[places], turned[places] = said.probability, said.turned
        values = known.values | {OMISSION: known.before - without}
        known = replace(known, without=without, turned=turned, values=values)
        yield known
    yield replace(known, left="integrated")


def with_integral(checkpoint: Checkpoint, trace: Trace, known: TokenMeasures) -> Iterator[TokenMeasures]:
    """The same with the integrated gradients, once they are exact enough."""
    for found in attribution_steps(checkpoint, trace):
        if found is not None:
            values = known.values | {"integrated": found.tokens.double().numpy()}
            known = replace(known, values=values, difference=found.difference, error=found.error)
        else:
            known = replace(known, steps=known.steps + 1)
        yield known
    yield replace(known, left="")


def largest(measures: TokenMeasures, most: int) -> Sequence[int]:
    """The tokens that are worth most by any measure, in their order in the text."""
    sizes = np.zeros(len(measures.tokens))
    for values in measures.values.values():
        known = np.abs(np.nan_to_num(values))
        sizes = np.maximum(sizes, known / (known.max() or 1.0))
    return sorted(sorted(range(len(sizes)), key=lambda at: (-sizes[at], at))[:most])
