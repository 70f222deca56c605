"""The answer of A with one part after the other from B, a layer at a time, kept for all visitors."""

import csv
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from io import StringIO

import numpy as np
import streamlit as st
from jaxtyping import Float

from model import SublayerSite
from model.measures.causes.ablation import said_before
from model.measures.causes.answers import Said
from model.measures.causes.patching import heads_patched, streams_patched, weights_patched
from model.measures.outcome import Outcome, outcome_of, outcome_value, rows_of
from model.measures.two_runs.aligned_heads import STACKS
from model.trace import Trace
from pages.parts.ablations.part_effects import name_of
from pages.parts.compare.two_passes import TwoPasses
from pages.parts.lru_cache import LRUCache
from viz.tokens import counted

CACHE_BYTES, SAID_BYTES = 8_000_000, 8_000
AT_ONCE = 0.5  # seconds of measuring before the page shows what there is


@dataclass(frozen=True, kw_only=True, eq=False)
class PatchedAnswers:
    """What A's answer becomes. columns: names of the heads, or of the positions; NaN where nothing was put, or not yet.

    before: A's answer, as a probability; of a model without one 0, and numbers are how far the last vectors move.
    """

    part: str
    outcome: Outcome
    named: str
    before: float
    after: Float[np.ndarray, "layer column"]
    columns: tuple[str, ...]
    layers_left: int
    in_second: float | None = None  # the probability of A's answer in B, where B has a place for it

    @property
    def signed(self) -> bool:
        """Whether a change has a direction."""
        return self.outcome.kind != "stream"

    @property
    def changes(self) -> Float[np.ndarray, "layer column"]:
        """By how much the answer changes."""
        return self.after - self.before

    def most(self) -> tuple[int, int]:
        """The part with which the answer changes most."""
        sizes = np.nan_to_num(np.abs(self.changes))
        layer, column = np.unravel_index(int(sizes.argmax()), sizes.shape)
        return int(layer), int(column)

    def table(self) -> str:
        """A line for each part, as CSV; layers and columns count from 1."""
        written = StringIO()
        table = csv.writer(written, lineterminator="\n")
        number = "probability" if self.signed else "distance"
        what = "position" if self.part == "stream" else "head"
        table.writerow(["layer", what, "name", f"{number} in A", f"{number} with this from B"])
        for (layer, column), value in np.ndenumerate(self.after):
            name = self.columns[column]
            table.writerow([counted(layer), counted(column), name, repr(self.before), repr(float(value))])
        return written.getvalue()


@st.cache_resource(show_spinner=False)
def patches_cache() -> LRUCache:
    """What was measured, of all visitors."""
    return LRUCache(CACHE_BYTES)


def has_weights(passes: TwoPasses) -> bool:
    """Whether both passes have weights of the same shape, so that those of the one can stand in the other."""
    first, second = passes.layers
    return first[0].weights.shape == second[0].weights.shape


def patched_answers(passes: TwoPasses, part: str, names: Sequence[str]) -> PatchedAnswers:
    """What is known of a part, and as many layers more as take half a second. names: of the stack's positions."""
    checkpoint, (trace, donor) = passes.checkpoints[0], passes.traces
    stack, kind = STACKS[passes.names[0]]
    places = passes.units.places()
    sublayer = "self" if part == "stream" else kind
    sites = [SublayerSite(stack, layer, sublayer) for layer in range(len(passes.layers[0]))]
    measures: dict[str, Callable[[SublayerSite], Said]] = {
        "stream": lambda site: streams_patched(checkpoint, trace, donor, site, places),
        "heads": lambda site: heads_patched(checkpoint, trace, donor, site, places),
        "weights": lambda site: weights_patched(checkpoint, trace, donor, site),
    }
    known, start = dict[SublayerSite, Said](), time.monotonic()
    for site in sites:
        key = ("patched", passes.key, part, site)
        if key in patches_cache() or not known or time.monotonic() - start < AT_ONCE:
            known[site] = patches_cache().get(key, partial(measures[part], site), lambda _: SAID_BYTES)
    outcome = outcome_of(checkpoint, trace)
    before = said_before(checkpoint, trace, outcome)
    signed = outcome.kind != "stream"
    unknown = np.full(len(next(iter(known.values())).turned), np.nan)
    numbers = [known[site].probability if signed else known[site].distance for site in known]
    after = np.stack([*numbers, *[unknown] * (len(sites) - len(known))])
    columns = tuple(names) if part == "stream" else tuple(map(counted, range(after.shape[1])))
    if part == "stream" and len(places) == after.shape[1]:
        after = np.where([place is None for place in places], np.nan, after)
    return PatchedAnswers(
        part=part,
        outcome=outcome,
        named=name_of(checkpoint, outcome),
        before=float(before.probability) if signed else 0.0,
        after=after,
        columns=columns,
        layers_left=len(sites) - len(known),
        in_second=in_second_of(outcome, trace, donor),
    )


def in_second_of(outcome: Outcome, trace: Trace, donor: Trace) -> float | None:
    """The probability of A's answer in B; None where B has no place for it.

    The token after a text is that after the other text; of a decoder beside an encoder both passes read one target.
    """
    if outcome.kind not in ("label", "next", "output"):
        return None
    logits = rows_of(donor)
    if outcome.kind == "next" and logits is not None:
        outcome = replace(outcome, rows=(len(logits) - 1,))
    return outcome_value(outcome, trace, donor)
