"""Measures of heads as the explorer's grid shows them: a number for each head, drawn as a bar with its value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
from jaxtyping import Float

from model.measures.head_kinds import KINDS
from model.measures.head_scores.score_file import HeadScores
from viz.charts.head_statistics import TITLES
from viz.explorer.layout import BAR_DIGITS, LEAST_BAR
from viz.explorer.view import ABOVE, MOVED, MUTED, OVER_TEXTS
from viz.text.head_findings import NAMES
from viz.text.head_kind_tables import NAMES as NAMES_OVER_TEXTS
from viz.text.head_kind_tables import RANDOM, measured_on

DIGITS = 4  # significant, that the browser gets
NO_MEASURES: Mapping[str, Sequence["HeadMeasure"]] = {}
KINDS_HERE, CAUSES = "what it looks at in this text, beyond chance", "what it does in this text"
STATISTICS, KINDS_OVER_TEXTS = "its weights in this text", "what it looks at over many texts, beyond chance"


@dataclass(frozen=True, kw_only=True, eq=False)
class HeadMeasure:
    """A number for every head of one attention; NaN where a head has none.

    group: the heading under which it stands in the list. label: what it is called there. said: the same in a sentence
    about a head, "{} {value}". by_size: whether in order of it the sign does not count.
    """

    name: str
    group: str
    label: str
    said: str
    values: Float[np.ndarray, "layer head"]
    by_size: bool = False

    def to_message(self) -> dict[str, Any]:
        """Plain values, as the browser takes them."""
        values = [[rounded(value) for value in row] for row in self.values.tolist()]
        words = {"name": self.name, "group": self.group, "label": self.label, "said": self.said}
        return words | {"by_size": self.by_size, "values": values}


def rounded(value: float) -> float | None:
    """The number with four significant digits; None for NaN."""
    return float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None


def of_statistics(statistics: Mapping[str, Float[np.ndarray, "layer head"]]) -> list[HeadMeasure]:
    """Those of model/measures/head_statistics.py."""
    return [
        HeadMeasure(name=name, group=STATISTICS, label=title, said=title, values=statistics[name])
        for name, title in TITLES.items()
        if name in statistics
    ]


def of_excess(excess: Mapping[str, Float[np.ndarray, "layer head"]]) -> list[HeadMeasure]:
    """By how much the kinds of model/measures/head_kinds.py exceed their null in this text."""
    return [
        HeadMeasure(
            name=f"{ABOVE}{kind}",
            group=KINDS_HERE,
            label=f"{NAMES[kind].lower()}, in this text",
            said=f"“{NAMES[kind].lower()}” in this text, beyond chance",
            values=excess[kind],
        )
        for kind in KINDS
        if kind in excess
    ]


def of_moved(lengths: Float[np.ndarray, "layer head"]) -> list[HeadMeasure]:
    """How long what a head adds to the stream is, the mean over queries."""
    said = "mean length of what it adds to the stream"
    return [HeadMeasure(name=MOVED, group=CAUSES, label="length of what it adds", said=said, values=lengths)]


def of_muting(changes: Float[np.ndarray, "layer head"], *, signed: bool) -> list[HeadMeasure]:
    """What the answer loses without each head, from the change of its probability in points; a gain is negative.

    signed: else, where the model predicts nothing, by how many percent of their length the last vectors move.
    """
    what = "points that the answer loses" if signed else "percent of their length that the last vectors move"
    label = "what muting it costs the answer" if signed else "effect of muting it on the last vectors"
    said = f"{what} when it alone is muted"
    # Blue is what speaks for the answer, as on every page, and what is above 0 here.
    values = -changes if signed else changes
    return [HeadMeasure(name=MUTED, group=CAUSES, label=label, said=said, values=values, by_size=True)]


def of_scores(scores: HeadScores, attention: str) -> list[HeadMeasure]:
    """By how much the kinds that were measured over many texts exceed their null there."""
    tables, on = scores.kinds.get(attention, {}), measured_on(scores)
    return [
        HeadMeasure(
            name=f"{OVER_TEXTS}{kind}",
            group=KINDS_OVER_TEXTS,
            label=f"{name}, over many texts",
            said=f"“{name}” over {RANDOM if kind == 'induction' else on}, beyond chance",
            values=tables[kind].scores - tables[kind].nulls,
        )
        for kind, (name, _) in NAMES_OVER_TEXTS.items()
        if kind in tables
    ]


def largest_magnitude(values: Float[np.ndarray, "layer head"]) -> float:
    """What a whole bar stands for: the largest |value|, or 1 where all are next to 0, or there is none."""
    largest = float(np.nanmax(np.abs(values), initial=0.0)) if np.isfinite(values).any() else 0.0
    return largest if largest >= LEAST_BAR else 1.0


def ranks(values: Float[np.ndarray, "layer head"], *, by_size: bool = False) -> list[tuple[int, int]]:
    """The heads, the one with the largest value, or size, first, of equals the earlier; those without a value last."""
    values = np.abs(values) if by_size else values
    keys = np.where(np.isfinite(values), -values, np.inf).ravel()
    return [divmod(int(place), values.shape[1]) for place in np.argsort(keys, kind="stable")]


def value_text(value: float) -> str:
    """The number under a thumbnail, of three figures at most: "0.42", "−0.05", "3.1", "12"; "" for none."""
    if not np.isfinite(value):
        return ""
    digits = next(digits for most, digits in BAR_DIGITS if abs(value) < most)
    number = Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)  # as a browser rounds
    return f"{number:f}".replace("-", "−" if number else "")


def chosen_measure(measures: Sequence[HeadMeasure], name: str) -> HeadMeasure | None:
    """The measure of a name, if it is there."""
    return next((measure for measure in measures if measure.name == name), None)
