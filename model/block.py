"""One layer of a stack: its sublayers, each inside a residual connection."""

from dataclasses import dataclass

from jaxtyping import Bool, Float
from torch import Tensor, nn

from model.attention import Bias, Mask, MemoryMask, MultiHeadAttention, Turn, unturned
from model.cache import BlockCache
from model.changes import BlockChanges, block_changes
from model.config import Config
from model.edits import AnyEdits
from model.feed_forward import feed_forward
from model.norms import RESIDUALS
from model.trace import AttentionTrace, BlockTrace


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """Who may see whom in one layer's self-attention, what positions do to it, and which of them are no padding."""

    mask: Mask
    bias: Bias | None = None
    turn: Turn = unturned
    real: Bool[Tensor, "*batch position"] | None = None


class Block(nn.Module):
    """Self-attention, cross-attention where there is a memory to look at, feed-forward."""

    def __init__(self, config: Config, *, cross: bool) -> None:
        super().__init__()
        residual = RESIDUALS[config.norm_order]
        self.self_attention = MultiHeadAttention(config)
        self.self_residual = residual(config)
        self.cross_attention = MultiHeadAttention(config) if cross else None
        self.cross_residual = residual(config) if cross else None
        self.feed_forward = feed_forward(config)
        self.feed_forward_residual = residual(config)

    def forward(
        self,
        x: Float[Tensor, "*batch position width"],
        pattern: Pattern,
        memory: Float[Tensor, "*batch memory width"] | None,
        memory_mask: MemoryMask | None,
        edits: AnyEdits,
        stack: str,
        layer: int,
        past: BlockCache | None = None,
    ) -> BlockTrace:
        """The residual stream through the sublayers, one statement an update.

        ``past`` is what the layer computed of the positions before those of ``x``; a memory in it is not given again.
        """
        changes = self.changes(edits, stack, layer, x)
        attention = self.attend(x, pattern, changes, past)
        stream = self.self_residual.after(x, attention.output, changes.self_residual)
        cross: AttentionTrace | None = None
        if self.cross_attention is not None and self.cross_residual is not None:
            around, changed = changes.cross_residual, changes.cross_attention
            seen = self.cross_residual.before(stream, around)
            known = None if past is None else past.cross_attention
            cross = self.cross_attention(seen, memory, memory_mask, changed, real=pattern.real, past=known)
            stream = self.cross_residual.after(stream, cross.output, around)
        around = changes.feed_forward_residual
        hidden = self.feed_forward(self.feed_forward_residual.before(stream, around))
        out = self.feed_forward_residual.after(stream, hidden.output, around)
        return BlockTrace(
            stream_in=x, self_attention=attention, cross_attention=cross, feed_forward=hidden, stream_out=out
        )

    def changes(
        self, edits: AnyEdits, stack: str, layer: int, x: Float[Tensor, "*batch position width"]
    ) -> BlockChanges:
        """What the edits change in this layer."""
        return block_changes(edits, stack, layer, self.self_attention.heads, self.self_attention.scale, x)

    def attend(
        self,
        x: Float[Tensor, "*batch position width"],
        pattern: Pattern,
        changes: BlockChanges,
        past: BlockCache | None,
    ) -> AttentionTrace:
        """Self-attention over what the residual connection lets through."""
        seen, changed = self.self_residual.before(x, changes.self_residual), changes.self_attention
        known = None if past is None else past.self_attention
        how = {"bias": pattern.bias, "turn": pattern.turn, "real": pattern.real, "past": known}
        return self.self_attention(seen, seen, pattern.mask, changed, **how)


class ParallelBlock(Block):
    """Self-attention and feed-forward side by side on the same stream: GPT-J; Black et al. 2022, section 2.1."""

    def forward(
        self,
        x: Float[Tensor, "*batch position width"],
        pattern: Pattern,
        memory: Float[Tensor, "*batch memory width"] | None,
        memory_mask: MemoryMask | None,
        edits: AnyEdits,
        stack: str,
        layer: int,
        past: BlockCache | None = None,
    ) -> BlockTrace:
        """Both updates at once; there is no cross-attention."""
        changes = self.changes(edits, stack, layer, x)
        attention = self.attend(x, pattern, changes, past)
        hidden = self.feed_forward(self.feed_forward_residual.before(x, changes.feed_forward_residual))
        stream = self.self_residual.after(x, attention.output, changes.self_residual)
        out = self.feed_forward_residual.after(stream, hidden.output, changes.feed_forward_residual)
        return BlockTrace(
            stream_in=x, self_attention=attention, cross_attention=None, feed_forward=hidden, stream_out=out
        )


def make_block(config: Config, *, cross: bool) -> Block:
    """The block that the config's order of norms asks for."""
    return (ParallelBlock if config.norm_order == "parallel" else Block)(config, cross=cross)
