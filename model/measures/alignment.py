"""Word alignments read off cross-attention, and how far they are from those that people made."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Float

from model.trace import StackTrace

Links = frozenset[tuple[int, int]]  # (source word, target word), both from 0
Reading = tuple[int, ...]  # () all heads of all layers, (layer,) all of a layer, (layer, head) one: their mean
Words = Sequence[int | None]  # which word each position is a piece of; None: of none
MOMENTS = ("produced", "read")


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What the error rate is computed from; of several sentences the sums."""

    found: int = 0
    sure: int = 0
    found_sure: int = 0
    found_possible: int = 0  # found links that are sure or possible

    def __add__(self, other: "Counts") -> "Counts":
        """Both together."""
        return Counts(**{one.name: getattr(self, one.name) + getattr(other, one.name) for one in fields(self)})

    @property
    def error_rate(self) -> float:
        """1 − (|A∩S| + |A∩P|) / (|A| + |S|): Och and Ney 2003, section 4.1; NaN where there is nothing to find."""
        every = self.found + self.sure
        return 1 - (self.found_sure + self.found_possible) / every if every else float("nan")


def counts(links: Links, sure: Links, possible: Links) -> Counts:
    """One sentence's; every sure link is possible too, whether ``possible`` repeats it or not."""
    allowed = len(links & (sure | possible))
    return Counts(found=len(links), sure=len(sure), found_sure=len(links & sure), found_possible=allowed)


def mean_of_reading(
    weights: Float[np.ndarray, "layer head query key"], reading: Reading
) -> Float[np.ndarray, "query key"]:
    """The mean of the heads that a reading names."""
    chosen = weights[reading]
    return chosen.mean(axis=tuple(range(chosen.ndim - 2)), dtype=np.float64)


def readings(layers: int, heads: int) -> list[Reading]:
    """All, every layer, every head."""
    return [(), *((layer,) for layer in range(layers)), *np.ndindex(layers, heads)]


def word_weights(
    weights: Float[np.ndarray, "*any query key"], queries: Words, keys: Words, counted: tuple[int, int]
) -> Float[np.ndarray, "*any target source"]:
    """What every target word gives to every source word, of so many target and source words.

    The sum over the pieces of the source word, the mean over those of the target word (Clark et al. 2019, "What Does
    BERT Look At?", section 4.1). A word without a piece gives and is given 0.
    """
    onto, into = _membership(queries, counted[0]), _membership(keys, counted[1])
    pieces = np.maximum(onto.sum(axis=1, keepdims=True), 1)
    return (onto / pieces) @ weights.astype(np.float64) @ into.T


def _membership(words: Words, count: int) -> Float[np.ndarray, "word position"]:
    return np.array([[float(word == number) for word in words] for number in range(count)]).reshape(count, len(words))


def words_of(stack: StackTrace, spans: list[tuple[int, int]]) -> list[int | None]:
    """For every position the word that most of its characters are of; None for what was added."""
    return [None if span is None else covering_word(span, spans) for span in stack.spans or ()]


def covering_word(piece: tuple[int, int], spans: list[tuple[int, int]]) -> int | None:
    """The word that has most of a piece's characters."""
    shared = [min(piece[1], end) - max(piece[0], start) for start, end in spans]
    best = max(range(len(shared)), key=shared.__getitem__, default=None)
    return best if best is not None and shared[best] > 0 else None


def produced_words(words: Words) -> list[int | None]:
    """Which word a position produces a piece of, from those that the positions read: the next position's."""
    return [*words[1:], None]


def renumbered(words: Words) -> list[int | None]:
    """The same words with numbers from 0 on and none left out."""
    numbers = {word: number for number, word in enumerate(sorted({word for word in words if word is not None}))}
    return [None if word is None else numbers[word] for word in words]


def strongest_links(weights: Float[np.ndarray, "target source"]) -> Links:
    """Every target word with the source word that it gives most to, the earlier of equals; none where all is 0."""
    most = weights.argmax(axis=1) if weights.size else []
    return frozenset((int(source), target) for target, source in enumerate(most) if weights[target, source] > 0)


def diagonal(targets: int, sources: int) -> Links:
    """Every target word with the source word at the same share of the way: what knows nothing but the lengths."""
    return frozenset((int((target + 0.5) * sources / targets), target) for target in range(targets))
