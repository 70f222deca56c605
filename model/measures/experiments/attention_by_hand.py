"""Attention on matrices that a person typed, by the code that every model here runs."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float

from model.attention import scaled_dot_product_attention


@dataclass(frozen=True, kw_only=True)
class Steps:
    """softmax(q kᵀ / √d_k, masked) v, step by step, in float64."""

    products: Float[np.ndarray, "query key"]
    scaled: Float[np.ndarray, "query key"]
    masked: Float[np.ndarray, "query key"]  # −inf where the mask forbids
    weights: Float[np.ndarray, "query key"]
    context: Float[np.ndarray, "query value_width"]


def steps_of(
    query: Float[np.ndarray, "query head_width"],
    key: Float[np.ndarray, "key head_width"],
    value: Float[np.ndarray, "key value_width"],
    mask: Bool[np.ndarray, "query key"],
) -> Steps:
    """Every step of one head. A query that may see nothing gets no weight and a context of 0."""
    sides = [torch.tensor(side, dtype=torch.float64)[None] for side in (query, key, value)]
    scale = query.shape[1] ** -0.5
    steps = scaled_dot_product_attention(sides[0], sides[1], sides[2], torch.tensor(mask), scale)
    products, masked, weights, context = (step[0].numpy() for step in steps)
    return Steps(products=products, scaled=products * scale, masked=masked, weights=weights, context=context)
