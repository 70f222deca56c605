"""How the model knows the order of words: position vectors that are added to the token vectors."""

from functools import lru_cache

import torch
from jaxtyping import Float
from torch import Tensor, nn

BASE = 10_000.0


@lru_cache(maxsize=32)
def sinusoids(length: int, width: int, offset: int = 0) -> Float[Tensor, "position width"]:
    """Position vectors of "Attention Is All You Need", section 3.5, in float64 on the CPU; do not write to them.

    PE(pos, 2i) = sin(pos / 10000^(2i/width)), PE(pos, 2i+1) = cos(the same angle). Any length; with an odd
    width the last sine has no cosine beside it. The first row is that of position ``offset``.
    """
    position = torch.arange(offset, offset + length, dtype=torch.float64)
    even = torch.arange(0, width, 2, dtype=torch.float64)
    angle = position[:, None] * BASE ** (-even / width)
    table = torch.empty(length, width, dtype=torch.float64)
    table[:, 0::2] = angle.sin()
    table[:, 1::2] = angle[:, : width // 2].cos()
    return table


class SinusoidalPositions(nn.Module):
    """Fixed sines and cosines, to any length; no parameters."""

    def __init__(self, max_length: int, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(self, tokens: Float[Tensor, "*batch position width"]) -> Float[Tensor, "position width"]:
        """The position vectors to add to ``tokens``, in their precision and on their device."""
        table = sinusoids(tokens.shape[-2], self.width)
        return table.to(tokens.dtype).to(tokens.device)  # in this order: Apple's GPUs have no float64


class LearnedPositions(nn.Module):
    """One trained vector per position, up to ``max_length``."""

    def __init__(self, max_length: int, width: int) -> None:
        super().__init__()
        self.table = nn.Embedding(max_length, width)

    def forward(self, tokens: Float[Tensor, "*batch position width"]) -> Float[Tensor, "position width"]:
        """The position vectors to add to ``tokens``; ValueError where there are more tokens than vectors."""
        length, known = tokens.shape[-2], self.table.num_embeddings
        if length > known:
            raise ValueError(f"{length} positions asked for, {known} learned")
        return self.table.weight[:length].clone()  # a trace must not be a window onto the weights


class NoPositions(nn.Module):
    """Nothing is added: order is invisible to an encoder."""

    def __init__(self, max_length: int, width: int) -> None:
        super().__init__()

    def forward(self, tokens: Float[Tensor, "*batch position width"]) -> None:
        """None: there is nothing to add."""


POSITIONS: dict[str, type[nn.Module]] = {
    "sinusoidal": SinusoidalPositions,
    "learned": LearnedPositions,
    "none": NoPositions,
}
