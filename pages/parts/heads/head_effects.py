"""The answer of a text without each head of one attention, measured a layer at a time and kept for all visitors."""

import csv
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import SEEK_END, StringIO

import numpy as np
import streamlit as st
from jaxtyping import Bool, Float

from model import Checkpoint, Edits, HeadSite, InputError, SublayerSite
from model.measures.causes.ablation import (
    MeanContexts,
    cumulative_ablation,
    each_attention,
    mean_contexts,
    said_before,
)
from model.measures.causes.answers import Said
from model.measures.causes.resumed_pass import attention_at, attention_sites
from model.measures.outcome import Outcome, outcome_of
from model.trace import Trace
from pages.parts.ablations.part_effects import name_of
from pages.parts.frame.examples import examples_for
from pages.parts.heads.settings import HeadsSettings
from pages.parts.lru_cache import LRUCache
from pages.parts.passes import trace_key, trace_of
from pages.parts.shared_cache import checkpoint_key, checkpoint_named
from pages.parts.state.selection import Selection
from pages.parts.state.session import changed_selection
from viz.explorer.attention_kinds import kinds_of
from viz.export.provenance import fact_lines
from viz.text.causes.head_effects import LEAST, LEAST_NATS
from viz.tokens import counted

NO = Edits()
CACHE_BYTES, MEANS_BYTES, SAID_BYTES = (
    4_000_000,
    2_000_000,
    4_000,
)  # about, of what is kept: five arrays of a layer and their key
AT_ONCE = 0.5  # seconds of measuring before the page shows what there is
LARGEST_SWEEP = 5e10  # multiplications: a few seconds of two cores
MOST_COUNTS = 40  # passes with more and more heads muted
MOST_EXAMPLES = 8  # texts whose mean stands in the place of a head
SITES = {"encoder": ("encoder", "self"), "decoder": ("decoder", "self"), "cross": ("decoder", "cross")}


@dataclass(frozen=True, kw_only=True, eq=False)
class HeadEffects:
    """The heads of one attention. named: the answer in words. Of what is not measured yet a number is NaN.

    probability, or distance where the model predicts nothing: without each head. before: with all. odds: the same of
    the log-odds. unit: that of ``changes``, "points" of probability or "nats" of log-odds.
    """

    attention: str
    outcome: Outcome
    named: str
    before: float
    without: Float[np.ndarray, "layer head"]
    turned: Bool[np.ndarray, "layer head"]
    odds_before: float
    odds_without: Float[np.ndarray, "layer head"]
    unit: str
    layers_left: int

    @property
    def signed(self) -> bool:
        """Whether a change has a direction."""
        return self.outcome.kind != "stream"

    @property
    def changes(self) -> Float[np.ndarray, "layer head"]:
        """By how much the answer changes without each head."""
        return self.numbers - self.number if self.signed else self.numbers

    @property
    def in_nats(self) -> bool:
        """Whether log-odds are compared."""
        return self.signed and self.unit == "nats"

    @property
    def number(self) -> float:
        """What is said of the answer with all heads, in the unit."""
        return self.odds_before if self.in_nats else self.before

    @property
    def numbers(self) -> Float[np.ndarray, "layer head"]:
        """The same without each head."""
        return self.odds_without if self.in_nats else self.without

    def most(self) -> tuple[int, int]:
        """The head without which the answer changes most: of those without which it is another, where there are any."""
        sizes = np.nan_to_num(np.abs(self.changes))
        if self.signed and self.turned.any():
            sizes = np.where(self.turned, sizes, -1)
        layer, head = np.unravel_index(int(sizes.argmax()), sizes.shape)
        return int(layer), int(head)

    def largest(self) -> tuple[int, int]:
        """The head without which the answer changes most, whether it is another or not."""
        return self.in_order()[-1]

    def size(self) -> float:
        """Of the largest change that is known."""
        return float(np.nanmax(np.abs(self.changes)))

    def in_order(self) -> list[tuple[int, int]]:
        """All heads, that with the smallest change first."""
        sizes = np.abs(self.changes)
        return sorted(np.ndindex(*sizes.shape), key=lambda site: (sizes[site], site))

    def site(self, place: tuple[int, int]) -> HeadSite:
        """Where a layer and a head are in the model."""
        stack, kind = SITES[self.attention]
        return HeadSite(stack, *place, kind)

    def table(self, facts: Mapping[str, str]) -> str:
        """A line for each head, as CSV; layers and heads count from 1. facts: lines before the header."""
        written = StringIO("".join(fact_lines(facts)))
        written.seek(0, SEEK_END)
        table = csv.writer(written, lineterminator="\n")
        number = "probability" if self.signed else "distance"
        odds = ["log-odds with it", "log-odds without it"] if self.signed else []
        names = [f"{number} with it", f"{number} without it", *odds, "another answer is likelier"]
        table.writerow(["layer", "head", *names])
        for (layer, head), value in np.ndenumerate(self.without):
            odds = [repr(self.odds_before), repr(float(self.odds_without[layer, head]))] if self.signed else []
            numbers = [repr(self.before), repr(float(value)), *odds, int(self.turned[layer, head])]
            table.writerow([counted(layer), counted(head), *numbers])
        return written.getvalue()


@dataclass(frozen=True, kw_only=True, eq=False)
class Curve:
    """The answer with more and more heads muted, those with the smallest effect first."""

    counts: tuple[int, ...]
    values: Float[np.ndarray, " count"]
    turned: Bool[np.ndarray, " count"]

    def kept(self) -> int:
        """The most heads with which muted the answer stayed; with fewer it may have been another for a while."""
        return max((count for count, turned in zip(self.counts, self.turned, strict=True) if not turned), default=0)


@st.cache_resource(show_spinner=False)
def effects_cache() -> LRUCache:
    """What was measured, of all visitors."""
    return LRUCache(CACHE_BYTES)


@st.cache_resource(show_spinner=False)
def means_cache() -> LRUCache:
    """The means over examples: apart, for they are needed while the other cache has a value made."""
    return LRUCache(MEANS_BYTES)


def head_effects(selection: Selection) -> HeadEffects:
    """The heads of the attention that is looked at: those that are known, and as many more as take half a second."""
    checkpoint, trace = checkpoint_named(selection.checkpoint), trace_of(selection, NO)
    attention, baseline = selection.view.attention, selection.of(HeadsSettings).baseline
    sites = [site for site in attention_sites(trace) if (site.stack, site.sublayer) == SITES[attention]]
    outcome, key = outcome_of(checkpoint, trace), ("heads", trace_key(selection, NO), attention, baseline)
    known, start = dict[SublayerSite, Said](), time.monotonic()
    for site in sites:
        if (key, site) in effects_cache() or not known or time.monotonic() - start < AT_ONCE:
            known[site] = said_without(key, site, checkpoint, trace, baseline)
    heads = max(len(said.turned) for said in known.values())
    unknown = np.full(heads, np.nan)
    said = [known.get(site) for site in sites]
    before = said_before(checkpoint, trace, outcome)
    signed = outcome.kind != "stream"
    return HeadEffects(
        attention=attention,
        outcome=outcome,
        named=name_of(checkpoint, outcome),
        before=float(before.probability if signed else before.distance),
        without=np.stack([unknown if one is None else one.probability if signed else one.distance for one in said]),
        odds_before=float(before.log_odds),
        odds_without=np.stack([unknown if one is None else one.log_odds for one in said]),
        unit=selection.of(HeadsSettings).unit,
        turned=np.stack([np.zeros(heads, bool) if one is None else one.turned for one in said]),
        layers_left=sum(one is None for one in said),
    )


def muting_effects(selection: Selection, *, anew: bool) -> tuple[Float[np.ndarray, "layer head"], bool]:
    """What becomes of the answer without each head, in points of probability, and whether there is an answer.

    Where there is none: by how many percent of their length the last vectors move. NaN where it is not known: a sweep
    is made ``anew`` only, and not where it would take many seconds.
    """
    checkpoint, trace = checkpoint_named(selection.checkpoint), trace_of(selection, NO)
    attention = selection.view.attention
    sites = [site for site in attention_sites(trace) if (site.stack, site.sublayer) == SITES[attention]]
    outcome, key = outcome_of(checkpoint, trace), ("heads", trace_key(selection, NO), attention, "zero")
    signed = outcome.kind != "stream"
    can_measure = anew and sweep_cost(checkpoint, trace) < LARGEST_SWEEP
    if not can_measure and any((key, site) not in effects_cache() for site in sites):
        heads = attention_at(trace, sites[0]).weights.shape[0]
        return np.full((len(sites), heads), np.nan), signed
    said = [said_without(key, site, checkpoint, trace, "zero") for site in sites]
    if not signed:
        return 100 * np.stack([one.distance for one in said]), signed
    before = float(said_before(checkpoint, trace, outcome).probability)
    return 100 * (np.stack([one.probability for one in said]) - before), signed


def largest_elsewhere(selection: Selection, effects: HeadEffects) -> HeadEffects | None:
    """The heads of another attention, where one of them changes the answer more than all of this one's; else None.

    None, too, where no change would be seen, and where measuring them would take many seconds.
    """
    checkpoint, trace = checkpoint_named(selection.checkpoint), trace_of(selection, NO)
    names = [name for name in kinds_of(trace) if name != effects.attention]
    if not names or sweep_cost(checkpoint, trace) >= LARGEST_SWEEP:
        return None
    others = [whole_effects(changed_selection(selection, attention=name)) for name in names]
    largest = max(others, key=HeadEffects.size)
    least = LEAST_NATS if effects.in_nats else LEAST
    return largest if largest.size() > effects.size() and largest.size() >= least else None


def whole_effects(selection: Selection) -> HeadEffects:
    """All heads of the attention that is looked at, however long it takes."""
    effects = head_effects(selection)
    while effects.layers_left:
        effects = head_effects(selection)
    return effects


def sweep_cost(checkpoint: Checkpoint, trace: Trace) -> float:
    """About how many multiplications it takes to run the model without each head: half of it for each."""
    config, tokens = checkpoint.config, trace.text_stack.ids.shape[-1]
    stacks = len(config.stacks)
    return (stacks * config.layers) ** 2 / 2 * config.heads * tokens * 12 * config.width**2


def said_without(key: object, site: SublayerSite, checkpoint: Checkpoint, trace: Trace, baseline: str) -> Said:
    """The answer without each head of a layer."""

    def measure() -> Said:
        reference = example_means(checkpoint, trace) if baseline == "reference" else None
        ((_, said),) = each_attention(checkpoint, trace, [site], baseline=baseline, reference=reference)
        return said

    said: Said = effects_cache().get((key, site), measure, lambda _: SAID_BYTES)
    return said


def example_means(checkpoint: Checkpoint, trace: Trace) -> MeanContexts:
    """The mean context of every head over the examples of a checkpoint; of the text itself where none can be read."""
    config = checkpoint.config
    size = 12 * config.layers * config.width  # three attentions at most, of four bytes a number

    def measure() -> MeanContexts:
        return mean_contexts(checkpoint, list(example_passes(checkpoint).values()) or [trace])

    means: MeanContexts = means_cache().get(checkpoint_key(checkpoint.name), measure, lambda _: size)
    return means


def example_passes(checkpoint: Checkpoint) -> dict[str, Trace]:
    """Those of the examples that the checkpoint can read, by their texts."""
    traces = {}
    for text in examples_for(checkpoint.name)[:MOST_EXAMPLES]:
        with suppress(InputError):
            traces[text] = checkpoint.trace(text)
    return traces


def curve_of(selection: Selection, effects: HeadEffects) -> Curve:
    """The answer with more and more heads of the attention muted."""
    checkpoint, trace = checkpoint_named(selection.checkpoint), trace_of(selection, NO)
    heads = [effects.site(place) for place in effects.in_order()]
    counts = counts_of(len(heads))
    baseline = selection.of(HeadsSettings).baseline
    key = ("heads muted", trace_key(selection, NO), tuple(heads), baseline)
    said: Said = effects_cache().get(
        key,
        lambda: muted_in_turn(checkpoint, trace, heads, counts, baseline),
        lambda _: SAID_BYTES + 100 * len(heads),
    )
    values = said.log_odds if effects.in_nats else said.probability if effects.signed else said.distance
    return Curve(counts=tuple(counts), values=values, turned=said.turned)


def muted_in_turn(
    checkpoint: Checkpoint, trace: Trace, heads: Sequence[HeadSite], counts: Sequence[int], baseline: str
) -> Said:
    """The answer with the first so many of these heads muted."""
    reference = example_means(checkpoint, trace) if baseline == "reference" else None
    return cumulative_ablation(checkpoint, trace, heads, counts, baseline=baseline, reference=reference)


def without_together(
    selection: Selection, effects: HeadEffects, places: Sequence[tuple[int, int]], baseline: str
) -> Said:
    """The answer with all of these heads muted, with what the baseline names in their place."""
    checkpoint, trace = checkpoint_named(selection.checkpoint), trace_of(selection, NO)
    heads = tuple(map(effects.site, places))
    key = ("heads together", trace_key(selection, NO), heads, baseline)
    measure = lambda: muted_in_turn(checkpoint, trace, heads, [len(heads)], baseline)  # noqa: E731
    said: Said = effects_cache().get(key, measure, lambda _: SAID_BYTES + 100 * len(heads))
    return said


def counts_of(heads: int) -> Sequence[int]:
    """Every count of muted heads, or as many of them as are measured, evenly."""
    return sorted({round(share) for share in np.linspace(0, heads, min(heads, MOST_COUNTS) + 1)})
