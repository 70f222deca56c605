"""What each token of a text is worth to the answer by five measures, taken step by step and kept for all visitors."""

import csv
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from io import StringIO
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
from viz.text.token_measures import MEASURES, OMISSION
from viz.tokens import counted

NO = Edits()
CACHE_BYTES, MEASURED_BYTES = 32_000_000, 4_000_000  # of one: a pass is held until its measures are whole
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
    left: str = ""  # what is being measured, "" at the end

    def agreement(self, name: str, other: str = OMISSION) -> RankAgreement:
        """How far two measures put the tokens that can be left out into one order."""
        places = list(self.comparable)
        return rank_agreement(self.values[name][places], self.values[other][places])

    def top(self, name: str) -> int | None:
        """The token, of those that can be left out, that is worth most; None where none is."""
        places = [at for at in self.comparable if np.isfinite(self.values[name][at])]
        return max(places, key=lambda at: abs(self.values[name][at]), default=None)

    def table(self) -> str:
        """A line for each token, as CSV; positions count from 1."""
        written = StringIO()
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
    residual = selection.of(ExplanationSettings).rollout == ROLLOUTS[0]
    key = ("tokens", trace_key(selection, NO), residual)

    def measure() -> Measuring:
        return Measuring(measured_steps(checkpoint, trace, residual=residual))

    measuring: Measuring = measurings().get(key, measure, lambda _: MEASURED_BYTES)
    return measuring.advance(AT_ONCE)


def measured_steps(checkpoint: Checkpoint, trace: Trace, *, residual: bool) -> Iterator[TokenMeasures]:
    """What is known after each step: first the three that follow attention, then leaving out, then the integral."""
    outcome = outcome_of(checkpoint, trace)
    names = trace.text_stack.names()
    unknown = np.full(len(names), np.nan)
    rollout = attention_shares(checkpoint, trace, residual=residual).double().numpy()
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
        yield known
    yield replace(known, left="")


def largest(measures: TokenMeasures, most: int) -> Sequence[int]:
    """The tokens that are worth most by any measure, in their order in the text."""
    sizes = np.zeros(len(measures.tokens))
    for values in measures.values.values():
        known = np.abs(np.nan_to_num(values))
        sizes = np.maximum(sizes, known / (known.max() or 1.0))
    return sorted(sorted(range(len(sizes)), key=lambda at: (-sizes[at], at))[:most])
