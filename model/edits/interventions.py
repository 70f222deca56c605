"""What edits become in the model: for each layer the tensors that its steps take, and those steps.

``lower`` (model/edits/lowering.py) makes them of ``Edits``, once, where a stack begins. A field is None where nothing
is changed. Where the edits are one for each sentence of a batch, a tensor has a first axis ``row``, and as many axes of
length 1 as it takes to meet the tensor that it acts on.
"""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from model.edits.sites import Overwrite
from model.scores import Scale

Heads = Bool[Tensor, "head 1 1"] | Bool[Tensor, "row head 1 1"]
Skip = Bool[Tensor, ""] | Bool[Tensor, "row 1 1"]
PositionIds = Int[Tensor, "position"] | Int[Tensor, "*batch position"]
PastPositionIds = Int[Tensor, "past"] | Int[Tensor, "*batch past"]  # of the tokens that a cache holds
AnyMask = Bool[Tensor, "query key"] | Bool[Tensor, "row 1 query key"]


@dataclass(frozen=True, kw_only=True)
class MeanAblation:
    """The heads whose context becomes its mean over the positions that ``padding_mask`` has; None: over all."""

    heads: Heads
    padding_mask: Bool[Tensor, "*batch query"] | None = None


@dataclass(frozen=True, kw_only=True)
class AttentionInterventions:
    """In one attention. ``context``: what stands in place of what the heads computed, NaN where that stays; no edit
    asks for it, measures put it there."""

    scale: Scale | None = None
    uniform: Heads | None = None
    overwritten: tuple[tuple[int | None, Overwrite], ...] = ()  # each with its row
    mean_ablated: MeanAblation | None = None
    zero_ablated: Heads | None = None
    context: Float[Tensor, "*batch head query head_width"] | None = None


@dataclass(frozen=True, kw_only=True)
class ResidualInterventions:
    """What one residual connection leaves out: the stream, or a norm."""

    stream: Skip | None = None
    norm_before: Skip | None = None
    norm_after: Skip | None = None


NO_ATTENTION_INTERVENTIONS, NO_RESIDUAL_INTERVENTIONS = AttentionInterventions(), ResidualInterventions()


@dataclass(frozen=True, kw_only=True)
class LayerInterventions:
    """In one layer, by sublayer."""

    self_attention: AttentionInterventions = NO_ATTENTION_INTERVENTIONS
    cross_attention: AttentionInterventions = NO_ATTENTION_INTERVENTIONS
    self_residual: ResidualInterventions = NO_RESIDUAL_INTERVENTIONS
    cross_residual: ResidualInterventions = NO_RESIDUAL_INTERVENTIONS
    feed_forward_residual: ResidualInterventions = NO_RESIDUAL_INTERVENTIONS


@dataclass(frozen=True, kw_only=True)
class MaskInterventions:
    """In the mask of one kind of attention of a stack."""

    unmasked: Bool[Tensor, ""] | Bool[Tensor, "row 1 1 1"] | None = None
    causal: Bool[Tensor, ""] | Bool[Tensor, "row 1 1 1"] | None = None
    hidden: Bool[Tensor, "key"] | Bool[Tensor, "row 1 1 key"] | None = None


NO_LAYER_INTERVENTIONS, NO_MASK_INTERVENTIONS = LayerInterventions(), MaskInterventions()


@dataclass(frozen=True, kw_only=True)
class StackInterventions:
    """In one stack. ``position_ids`` None: 0, 1, 2 … in order."""

    layers: tuple[LayerInterventions, ...]
    self_mask: MaskInterventions = NO_MASK_INTERVENTIONS
    cross_mask: MaskInterventions = NO_MASK_INTERVENTIONS
    position_ids: PositionIds | None = None  # all 0 where the positions are removed
    past_position_ids: PastPositionIds | None = None
    unpositioned: Skip | None = None
    embedding_norm: Skip | None = None
    final_norm: Skip | None = None


# The steps


def mask_after(mask: AnyMask, interventions: MaskInterventions) -> AnyMask:
    """Which keys a query may see, padding aside, where ``mask`` is the model's own.

    Hidden keys come last: neither taking the mask away nor another one shows them.
    """
    unmasked, causal, hidden = interventions.unmasked, interventions.causal, interventions.hidden
    if unmasked is not None:
        mask = mask | unmasked
    if causal is not None:
        past = mask.shape[-1] - mask.shape[-2]  # keys before the first query
        mask = mask & (~causal | torch.ones_like(mask).tril(past))
    return mask if hidden is None else mask & ~hidden


def uniform(
    weights: Float[Tensor, "*batch head query key"], mask: Bool[Tensor, "..."], heads: Heads | None
) -> Float[Tensor, "*batch head query key"]:
    """The weights, in these heads the same for all keys that the mask allows."""
    if heads is None:
        return weights
    allowed = mask.to(weights)
    return torch.where(heads, allowed / allowed.sum(dim=-1, keepdim=True).clamp(min=1), weights)


def overwrite(
    weights: Float[Tensor, "*batch head query key"], cells: tuple[tuple[int | None, Overwrite], ...]
) -> Float[Tensor, "*batch head query key"]:
    """The weights with these in the place of some, then the rows divided by their sums that ask for it."""
    if not cells:
        return weights
    overwritten, to_renormalise = weights.clone(), dict[Any, Tensor]()
    for sentence, cell in cells:
        if cell.query < weights.shape[-2] and cell.key < weights.shape[-1]:
            of_sentence = overwritten if sentence is None else overwritten[sentence]
            row = of_sentence[..., cell.site.head, cell.query, :]
            row[..., cell.key] = cell.value
            if cell.renormalise:
                to_renormalise[sentence, cell.site.head, cell.query] = row
    for row in to_renormalise.values():
        total = row.sum(dim=-1, keepdim=True)
        row.copy_(row.clone() / torch.where(total > 0, total, 1))
    return overwritten


def mean_ablate(
    context: Float[Tensor, "*batch head query head_width"], ablation: MeanAblation | None
) -> Float[Tensor, "*batch head query head_width"]:
    """The context, in some heads its mean over the positions that are no padding."""
    if ablation is None:
        return context
    padding_mask = ablation.padding_mask
    if padding_mask is None:
        padding_mask = torch.ones(context.shape[-2:-1], dtype=torch.bool, device=context.device)
    counted = padding_mask[..., None, :, None].to(context)
    mean = (context * counted).sum(dim=-2, keepdim=True) / counted.sum(dim=-2, keepdim=True).clamp(min=1)
    return torch.where(ablation.heads, mean, context)


def zero_ablate(
    context: Float[Tensor, "*batch head query head_width"], heads: Heads | None
) -> Float[Tensor, "*batch head query head_width"]:
    """The context, in these heads 0."""
    return context if heads is None else context.masked_fill(heads, 0)


def without(x: Float[Tensor, "..."], skip: Bool[Tensor, "..."] | None) -> Float[Tensor, "..."]:
    """A stream, position vectors or biases, or 0."""
    return x if skip is None else x.masked_fill(skip, 0)


def normed(
    norm: nn.Module, x: Float[Tensor, "*batch position width"], skip: Skip | None
) -> Float[Tensor, "*batch position width"]:
    """The norm of a stream, or the stream itself."""
    return norm(x) if skip is None else torch.where(skip, x, norm(x))
