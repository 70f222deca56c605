"""The word of a text at which some head looks hardest, and the heads that do little else."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from model.measures.head_kinds import Sides, Weights, attention_received

NEARLY_ALL = 0.9  # of its attention, on average over the queries, that a head gives the word
HALF = 0.5  # what the hardest-looking head gives at least, where none gives nearly all


@dataclass(frozen=True, kw_only=True, eq=False)
class AttentionToWord:
    """One word, and what every head gives it.

    given: the mean weight on it over the queries that may see it, for every head. heads: (layer, head) of those that
    give it at least ``NEARLY_ALL``, the first layer first; else the one that gives it most, if that is ``HALF``.
    """

    key: int
    given: Float[np.ndarray, "layer head"]
    heads: tuple[tuple[int, int], ...]

    @property
    def of_others(self) -> Float[np.ndarray, " other"]:
        """What the heads that are not among ``heads`` give it."""
        others = np.ones(self.given.shape, bool)
        others[tuple(np.array(self.heads, int).reshape(-1, 2).T)] = False
        return self.given[others]

    @property
    def hardest(self) -> tuple[int, int]:
        """The head that gives it most; of equals the first."""
        layer, head = np.unravel_index(int(self.given.argmax()), self.given.shape)
        return int(layer), int(head)


def attention_to_word(weights: Weights, sides: Sides) -> AttentionToWord | None:
    """The word to which one head's mean attention is the largest; of equals the first head's.

    Special tokens and punctuation are no words. None where the text has none that a query with a choice may see.
    """
    received = np.where(sides.punctuation, 0.0, attention_received(weights, sides))
    key = int(np.unravel_index(int(received.argmax()), received.shape)[-1])
    if received.max() == 0:
        return None
    given = received[..., key]
    heads = [(int(layer), int(head)) for layer, head in np.argwhere(given >= NEARLY_ALL)]
    word = AttentionToWord(key=key, given=given, heads=tuple(heads))
    if heads or given.max() < HALF:
        return word
    return AttentionToWord(key=key, given=given, heads=(word.hardest,))


def change_of(before: float, after: float, *, other_answer: bool) -> int:
    """Which of five changes a verdict has gone through, by its probability before and after.

    0: another answer is the likeliest now. Otherwise 1: it fell by more than 10 points; 2: by more than 2; 3: it stayed
    within 2; 4: it rose by more than 2.
    """
    if other_answer:
        return 0
    return 1 + int(np.searchsorted([-0.10, -0.02, 0.02], after - before, side="left"))
