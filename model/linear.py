"""Matrices that may be kept in half precision and are computed with in full, and tables of rows."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

HALF = (torch.float16, torch.bfloat16)
FEW_ROWS = 4


def widened(x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """Half precision as float32, anything else as it is."""
    return x.float() if x.dtype in HALF else x


class Linear(nn.Linear):
    """x Wᵀ + b. A weight that is stored in half precision is widened while it is used, and only then."""

    def reset_parameters(self) -> None:
        """Random weights, unless there is no memory for them yet."""
        if not self.weight.is_meta:
            super().reset_parameters()

    def forward(self, x: Float[Tensor, "*batch inner"]) -> Float[Tensor, "*batch outer"]:
        """The product, in the precision of ``x``."""
        return product(x, self.weight if self.weight.dtype == x.dtype else self.weight.to(x.dtype), self.bias)


class Embedding(nn.Embedding):
    """A row for every index."""

    def reset_parameters(self) -> None:
        """Random rows, unless there is no memory for them yet: torch would import its compiler to draw none."""
        if not self.weight.is_meta:
            super().reset_parameters()


def product(
    x: Float[Tensor, "*batch inner"], weight: Float[Tensor, "outer inner"], bias: Float[Tensor, "outer"] | None
) -> Float[Tensor, "*batch outer"]:
    """x Wᵀ + b; of one row or a few on a CPU, as in decoding, in the order of factors that reads W fastest.

    All the time of such a product goes into reading W, and torch's own choice does that at half the memory's speed.
    """
    rows = x.numel() // max(1, x.shape[-1])
    if not 1 <= rows <= FEW_ROWS or x.device.type != "cpu" or not weight.is_contiguous():
        return F.linear(x, weight, bias)
    if rows > 1 and len(weight) < weight.shape[-1]:  # a wide row is read fast enough
        return F.linear(x, weight, bias)
    if rows == 1:  # a dot product for every row of W
        result = torch.bmm(weight.unsqueeze(1), x.reshape(1, 1, -1).expand(len(weight), -1, -1).mT)
    else:
        result = (weight @ x.reshape(rows, -1).T).T.contiguous()  # what comes after reads it row by row
    result = result.reshape(*x.shape[:-1], len(weight))
    return result if bias is None else result + bias
