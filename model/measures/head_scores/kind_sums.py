"""Sums over texts from which scores, nulls and errors come: those of several processes added are those of one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Shaped

from model.measures.head_kinds import Cells, Scores, Sides, Weights, share
from model.measures.head_scores.cell_kinds import CELL_KINDS, broad, cell_null, positional

LEAST_TEXTS = 2  # of fewer there is no standard error


@dataclass(frozen=True, kw_only=True, eq=False)
class Strongest:
    """The largest single weight of every head in the cells of a kind.

    place: text, query, key. tokens: the query's and the key's.
    """

    weight: Float[np.ndarray, "layer head"]
    place: Int[np.ndarray, "layer head 3"]
    tokens: Shaped[np.ndarray, "layer head 2"]

    def or_stronger(self, other: "Strongest") -> "Strongest":
        """The stronger of both, head by head; of equals that of the earlier text."""
        equal_but_earlier = (other.weight == self.weight) & (other.place[..., 0] < self.place[..., 0])
        other_wins = (other.weight > self.weight) | equal_but_earlier
        return Strongest(
            weight=np.where(other_wins, other.weight, self.weight),
            place=np.where(other_wins[..., None], other.place, self.place),
            tokens=np.where(other_wins[..., None], other.tokens, self.tokens),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class KindSums:
    """One kind's sums over texts, each text's score counted once for each of its queries.

    squares, products: Σ d² and Σ d·n, d being n·(score − null) of a text and n its queries.
    """

    texts: int
    queries: int
    squared_queries: int
    score: Scores
    null: Scores
    squares: Scores
    products: Scores
    strongest: Strongest | None

    def __add__(self, other: "KindSums") -> "KindSums":
        """Of the texts of both."""
        names = ("texts", "queries", "squared_queries", "score", "null", "squares", "products")
        sums = {name: getattr(self, name) + getattr(other, name) for name in names}
        both = None
        if self.strongest is not None and other.strongest is not None:
            both = self.strongest.or_stronger(other.strongest)
        return KindSums(**sums, strongest=both)

    @property
    def scores(self) -> Scores:
        """The mean over queries."""
        return self.score / max(1, self.queries)

    @property
    def nulls(self) -> Scores:
        """The null's mean over queries."""
        return self.null / max(1, self.queries)

    @property
    def errors(self) -> Scores | None:
        """The standard error of score − null, texts being the sample; None of fewer than two.

        The queries of one text are not independent: Cochran 1977, "Sampling Techniques", section 6.4, for a ratio.
        """
        if self.texts < LEAST_TEXTS:
            return None
        mean = self.scores - self.nulls
        squares = self.squares - 2 * mean * self.products + mean**2 * self.squared_queries
        return np.sqrt(np.maximum(squares, 0) * self.texts / (self.texts - 1)) / self.queries


SumsByKind = dict[str, KindSums]
SumsByAttention = dict[str, SumsByKind]


def sums_of_text(score: Scores, null: Scores, queries: int, strongest: Strongest | None = None) -> KindSums:
    """One text's, from its means over so many queries."""
    excess = queries * (score - null).astype(np.float64)
    return KindSums(
        texts=1,
        queries=queries,
        squared_queries=queries**2,
        score=queries * score,
        null=queries * null,
        squares=excess**2,
        products=excess * queries,
        strongest=strongest,
    )


def kind_sums(
    weights: Weights, sides: Sides, shuffles: Sequence[Weights], text: int, query_tokens: Sequence[str]
) -> SumsByKind:
    """Every kind that this text has queries for. ``shuffles``: weights of its tokens in other orders."""
    sums = {}
    for kind, make_cells in CELL_KINDS.items():
        cells = make_cells(sides)
        if queries := int(cells.any(axis=1).sum()):
            null = cell_null(weights, sides, kind, cells, shuffles)
            best = strongest_of(weights, cells, text, (query_tokens, sides.key_tokens))
            sums[kind] = sums_of_text(share(weights, cells), null, queries, best)
    if queries := int(sides.queries.sum()):
        sums["broad"] = sums_of_text(*broad(weights, sides), queries)
    if sides.one_text and (queries := int(sides.counted.any(axis=1).sum())):
        sums["positional"] = sums_of_text(*positional(weights, sides), queries)
    return sums


def strongest_of(weights: Weights, cells: Cells, text: int, tokens: tuple[Sequence[str], Sequence[str]]) -> Strongest:
    """The largest weight of every head in these cells of a text; of equals the first."""
    rows, columns = np.nonzero(cells)
    within = weights[:, :, rows, columns]
    best = within.argmax(axis=-1)
    queries, keys = rows[best], columns[best]
    names = [np.array(each, dtype=object)[at] for each, at in zip(tokens, (queries, keys), strict=True)]
    return Strongest(
        weight=within.max(axis=-1).astype(np.float64),
        place=np.stack([np.full_like(queries, text), queries, keys], axis=-1),
        tokens=np.stack(names, axis=-1),
    )


def added(one: Mapping[str, SumsByKind], other: Mapping[str, SumsByKind]) -> SumsByAttention:
    """The sums of both, by attention and kind."""
    return {
        attention: {
            kind: kinds[kind] + others[kind] if kind in kinds and kind in others else (kinds | others)[kind]
            for kind in sorted({*kinds, *others})
        }
        for attention in sorted({*one, *other})
        for kinds, others in [(one.get(attention, {}), other.get(attention, {}))]
    }
