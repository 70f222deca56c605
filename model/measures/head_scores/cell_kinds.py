"""Kinds of heads for a set of texts: ``head_kinds`` and more, as sums over the queries of one text.

Every kind of ``CELL_KINDS`` is the weight on certain cells (query, key), the mean over the queries that have any. Its
null is one of two, as in ``head_kinds``: for kinds about words the same cells in a text of the same tokens in another
order; for kinds about positions the expected score when every query's weights change places among the keys it sees.
Two kinds are about whole rows: "broad" and "positional".
"""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float

from model.measures.head_kinds import (
    Cells,
    Scores,
    Sides,
    Weights,
    at_offset,
    elsewhere,
    random_spread,
    row_moments,
    share,
    spreads,
)
from model.measures.weights_alone import random_orders

TINY = 1e-12  # a smaller variance of weights is rounding


def own_cells(sides: Sides) -> Cells:
    """Where the key is the query's own position."""
    return sides.counted & at_offset(sides, 0)


def delimiter_cells(sides: Sides) -> Cells:
    """Where the key was added by the tokenizer and is not the first: [SEP], [END]. Clark et al. 2019, section 3.2."""
    keys = sides.key_special & (np.arange(len(sides.key_special)) > 0)
    return elsewhere(sides, sides.visible.any(axis=0) & sides.queries[:, None] & keys)


def of_head_kinds(name: str) -> Callable[[Sides], Cells]:
    """The cells of a kind of ``head_kinds``."""
    return lambda sides: sides.cells[name]


CELL_KINDS: dict[str, Callable[[Sides], Cells]] = {
    "previous_token": of_head_kinds("previous_token"),
    "next_token": of_head_kinds("next_token"),
    "first_token": of_head_kinds("first_token"),
    "same_token": own_cells,
    "duplicate": of_head_kinds("same_word"),
    "induction_in_texts": of_head_kinds("induction"),
    "punctuation": of_head_kinds("punctuation"),
    "delimiter": delimiter_cells,
}
KINDS_OVER_TEXTS = (*CELL_KINDS, "broad", "positional", "induction")  # the last is of repeated_tokens
OF_WORDS = ("duplicate", "induction_in_texts", "punctuation")  # their null is a shuffled text
ON_SPECIAL_KEYS = ("first_token", "delimiter")  # their null counts special keys too


def share_by_chance(weights: Weights, cells: Cells, seen: Cells) -> Scores:
    """The expected ``share`` of cells when every query's weights change places among the keys that are ``seen``."""
    rows = cells.any(axis=1)
    means = np.stack([row_moments(layer, seen)[0] for layer in weights])  # (layer, head, query)
    return (means * cells.sum(axis=1))[..., rows].sum(axis=-1) / max(1, int(rows.sum()))


def cell_null(weights: Weights, sides: Sides, kind: str, cells: Cells, shuffles: Sequence[Weights]) -> Scores:
    """The null of a kind about cells; the score itself where a kind about words has no shuffled text."""
    if kind in OF_WORDS:
        return np.mean([share(each, cells) for each in shuffles or [weights]], axis=0)
    counted = np.ones_like(sides.key_special) if kind in ON_SPECIAL_KEYS else ~sides.key_special
    return share_by_chance(weights, cells, np.any(sides.visible, axis=0) & counted)


def broad(weights: Weights, sides: Sides) -> tuple[Scores, Scores]:
    """``spreads`` and what it is of weights drawn at random: a head that looks at many keys, in whatever text."""
    scores = spreads(weights, sides)
    return scores, np.broadcast_to(random_spread(sides), scores.shape)


def positional(weights: Weights, sides: Sides) -> tuple[Scores, Scores]:
    """How much of the variance of a text's weights their offset key − query explains; and of permuted weights.

    0: nothing, 1: the pattern is a function of the offset alone, as of the positional heads of Voita et al. 2019. It is
    the correlation ratio η² (Fisher 1925, "Statistical Methods for Research Workers", section 45), over the cells of
    tokens that are not special. Null: each query's weights in another order among the keys it sees. In a short text
    many an offset has few cells, and both are high.
    """
    seen = sides.counted & sides.visible.any(axis=0)
    orders = random_orders(seen, np.random.default_rng(0))
    permuted = (np.take_along_axis(layer, orders[None], axis=-1) for layer in weights)
    return (
        np.stack([explained_by_offset(layer, seen) for layer in weights]),
        np.stack([explained_by_offset(layer, seen) for layer in permuted]),
    )


def explained_by_offset(weights: Float[np.ndarray, "head query key"], cells: Cells) -> Float[np.ndarray, " head"]:
    """Variance between the offsets of these cells / variance of all; 0 where all weights are alike."""
    rows, columns = np.nonzero(cells)
    order = np.argsort(columns - rows, kind="stable")
    rows, columns = rows[order], columns[order]
    _, starts, counts = np.unique(columns - rows, return_index=True, return_counts=True)
    values = weights[:, rows, columns].astype(np.float64)
    values -= values.mean(axis=1, keepdims=True)
    between = (np.add.reduceat(values, starts, axis=1) ** 2 / counts).sum(axis=1)
    total = (values**2).sum(axis=1)
    return np.divide(between, total, out=np.zeros_like(total), where=total > TINY * len(rows))
