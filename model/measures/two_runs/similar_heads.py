"""Which heads look alike: the Jensen–Shannon divergence of their rows, over the tokens of several texts.

Clark et al. 2019, "What Does BERT Look At?", section 6.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from model.measures.two_runs.aligned_heads import AttentionPairing, Weights, aligned_rows

PERMUTATIONS = 20


@dataclass(frozen=True, kw_only=True, eq=False)
class TextOfTwo:
    """One text as two models read it, or one model twice: the weights of the head, and of every head beside it.

    second: by layer.
    """

    first: Weights
    second: list[Weights]
    pairing: AttentionPairing


@dataclass(frozen=True, kw_only=True)
class AlikeHead:
    """A head, its similarity, and that which chance would give: see ``alike_heads``."""

    layer: int
    head: int
    similarity: float
    chance: float


def divergence(
    first: Float[np.ndarray, "*any key"], second: Float[np.ndarray, "*any key"]
) -> Float[np.ndarray, "*any"]:
    """The Jensen–Shannon divergence of two distributions, in bits: 0 if they are equal, 1 if nothing is shared."""
    middle = (first + second) / 2
    return entropy(middle) - (entropy(first) + entropy(second)) / 2


def entropy(rows: Float[np.ndarray, "*any key"]) -> Float[np.ndarray, "*any"]:
    """−Σ p·log₂ p; what is 0 adds nothing."""
    return -(rows * np.log2(np.where(rows > 0, rows, 1))).sum(axis=-1)


def similarities(texts: Iterable[TextOfTwo]) -> Float[np.ndarray, "layer head"]:
    """1 − the divergence of the head's rows from those of every other, the mean over all queries of all texts.

    The queries are those that have a partner. A key that one tokenizer's text lacks has the weight 0 there.
    """
    sums, queries = np.zeros(()), 0
    for text in texts:
        layers = []
        for weights in text.second:
            row, others = aligned_rows(text.first, weights, text.pairing)
            layers.append(divergence(np.broadcast_to(row, others.shape), others).sum(axis=-1))
        sums = sums + np.stack(layers)
        queries += len(text.pairing.queries.pairs)
    return 1 - sums / max(queries, 1)


def chance_similarity(texts: Iterable[TextOfTwo], layer: int, head: int, seed: int = 0) -> float:
    """The same of one head whose weights stand in random order among the keys that it gives any weight to.

    So it says what two heads have in common that spread their attention as widely, over whichever of these keys.
    The mean of ``PERMUTATIONS`` orders of each row.
    """
    generator, total, count = np.random.default_rng(seed), 0.0, 0
    for text in texts:
        rows, others = (side[0] for side in aligned_rows(text.first, text.second[layer][[head]], text.pairing))
        for row, other in zip(rows, others, strict=True):
            seen = np.flatnonzero(other > 0)
            orders = np.tile(other, (PERMUTATIONS, 1))
            orders[:, seen] = generator.permuted(orders[:, seen], axis=1)
            total += float((1 - divergence(np.broadcast_to(row, orders.shape), orders)).sum())
            count += PERMUTATIONS
    return total / max(count, 1)


def alike_heads(
    texts: list[TextOfTwo], most: int, itself: tuple[int, int] | None = None
) -> tuple[list[AlikeHead], float]:
    """The most similar heads, each beside ``chance_similarity``; and the mean similarity of all.

    itself: the head that is compared, where it is one of them: it is left out.
    """
    found = similarities(texts)
    if itself is not None:
        found[itself] = np.nan
    order = sorted((site for site in np.ndindex(*found.shape) if site != itself), key=lambda site: -found[site])
    alike = [
        AlikeHead(
            layer=layer,
            head=head,
            similarity=float(found[layer, head]),
            chance=chance_similarity(texts, layer, head),
        )
        for layer, head in order[:most]
    ]
    return alike, float(np.nanmean(found))
