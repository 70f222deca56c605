"""What is worth seeing first in a translation: which heads to read its links off, and which word to look at."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from jaxtyping import Float

from model.measures.alignment import Reading, Words, mean_of_reading, readings, word_weights

# As ``model.training.alignment`` names its figures; layers and heads count from 1 there.
RATE = re.compile(r"alignment error rate, (?P<set>.+?), (?P<what>the diagonal|(?:best head,|mean of) .+)", re.DOTALL)
OF_HEADS = re.compile(
    r"(?:best head, chosen on other sentences: layer (?P<layer>\d+) head (?P<head>\d+)|mean of layer (?P<mean>\d+)"
    r"|mean of (?P<every>all heads)), while a word is (?P<moment>produced|read)"
)
POINTED = 0.5  # of the weight: a word that gives more than that to one source word points at it
Place = tuple[str, Reading]  # a moment and the heads that are read
DIAGONAL: Place = ("", ())  # what knows nothing but the lengths
Rates = dict[Place, dict[str, tuple[float, int]]]  # by what was measured and the set: percent, sentences


def units(words: Words) -> list[int]:
    """Every position's word, numbered from 0 as they come; a position of no word is a unit of its own."""
    numbers: dict[object, int] = {}
    keys = [("alone", place) if word is None else ("word", word) for place, word in enumerate(words)]
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def measured_reading(card: Mapping[str, object], moment: str, layers: int, heads: int) -> Reading | None:
    """The reading that comes closest to alignments made by hand, by the error rates in a checkpoint's card.

    The mean over the card's sets, by their sentences; only readings that were measured on the same sets as the diagonal
    and are better than it. None where there is none.
    """
    rates = _rates(card)
    least = rates.pop(DIAGONAL, {})
    there = set(readings(layers, heads))
    rate_of = {
        reading: _mean(by_set)
        for (at, reading), by_set in rates.items()
        if at == moment and reading in there and by_set.keys() == least.keys()
    }
    best = min(rate_of, key=rate_of.__getitem__, default=None)
    return best if best is not None and rate_of[best] < _mean(least) else None


def _rates(card: Mapping[str, object]) -> Rates:
    rates: Rates = defaultdict(dict)
    listed = card.get("evaluations")
    for row in listed if isinstance(listed, list | tuple) else ():
        if not isinstance(row, Mapping):
            continue
        named = RATE.fullmatch(str(row.get("what")))
        value, examples = row.get("value"), row.get("examples")
        if named and isinstance(value, int | float) and isinstance(examples, int) and examples > 0:
            what = _measured(named["what"])
            if what is not None:
                rates[what][named["set"]] = float(value), examples
    return rates


def _measured(what: str) -> Place | None:
    """The moment and the heads of a figure; None for what is no figure of heads."""
    if what == "the diagonal":
        return DIAGONAL
    match = OF_HEADS.fullmatch(what)
    if match is None:
        return None
    named = [number for number in (match["layer"] or match["mean"], match["head"]) if number]
    return match["moment"], tuple(int(number) - 1 for number in named)


def _mean(by_set: Mapping[str, tuple[float, int]]) -> float:
    return sum(value * count for value, count in by_set.values()) / sum(count for _, count in by_set.values())


def information(weights: Float[np.ndarray, "target source"]) -> float:
    """Bits that the source word looked at tells of the target word that looks, each of them as likely as the other.

    The mutual information of the two, with the weights as the chances of the source word. Its null is 0: heads that
    look the same way whatever word they look for tell nothing, however sharply they look. A target word without
    weights is left out.
    """
    rows = weights[weights.sum(axis=1) > 0]
    if not len(rows):
        return 0.0
    chances = rows / rows.sum(axis=1, keepdims=True)
    shared = chances.mean(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(chances > 0, chances * np.log2(chances / shared), 0.0)
    return float(terms.sum(axis=1).mean())


def pointed_reading(
    weights: Float[np.ndarray, "layer head query key"],
    queries: Words,
    keys: Words,
    counted: tuple[int, int],
    moment: str,
) -> Reading:
    """The reading whose links tell most of which target word looks, where no alignments made by hand say better.

    While a word is produced, the lower half of the layers is left out: it tells of the word before, which is being read
    then (Chen et al. 2020, "Accurate Word Alignment Induction from Neural Machine Translation", section 3). The other
    arguments are those of ``word_weights``. Of equals the first of ``readings``.
    """
    layers, heads = weights.shape[:2]
    lowest = layers // 2 if moment == "produced" else 0
    every = [one for one in readings(layers, heads) if not one or one[0] >= lowest]
    return max(every, key=lambda one: information(word_weights(mean_of_reading(weights, one), queries, keys, counted)))


def most_reordered(
    weights: Float[np.ndarray, "target source"], targets: Sequence[bool], sources: Iterable[int]
) -> int | None:
    """The target word whose link departs most from reading the source word after word.

    The null: a writer that goes through both texts at one pace links a word as far behind the link of the word before
    as the two words are apart (the jump of Vogel et al. 1996, "HMM-Based Word Alignment", is 1 then). The departure is
    counted in source words and multiplied by the weight. Counted are the target words that give more than half of their
    weight to one of ``sources``; where all keep the pace, the one that gives most to a word that others give least.

    targets: which of them may be chosen. sources: those that are words. None where no target may be.
    """
    allowed = [place for place, is_word in enumerate(targets) if is_word]
    if not allowed:
        return None
    best, of_words = weights.argmax(axis=1), set(sources)
    pointing = [place for place in allowed if weights[place, best[place]] > POINTED and int(best[place]) in of_words]
    departures = {
        later: abs(int(best[later]) - int(best[before]) - (later - before)) * float(weights[later, best[later]])
        for before, later in pairwise(pointing)
    }
    if max(departures.values(), default=0.0) > 0:
        return max(departures, key=departures.__getitem__)
    beyond = weights - weights.mean(axis=0)
    return max(pointing or allowed, key=lambda place: float(beyond[place, best[place]]))


def largest_of(
    weights: Float[np.ndarray, "layer head query key"], query: int, reading: Reading
) -> tuple[int, int, int]:
    """Layer, head and key of the largest weight that a query gives in the heads of a reading; of equals the first."""
    depth = weights.shape[:2]
    heads = [one for one in np.ndindex(*depth) if one[: len(reading)] == reading]
    layer, head = max(heads, key=lambda one: float(weights[one][query].max()))
    return layer, head, int(weights[layer, head, query].argmax())


def most_looked_at(row: Float[np.ndarray, " source"]) -> tuple[int, float] | None:
    """The source position or word with the largest weight of a row, of equals the first, and that weight.

    None where the row gives no weight at all.
    """
    best = int(row.argmax())
    return (best, float(row[best])) if row[best] > 0 else None
