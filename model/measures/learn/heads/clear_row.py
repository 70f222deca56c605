"""The row of a head in which a word looks away from itself, most of all at one other word."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

LEAST = 0.5  # of a row, that its largest weight has to be to be clear
MARGIN = 2.0  # how many times the second largest it has to be
MOST = 0.95  # of a row, beyond which nothing is left to be seen of the others
AWAY = 2  # positions: a next neighbour is what everybody guesses
LETTERS = 4  # of a query that is more than a "the" or an "it"


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


def whole_words(tokens: Sequence[str], words: Sequence[int | None] | None, special: Sequence[bool] | None) -> list[int]:
    """The positions of tokens that are a word each: no piece of one, no punctuation, nothing that a tokenizer added."""
    numbers = list(range(len(tokens)) if words is None else words)
    return [
        place
        for place, token in enumerate(tokens)
        if any(map(str.isalnum, token)) and numbers.count(numbers[place]) == 1 and not (special and special[place])
    ]


def clear_row(
    weights: Float[np.ndarray, "layer head query key"],
    tokens: Sequence[str],
    places: Sequence[int],
    *,
    causal: bool = False,
) -> ClearRow | None:
    """Of all heads and of the queries at ``places``, the row that is most worth a guess.

    places: the positions of whole words, in order; None where they are fewer than two. A row is clear where one other
    of them gets at least half of it, and twice as much as any other key. Among those come first, in this order, rows
    whose key is no neighbour and that leave at least 5 % to other keys; queries of four letters or more; heads whose
    words look at the most different keys; the farthest key; the largest weight; the first layer, head and query.

    others: the query itself, its neighbours among the words, and the word with the second largest weight; in a causal
    model only such as the query may see.
    """
    if len(places) < 2:
        return None
    words = np.array(places)
    rows = weights[:, :, words]  # (layer, head, place, key)
    place_of_best = order_of(rows, tokens, words)
    layer, head, place = (int(index) for index in np.unravel_index(place_of_best, rows.shape[:3]))
    row, query = rows[layer, head, place], int(words[place])
    key = int(row.argmax())
    seen = [each for each in places if each <= query or not causal]
    near = sorted((each for each in seen if each != query), key=lambda each: (abs(each - query), each))
    second = max((each for each in seen if each not in (query, key)), key=lambda each: row[each], default=query)
    others = {query, *near[:2], second} - {key}
    return ClearRow(
        layer=layer,
        head=head,
        query=query,
        key=key,
        weights=row,
        others=tuple(sorted(others)),
        clear=bool(is_clear(rows, words)[layer, head, place]) and bool(others),
    )


def at_query(row: ClearRow, weights: Float[np.ndarray, "layer head query key"], query: int) -> ClearRow:
    """The row of another query of the same head."""
    other = weights[row.layer, row.head, query]
    return replace(row, query=query, key=int(other.argmax()), weights=other)


def is_clear(
    rows: Float[np.ndarray, "layer head place key"], words: Int[np.ndarray, " place"]
) -> Bool[np.ndarray, "layer head place"]:
    """Whether one key, another word, gets at least half of a row, and twice as much as any other."""
    second, first = np.moveaxis(np.partition(rows, -2, axis=-1)[..., -2:], -1, 0)
    keys = rows.argmax(axis=-1)
    return (first >= LEAST) & (first >= MARGIN * second) & np.isin(keys, words) & (keys != words)


def order_of(
    rows: Float[np.ndarray, "layer head place key"], tokens: Sequence[str], words: Int[np.ndarray, " place"]
) -> int:
    """The flat index of the best row, by the order that ``clear_row`` describes."""
    keys, largest = rows.argmax(axis=-1), rows.max(axis=-1)
    distance = np.abs(keys - words)
    different = (np.diff(np.sort(keys, axis=-1), axis=-1) != 0).sum(axis=-1)[..., None]
    long = np.array([sum(map(str.isalpha, tokens[word])) >= LETTERS for word in words])
    clear = is_clear(rows, words)
    surprising = clear & (distance >= AWAY) & (largest <= MOST)
    criteria = (-np.arange(keys.size).reshape(keys.shape), largest, distance, different, long, surprising, clear)
    return int(np.lexsort([np.broadcast_to(each, keys.shape).ravel() for each in criteria])[-1])
