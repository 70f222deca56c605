"""The row of a head in which one key gets most of the attention."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

LEAST = 0.5  # of a row, that its largest weight has to be to be clear
MARGIN = 2.0  # how many times the second largest it has to be
OTHERS = 3  # keys beside the right one, among which one guesses


@dataclass(frozen=True, kw_only=True)
class ClearRow:
    """A query, the key that it gives most, and other keys to guess among. clear: whether the row has one answer."""

    layer: int
    head: int
    query: int
    key: int
    weights: Float[np.ndarray, " key"]
    others: tuple[int, ...]
    clear: bool


def clear_row(
    weights: Float[np.ndarray, "layer head query key"], places: Sequence[int], head: tuple[int, int]
) -> ClearRow | None:
    """Of one head, the row of the first of ``places`` whose largest weight is on another of them; else the clearest.

    places: the positions of whole words; None where there are fewer than two. The others to guess among are the
    query's nearest neighbours in the text, for whoever has to guess takes those.
    """
    layer, number = head
    if len(places) < 2:
        return None
    rows = weights[layer, number]
    elsewhere = [place for place in places if int(rows[place].argmax()) in places and rows[place].argmax() != place]
    query = max(
        elsewhere or places, key=lambda place: (is_clear(rows[place]), -place if elsewhere else rows[place].max())
    )
    key = int(rows[query].argmax())
    near = sorted((place for place in places if place != key), key=lambda place: (abs(place - query), place))
    return ClearRow(
        layer=layer,
        head=number,
        query=query,
        key=key,
        weights=rows[query],
        others=tuple(near[:OTHERS]),
        clear=key in places and is_clear(rows[query]),
    )


def is_clear(row: Float[np.ndarray, " key"]) -> bool:
    """Whether one key gets at least half of a row, and twice as much as any other."""
    first, second = np.sort(row)[::-1][:2]
    return bool(first >= LEAST and first >= MARGIN * second)
