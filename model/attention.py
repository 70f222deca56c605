"""Attention, written out: query·key → scale → bias, cap, mask → softmax → ·value.

"Attention Is All You Need", sections 3.2.1 and 3.2.2. Every step is returned; nothing is stored on a module.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from model.cache import KeysValues
from model.config import Config
from model.edits.interventions import (
    NO_ATTENTION_INTERVENTIONS,
    AttentionInterventions,
    mean_ablate,
    overwrite,
    uniform,
    zero_ablate,
)
from model.linear import Linear
from model.scores import Bias, Mask, Scale, for_every_head, masked_scores
from model.trace import AttentionTrace

MemoryMask = Bool[Tensor, "query memory"] | Bool[Tensor, "*batch head_or_1 query memory"]  # beside a Mask of other keys
Rotate = Callable[[Tensor], Tensor]  # (*batch, any head, position, head_width) to the same


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
    scale: Scale,
    dropout: nn.Module | None = None,
    *,
    bias: Bias | None = None,
    cap: float | None = None,
    interventions: AttentionInterventions = NO_ATTENTION_INTERVENTIONS,
) -> AttentionSteps:
    """softmax(q kᵀ · scale, masked) v, and every step on the way.

    ``mask`` is True where a query may see a key; a query that may see nothing gets zero weights and a zero
    context. The weights returned are those before ``dropout``. ``bias`` and ``cap`` are those of ``masked_scores``. Of
    the ``interventions``, those in the weights are made here.
    Raises ValueError unless the mask is (query, key) or has the scores' own axes with its head axis spelled
    out: a (batch, query, key) mask would silently be taken for one mask a head.
    """
    products = query @ key.transpose(-1, -2)
    if mask.ndim not in (2, products.ndim):
        expected = f"(query, key) or {products.ndim} axes as in {tuple(products.shape)}, the head axis 1 or all heads"
        raise ValueError(f"mask: found shape {tuple(mask.shape)}, expected {expected}")
    scores = masked_scores(products, mask, scale, bias, cap)
    weights = masked_softmax(scores, mask)
    weights = overwrite(uniform(weights, mask, interventions.uniform), interventions.overwritten)
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


def causal_mask(length: int, device: torch.device | None = None, *, before: int = 0) -> Bool[Tensor, "query key"]:
    """True where the key is not after the query; ``before`` is how many keys come before the first query."""
    return torch.ones(length, before + length, dtype=torch.bool, device=device).tril(before)


def full_mask(queries: int, keys: int, device: torch.device | None = None) -> Bool[Tensor, "query key"]:
    """True everywhere."""
    return torch.ones(queries, keys, dtype=torch.bool, device=device)


def restrict(mask: Mask, padding_mask: Bool[Tensor, "*batch key"] | None) -> Mask:
    """The mask without the keys that are padding; ``padding_mask`` is True at real tokens."""
    return mask if padding_mask is None else mask & padding_mask[..., None, None, :]  # one for all heads and queries


def window_mask(
    length: int, window: int, device: torch.device | None = None, *, before: int = 0
) -> Bool[Tensor, "query key"]:
    """True where the key is the query itself, one of the ``window`` - 1 before it, or after it."""
    return torch.ones(length, before + length, dtype=torch.bool, device=device).triu(before + 1 - window)


def identity(
    x: Float[Tensor, "*batch any_head position head_width"],
) -> Float[Tensor, "*batch any_head position head_width"]:
    """Queries and keys where positions are no rotation."""
    return x


@dataclass(frozen=True, kw_only=True)
class MaskAndBias:
    """Which keys a query may see, what is added to its scores, and how positions rotate queries and keys."""

    mask: Mask
    bias: Bias | None = None
    rotate: Rotate = identity


class MultiHeadAttention(nn.Module):
    """Heads side by side, each with its own projections, joined by an output projection.

    Where keys and values have fewer heads, one serves a group of neighbouring query heads (Ainslie et al. 2023).
    """

    def __init__(self, config: Config, layer: int = 0) -> None:
        super().__init__()
        width, head_width = config.width, config.head_width
        self.heads, self.kv_heads = config.heads, config.kv_heads or config.heads
        self.query = Linear(width, self.heads * head_width, bias=config.projection_bias)
        self.key = Linear(width, self.kv_heads * head_width, bias=config.projection_bias)
        self.value = Linear(width, self.kv_heads * head_width, bias=config.projection_bias)
        self.output = Linear(self.heads * head_width, width, bias=config.output_bias)
        normed = config.query_key_norm
        self.query_norm = nn.RMSNorm(head_width, eps=config.norm_epsilon) if normed else nn.Identity()
        self.key_norm = nn.RMSNorm(head_width, eps=config.norm_epsilon) if normed else nn.Identity()
        self.dropout = nn.Dropout(config.attention_dropout)
        self.scale = 1 / math.sqrt(head_width) if config.score_scale is None else config.score_scale
        if config.score_scale_by_layer:
            self.scale /= layer + 1
        self.cap = config.score_cap

    def forward(
        self,
        x: Float[Tensor, "*batch query width"],
        memory: Float[Tensor, "*batch new_key width"] | None,
        mask_and_bias: MaskAndBias,
        interventions: AttentionInterventions = NO_ATTENTION_INTERVENTIONS,
        past: KeysValues | None = None,
    ) -> AttentionTrace:
        """Every position of ``x`` attends to ``past`` and then to ``memory`` (which is ``x`` itself in self-attention).

        ``memory`` is None where ``past`` has all of it.
        """
        query = mask_and_bias.rotate(self.query_norm(split(self.query(x), self.heads)))
        key, value = self.keys_values(memory, mask_and_bias.rotate, past)
        scale = self.scale if interventions.scale is None else interventions.scale
        heads = query, for_every_head(key, self.heads), for_every_head(value, self.heads)
        mask, bias = mask_and_bias.mask, mask_and_bias.bias
        steps = scaled_dot_product_attention(
            *heads, mask, scale, self.dropout, bias=bias, cap=self.cap, interventions=interventions
        )
        context = mean_ablate(steps.context, interventions.mean_ablated)
        context = zero_ablate(context, interventions.zero_ablated)
        if interventions.context is not None:
            context = torch.where(interventions.context.isnan(), context, interventions.context)
        output = self.output(join(context))
        return AttentionTrace(
            input=x,
            query=query,
            key=key,
            value=value,
            scale=scale,
            bias=bias,
            cap=self.cap,
            mask=mask.expand(*mask.shape[:-2], *steps.scores.shape[-2:]),
            weights=steps.weights,
            context=context,
            output=output,
        )

    def keys_values(
        self, memory: Float[Tensor, "*batch new_key width"] | None, rotate: Rotate, past: KeysValues | None
    ) -> tuple[Float[Tensor, "*batch kv_head key head_width"], Float[Tensor, "*batch kv_head key head_width"]]:
        """Those of ``past``, where there is one, and those of ``memory``, where it is not in ``past`` already."""
        keys_values = past
        if memory is not None:
            key = rotate(self.key_norm(split(self.key(memory), self.kv_heads)))
            value = split(self.value(memory), self.kv_heads)
            new = KeysValues(key=key, value=value)
            keys_values = new if past is None else past.followed_by(new)
        assert keys_values is not None
        return keys_values.key, keys_values.value


def split(
    x: Float[Tensor, "*batch position joined"], heads: int
) -> Float[Tensor, "*batch any_head position head_width"]:
    """What a projection gives, cut into heads."""
    return x.unflatten(-1, (heads, -1)).transpose(-2, -3)


def join(x: Float[Tensor, "*batch head position head_width"]) -> Float[Tensor, "*batch position joined"]:
    """The heads side by side again."""
    return x.transpose(-2, -3).flatten(-2)
