"""Scores of attention: products of queries and keys, scaled, biased, capped and masked.

The pass computes them on the way to its weights; a trace computes them again from its queries and keys where they are
asked for, for at 512 tokens they are twice as large as the weights.
"""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor

Mask = Bool[Tensor, "query key"] | Bool[Tensor, "*batch head_or_1 query key"]
Bias = Float[Tensor, "head query key"] | Float[Tensor, "*batch head query key"]
Scale = float | Float[Tensor, "row 1 1 1"]


def masked_scores(
    products: Float[Tensor, "*batch head query key"],
    mask: Mask,
    scale: Scale,
    bias: Bias | None = None,
    cap: float | None = None,
) -> Float[Tensor, "*batch head query key"]:
    """What enters the softmax; -inf where ``mask`` is False.

    ``bias`` is added to the scaled products; ``cap`` keeps what they come to within ±cap, smoothly (Gemma 2,
    arXiv 2408.00118, section 2).
    """
    scores = products * scale
    if bias is not None:
        scores += bias
    if cap is not None:
        scores = cap * (scores / cap).tanh()
    scores.masked_fill_(~mask, -math.inf)  # in place: a pass less
    return scores


def for_every_head(
    x: Float[Tensor, "*batch kv_head position head_width"], heads: int
) -> Float[Tensor, "*batch head position head_width"]:
    """Keys or values, each as often as there are query heads that it serves."""
    group = heads // x.shape[-3]
    return x if group == 1 else torch.repeat_interleave(x, group, dim=-3)
