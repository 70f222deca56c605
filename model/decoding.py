"""Producing text token by token."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from model.trace import Trace


@dataclass(frozen=True, kw_only=True)
class Step:
    """One produced token and the probability that the model gave it."""

    token_id: int
    token: str
    probability: float


@dataclass(frozen=True, kw_only=True)
class Generation:
    """What was produced, step by step, and the trace of the whole."""

    text: str
    token_ids: tuple[int, ...]
    steps: tuple[Step, ...]
    trace: Trace


def greedy(
    next_logits: Callable[[list[int]], Float[Tensor, "vocabulary"]], ids: list[int], end_id: int | None, longest: int
) -> list[tuple[int, float]]:
    """The likeliest token each time, and its probability, until the end token or ``longest`` ids in all.

    ``next_logits`` scores the token that follows the ids so far. The end token, where it comes, is included.
    """
    ids, found = list(ids), list[tuple[int, float]]()
    while len(ids) < longest and (not found or found[-1][0] != end_id):
        probabilities = next_logits(ids).softmax(dim=-1)
        best = int(torch.argmax(probabilities))
        found.append((best, float(probabilities[best])))
        ids.append(best)
    return found
