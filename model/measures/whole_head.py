"""One head of a trace with all that its formula names: Q, K, V, the products, the scores, the weights, the context."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from torch import Tensor

from model.trace import AttentionTrace


@dataclass(frozen=True, kw_only=True)
class WholeHead:
    """context = softmax(mask(cap(query keyᵀ · scale + bias))) value, as the pass computed it, in float32.

    products: query keyᵀ. scores: what enters the softmax, -inf where ``mask`` is False. bias, cap: None where the
    model has none. Keys and values are those of the group that the head belongs to, where heads share them.
    """

    query: Float[np.ndarray, "query head_width"]
    key: Float[np.ndarray, "key head_width"]
    value: Float[np.ndarray, "key head_width"]
    products: Float[np.ndarray, "query key"]
    scale: float
    bias: Float[np.ndarray, "query key"] | None
    cap: float | None
    mask: Bool[np.ndarray, "query key"]
    scores: Float[np.ndarray, "query key"]
    weights: Float[np.ndarray, "query key"]
    context: Float[np.ndarray, "query head_width"]

    def arrays(self) -> dict[str, np.ndarray]:
        """The matrices by their names, for a file; the bias where there is one."""
        names = ("query", "key", "value", "products", "bias", "mask", "scores", "weights", "context")
        return {name: value for name in names if (value := getattr(self, name)) is not None}


def whole_head(attention: AttentionTrace, head: int) -> WholeHead:
    """One head of one sentence's attention. ValueError for a head that is not there."""
    heads = attention.query.shape[-3]
    if not 0 <= head < heads:
        raise ValueError(f"head {head}, wanted 0 to {heads - 1}")
    return whole_heads(attention)[head]


def whole_heads(attention: AttentionTrace) -> list[WholeHead]:
    """Every head of one sentence's attention; products and scores are computed once for all."""
    heads, kv_heads = attention.query.shape[-3], attention.key.shape[-3]
    products, scores = attention.products, attention.scores
    return [
        WholeHead(
            query=attention.query[head].numpy(),
            key=attention.key[head * kv_heads // heads].numpy(),
            value=attention.value[head * kv_heads // heads].numpy(),
            products=products[head].numpy(),
            scale=float(attention.scale),
            bias=None if attention.bias is None else of_head(attention.bias, head, attention.weights).numpy(),
            cap=attention.cap,
            mask=of_head(attention.mask, head, attention.weights).numpy(),
            scores=scores[head].numpy(),
            weights=attention.weights[head].numpy(),
            context=attention.context[head].numpy(),
        )
        for head in range(heads)
    ]


def of_head(cells: Tensor, head: int, weights: Float[Tensor, "head query key"]) -> Tensor:
    """The (query, key) cells of a head in what is (head, query, key), or the same for every head."""
    return cells.expand_as(weights)[head]
