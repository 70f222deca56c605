"""One word in two texts: how far its vectors come apart, layer by layer."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from torch import Tensor

from model.trace import StackTrace

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True, kw_only=True)
class Apart:
    """Two vectors against each other at every step: the token vectors alone, what enters layer 0, after each layer."""

    distances: Float[np.ndarray, " step"]  # ‖a − b‖ / the mean of ‖a‖ and ‖b‖
    cosines: Float[np.ndarray, " step"]


def shared_words(first: str, second: str) -> list[str]:
    """The words that stand in both texts, whatever their case, lower-cased, in the order of the first."""
    others = {match.group().lower() for match in WORD.finditer(second)}
    return [word for word in dict.fromkeys(match.group().lower() for match in WORD.finditer(first)) if word in others]


def places_of(word: str, text: str, stack: StackTrace) -> list[int]:
    """The positions of the tokens that a word's first occurrence is cut into; none where the model read none of it."""
    first = next((match for match in WORD.finditer(text) if match.group().lower() == word), None)
    if first is None or stack.spans is None:
        return []
    start, end = first.span()
    return [place for place, span in enumerate(stack.spans) if span is not None and span[0] < end and span[1] > start]


def vectors_of(stack: StackTrace, places: Sequence[int]) -> Float[np.ndarray, "step width"]:
    """The mean vector of these positions: of the tokens alone, of what enters layer 0, and after every layer."""
    steps: list[Tensor] = [stack.embedding.token, stack.embedding.total, *(block.stream_out for block in stack.blocks)]
    return np.stack([np.asarray(step, np.float64)[list(places)].mean(axis=0) for step in steps])


def apart(first: Float[np.ndarray, "step width"], second: Float[np.ndarray, "step width"]) -> Apart:
    """How far two vectors are apart at every step."""
    lengths = np.stack([np.linalg.norm(first, axis=1), np.linalg.norm(second, axis=1)])
    between = np.linalg.norm(first - second, axis=1)
    return Apart(distances=between / lengths.mean(axis=0), cosines=(first * second).sum(axis=1) / lengths.prod(axis=0))
