"""The numbers of a picture as the columns of a table, for those who cannot hover and for copying."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from viz.heatmap import check_weights
from viz.tokens import position_name, visible


def weights_table(weights: Float[np.ndarray, "query key"], tokens: Sequence[str]) -> dict[str, Any]:
    """One row a query, one column a key, in the order of the text. ValueError where weights and tokens do not fit.

    Positions stand in the names, because tokens repeat and a table's columns may not.
    """
    check_weights(weights, tokens, tokens)
    names = [position_name(position, token) for position, token in enumerate(tokens)]
    return {"query ↓  key →": names} | {name: weights[:, key] for key, name in enumerate(names)}


def token_table(
    text: str,
    tokens: Sequence[str],
    ids: Sequence[int],
    words: Sequence[int | None] | None,
    spans: Sequence[tuple[int, int] | None] | None,
) -> dict[str, Sequence[object]]:
    """One row a token: position, token, id, the word that it is a piece of, and its characters in the text."""
    if len(ids) != len(tokens):
        raise ValueError(f"{len(ids)} ids came with {len(tokens)} tokens, wanted one id a token")
    table: dict[str, Sequence[object]] = {
        "position": [position + 1 for position in range(len(tokens))],
        "token": [visible(token) for token in tokens],
        "id": list(ids),
    }
    if words is not None and spans is not None:
        table["piece of the word"] = [visible(word) for word in _words(text, words, spans)]
        table["characters"] = ["" if span is None else f"{span[0]} to {span[1]}" for span in spans]
    return table


def _words(text: str, words: Sequence[int | None], spans: Sequence[tuple[int, int] | None]) -> list[str]:
    """For each token the whole word: from where its first piece starts to where its last one ends."""
    reach: dict[int, tuple[int, int]] = {}
    for word, span in zip(words, spans, strict=True):
        if word is not None and span is not None:
            start, end = reach.get(word, span)
            reach[word] = (min(start, span[0]), max(end, span[1]))
    return ["–" if word not in reach else text[slice(*reach[word])] for word in words]
