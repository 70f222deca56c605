"""Edits as what a layer does otherwise: tensors that its steps take, and those steps.

A change is None where nothing is changed. Where the edits are one for each sentence of a batch, it has a first axis
``row``, and as many axes of length 1 as it takes to meet the tensor that it acts on.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from model.edits import NO_EDITS, AnyEdits, Edits, HeadSite, HiddenKey, NormSite, Overwrite, SublayerSite

Heads = Bool[Tensor, "head 1 1"] | Bool[Tensor, "row head 1 1"]
Skip = Bool[Tensor, ""] | Bool[Tensor, "row 1 1"]
Scale = float | Float[Tensor, "row 1 1 1"]
Places = Int[Tensor, "position"] | Int[Tensor, "*batch position"]
Earlier = Int[Tensor, "earlier"] | Int[Tensor, "*batch earlier"]  # the places of tokens that a cache holds


@dataclass(frozen=True, kw_only=True)
class AttentionChanges:
    """What one attention does otherwise."""

    scale: Scale | None = None
    uniform: Heads | None = None
    overwritten: tuple[tuple[int | None, Overwrite], ...] = ()  # each with its row
    averaged: Heads | None = None
    muted: Heads | None = None


@dataclass(frozen=True, kw_only=True)
class ResidualChanges:
    """What one residual connection leaves out."""

    stream: Skip | None = None
    norm_before: Skip | None = None
    norm_after: Skip | None = None


@dataclass(frozen=True, kw_only=True)
class PositionChanges:
    """Where the tokens of one stack stand, and whether they stand anywhere."""

    places: Places | None = None  # 0 everywhere without positions; None: 0, 1, 2 … in order
    earlier: Earlier | None = None
    removed: Skip | None = None


@dataclass(frozen=True, kw_only=True)
class BlockChanges:
    """What one layer does otherwise, by sublayer."""

    self_attention: AttentionChanges = AttentionChanges()
    cross_attention: AttentionChanges = AttentionChanges()
    self_residual: ResidualChanges = ResidualChanges()
    cross_residual: ResidualChanges = ResidualChanges()
    feed_forward_residual: ResidualChanges = ResidualChanges()


SAME_ATTENTION, SAME_RESIDUAL, SAME_POSITIONS, SAME_BLOCK = (
    AttentionChanges(), ResidualChanges(), PositionChanges(), BlockChanges()
)  # fmt: skip


# From edits to changes


def in_rows(edits: AnyEdits, axes: int, of: Callable[[Edits], Any], device: torch.device) -> Tensor | None:
    """``of`` one value, or of each in a row of its own with ``axes`` axes of length 1 after it; None if all are 0."""
    if isinstance(edits, Edits):
        found = torch.tensor(of(edits))
    else:
        found = torch.tensor([of(row) for row in edits])
        found = found.reshape(len(found), *[1] * axes, *found.shape[1:])
    return found.to(device) if found.any() else None


def block_changes(edits: AnyEdits, stack: str, layer: int, heads: int, scale: float, like: Tensor) -> BlockChanges:
    """The changes in a layer whose attentions have so many heads and this scale, where the stream is ``like`` this."""
    if edits == NO_EDITS:
        return SAME_BLOCK
    attentions = [attention_changes(edits, stack, layer, kind, heads, scale, like) for kind in ("self", "cross")]
    kinds = ("self", "cross", "feed-forward")
    residuals = [residual_changes(edits, stack, layer, kind, like.device) for kind in kinds]
    return BlockChanges(
        self_attention=attentions[0],
        cross_attention=attentions[1],
        self_residual=residuals[0],
        cross_residual=residuals[1],
        feed_forward_residual=residuals[2],
    )


def attention_changes(
    edits: AnyEdits, stack: str, layer: int, attention: str, heads: int, scale: float, like: Tensor
) -> AttentionChanges:
    """The changes in one attention."""
    whole, sites = SublayerSite(stack, layer, attention), [HeadSite(stack, layer, at, attention) for at in range(heads)]

    def chosen(within: Callable[[Edits, HeadSite], bool]) -> Heads | None:
        found = in_rows(edits, 0, lambda one: [within(one, site) for site in sites], like.device)
        return None if found is None else found[..., None, None]

    rows = [(None, edits)] if isinstance(edits, Edits) else list(enumerate(edits))
    return AttentionChanges(
        scale=changed_scale(edits, scale, like),
        uniform=chosen(lambda one, site: site in one.uniform),
        overwritten=tuple((row, cell) for row, one in rows for cell in one.overwritten if cell.site in sites),
        averaged=chosen(lambda one, site: site in one.averaged),
        muted=chosen(lambda one, site: site in one.muted or whole in one.muted_layers),
    )


def changed_scale(edits: AnyEdits, scale: float, like: Tensor) -> Scale | None:
    """What q·k is multiplied by instead of ``scale``."""
    rows = [edits] if isinstance(edits, Edits) else list(edits)
    found = [(scale if one.scale is None else one.scale) / one.temperature for one in rows]
    if all(one == found[0] for one in found):
        return None if found[0] == scale else found[0]
    return like.new_tensor(found)[:, None, None, None]


def residual_changes(edits: AnyEdits, stack: str, layer: int, sublayer: str, device: torch.device) -> ResidualChanges:
    """The changes around one sublayer."""
    site = SublayerSite(stack, layer, sublayer)
    before, after = (NormSite(stack, layer, sublayer, side) for side in ("before", "after"))
    return ResidualChanges(
        stream=in_rows(edits, 2, lambda one: site in one.without_residual, device),
        norm_before=in_rows(edits, 2, lambda one: before in one.without_norm, device),
        norm_after=in_rows(edits, 2, lambda one: after in one.without_norm, device),
    )


def norm_skip(edits: AnyEdits, stack: str, name: str, device: torch.device) -> Skip | None:
    """Whether a norm of the stack itself, "embedding" or "final", is left out."""
    return in_rows(edits, 2, lambda one: NormSite(stack, None, name) in one.without_norm, device)


def position_changes(
    edits: AnyEdits,
    stack: str,
    length: int,
    real: Bool[Tensor, "*batch position"] | None,
    device: torch.device,
    before: int = 0,
) -> PositionChanges:
    """Where the tokens of a stack stand, the first ``before`` of which a cache holds."""
    rows = [edits] if isinstance(edits, Edits) else list(edits)
    if not any(stack in one.unpositioned or one.seed(stack) is not None or one.shift(stack) for one in rows):
        straight = torch.arange(length, device=device) if before else None
        return (
            SAME_POSITIONS if straight is None else PositionChanges(places=straight[before:], earlier=straight[:before])
        )
    reals = [real] * len(rows) if real is None or isinstance(edits, Edits) else list(real)
    found = [places(one, stack, length, known, device) for one, known in zip(rows, reals, strict=True)]
    removed = in_rows(edits, 2, lambda one: stack in one.unpositioned, device)
    all_places = found[0] if isinstance(edits, Edits) else torch.stack(found)
    earlier = all_places[..., :before] if before else None
    return PositionChanges(places=all_places[..., before:], earlier=earlier, removed=removed)


def places(
    edits: Edits, stack: str, length: int, real: Bool[Tensor, "*batch position"] | None, device: torch.device
) -> Places:
    """Where each token stands; a shuffle leaves those of padding, which is at the end, where they are."""
    straight = torch.arange(length, device=device)
    if stack in edits.unpositioned:
        return torch.zeros_like(straight)
    if edits.seed(stack) is not None:
        drawn = random.Random(edits.seed(stack))  # torch's own draws differ with the length
        lots = torch.tensor([drawn.random() for _ in range(length)], device=device)
        lots = lots if real is None else torch.where(real, lots, 2.0 + straight)
        straight = lots.argsort(dim=-1).argsort(dim=-1)
    return straight + edits.shift(stack)


def allowed(
    mask: Bool[Tensor, "query key"], edits: AnyEdits, stack: str
) -> Bool[Tensor, "query key"] | Bool[Tensor, "row 1 query key"]:
    """Which keys a query of this stack may see of the stack's own, padding aside, where ``mask`` is the model's."""
    unmasked = in_rows(edits, 3, lambda one: stack in one.unmasked, mask.device)
    causal = in_rows(edits, 3, lambda one: stack in one.causal, mask.device)
    before = mask.shape[-1] - mask.shape[-2]  # how many keys come before the first query
    mask = mask if unmasked is None else mask | unmasked
    mask = mask if causal is None else mask & (~causal | torch.ones_like(mask).tril(before))
    return unhidden(mask, edits, stack, "self")


def unhidden(
    mask: Bool[Tensor, "query key"] | Bool[Tensor, "row 1 query key"], edits: AnyEdits, stack: str, attention: str
) -> Bool[Tensor, "query key"] | Bool[Tensor, "row 1 query key"]:
    """The mask of one kind of attention of a stack without the keys that are hidden from it."""
    rows = [edits] if isinstance(edits, Edits) else edits
    if not any(one.hidden for one in rows):  # nearly always
        return mask
    keys = [HiddenKey(stack, position, attention) for position in range(mask.shape[-1])]
    hidden = in_rows(edits, 2, lambda one: [key in one.hidden for key in keys], mask.device)
    return mask if hidden is None else mask & ~hidden


# The steps


def even(
    weights: Float[Tensor, "*batch head query key"], mask: Bool[Tensor, "..."], heads: Heads | None
) -> Float[Tensor, "*batch head query key"]:
    """The weights, in these heads the same for all keys that the mask allows."""
    if heads is None:
        return weights
    seen = mask.to(weights)
    return torch.where(heads, seen / seen.sum(dim=-1, keepdim=True).clamp(min=1), weights)


def overwrite(
    weights: Float[Tensor, "*batch head query key"], cells: tuple[tuple[int | None, Overwrite], ...]
) -> Float[Tensor, "*batch head query key"]:
    """The weights with these in the place of some, then the lines divided by their sums that ask for it."""
    if not cells:
        return weights
    changed, lines = weights.clone(), dict[Any, Tensor]()
    for row, cell in cells:
        if cell.query < weights.shape[-2] and cell.key < weights.shape[-1]:
            line = (changed if row is None else changed[row])[..., cell.site.head, cell.query, :]
            line[..., cell.key] = cell.value
            if cell.renormalise:
                lines[row, cell.site.head, cell.query] = line
    for line in lines.values():
        total = line.sum(dim=-1, keepdim=True)
        line.copy_(line.clone() / torch.where(total > 0, total, 1))
    return changed


def average(
    context: Float[Tensor, "*batch head query head_width"],
    real: Bool[Tensor, "*batch query"] | None,
    heads: Heads | None,
) -> Float[Tensor, "*batch head query head_width"]:
    """The context, in these heads its mean over the real positions."""
    if heads is None:
        return context
    known = torch.ones(context.shape[-2:-1], dtype=torch.bool, device=context.device) if real is None else real
    kept = known[..., None, :, None].to(context)
    mean = (context * kept).sum(dim=-2, keepdim=True) / kept.sum(dim=-2, keepdim=True).clamp(min=1)
    return torch.where(heads, mean, context)


def silence(
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
