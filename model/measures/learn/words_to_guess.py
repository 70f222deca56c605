"""Among which words of a source one guesses where a translation looks."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

MOST = 5


def words_to_guess(row: Float[np.ndarray, " source"], words: Sequence[str], is_word: Sequence[bool]) -> list[int]:
    """Places in the order of the text: the word with the largest weight of the row, and the first others.

    No two are the same word, whatever their case. Where what has the largest weight is no word, it is not among them.
    """
    best = int(row.argmax())
    first: dict[str, int] = {}
    for place, word in enumerate(words):
        if is_word[place] and word.lower() != words[best].lower():
            first.setdefault(word.lower(), place)
    others = list(first.values())[: MOST - 1]
    return sorted([*others, best] if is_word[best] else others)
