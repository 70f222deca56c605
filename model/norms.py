"""Norms, and where they stand: the orders of residual connection and normalisation.

Each is called with the stream and a sublayer, and gives back the sublayer's trace and the stream after it:

    trace, x = residual(x, sublayer)

What edits leave out, the stream or a norm, is left out there.
"""

from collections.abc import Callable
from typing import TypeVar

from jaxtyping import Float
from torch import Tensor, nn

from model.config import Config
from model.edits.interventions import NO_RESIDUAL_INTERVENTIONS, ResidualInterventions, normed, without
from model.trace import AttentionTrace, FeedForwardTrace

# Ba et al. 2016; Zhang and Sennrich 2019, without mean and bias.
NORMS: dict[str, type[nn.LayerNorm] | type[nn.RMSNorm]] = {"layer": nn.LayerNorm, "rms": nn.RMSNorm}


Sublayer = TypeVar("Sublayer", AttentionTrace, FeedForwardTrace)  # what one computed; its ``output`` is the update


def make_norm(config: Config) -> nn.Module:
    """The norm that the config names."""
    return NORMS[config.norm](config.width, eps=config.norm_epsilon)


class PostNorm(nn.Module):
    """norm(x + dropout(sublayer(x))): "Attention Is All You Need", section 3.1 and 5.4."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.norm = make_norm(config)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        x: Float[Tensor, "*batch position width"],
        sublayer: Callable[[Tensor], Sublayer],
        interventions: ResidualInterventions = NO_RESIDUAL_INTERVENTIONS,
    ) -> tuple[Sublayer, Float[Tensor, "*batch position width"]]:
        """What the sublayer computed of the stream, and the stream after it."""
        trace = sublayer(x)
        return trace, self.add(x, trace.output, interventions)

    def add(
        self,
        x: Float[Tensor, "*batch position width"],
        update: Float[Tensor, "*batch position width"],
        interventions: ResidualInterventions = NO_RESIDUAL_INTERVENTIONS,
    ) -> Float[Tensor, "*batch position width"]:
        """The stream after the sublayer: the norm of the sum."""
        return normed(self.norm, without(x, interventions.stream) + self.dropout(update), interventions.norm_after)


class PreNorm(nn.Module):
    """x + dropout(sublayer(norm(x))): GPT-2; Xiong et al. 2020, "On Layer Normalization in the Transformer"."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.norm = make_norm(config)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        x: Float[Tensor, "*batch position width"],
        sublayer: Callable[[Tensor], Sublayer],
        interventions: ResidualInterventions = NO_RESIDUAL_INTERVENTIONS,
        *,
        source: Float[Tensor, "*batch position width"] | None = None,
    ) -> tuple[Sublayer, Float[Tensor, "*batch position width"]]:
        """What the sublayer computed of the normed stream (``source``, where it is not ``x``), and the stream after."""
        trace = sublayer(normed(self.norm, x if source is None else source, interventions.norm_before))
        return trace, self.add(x, trace.output, interventions)

    def add(
        self,
        x: Float[Tensor, "*batch position width"],
        update: Float[Tensor, "*batch position width"],
        interventions: ResidualInterventions = NO_RESIDUAL_INTERVENTIONS,
    ) -> Float[Tensor, "*batch position width"]:
        """The stream after the sublayer: the plain sum."""
        return without(x, interventions.stream) + self.dropout(update)


class BothNorms(PreNorm):
    """x + dropout(norm(sublayer(norm(x)))), two different norms: Gemma 2 (arXiv 2408.00118, section 2)."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.norm_after = make_norm(config)

    def add(
        self,
        x: Float[Tensor, "*batch position width"],
        update: Float[Tensor, "*batch position width"],
        interventions: ResidualInterventions = NO_RESIDUAL_INTERVENTIONS,
    ) -> Float[Tensor, "*batch position width"]:
        """The stream after the sublayer: the sum with the norm of the update."""
        return super().add(x, normed(self.norm_after, update, interventions.norm_after), interventions)


# "parallel" is PreNorm in a block whose sublayers all read the same stream.
RESIDUALS: dict[str, type[PostNorm] | type[PreNorm]] = {
    "post": PostNorm,
    "pre": PreNorm,
    "both": BothNorms,
    "parallel": PreNorm,
}
