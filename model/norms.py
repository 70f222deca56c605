"""Norms, and where they stand: the orders of residual connection and normalisation.

All wrap a sublayer in two steps, so that a block can keep what happened between them:

    update = sublayer(residual.before(x))
    x      = residual.after(x, update)

What edits leave out, the stream or a norm, is left out there.
"""

from jaxtyping import Float
from torch import Tensor, nn

from model.changes import SAME_RESIDUAL, ResidualChanges, normed, without
from model.config import Config

# Ba et al. 2016; Zhang and Sennrich 2019, without mean and bias.
NORMS: dict[str, type[nn.LayerNorm] | type[nn.RMSNorm]] = {"layer": nn.LayerNorm, "rms": nn.RMSNorm}


def make_norm(config: Config) -> nn.Module:
    """The norm that the config names."""
    return NORMS[config.norm](config.width, eps=config.norm_epsilon)


class PostNorm(nn.Module):
    """norm(x + dropout(sublayer(x))): "Attention Is All You Need", section 3.1 and 5.4."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.norm = make_norm(config)
        self.dropout = nn.Dropout(config.dropout)

    def before(
        self, x: Float[Tensor, "*batch position width"], changes: ResidualChanges = SAME_RESIDUAL
    ) -> Float[Tensor, "*batch position width"]:
        """What the sublayer reads: the stream itself."""
        return x

    def after(
        self,
        x: Float[Tensor, "*batch position width"],
        update: Float[Tensor, "*batch position width"],
        changes: ResidualChanges = SAME_RESIDUAL,
    ) -> Float[Tensor, "*batch position width"]:
        """The stream after the sublayer: the norm of the sum."""
        return normed(self.norm, without(x, changes.stream) + self.dropout(update), changes.norm_after)


class PreNorm(nn.Module):
    """x + dropout(sublayer(norm(x))): GPT-2; Xiong et al. 2020, "On Layer Normalization in the Transformer"."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.norm = make_norm(config)
        self.dropout = nn.Dropout(config.dropout)

    def before(
        self, x: Float[Tensor, "*batch position width"], changes: ResidualChanges = SAME_RESIDUAL
    ) -> Float[Tensor, "*batch position width"]:
        """What the sublayer reads: the norm of the stream."""
        return normed(self.norm, x, changes.norm_before)

    def after(
        self,
        x: Float[Tensor, "*batch position width"],
        update: Float[Tensor, "*batch position width"],
        changes: ResidualChanges = SAME_RESIDUAL,
    ) -> Float[Tensor, "*batch position width"]:
        """The stream after the sublayer: the plain sum."""
        return without(x, changes.stream) + self.dropout(update)


class BothNorms(PreNorm):
    """x + dropout(norm(sublayer(norm(x)))), two different norms: Gemma 2 (arXiv 2408.00118, section 2)."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.norm_after = make_norm(config)

    def after(
        self,
        x: Float[Tensor, "*batch position width"],
        update: Float[Tensor, "*batch position width"],
        changes: ResidualChanges = SAME_RESIDUAL,
    ) -> Float[Tensor, "*batch position width"]:
        """The stream after the sublayer: the sum with the norm of what it said."""
        said = normed(self.norm_after, update, changes.norm_after)
        return without(x, changes.stream) + self.dropout(said)


# "parallel" is PreNorm in a block whose sublayers all read the same stream.
RESIDUALS: dict[str, type[PostNorm] | type[PreNorm]] = {
    "post": PostNorm,
    "pre": PreNorm,
    "both": BothNorms,
    "parallel": PreNorm,
}
