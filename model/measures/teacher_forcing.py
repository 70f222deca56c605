"""What a model says of a text that it is made to read: how probable each token is, and what it would rather have."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

SHOWN = 8  # likeliest tokens that are kept of every step


@dataclass(frozen=True, kw_only=True)
class ForcedToken:
    """One token of the text."""

    token_id: int
    probability: float  # as the model has it, after all tokens before it
    log_probability: float
    rank: int  # how many tokens are likelier
    likeliest: tuple[tuple[int, float], ...]  # ids and probabilities, the likeliest first


def forced_tokens(logits: Float[Tensor, "position vocabulary"], ids: Sequence[int]) -> tuple[ForcedToken, ...]:
    """Every id by the logits of the position that comes before it, in float64.

    ValueError unless there is one for each position.
    """
    if len(ids) != len(logits):
        raise ValueError(f"{len(ids)} ids came with {len(logits)} positions, wanted one for each")
    return tuple(one_forced(row, token_id) for row, token_id in zip(logits, ids, strict=True))


def one_forced(logits: Float[Tensor, "vocabulary"], token_id: int) -> ForcedToken:
    """One token by what the model said before it."""
    logs = logits.double().log_softmax(dim=-1)
    best = logs.exp().topk(min(SHOWN, len(logs)))
    return ForcedToken(
        token_id=token_id,
        probability=float(logs[token_id].exp()),
        log_probability=float(logs[token_id]),
        rank=int((logs > logs[token_id]).sum()),
        likeliest=tuple(zip(best.indices.tolist(), best.values.tolist(), strict=True)),
    )


def log_probability(tokens: Sequence[ForcedToken]) -> float:
    """Of all tokens together: the sum, natural logarithm."""
    return float(torch.tensor([token.log_probability for token in tokens], dtype=torch.float64).sum())


def word_probabilities(tokens: Sequence[ForcedToken], words: Sequence[int]) -> list[float]:
    """The probability of every word, from 0 on: the product of those of its tokens. words: the word of each token."""
    logs = np.bincount(words, weights=[token.log_probability for token in tokens])
    return [math.exp(log) for log in logs.tolist()]
