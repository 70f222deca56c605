"""What the last token of a text looks at, beside what those before it looked at: the next token comes from there."""

from collections.abc import Iterable
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


def most_unusual_link(layers: Iterable[Float[np.ndarray, "head query key"]]) -> LastLink | None:
    """The weight of the last query that exceeds most what the queries before it gave the same key in the same head.

    The null is the head's own habit: one that looks at the first token, or at one word, whatever has been read last,
    exceeds it by nothing. The first query sees a single key and has no choice, so it is no habit. Keys before the last
    token are compared, those that at least one of the other queries could see. None where no weight exceeds anything,
    as in a text of one or two tokens.
    """
    links = [link for layer, weights in enumerate(layers) if (link := _of_layer(layer, weights)) is not None]
    return max(links, key=lambda link: link.weight - link.before, default=None)


def _of_layer(layer: int, weights: Float[np.ndarray, "head query key"]) -> LastLink | None:
    last = weights.shape[1] - 1
    if last < 2:
        return None
    seeing = np.tril(np.ones((last, last)))[1:]
    habit = weights[:, 1:last, :last].sum(axis=1, dtype=np.float64) / seeing.sum(axis=0)
    beyond = weights[:, last, :last] - habit
    head, key = (int(place) for place in np.unravel_index(int(beyond.argmax()), beyond.shape))
    if beyond[head, key] <= 0:
        return None
    weight, before = float(weights[head, last, key]), float(habit[head, key])
    return LastLink(layer=layer, head=head, key=key, weight=weight, before=before)
