"""One layer of a stack: its sublayers, each inside a residual connection.

"Attention Is All You Need", figure 1: a block is one of its grey boxes.
"""

from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from model.attention import MaskAndBias, MultiHeadAttention
from model.cache import BlockCache
from model.config import Config
from model.edits.interventions import NO_LAYER_INTERVENTIONS, LayerInterventions
from model.feed_forward import feed_forward
from model.norms import RESIDUALS
from model.trace import AttentionTrace, BlockTrace


class Block(nn.Module):
    """Self-attention, cross-attention where there is a memory to look at, feed-forward."""

    def __init__(self, config: Config, layer: int, *, cross: bool) -> None:
        super().__init__()
        residual = RESIDUALS[config.norm_order]
        self.self_attention = MultiHeadAttention(config, layer)
        self.self_residual = residual(config)
        self.cross_attention: Any = MultiHeadAttention(config, layer) if cross else None
        self.cross_residual = residual(config) if cross else None
        self.feed_forward = feed_forward(config)
        self.feed_forward_residual = residual(config)

    def forward(
        self,
        x: Float[Tensor, "*batch position width"],
        mask_and_bias: MaskAndBias,
        memory: Float[Tensor, "*batch memory width"] | None = None,
        memory_mask: MaskAndBias | None = None,
        interventions: LayerInterventions = NO_LAYER_INTERVENTIONS,
        past: BlockCache | None = None,
    ) -> BlockTrace:
        """The residual stream through the sublayers, one statement an update.

        ``past`` is what the layer computed of the positions before those of ``x``; a memory in it is not given again.
        """
        at, cross = interventions, None
        attention, stream = self.attend(x, mask_and_bias, at, past)
        if self.cross_residual is not None:
            looking = (memory, memory_mask, at.cross_attention, past and past.cross_attention)
            cross, stream = self.cross_residual(stream, lambda x: self.cross_attention(x, *looking), at.cross_residual)
        hidden, stream = self.feed_forward_residual(stream, self.feed_forward, at.feed_forward_residual)
        return BlockTrace(
            stream_in=x, self_attention=attention, cross_attention=cross, feed_forward=hidden, stream_out=stream
        )

    def attend(
        self,
        x: Float[Tensor, "*batch position width"],
        mask_and_bias: MaskAndBias,
        interventions: LayerInterventions,
        past: BlockCache | None,
    ) -> tuple[AttentionTrace, Float[Tensor, "*batch position width"]]:
        """What self-attention computed, and the stream after its residual connection."""
        at = interventions
        looking = (mask_and_bias, at.self_attention, past and past.self_attention)
        return self.self_residual(x, lambda x: self.self_attention(x, x, *looking), at.self_residual)


class ParallelBlock(Block):
    """Self-attention and feed-forward side by side on the same stream: GPT-J; Black et al. 2022, section 2.1."""

    def forward(
        self,
        x: Float[Tensor, "*batch position width"],
        mask_and_bias: MaskAndBias,
        memory: Float[Tensor, "*batch memory width"] | None = None,
        memory_mask: MaskAndBias | None = None,
        interventions: LayerInterventions = NO_LAYER_INTERVENTIONS,
        past: BlockCache | None = None,
    ) -> BlockTrace:
        """Both updates of what comes in; there is no cross-attention."""
        at = interventions
        attention, stream = self.attend(x, mask_and_bias, at, past)
        hidden, stream = self.feed_forward_residual(stream, self.feed_forward, at.feed_forward_residual, source=x)
        return BlockTrace(
            stream_in=x, self_attention=attention, cross_attention=None, feed_forward=hidden, stream_out=stream
        )


def make_block(config: Config, layer: int, *, cross: bool) -> Block:
    """The block that the config's order of norms asks for."""
    return (ParallelBlock if config.norm_order == "parallel" else Block)(config, layer, cross=cross)
