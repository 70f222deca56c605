"""From edits to interventions: the one place where sites in a model are looked up among what is edited."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from model.edits.interventions import (
    NO_LAYER_INTERVENTIONS,
    NO_MASK_INTERVENTIONS,
    AttentionInterventions,
    Heads,
    LayerInterventions,
    MaskInterventions,
    MeanAblation,
    PastPositionIds,
    PositionIds,
    ResidualInterventions,
    Skip,
    StackInterventions,
)
from model.edits.sites import HeadSite, HiddenKey, NormSite, SublayerSite
from model.edits.values import NO_EDITS, AnyEdits, Edits
from model.scores import Scale


@dataclass(frozen=True, kw_only=True)
class StackPass:
    """What lowering has to know of a stack, and of the tokens that it is about to read."""

    stack: str
    heads: int
    scales: tuple[float, ...]  # of q·k, by layer
    length: int  # positions in all, those of a cache included
    past_length: int = 0  # positions that a cache holds
    memory_length: int = 0
    padding_mask: Bool[Tensor, "*batch position"] | None = None
    like: Tensor  # of the stream's precision, on its device

    @property
    def device(self) -> torch.device:
        """Where the interventions are needed."""
        return self.like.device


def lower(edits: AnyEdits, read: StackPass) -> StackInterventions:
    """The interventions of a pass through one stack."""
    ids, past_ids = position_ids(edits, read)
    if edits == NO_EDITS:
        layers = (NO_LAYER_INTERVENTIONS,) * len(read.scales)
        return StackInterventions(layers=layers, position_ids=ids, past_position_ids=past_ids)
    return StackInterventions(
        layers=tuple(lower_layer(edits, read, layer) for layer in range(len(read.scales))),
        self_mask=lower_self_mask(edits, read),
        cross_mask=lower_cross_mask(edits, read),
        position_ids=ids,
        past_position_ids=past_ids,
        unpositioned=in_rows(edits, 2, lambda one: read.stack in one.unpositioned, read.device),
        embedding_norm=norm_skip(edits, NormSite(read.stack, None, "embedding"), read.device),
        final_norm=norm_skip(edits, NormSite(read.stack, None, "final"), read.device),
    )


def in_rows(edits: AnyEdits, axes: int, of: Callable[[Edits], Any], device: torch.device) -> Tensor | None:
    """``of`` one value, or of each in a row of its own with ``axes`` axes of length 1 after it; None if all are 0."""
    if isinstance(edits, Edits):
        values = torch.tensor(of(edits))
    else:
        values = torch.tensor([of(row) for row in edits])
        values = values.reshape(len(values), *[1] * axes, *values.shape[1:])
    return values.to(device) if values.any() else None


def lower_layer(edits: AnyEdits, read: StackPass, layer: int) -> LayerInterventions:
    attentions = {kind: lower_attention(edits, read, layer, kind) for kind in ("self", "cross")}
    kinds = ("self", "cross", "feed-forward")
    residuals = {kind: lower_residual(edits, SublayerSite(read.stack, layer, kind), read.device) for kind in kinds}
    return LayerInterventions(
        self_attention=attentions["self"],
        cross_attention=attentions["cross"],
        self_residual=residuals["self"],
        cross_residual=residuals["cross"],
        feed_forward_residual=residuals["feed-forward"],
    )


def lower_attention(edits: AnyEdits, read: StackPass, layer: int, kind: str) -> AttentionInterventions:
    whole = SublayerSite(read.stack, layer, kind)
    sites = [HeadSite(read.stack, layer, head, kind) for head in range(read.heads)]
    heads = partial(edited_heads, edits, sites, read.device)
    rows = [(None, edits)] if isinstance(edits, Edits) else list(enumerate(edits))
    padding_mask = None if read.padding_mask is None else read.padding_mask[..., read.past_length :]
    averaged = heads(lambda one, site: site in one.averaged)
    return AttentionInterventions(
        scale=lower_scale(edits, read.scales[layer], read.like),
        uniform=heads(lambda one, site: site in one.uniform),
        overwritten=tuple((row, cell) for row, one in rows for cell in one.overwritten if cell.site in sites),
        mean_ablated=None if averaged is None else MeanAblation(heads=averaged, padding_mask=padding_mask),
        zero_ablated=heads(lambda one, site: site in one.muted or whole in one.muted_layers),
    )


def edited_heads(
    edits: AnyEdits, sites: Sequence[HeadSite], device: torch.device, is_edited: Callable[[Edits, HeadSite], bool]
) -> Heads | None:
    """The heads of these that are edited, in each row."""
    chosen = in_rows(edits, 0, lambda one: [is_edited(one, site) for site in sites], device)
    return None if chosen is None else chosen[..., None, None]


def lower_scale(edits: AnyEdits, scale: float, like: Tensor) -> Scale | None:
    """What q·k is multiplied by instead of ``scale``."""
    rows = [edits] if isinstance(edits, Edits) else list(edits)
    scales = [(scale if one.scale is None else one.scale) / one.temperature for one in rows]
    if all(one == scales[0] for one in scales):
        return None if scales[0] == scale else scales[0]
    return like.new_tensor(scales)[:, None, None, None]


def lower_residual(edits: AnyEdits, site: SublayerSite, device: torch.device) -> ResidualInterventions:
    """The interventions around one sublayer."""
    before, after = (NormSite(site.stack, site.layer, site.sublayer, side) for side in ("before", "after"))
    return ResidualInterventions(
        stream=in_rows(edits, 2, lambda one: site in one.without_residual, device),
        norm_before=norm_skip(edits, before, device),
        norm_after=norm_skip(edits, after, device),
    )


def norm_skip(edits: AnyEdits, site: NormSite, device: torch.device) -> Skip | None:
    """Whether a norm is left out."""
    return in_rows(edits, 2, lambda one: site in one.without_norm, device)


def lower_self_mask(edits: AnyEdits, read: StackPass) -> MaskInterventions:
    """The interventions in the mask of self-attention."""
    return MaskInterventions(
        unmasked=in_rows(edits, 3, lambda one: read.stack in one.unmasked, read.device),
        causal=in_rows(edits, 3, lambda one: read.stack in one.causal, read.device),
        hidden=hidden_keys(edits, read, "self", read.length),
    )


def lower_cross_mask(edits: AnyEdits, read: StackPass) -> MaskInterventions:
    """The interventions in the mask of cross-attention."""
    hidden = hidden_keys(edits, read, "cross", read.memory_length)
    return NO_MASK_INTERVENTIONS if hidden is None else MaskInterventions(hidden=hidden)


def hidden_keys(
    edits: AnyEdits, read: StackPass, kind: str, length: int
) -> Bool[Tensor, "key"] | Bool[Tensor, "row 1 1 key"] | None:
    """Which of ``length`` keys are hidden from one kind of attention."""
    rows = [edits] if isinstance(edits, Edits) else edits
    if not any(one.hidden for one in rows):  # nearly always
        return None
    keys = [HiddenKey(read.stack, position, kind) for position in range(length)]
    return in_rows(edits, 2, lambda one: [key in one.hidden for key in keys], read.device)


def position_ids(edits: AnyEdits, read: StackPass) -> tuple[PositionIds | None, PastPositionIds | None]:
    """Those of the tokens that are read and of those in the cache; None where they are in order and from 0."""
    rows, past = [edits] if isinstance(edits, Edits) else list(edits), read.past_length
    stack = read.stack
    if any(stack in one.unpositioned or one.seed(stack) is not None or one.shift(stack) for one in rows):
        padding_masks = [read.padding_mask] * len(rows)
        if read.padding_mask is not None and not isinstance(edits, Edits):
            padding_masks = list(read.padding_mask)
        by_row = [edited_ids(one, read, mask) for one, mask in zip(rows, padding_masks, strict=True)]
        ids = by_row[0] if isinstance(edits, Edits) else torch.stack(by_row)
    elif past:
        ids = torch.arange(read.length, device=read.device)
    else:
        return None, None
    return ids[..., past:], ids[..., :past] if past else None


def edited_ids(edits: Edits, read: StackPass, padding_mask: Bool[Tensor, "*batch position"] | None) -> PositionIds:
    """The position of each token; a shuffle leaves those of padding, which is at the end, where they are."""
    ids: Int[Tensor, "*batch position"] = torch.arange(read.length, device=read.device)
    if read.stack in edits.unpositioned:
        return torch.zeros_like(ids)
    seed = edits.seed(read.stack)
    if seed is not None:
        generator = random.Random(seed)  # torch's own draws differ with the length
        draws = torch.tensor([generator.random() for _ in range(read.length)], device=read.device)
        draws = draws if padding_mask is None else torch.where(padding_mask, draws, 2.0 + ids)
        ids = draws.argsort(dim=-1).argsort(dim=-1)
    return ids + edits.shift(read.stack)
