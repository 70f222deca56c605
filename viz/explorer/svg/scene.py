"""What all panels of one picture draw from: the numbers of a view, by the rules of viz/explorer/view.py."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, UInt8

from viz.explorer.attention_kinds import Kind
from viz.explorer.head_measures import NO_MEASURES, HeadMeasure, chosen_measure
from viz.explorer.svg.paint import shades_of
from viz.explorer.view import ShownNumbers, TokenGroup, View, drawn_weights, largest_of, shown_numbers, strength
from viz.theme import Theme


@dataclass(frozen=True, kw_only=True)
class Scene:
    """One layer as it is drawn. ``row`` and ``column`` are the marked query and key, None where there is none."""

    kind: Kind
    view: View
    theme: Theme
    shades: UInt8[np.ndarray, "shade channel"]
    selection: ShownNumbers
    numbers: Float[np.ndarray, "head query key"]  # what is drawn of each head that is on
    mean: Float[np.ndarray, "query key"]  # and of their mean
    full: list[float]  # what full colour stands for in each head
    full_mean: float
    row: int | None
    column: int | None
    measure: HeadMeasure | None = None  # whose bars the grid has

    @property
    def strengths(self) -> Float[np.ndarray, "head query key"]:
        """How strong each weight of each head is drawn."""
        pairs = zip(self.numbers, self.full, strict=True)
        return np.array([strength(head, self.view, full) for head, full in pairs]).reshape(self.numbers.shape)

    def strength_of(self, weights: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
        """How strong weights of the mean are drawn."""
        return strength(weights, self.view, self.full_mean)


def scene_of(
    kinds: Mapping[str, Kind], view: View, theme: Theme, measures: Mapping[str, Sequence[HeadMeasure]] = NO_MEASURES
) -> Scene:
    """The scene of a view. measures: of heads, by attention. ValueError where there is no such attention or layer."""
    if view.attention not in kinds:
        raise ValueError(f"attention: found {view.attention!r}, expected one of {', '.join(kinds)}")
    kind = kinds[view.attention]
    if view.layer >= kind.layers:
        raise ValueError(f"layer: found {view.layer}, expected a whole number from 0 to {kind.layers - 1}")
    view = view.scaled_for(kind.weights[0].shape[-1])
    selection = shown_numbers(kind, view)
    mean = selection.mean if selection.heads else np.zeros(selection.weights.shape[1:], np.float32)
    return Scene(
        kind=kind,
        view=view,
        theme=theme,
        shades=shades_of(theme, view.colours),
        selection=selection,
        numbers=drawn_weights(selection.weights, view),
        mean=drawn_weights(mean, view),
        full=largest_of(selection.weights, view),
        full_mean=full_of_mean(selection, mean, view),
        row=place_of(selection.queries, view.query),
        column=place_of(selection.keys, view.key),
        measure=chosen_measure(measures.get(kind.name, ()), view.measure),
    )


def full_of_mean(selection: ShownNumbers, mean: Float[np.ndarray, "query key"], view: View) -> float:
    """What full colour stands for in the mean: where the heads share a largest weight, theirs."""
    together = selection.weights if view.maximum == "shared" and selection.heads else mean[None]
    return largest_of(together, view)[0]


def place_of(groups: Sequence[TokenGroup], position: int | None) -> int | None:
    """Which row or column a position stands in."""
    if position is None:
        return None
    return next((place for place, group in enumerate(groups) if group.first <= position <= group.last), None)
