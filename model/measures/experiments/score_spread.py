"""How widely q·k spreads, and what the softmax makes of that, as heads grow wider."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from model.attention import full_mask, scaled_dot_product_attention
from model.measures.comparison import mean_entropy, mean_largest
from model.trace import AttentionTrace

WIDTHS = (2, 4, 8, 16, 32, 64, 128, 256, 512)
SAMPLES, QUERIES, KEYS = 64, 8, 16


@dataclass(frozen=True, kw_only=True)
class Spread:
    """What was measured at one head width, with q·k as it is and divided by √d_k."""

    head_width: int
    deviation: float  # the standard deviation of q·k
    scaled_deviation: float
    entropy: float  # of a row of the softmax, in bits
    scaled_entropy: float
    largest: float  # weight of a row
    scaled_largest: float


@dataclass(frozen=True, kw_only=True)
class TraceSpread:
    """How widely the products of a layer's heads spread on one text."""

    head_width: int
    scale: float  # the model's own
    deviation: float  # the standard deviation of q·k
    scaled_deviation: float  # of q·k times the scale
    largest: float  # weight of a row, the mean over queries and heads


def samples(head_width: int, seed: int = 0) -> tuple[Float[Tensor, "_ _ _"], Float[Tensor, "_ _ _"]]:
    """Queries (sample, query, head_width) and keys (sample, key, head_width), every coordinate N(0, 1), by a seed."""
    generator = torch.Generator().manual_seed(seed)
    sides = (torch.randn(SAMPLES, count, head_width, generator=generator) for count in (QUERIES, KEYS))
    query, key = sides
    return query, key


def spread_of_products(head_width: int, seed: int = 0) -> Spread:
    """Our attention on 64 samples of 8 queries and 16 keys, once with scale 1 and once with 1/√d_k.

    q·k is a sum of d_k products of variance 1, so its deviation is √d_k ("Attention Is All You Need", note 4).
    """
    query, key = samples(head_width, seed)
    mask = full_mask(QUERIES, KEYS)
    plain, scaled = (scaled_dot_product_attention(query, key, key, mask, scale) for scale in (1.0, head_width**-0.5))
    return Spread(
        head_width=head_width,
        deviation=deviation(plain.scores),
        scaled_deviation=deviation(scaled.scores),
        entropy=mean_entropy(plain.weights),
        scaled_entropy=mean_entropy(scaled.weights),
        largest=mean_largest(plain.weights),
        scaled_largest=mean_largest(scaled.weights),
    )


def spread_in_trace(attention: AttentionTrace) -> TraceSpread:
    """The same for the heads of a trained layer and the products of its own text."""
    products = attention.products
    return TraceSpread(
        head_width=attention.query.shape[-1],
        scale=float(attention.scale),
        deviation=deviation(products),
        scaled_deviation=deviation(products * attention.scale),
        largest=mean_largest(attention.weights),
    )


def expected_deviation(head_width: int) -> float:
    """√d_k: the standard deviation of q·k for independent coordinates of mean 0 and variance 1."""
    return math.sqrt(head_width)


def deviation(numbers: Float[Tensor, "..."] | Float[np.ndarray, "..."]) -> float:
    """The standard deviation of all the numbers, around their mean."""
    return float(np.asarray(numbers, np.float64).std())
