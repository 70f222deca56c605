"""One word in sentences of two senses: which of the others its vector is nearest to, layer by layer."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from jaxtyping import Bool, Float, Int


@dataclass(frozen=True, kw_only=True)
class SortedSenses:
    """For every sentence at every step, the other sentence with the nearest vector, and whether it has the same sense.

    A step is what enters the first layer, then every layer's result.
    """

    nearest: Int[np.ndarray, "sentence step"]
    own_sense: Bool[np.ndarray, "sentence step"]
    mean_cosines: Float[np.ndarray, " step"]  # of every two sentences

    @property
    def counts(self) -> tuple[int, ...]:
        """At each step, how many sentences find one of their own sense."""
        return tuple(self.own_sense.sum(axis=0).tolist())

    @property
    def first_sorted_layer(self) -> int | None:
        """The first layer, counted from 1, after which every sentence does; None where there is none."""
        steps = enumerate(self.counts)
        return next((step for step, count in steps if step and count == len(self.own_sense)), None)


def cosines_between(vectors: Float[np.ndarray, "sentence step width"]) -> Float[np.ndarray, "step sentence sentence"]:
    """The cosine of every two sentences' vectors, at every step."""
    directions = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.einsum("asw,bsw->sab", directions, directions)


def nearest_sentences(vectors: Float[np.ndarray, "sentence step width"]) -> Int[np.ndarray, "sentence step"]:
    """The other sentence whose vector has the largest cosine; the first of those with the same."""
    cosines = cosines_between(vectors)
    count = len(vectors)
    cosines[:, range(count), range(count)] = -np.inf
    return cosines.argmax(axis=-1).T


def sorted_senses(vectors: Float[np.ndarray, "sentence step width"], senses: Sequence[int]) -> SortedSenses:
    """Which sentences find their own sense. senses: of each sentence; at least two sentences."""
    nearest, kinds = nearest_sentences(vectors), np.asarray(senses)
    first, second = np.triu_indices(len(kinds), k=1)
    means = cosines_between(vectors)[:, first, second].mean(axis=-1)
    return SortedSenses(nearest=nearest, own_sense=kinds[nearest] == kinds[:, None], mean_cosines=means)


def nearest_to(
    vector: Float[np.ndarray, "step width"], vectors: Float[np.ndarray, "sentence step width"]
) -> Int[np.ndarray, " step"]:
    """The sentence whose vector is nearest to that of one more, at every step."""
    cosines = cosines_between(np.concatenate([vectors, vector[None]]))
    return cosines[:, -1, :-1].argmax(axis=-1)


def right_by_chance(senses: Sequence[int]) -> float:
    """How many sentences would find their own sense, on average, if the nearest were any other with equal chance."""
    kinds = np.asarray(senses)
    return float(sum((kinds == kind).sum() - 1 for kind in kinds) / (len(kinds) - 1))


def as_good_divisions(nearest: Int[np.ndarray, " sentence"], senses: Sequence[int]) -> tuple[int, int]:
    """Of all ways to divide the sentences into two halves, those that are as good as the senses, and all.

    As good: at least as many sentences have their nearest in their own half. ValueError unless each of two senses has
    half of the sentences.
    """
    kinds = np.asarray(senses)
    half = len(kinds) // 2
    if (kinds == kinds[0]).sum() != half or len(kinds) != 2 * half:
        raise ValueError(f"found senses {list(senses)}, wanted two with half of the sentences each")
    halves = np.asarray([(0, *others) for others in combinations(range(1, len(kinds)), half - 1)])
    divisions = np.zeros((len(halves), len(kinds)), dtype=bool)
    np.put_along_axis(divisions, halves, values=True, axis=1)
    right = (divisions == divisions[:, nearest]).sum(axis=1)
    return int((right >= (kinds[nearest] == kinds).sum()).sum()), len(halves)
