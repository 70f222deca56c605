"""Among which words of a source one guesses where a translation looks."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

MOST = 5


def words_to_guess(row: Float[np.ndarray, " source"], words: Sequence[str], is_word: Sequence[bool]) -> list[int]:
    """Places in the order of the text: those words to which the row gives most.

    No two are the same word, whatever their case. Where what has the largest weight is no word, it is not among them.
    """
    best = int(row.argmax())
    first: dict[str, int] = {words[best].lower(): best} if is_word[best] else {}
    for place in np.argsort(-row, kind="stable").tolist():
        if is_word[place] and words[place].lower() != words[best].lower():
            first.setdefault(words[place].lower(), place)
    return sorted(list(first.values())[:MOST])
