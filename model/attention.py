"""Attention, written out: query·key → scale → mask → softmax → ·value.

"Attention Is All You Need", sections 3.2.1 and 3.2.2. Every step is returned; nothing is stored on a module.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from model.trace import AttentionTrace

Mask = Bool[Tensor, "query key"] | Bool[Tensor, "*batch head_or_1 query key"]
MemoryMask = Bool[Tensor, "query memory"] | Bool[Tensor, "*batch head_or_1 query memory"]  # beside a Mask of other keys


class AttentionSteps(NamedTuple):
    """What scaled dot-product attention computes, in order."""

    products: Float[Tensor, "*batch head query key"]
    scores: Float[Tensor, "*batch head query key"]
    weights: Float[Tensor, "*batch head query key"]
    context: Float[Tensor, "*batch head query head_width"]


def scaled_dot_product_attention(
    query: Float[Tensor, "*batch head query head_width"],
    key: Float[Tensor, "*batch head key head_width"],
    value: Float[Tensor, "*batch head key value_width"],
    mask: Mask,
    scale: float,
    dropout: nn.Module | None = None,
) -> AttentionSteps:
    """softmax(q kᵀ · scale, masked) v, and every step on the way.

    ``mask`` is True where a query may see a key; a query that may see nothing gets zero weights and a zero
    context. The weights returned are those before ``dropout``.
    Raises ValueError unless the mask is (query, key) or has the scores' own axes with its head axis spelled
    out: a (batch, query, key) mask would silently be taken for one mask a head.
    """
    products = query @ key.transpose(-1, -2)
    if mask.ndim not in (2, products.ndim):
        expected = f"(query, key) or {products.ndim} axes as in {tuple(products.shape)}, the head axis 1 or all heads"
        raise ValueError(f"mask: found shape {tuple(mask.shape)}, expected {expected}")
    scores = (products * scale).masked_fill_(~mask, -math.inf)  # in place: a pass less
    weights = masked_softmax(scores, mask)
    context = (weights if dropout is None else dropout(weights)) @ value
    return AttentionSteps(products, scores, weights, context)


def masked_softmax(
    scores: Float[Tensor, "*batch head query key"], mask: Mask
) -> Float[Tensor, "*batch head query key"]:
    """Softmax over the keys; a row in which everything is masked is 0, and so is its gradient."""
    blind = ~mask.any(dim=-1, keepdim=True)
    if not blind.any():  # nearly always; spares two passes over the weights
        return scores.softmax(dim=-1)
    return scores.masked_fill(blind, 0).softmax(dim=-1).masked_fill(blind, 0)


def causal_mask(length: int, device: torch.device | None = None) -> Bool[Tensor, "query key"]:
    """True where the key is not after the query."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


def full_mask(queries: int, keys: int, device: torch.device | None = None) -> Bool[Tensor, "query key"]:
    """True everywhere."""
    return torch.ones(queries, keys, dtype=torch.bool, device=device)


def padding_mask(real: Bool[Tensor, "*batch key"]) -> Bool[Tensor, "*batch 1 1 key"]:
    """True where the key is a real token, with the head and query axes spelled out."""
    return real[..., None, None, :]


class MultiHeadAttention(nn.Module):
    """Heads side by side on slices of the width, each with its own projections, joined by an output projection."""

    def __init__(self, width: int, heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        if width % heads:
            raise ValueError(f"heads: found {heads}, expected a divisor of width {width}")
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.output = nn.Linear(width, width)
        self.dropout = nn.Dropout(dropout)
        self.scale = 1 / math.sqrt(width // heads)

    def forward(
        self,
        x: Float[Tensor, "*batch query width"],
        memory: Float[Tensor, "*batch key width"],
        mask: Mask,
        muted: Iterable[int] = (),
    ) -> AttentionTrace:
        """Every position of ``x`` attends to ``memory`` (which is ``x`` itself in self-attention).

        ``muted`` heads have their context zeroed, before the output projection.
        """
        query, key, value = self.split(self.query(x)), self.split(self.key(memory)), self.split(self.value(memory))
        steps = scaled_dot_product_attention(query, key, value, mask, self.scale, self.dropout)
        context = silence(steps.context, muted)
        output = self.output(self.join(context))
        return AttentionTrace(
            input=x,
            query=query,
            key=key,
            value=value,
            products=steps.products,
            scale=self.scale,
            bias=None,
            mask=mask.expand(*mask.shape[:-2], *steps.scores.shape[-2:]),
            scores=steps.scores,
            weights=steps.weights,
            context=context,
            output=output,
        )

    def split(self, x: Float[Tensor, "*batch position width"]) -> Float[Tensor, "*batch head position head_width"]:
        """The width cut into heads."""
        return x.unflatten(-1, (self.heads, -1)).transpose(-2, -3)

    def join(self, x: Float[Tensor, "*batch head position head_width"]) -> Float[Tensor, "*batch position width"]:
        """The heads side by side again."""
        return x.transpose(-2, -3).flatten(-2)


def silence(
    context: Float[Tensor, "*batch head query head_width"], heads: Iterable[int]
) -> Float[Tensor, "*batch head query head_width"]:
    """The context with these heads at 0."""
    chosen = sorted(heads)
    if not chosen:
        return context
    return context.index_fill(-3, torch.tensor(chosen, device=context.device), 0)
