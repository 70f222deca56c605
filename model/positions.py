"""How the model knows the order of words: vectors added to the tokens', rotations of queries and keys, score biases."""

import math
from collections.abc import Callable
from functools import lru_cache, partial

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from model.config import Config
from model.edits.interventions import PastPositionIds, PositionIds
from model.linear import Embedding

BASE = 10_000.0
Vectors = Float[Tensor, "position width"] | Float[Tensor, "*batch position width"]
Biases = Float[Tensor, "head query key"] | Float[Tensor, "*batch head query key"]


@lru_cache(maxsize=32)
def sinusoids(length: int, width: int, offset: int = 0) -> Float[Tensor, "position width"]:
    """Position vectors of "Attention Is All You Need", section 3.5, in float64 on the CPU; do not write to them.

    PE(pos, 2i) = sin(pos / 10000^(2i/width)), PE(pos, 2i+1) = cos(the same angle). Any length; with an odd
    width the last sine has no cosine beside it. The first row is that of position ``offset``.
    """
    return computed_sinusoids(length, width, offset)


def computed_sinusoids(length: int, width: int, offset: int = 0) -> Float[Tensor, "position width"]:
    """The same, computed anew and kept by nobody: for tables larger than a text needs."""
    position = torch.arange(offset, offset + length, dtype=torch.float64)
    even = torch.arange(0, width, 2, dtype=torch.float64)
    angle = position[:, None] * BASE ** (-even / width)
    table = torch.empty(length, width, dtype=torch.float64)
    table[:, 0::2] = angle.sin()
    table[:, 1::2] = angle[:, : width // 2].cos()
    return table


class Positions(nn.Module):
    """What a scheme may do; each of them does one of the three, and "none" does nothing.

    ``position_ids`` has the position of each token; None: 0, 1, 2 … in order.
    """

    capacity: int | None = None  # how many positions it has numbers for; None: any

    def __init__(self, config: Config, *, causal: bool = False) -> None:
        super().__init__()

    def forward(
        self,
        ids: Int[Tensor, "*batch position"],
        tokens: Float[Tensor, "*batch position width"],
        position_ids: PositionIds | None = None,
    ) -> Vectors | None:
        """What is added to the vectors ``tokens`` of ``ids``."""
        return None

    def rotate(
        self, tokens: Float[Tensor, "*batch position width"], position_ids: PositionIds | None = None, *, windowed: bool
    ) -> Callable[[Tensor], Tensor] | None:
        """What rotates the queries and keys of these tokens in a layer with or without a window."""
        return None

    def bias(
        self,
        tokens: Float[Tensor, "*batch position width"],
        position_ids: PositionIds | None = None,
        past_position_ids: PastPositionIds | None = None,
    ) -> Biases | None:
        """What is added to the scores of every layer's self-attention; the keys of a cache come before the tokens'."""
        return None


class SinusoidalPositions(Positions):
    """Fixed sines and cosines, to any length; no parameters."""

    def forward(
        self,
        ids: Int[Tensor, "*batch position"],
        tokens: Float[Tensor, "*batch position width"],
        position_ids: PositionIds | None = None,
    ) -> Vectors:
        """The position vectors to add to ``tokens``, in their precision and on their device."""
        first = 0 if position_ids is None else int(position_ids.min())
        length = tokens.shape[-2] if position_ids is None else int(position_ids.max()) - first + 1
        table = self.table(length, tokens.shape[-1], first)
        table = table.to(tokens.dtype).to(tokens.device)  # in this order: Apple's GPUs have no float64
        return table if position_ids is None else table[position_ids - first]

    def table(self, length: int, width: int, first: int = 0) -> Float[Tensor, "position width"]:
        """Sine and cosine in turn, as in the paper."""
        return sinusoids(length, width, first)


class HalvedSinusoidalPositions(SinusoidalPositions):
    """The same numbers, all sines before all cosines: Marian (Junczys-Dowmunt et al. 2018)."""

    def table(self, length: int, width: int, first: int = 0) -> Float[Tensor, "position width"]:
        """The columns of the paper's table in another order."""
        table = sinusoids(length, width, first)
        return torch.cat([table[:, 0::2], table[:, 1::2]], dim=1)


class LearnedPositions(Positions):
    """One trained vector per position, up to ``max_length``."""

    def __init__(self, config: Config, *, causal: bool = False) -> None:
        super().__init__(config)
        self.offset = config.position_offset
        self.table = Embedding(config.max_length + self.offset, config.width)
        self.capacity: int = config.max_length

    def forward(
        self,
        ids: Int[Tensor, "*batch position"],
        tokens: Float[Tensor, "*batch position width"],
        position_ids: PositionIds | None = None,
    ) -> Vectors:
        """The position vectors to add to ``tokens``; ValueError where a token stands beyond the vectors."""
        first, length = (
            (0, tokens.shape[-2]) if position_ids is None else (int(position_ids.min()), int(position_ids.max()) + 1)
        )
        if first < 0 or length > self.capacity:
            raise ValueError(f"{length if first >= 0 else first} positions asked for, {self.capacity} learned")
        return self.rows(ids, position_ids).to(tokens.dtype)

    def rows(self, ids: Int[Tensor, "*batch position"], position_ids: PositionIds | None) -> Vectors:
        """The vectors of positions in order, or of these."""
        if position_ids is not None:
            return self.table(self.offset + position_ids)
        # A copy, for a trace must not be a window onto the weights.
        return self.table.weight[self.offset : self.offset + ids.shape[-1]].clone()


class CountedPositions(LearnedPositions):
    """Learned vectors for the first, second … token that is no padding; padding has a row of its own: RoBERTa."""

    def __init__(self, config: Config, *, causal: bool = False) -> None:
        super().__init__(config)
        self.pad_id = config.pad_id

    def rows(self, ids: Int[Tensor, "*batch position"], position_ids: PositionIds | None) -> Vectors:
        """Row offset - 1 at padding, offset at the first token that is none; ``position_ids`` counts those alone."""
        typed = (ids != self.pad_id).long()
        number = typed.cumsum(dim=-1)
        if position_ids is not None:
            number = 1 + position_ids.expand_as(number).gather(-1, (number - 1).clamp(min=0))
        return self.table(number * typed + self.offset - 1)


class RotaryPositions(Positions):
    """Queries and keys rotated by angles that grow with the position: Su et al. 2021, "RoFormer", section 3.2.2."""

    def __init__(self, config: Config, *, causal: bool = False) -> None:
        super().__init__(config)
        self.width = config.rotary_width or config.head_width
        self.config = config

    def rotate(
        self, tokens: Float[Tensor, "*batch position width"], position_ids: PositionIds | None = None, *, windowed: bool
    ) -> Callable[[Tensor], Tensor]:
        """The rotation of every pair (i, i + width/2) of the first ``width`` coordinates."""
        position = (
            torch.arange(tokens.shape[-2]) if position_ids is None else position_ids[..., None, :].cpu()
        )  # of every head
        angle = position[..., None].float() * self.frequencies(windowed=windowed)
        angle = torch.cat([angle, angle], dim=-1)
        return partial(rotated, cosine=angle.cos().to(tokens), sine=angle.sin().to(tokens))

    def frequencies(self, *, windowed: bool) -> Float[Tensor, "pair"]:
        """Radians per position.

        In float32 step by step, as models of this kind were trained: the exact angles are others at far positions.
        """
        base = self.config.rotary_base
        if windowed:
            base = self.config.rotary_window_base or base
        frequencies = 1.0 / base ** (torch.arange(0, self.width, 2, dtype=torch.float32) / self.width)
        return (
            frequencies
            if windowed and self.config.rotary_window_base
            else SCALINGS[self.config.rotary_scaling](frequencies, self.config)
        )


def rotated(
    x: Float[Tensor, "... position head_width"],
    *,
    cosine: Float[Tensor, "... position width"],
    sine: Float[Tensor, "... position width"],
) -> Float[Tensor, "... position head_width"]:
    """Queries or keys whose first coordinates, as many as have an angle, are rotated."""
    kept, rest = x.split([cosine.shape[-1], x.shape[-1] - cosine.shape[-1]], dim=-1)
    first, second = kept.chunk(2, dim=-1)
    return torch.cat([kept * cosine + torch.cat([-second, first], dim=-1) * sine, rest], dim=-1)


def scale_none(frequencies: Float[Tensor, "pair"], config: Config) -> Float[Tensor, "pair"]:
    """The frequencies themselves."""
    return frequencies


def scale_linear(frequencies: Float[Tensor, "pair"], config: Config) -> Float[Tensor, "pair"]:
    """Positions squeezed together: Chen et al. 2023, "Extending context window", section 2.3."""
    return frequencies / config.rotary_factor


def scale_llama3(frequencies: Float[Tensor, "pair"], config: Config) -> Float[Tensor, "pair"]:
    """Slow rotations slowed down, fast ones kept, those between blended: Llama 3.1, ``apply_scaling`` in its source."""
    turns = config.rotary_original_length * frequencies / (2 * math.pi)
    blend = ((turns - config.rotary_low) / (config.rotary_high - config.rotary_low)).clamp(0, 1)
    return (1 - blend) * frequencies / config.rotary_factor + blend * frequencies


SCALINGS = {"none": scale_none, "linear": scale_linear, "llama3": scale_llama3}


def offsets(
    tokens: Float[Tensor, "*batch position width"],
    position_ids: PositionIds | None,
    past_position_ids: PastPositionIds | None = None,
) -> Int[Tensor, "query key"] | Int[Tensor, "*batch query key"]:
    """How far each key is after each query; the keys of a cache come before the tokens' own."""
    query = torch.arange(tokens.shape[-2], device=tokens.device) if position_ids is None else position_ids
    key = query if past_position_ids is None else torch.cat([past_position_ids, query], dim=-1)
    return key[..., None, :] - query[..., :, None]


class RelativePositions(Positions):
    """A trained bias per head and bucket of distance, added to the scores: Raffel et al. 2020 (T5), section 2.1."""

    def __init__(self, config: Config, *, causal: bool = False) -> None:
        super().__init__(config)
        self.causal, self.distance = causal, config.relative_distance
        self.table = Embedding(config.relative_buckets, config.heads)

    def bias(
        self,
        tokens: Float[Tensor, "*batch position width"],
        position_ids: PositionIds | None = None,
        past_position_ids: PastPositionIds | None = None,
    ) -> Biases:
        """The bias of every query and key."""
        return (
            self.table(self.buckets(offsets(tokens, position_ids, past_position_ids))).movedim(-1, -3).to(tokens.dtype)
        )

    def buckets(self, offset: Int[Tensor, "*batch query key"]) -> Int[Tensor, "*batch query key"]:
        """The bucket of key - query: one each for near ones, then ever wider, the last for all beyond.

        Where a query sees both sides, the upper half of the buckets is for keys after it.
        """
        count, after = self.table.num_embeddings, torch.zeros_like(offset)
        if self.causal:
            far = (-offset).clamp(min=0)
        else:
            count //= 2
            far, after = offset.abs(), (offset > 0).long() * count
        exact = count // 2
        growth = (far.clamp(min=1).float() / exact).log() / math.log(self.distance / exact)
        wide = (exact + (growth * (count - exact)).long()).clamp(max=count - 1)
        return after + torch.where(far < exact, far, wide)


class LinearBiasPositions(Positions):
    """Scores lowered by a slope times the distance, a slope per head: Press et al. 2022 (ALiBi), section 3.

    The paper's queries see keys before them alone. Where a query sees both sides, the distance counts both ways.
    """

    def __init__(self, config: Config, *, causal: bool = False) -> None:
        super().__init__(config)
        self.slopes = linear_slopes(config.heads)

    def bias(
        self,
        tokens: Float[Tensor, "*batch position width"],
        position_ids: PositionIds | None = None,
        past_position_ids: PastPositionIds | None = None,
    ) -> Biases:
        """The bias of every query and key, 0 where they are one."""
        distance = offsets(tokens, position_ids, past_position_ids).abs()[..., None, :, :]
        return -(torch.tensor(self.slopes, device=tokens.device)[:, None, None] * distance).to(tokens.dtype)


def linear_slopes(heads: int) -> list[float]:
    """2^(-8/n), 2^(-16/n) … for n heads, where n is a power of two.

    Otherwise those of the largest power of two below n, then every other one of twice that power: ``get_slopes`` in
    the authors' source.
    """
    power = 1 << (heads.bit_length() - 1)
    slopes = [2 ** (-8 * (head + 1) / power) for head in range(power)]
    return slopes + [2 ** (-4 * (2 * head + 1) / power) for head in range(heads - power)]


POSITIONS: dict[str, type[Positions]] = {
    "sinusoidal": SinusoidalPositions,
    "sinusoidal-halves": HalvedSinusoidalPositions,
    "learned": LearnedPositions,
    "counted": CountedPositions,
    "rotary": RotaryPositions,
    "relative": RelativePositions,
    "alibi": LinearBiasPositions,
    "none": Positions,
}
