"""Two runs of one text against each other: how far the second went from the first, and what each does."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from torch import Tensor

from model.measures.head_statistics import head_statistics

Streams = Sequence[Float[Tensor, "_ _"]] | Sequence[Float[np.ndarray, "_ _"]]  # (position, width) of every layer
Stream = Float[Tensor, "position width"] | Float[np.ndarray, "position width"]
Weights = Float[Tensor, "head query key"] | Float[np.ndarray, "head query key"]


def stream_distances(before: Streams, after: Streams) -> Float[np.ndarray, " layer"]:
    """‖after − before‖ / ‖before‖ of every layer's stream, over all positions (L2). ValueError for unlike streams."""
    if [tuple(stream.shape) for stream in before] != [tuple(stream.shape) for stream in after]:
        raise ValueError("streams of different shapes, wanted two runs of one text through one model")
    pairs = ((double(first), double(second)) for first, second in zip(before, after, strict=True))
    return np.array([np.linalg.norm(second - first) / np.linalg.norm(first) for first, second in pairs])


def mean_entropy(weights: Weights) -> float:
    """How widely the rows spread, in bits: −Σ w·log₂ w, the mean over queries and heads."""
    return float(np.nanmean(head_statistics(double(weights)[None], None, None, cross=True)["entropy"]))


def mean_largest(weights: Weights) -> float:
    """The largest weight of a row, the mean over queries and heads."""
    return float(double(weights).max(axis=-1).mean())


def share_later(weights: Weights) -> float:
    """Σ w where the key stands after the query, as a share of Σ w. Query and key are positions of one text."""
    numbers = double(weights)
    return float(np.triu(numbers, 1).sum() / numbers.sum())


def share_near(weights: Weights) -> float:
    """Σ w where the key is the query's own token or a neighbour, as a share of Σ w."""
    numbers = double(weights)
    return float((np.triu(numbers, -1) - np.triu(numbers, 2)).sum() / numbers.sum())


def mean_cosine(stream: Stream) -> float:
    """How alike the positions' vectors are: the cosine of two different positions, the mean over all pairs.

    NaN for a single position.
    """
    vectors = double(stream)
    directions = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    count = len(directions)
    return float(((directions @ directions.T).sum() - count) / (count * (count - 1))) if count > 1 else float("nan")


def mean_length(stream: Stream) -> float:
    """The length (L2) of a position's vector, the mean over positions."""
    return float(np.linalg.norm(double(stream), axis=1).mean())


def matching_positions(first: Sequence[int], second: Sequence[int]) -> list[int] | None:
    """Where each id of ``second`` stands in ``first``, the n-th of equal ids at the n-th; None for other ids."""
    if sorted(first) != sorted(second):
        return None
    places = np.empty(len(second), np.int64)
    places[np.argsort(second, kind="stable")] = np.argsort(first, kind="stable")
    return list(map(int, places))


def largest_difference(first: Stream, second: Stream, order: Sequence[int]) -> float:
    """The largest |first[order] − second| of any position and coordinate: 0 where they are one up to that order."""
    return float(np.abs(double(first)[list(order)] - double(second)).max())


def peak(line: Float[np.ndarray, " place"]) -> tuple[int, float]:
    """The place of the largest number of a line, of equals the first, and that number."""
    place = int(line.argmax())
    return place, float(line[place])


def double(numbers: object) -> np.ndarray:
    """The numbers in float64."""
    return np.asarray(numbers, np.float64)
