"""An n-gram model with modified Kneser-Ney smoothing: what a language model is measured against.

Chen and Goodman 1999, "An empirical study of smoothing techniques for language modeling", section 4.1.6, interpolated.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float64, Int64
from tqdm import tqdm

Ids = Int64[np.ndarray, "token"]
MOST = 3  # n-grams that came so often or oftener share a discount


class Places(NamedTuple):
    """The n-grams of a text: which known one starts at each position, and the first position of each."""

    keys: Int64[np.ndarray, "gram"]
    numbers: Int64[np.ndarray, "position"]
    counts: Int64[np.ndarray, "gram"]
    first: Int64[np.ndarray, "gram"]


@dataclass(frozen=True)
class Level:
    """All n-grams of one n: a key is the number of the n-gram's beginning × vocabulary + its last token.

    ``weights`` are the counts less their discounts, as a share of their context's; ``rest`` is what a context leaves
    to the level below.
    """

    keys: Int64[np.ndarray, "gram"]
    weights: Float64[np.ndarray, "gram"]
    rest: Float64[np.ndarray, "context"]

    def find(self, keys: Int64[np.ndarray, "position"]) -> Int64[np.ndarray, "position"]:
        """The number of the n-gram of every key, -1 where it is not known."""
        places = np.searchsorted(self.keys, keys).clip(max=len(self.keys) - 1)
        return np.where(self.keys[places] == keys, places, -1)


class KneserNey:
    """Learned from a text of ids in one pass, in memory."""

    def __init__(self, ids: np.ndarray, order: int, vocabulary: int) -> None:
        self.order, self.vocabulary = order, vocabulary
        text, grams = ids.astype(np.int64), list[Places]()
        numbers = np.zeros(len(text), np.int64)  # of the empty n-gram
        for length in tqdm(range(1, order + 1), desc="counting n-grams", leave=False):
            keys = numbers[: len(text) - length + 1] * vocabulary + text[length - 1 :]
            grams.append(Places(*places(keys)))
            numbers = grams[-1].numbers
        sizes = [1, *(len(gram.keys) for gram in grams)]
        self.levels = [
            level(gram.keys, counts, gram.keys // vocabulary, contexts)
            for gram, counts, contexts in zip(grams, continuation_counts(grams), sizes, strict=False)
        ]

    def log_probabilities(self, ids: np.ndarray) -> Float64[np.ndarray, "token"]:
        """The natural logarithm of every token's probability given those before it, at most ``order`` - 1 of them."""
        text = ids.astype(np.int64)
        probabilities, contexts = np.full(len(text), 1 / self.vocabulary), np.zeros(len(text), np.int64)
        for level in self.levels:
            numbers = np.where(contexts >= 0, level.find(contexts * self.vocabulary + text), -1)
            probabilities = blended_probabilities(level, probabilities, contexts, numbers)
            contexts = np.concatenate([[-1], numbers[:-1]])  # of the n-gram that ends before each token
        return np.log(probabilities)


def blended_probabilities(
    level: Level, below: Float64[np.ndarray, "token"], contexts: Ids, numbers: Ids
) -> Float64[np.ndarray, "token"]:
    """The probabilities of one level where the context is known, those of the level below elsewhere."""
    has_context: Bool[np.ndarray, "token"] = contexts >= 0
    has_context &= level.rest[contexts.clip(min=0)] > 0
    own = np.where(numbers >= 0, level.weights[numbers.clip(min=0)], 0)
    return np.where(has_context, own + level.rest[contexts.clip(min=0)] * below, below)


def places(keys: Int64[np.ndarray, "position"]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Different keys, which of them stands at each position, how often each does, and where first."""
    different, first, numbers, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    return different, numbers, counts, first


def continuation_counts(grams: list[Places]) -> list[Int64[np.ndarray, "gram"]]:
    """How often the n-grams of each level came: of all but the longest, after how many different tokens."""
    counts = []
    for gram, longer in pairwise(grams):
        endings = gram.numbers[longer.first + 1]
        counts.append(np.bincount(endings, minlength=len(gram.keys)).clip(min=1))
    return [*counts, grams[-1].counts]


def level(
    keys: Int64[np.ndarray, "gram"], counts: Int64[np.ndarray, "gram"], context: Int64[np.ndarray, "gram"], size: int
) -> Level:
    """Discounted shares, and what they leave."""
    taken = discounts(counts)[counts.clip(max=MOST)]
    total = np.bincount(context, weights=counts, minlength=size)
    left = np.bincount(context, weights=taken, minlength=size)
    rest = np.divide(left, total, out=np.zeros(size), where=total > 0)
    return Level(keys, (counts - taken) / total[context], rest)


def discounts(counts: Int64[np.ndarray, "gram"]) -> Float64[np.ndarray, "4"]:
    """What is taken off a count of 1, of 2, of 3 or more (their equation 26); a half where too few counts are known."""
    often = [int((counts == number).sum()) for number in range(1, MOST + 2)]
    if not all(often):
        return np.array([0.0, 0.5, 0.5, 0.5])
    share = often[0] / (often[0] + 2 * often[1])
    values = [number - (number + 1) * share * often[number] / often[number - 1] for number in range(1, MOST + 1)]
    return np.array([0.0, *(min(max(value, 0.05), number) for number, value in enumerate(values, start=1))])
