"""One layer of a stack: its sublayers, each inside a residual connection."""

from jaxtyping import Float
from torch import Tensor, nn

from model.attention import Mask, MemoryMask, MultiHeadAttention
from model.config import Config
from model.edits import Edits
from model.feed_forward import FeedForward
from model.norms import RESIDUALS
from model.trace import AttentionTrace, BlockTrace


class Block(nn.Module):
    """Self-attention, cross-attention where there is a memory to look at, feed-forward."""

    def __init__(self, config: Config, *, cross: bool) -> None:
        super().__init__()
        residual = RESIDUALS[config.norm_order]
        around = (config.width, config.norm_epsilon, config.dropout)
        attention = (config.width, config.heads, config.attention_dropout)
        self.self_attention = MultiHeadAttention(*attention)
        self.self_residual = residual(*around)
        self.cross_attention = MultiHeadAttention(*attention) if cross else None
        self.cross_residual = residual(*around) if cross else None
        self.feed_forward = FeedForward(config.width, config.hidden, config.activation)
        self.feed_forward_residual = residual(*around)

    def forward(
        self,
        x: Float[Tensor, "*batch position width"],
        mask: Mask,
        memory: Float[Tensor, "*batch memory width"] | None,
        memory_mask: MemoryMask | None,
        edits: Edits,
        stack: str,
        layer: int,
    ) -> BlockTrace:
        """The residual stream through the sublayers, one statement an update."""
        seen = self.self_residual.before(x)
        attention = self.self_attention(seen, seen, mask, edits.muted_heads(stack, layer, "self"))
        stream = self.self_residual.after(x, attention.output)
        cross: AttentionTrace | None = None
        if self.cross_attention is not None and self.cross_residual is not None:
            muted = edits.muted_heads(stack, layer, "cross")
            cross = self.cross_attention(self.cross_residual.before(stream), memory, memory_mask, muted)
            stream = self.cross_residual.after(stream, cross.output)
        feed_forward = self.feed_forward(self.feed_forward_residual.before(stream))
        out = self.feed_forward_residual.after(stream, feed_forward.output)
        return BlockTrace(
            stream_in=x, self_attention=attention, cross_attention=cross, feed_forward=feed_forward, stream_out=out
        )
