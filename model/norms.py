"""Where the norm stands: the two orders of residual connection and layer normalisation.

Both wrap a sublayer in two steps, so that a block can keep what happened between them:

    update = sublayer(residual.before(x))
    x      = residual.after(x, update)
"""

from jaxtyping import Float
from torch import Tensor, nn


class PostNorm(nn.Module):
    """norm(x + dropout(sublayer(x))): "Attention Is All You Need", section 3.1 and 5.4."""

    def __init__(self, width: int, epsilon: float, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width, eps=epsilon)
        self.dropout = nn.Dropout(dropout)

    def before(self, x: Float[Tensor, "*batch position width"]) -> Float[Tensor, "*batch position width"]:
        """What the sublayer reads: the stream itself."""
        return x

    def after(
        self, x: Float[Tensor, "*batch position width"], update: Float[Tensor, "*batch position width"]
    ) -> Float[Tensor, "*batch position width"]:
        """The stream after the sublayer: the norm of the sum."""
        return self.norm(x + self.dropout(update))


class PreNorm(nn.Module):
    """x + dropout(sublayer(norm(x))): GPT-2; Xiong et al. 2020, "On Layer Normalization in the Transformer"."""

    def __init__(self, width: int, epsilon: float, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width, eps=epsilon)
        self.dropout = nn.Dropout(dropout)

    def before(self, x: Float[Tensor, "*batch position width"]) -> Float[Tensor, "*batch position width"]:
        """What the sublayer reads: the norm of the stream."""
        return self.norm(x)

    def after(
        self, x: Float[Tensor, "*batch position width"], update: Float[Tensor, "*batch position width"]
    ) -> Float[Tensor, "*batch position width"]:
        """The stream after the sublayer: the plain sum."""
        return x + self.dropout(update)


RESIDUALS: dict[str, type[PostNorm] | type[PreNorm]] = {"post": PostNorm, "pre": PreNorm}
