"""Matrices that may be kept in half precision and are computed with in full."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

HALF = (torch.float16, torch.bfloat16)


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
        return F.linear(x, self.weight if self.weight.dtype == x.dtype else self.weight.to(x.dtype), self.bias)
