"""What the last token of a text looks at, beside what those before it looked at: the next token comes from there."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True, kw_only=True)
class LastLink:
    """One weight of the last row of a causal attention; layer, head and key from 0."""

    layer: int
    head: int
    key: int
    weight: float
    before: float  # what the queries before the last gave this key on average, in the same head


def most_unusual_link(weights: Float[np.ndarray, "layer head query key"]) -> LastLink | None:
    """The weight of the last query that exceeds most what the queries before it gave the same key in the same head.

    The null is the head's own habit: one that looks at the first token, or at one word, whatever has been read last,
    exceeds it by nothing. Keys before the last token are compared, those that at least one earlier query could see.
    None for a text of one token.
    """
    last = weights.shape[2] - 1
    if last < 1:
        return None
    seeing = np.tril(np.ones((last, last)))
    habit = (weights[:, :, :last, :last].astype(np.float64) * seeing).sum(axis=2) / seeing.sum(axis=0)
    beyond = weights[:, :, last, :last] - habit
    layer, head, key = (int(place) for place in np.unravel_index(int(beyond.argmax()), beyond.shape))
    return LastLink(
        layer=layer,
        head=head,
        key=key,
        weight=float(weights[layer, head, last, key]),
        before=float(habit[layer, head, key]),
    )
