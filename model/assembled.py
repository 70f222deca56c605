"""The trace of one long pass put together from short ones, each of which went on from the cache of those before it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from model.attention import MultiHeadAttention, causal_mask, full_mask
from model.block import Block, Pattern
from model.cache import BlockCache, Cache, KeysValues
from model.changes import position_changes, unhidden
from model.edits import Edits
from model.trace import AttentionTrace, BlockTrace, EmbeddingTrace, FeedForwardTrace, StackTrace, map_tensors
from model.transformer import Stack

T = TypeVar("T", EmbeddingTrace, FeedForwardTrace)


@dataclass(frozen=True, kw_only=True)
class AttentionPart:
    """What one attention computed in a pass: the fields of its trace but for those that follow from the others."""

    input: Float[Tensor, "*batch query width"]
    query: Float[Tensor, "*batch head query head_width"]
    key: Float[Tensor, "*batch kv_head new_key head_width"]  # those that no pass before had
    value: Float[Tensor, "*batch kv_head new_key head_width"]
    scale: float | Float[Tensor, "batch 1 1 1"]
    scores: Float[Tensor, "*batch head query key"]
    weights: Float[Tensor, "*batch head query key"]
    context: Float[Tensor, "*batch head query head_width"]
    output: Float[Tensor, "*batch query width"]

    @classmethod
    def of(cls, attention: AttentionTrace, known: int) -> "AttentionPart":
        """Of an attention whose first ``known`` keys an earlier pass has."""
        kept = {field.name: getattr(attention, field.name) for field in fields(cls)}
        # Copies, for a window would keep the keys of all passes before from being freed.
        new = {name: kept[name][..., known:, :].clone() for name in ("key", "value")}
        return cls(**kept | new)


@dataclass(frozen=True, kw_only=True)
class BlockPart:
    """What one layer computed in a pass; the stream into it is the one out of the layer before."""

    self_attention: AttentionPart
    cross_attention: AttentionPart | None
    feed_forward: FeedForwardTrace
    stream_out: Float[Tensor, "*batch position width"]

    @classmethod
    def of(cls, block: BlockTrace, known: int) -> "BlockPart":
        """Of a layer after ``known`` positions; the first pass is the one that has the memory's keys."""
        cross = block.cross_attention
        seen = 0 if cross is None or not known else cross.key.shape[-2]
        return cls(
            self_attention=AttentionPart.of(block.self_attention, known),
            cross_attention=None if cross is None else AttentionPart.of(cross, seen),
            feed_forward=block.feed_forward,
            stream_out=block.stream_out,
        )


@dataclass(frozen=True, kw_only=True)
class Part:
    """What a decoder computed in a pass, of the positions that it read in it and of no others."""

    ids: Int[Tensor, "*batch position"]
    embedding: EmbeddingTrace
    blocks: tuple[BlockPart, ...]
    final: Float[Tensor, "*batch position width"]

    @classmethod
    def of(cls, stack: StackTrace) -> "Part":
        """Of a pass, which may have gone on from a cache."""
        known = stack.blocks[0].self_attention.key.shape[-2] - stack.ids.shape[-1]
        blocks = tuple(BlockPart.of(block, known) for block in stack.blocks)
        return cls(ids=stack.ids, embedding=stack.embedding, blocks=blocks, final=stack.final)

    def row(self, row: int) -> "Part":
        """One row of a batch; a part without a batch axis is its own row 0."""
        return self if self.ids.ndim == 1 else map_tensors(self, lambda tensor: tensor[row])


def cache_of(parts: Sequence[Part]) -> Cache:
    """What these passes, one after the other, leave to the next one."""

    def known(attentions: Sequence[AttentionPart]) -> KeysValues:
        return KeysValues(key=lines(attentions, "key"), value=lines(attentions, "value"))

    blocks = []
    for of_layer in zip(*(part.blocks for part in parts), strict=True):
        cross = cross_parts(of_layer)
        own = known([block.self_attention for block in of_layer])
        blocks.append(BlockCache(self_attention=own, cross_attention=known(cross) if cross else None))
    return Cache(blocks=tuple(blocks))


def assembled(stack: Stack, parts: Sequence[Part], edits: Edits) -> StackTrace:
    """The trace of one pass of ``stack`` over what these passes, without a batch axis, read one after the other.

    Nothing that was computed is computed again but q·k, which the whole has of keys that come after their query, too.
    """
    ids = torch.cat([part.ids for part in parts])
    embedding = joined([part.embedding for part in parts])
    changes = position_changes(edits, stack.name, len(ids), None, ids.device)
    patterns = stack.patterns(embedding.token, causal_mask(len(ids), ids.device), None, edits, changes)
    x, blocks = embedding.total, list[BlockTrace]()
    for layer, block in enumerate(stack.blocks):
        assert isinstance(block, Block)
        pattern = patterns[layer in stack.windowed]
        blocks.append(assembled_block(block, [part.blocks[layer] for part in parts], pattern, x, edits))
        x = blocks[-1].stream_out
    return StackTrace(ids=ids, embedding=embedding, blocks=tuple(blocks), final=lines(parts, "final"))


def assembled_block(
    block: Block, parts: Sequence[BlockPart], pattern: Pattern, x: Float[Tensor, "position width"], edits: Edits
) -> BlockTrace:
    """One layer, into which the stream ``x`` goes."""
    own, cross = [part.self_attention for part in parts], cross_parts(parts)
    memory = None
    if block.cross_attention is not None:
        every = full_mask(len(x), cross[0].scores.shape[-1], x.device)
        seen = Pattern(mask=unhidden(every, edits, "decoder", "cross"))
        memory = assembled_attention(block.cross_attention, cross, seen)
    return BlockTrace(
        stream_in=x,
        self_attention=assembled_attention(block.self_attention, own, pattern),
        cross_attention=memory,
        feed_forward=joined([part.feed_forward for part in parts]),
        stream_out=lines(parts, "stream_out"),
    )


def assembled_attention(
    attention: MultiHeadAttention, parts: Sequence[AttentionPart], pattern: Pattern
) -> AttentionTrace:
    """One attention, in which no query saw a key that came after the pass it is of."""
    found = {name: lines(parts, name) for name in ("input", "query", "key", "value", "context", "output")}
    keys = found["key"].shape[-2]
    return AttentionTrace(
        **found,
        products=found["query"] @ attention.shared(found["key"]).transpose(-1, -2),
        scale=parts[0].scale,
        bias=pattern.bias,
        mask=pattern.mask,
        scores=squares([part.scores for part in parts], keys, -math.inf),
        weights=squares([part.weights for part in parts], keys, 0.0),
    )


def cross_parts(blocks: Sequence[BlockPart]) -> list[AttentionPart]:
    """Those of the attention to the memory; none where there is no memory."""
    return [block.cross_attention for block in blocks if block.cross_attention is not None]


def joined(records: Sequence[T]) -> T:
    """One record with the lines of all of them."""
    found: dict[str, Any] = {
        field.name: None if getattr(records[0], field.name) is None else lines(records, field.name)
        for field in fields(records[0])
    }
    return type(records[0])(**found)


def lines(records: Sequence[Any], name: str) -> Float[Tensor, "*batch position width"]:
    """What one field has of every position, in order."""
    return torch.cat([getattr(record, name) for record in records], dim=-2)


def squares(parts: Sequence[Tensor], keys: int, unseen: float) -> Float[Tensor, "head query key"]:
    """Scores or weights, (head, query, key), of ever more keys, one under the other and all of so many keys."""
    return torch.cat([F.pad(part, (0, keys - part.shape[-1]), value=unseen) for part in parts], dim=-2)
