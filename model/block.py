"""One layer of a stack: its sublayers, each inside a residual connection."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor, nn

from model.attention import Bias, Mask, MemoryMask, MultiHeadAttention, Turn, unturned
from model.config import Config
from model.edits import Edits
from model.feed_forward import feed_forward
from model.norms import RESIDUALS
from model.trace import AttentionTrace, BlockTrace


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """Who may see whom in one layer's self-attention, and what positions do to it."""

    mask: Mask
    bias: Bias | None = None
    turn: Turn = unturned


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
        edits: Edits,
        stack: str,
        layer: int,
    ) -> BlockTrace:
        """The residual stream through the sublayers, one statement an update."""
        attention = self.attend(x, pattern, edits.muted_heads(stack, layer, "self"))
        stream = self.self_residual.after(x, attention.output)
        cross: AttentionTrace | None = None
        if self.cross_attention is not None and self.cross_residual is not None:
            muted = edits.muted_heads(stack, layer, "cross")
            cross = self.cross_attention(self.cross_residual.before(stream), memory, memory_mask, muted)
            stream = self.cross_residual.after(stream, cross.output)
        hidden = self.feed_forward(self.feed_forward_residual.before(stream))
        out = self.feed_forward_residual.after(stream, hidden.output)
        return BlockTrace(
            stream_in=x, self_attention=attention, cross_attention=cross, feed_forward=hidden, stream_out=out
        )

    def attend(
        self, x: Float[Tensor, "*batch position width"], pattern: Pattern, muted: frozenset[int]
    ) -> AttentionTrace:
        """Self-attention over what the residual connection lets through."""
        seen = self.self_residual.before(x)
        return self.self_attention(seen, seen, pattern.mask, muted, bias=pattern.bias, turn=pattern.turn)


class ParallelBlock(Block):
    """Self-attention and feed-forward side by side on the same stream: GPT-J; Black et al. 2022, section 2.1."""

    def forward(
        self,
        x: Float[Tensor, "*batch position width"],
        pattern: Pattern,
        memory: Float[Tensor, "*batch memory width"] | None,
        memory_mask: MemoryMask | None,
        edits: Edits,
        stack: str,
        layer: int,
    ) -> BlockTrace:
        """Both updates at once; there is no cross-attention."""
        attention = self.attend(x, pattern, edits.muted_heads(stack, layer, "self"))
        hidden = self.feed_forward(self.feed_forward_residual.before(x))
        out = self.feed_forward_residual.after(self.self_residual.after(x, attention.output), hidden.output)
        return BlockTrace(
            stream_in=x, self_attention=attention, cross_attention=None, feed_forward=hidden, stream_out=out
        )


def make_block(config: Config, *, cross: bool) -> Block:
    """The block that the config's order of norms asks for."""
    return (ParallelBlock if config.norm_order == "parallel" else Block)(config, cross=cross)
