"""One trace stitched together from several passes, each of which went on from the cache of those before it."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from model.attention import MaskAndBias, MultiHeadAttention, causal_mask
from model.block import Block
from model.cache import BlockCache, Cache, KeysValues
from model.edits import Edits
from model.trace import AttentionTrace, BlockTrace, EmbeddingTrace, FeedForwardTrace, StackTrace, map_tensors
from model.transformer import Stack

T = TypeVar("T", EmbeddingTrace, FeedForwardTrace)


@dataclass(frozen=True, kw_only=True)
class AttentionPass:
    """What one attention computed in a pass: the fields of its trace but for those that follow from the others."""

    input: Float[Tensor, "*batch query width"]
    query: Float[Tensor, "*batch head query head_width"]
    key: Float[Tensor, "*batch kv_head new_key head_width"]  # those that no pass before had
    value: Float[Tensor, "*batch kv_head new_key head_width"]
    scale: float | Float[Tensor, "batch 1 1 1"]
    weights: Float[Tensor, "*batch head query key"]
    context: Float[Tensor, "*batch head query head_width"]
    output: Float[Tensor, "*batch query width"]

    @classmethod
    def of(cls, attention: AttentionTrace, past_length: int) -> "AttentionPass":
        """Of an attention whose first ``past_length`` keys an earlier pass has."""
        kept = {field.name: getattr(attention, field.name) for field in fields(cls)}
        # Copies, for a window would keep the keys of all passes before from being freed.
        new = {name: kept[name][..., past_length:, :].clone() for name in ("key", "value")}
        return cls(**kept | new)


@dataclass(frozen=True, kw_only=True)
class BlockPass:
    """What one layer computed in a pass; the stream into it is the one out of the layer before."""

    self_attention: AttentionPass
    cross_attention: AttentionPass | None
    feed_forward: FeedForwardTrace
    stream_out: Float[Tensor, "*batch position width"]

    @classmethod
    def of(cls, block: BlockTrace, past_length: int) -> "BlockPass":
        """Of a layer after ``past_length`` positions; the first pass is the one that has the memory's keys."""
        cross = block.cross_attention
        seen = 0 if cross is None or not past_length else cross.key.shape[-2]
        return cls(
            self_attention=AttentionPass.of(block.self_attention, past_length),
            cross_attention=None if cross is None else AttentionPass.of(cross, seen),
            feed_forward=block.feed_forward,
            stream_out=block.stream_out,
        )


@dataclass(frozen=True, kw_only=True)
class DecoderPass:
    """What a decoder computed in a pass, of the positions that it read in it and of no others."""

    ids: Int[Tensor, "*batch position"]
    embedding: EmbeddingTrace
    blocks: tuple[BlockPass, ...]
    final: Float[Tensor, "*batch position width"]

    @classmethod
    def of(cls, stack: StackTrace) -> "DecoderPass":
        """Of a pass, which may have gone on from a cache."""
        past_length = stack.blocks[0].self_attention.key.shape[-2] - stack.ids.shape[-1]
        blocks = tuple(BlockPass.of(block, past_length) for block in stack.blocks)
        return cls(ids=stack.ids, embedding=stack.embedding, blocks=blocks, final=stack.final)

    def row(self, row: int) -> "DecoderPass":
        """One row of a batch; a pass without a batch axis is its own row 0."""
        return self if self.ids.ndim == 1 else map_tensors(self, lambda tensor: tensor[row])


def cache_of(passes: Sequence[DecoderPass]) -> Cache:
    """What these passes, one after the other, leave to the next one."""

    def keys_values(attentions: Sequence[AttentionPass]) -> KeysValues:
        return KeysValues(key=rows(attentions, "key"), value=rows(attentions, "value"))

    blocks = []
    for of_layer in zip(*(each.blocks for each in passes), strict=True):
        cross = cross_passes(of_layer)
        own = keys_values([block.self_attention for block in of_layer])
        blocks.append(BlockCache(self_attention=own, cross_attention=keys_values(cross) if cross else None))
    return Cache(blocks=tuple(blocks))


def stitched_trace(stack: Stack, passes: Sequence[DecoderPass], edits: Edits) -> StackTrace:
    """The trace of one pass of ``stack`` over what these passes, without a batch axis, read one after the other.

    Nothing that was computed is computed again.
    """
    ids = torch.cat([each.ids for each in passes])
    embedding, length = joined_records([each.embedding for each in passes]), len(ids)
    cross = cross_passes([each.blocks[0] for each in passes])
    memory_length = cross[0].weights.shape[-1] if cross else None
    interventions = stack.interventions(edits, embedding.token, length, memory_length)
    mask = causal_mask(length, ids.device)
    wide, windowed = stack.masks_and_biases(embedding.token, mask, None, interventions)
    memory_mask = stack.memory_mask(embedding.token, memory_length, None, interventions)
    x, blocks = embedding.total, list[BlockTrace]()
    for layer, block in enumerate(stack.blocks):
        assert isinstance(block, Block)
        of_layer = [each.blocks[layer] for each in passes]
        blocks.append(stitched_block(block, of_layer, windowed if layer in stack.windowed else wide, memory_mask, x))
        x = blocks[-1].stream_out
    return StackTrace(ids=ids, embedding=embedding, blocks=tuple(blocks), final=rows(passes, "final"))


def stitched_block(
    block: Block,
    passes: Sequence[BlockPass],
    mask_and_bias: MaskAndBias,
    memory_mask: MaskAndBias | None,
    x: Float[Tensor, "position width"],
) -> BlockTrace:
    """One layer, into which the stream ``x`` goes."""
    cross = None
    if block.cross_attention is not None and memory_mask is not None:
        cross = stitched_attention(block.cross_attention, cross_passes(passes), memory_mask)
    own = [each.self_attention for each in passes]
    return BlockTrace(
        stream_in=x,
        self_attention=stitched_attention(block.self_attention, own, mask_and_bias),
        cross_attention=cross,
        feed_forward=joined_records([each.feed_forward for each in passes]),
        stream_out=rows(passes, "stream_out"),
    )


def stitched_attention(
    attention: MultiHeadAttention, passes: Sequence[AttentionPass], mask_and_bias: MaskAndBias
) -> AttentionTrace:
    """One attention, in which no query saw a key that came after the pass it is of."""
    stacked = {name: rows(passes, name) for name in ("input", "query", "key", "value", "context", "output")}
    keys = stacked["key"].shape[-2]
    return AttentionTrace(
        **stacked,
        scale=passes[0].scale,
        bias=mask_and_bias.bias,
        cap=attention.cap,
        mask=mask_and_bias.mask,
        weights=padded_rows([each.weights for each in passes], keys),
    )


def cross_passes(blocks: Sequence[BlockPass]) -> list[AttentionPass]:
    """Those of the attention to the memory; none where there is no memory."""
    return [block.cross_attention for block in blocks if block.cross_attention is not None]


def joined_records(records: Sequence[T]) -> T:
    """One record with the lines of all of them."""
    values: dict[str, Any] = {
        field.name: None if getattr(records[0], field.name) is None else rows(records, field.name)
        for field in fields(records[0])
    }
    return type(records[0])(**values)


def rows(records: Sequence[Any], name: str) -> Float[Tensor, "*batch position width"]:
    """What one field has of every position, in order."""
    return torch.cat([getattr(record, name) for record in records], dim=-2)


def padded_rows(parts: Sequence[Tensor], keys: int) -> Float[Tensor, "head query key"]:
    """Weights, (head, query, key), of ever more keys, one under the other and all of so many keys."""
    return torch.cat([F.pad(part, (0, keys - part.shape[-1])) for part in parts], dim=-2)
