"""Induction on random tokens that come twice: what no knowledge of a language helps with.

Olsson et al. 2022, "In-context Learning and Induction Heads": the weight on the token after the earlier occurrence of
the query's token, the mean over the second half of a sequence of random tokens that is repeated once. Null: the same
cells of a sequence that has other random tokens in its second half. A head that looks a fixed way back has the same
score in both.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool

from model.checkpoint import Checkpoint
from model.decoding.prompt import start_ids
from model.measures.head_kinds import share, word_of
from model.measures.head_scores.kind_sums import SumsByAttention, sums_of_text
from model.trace import StackTrace, Trace

KIND = "induction"
LONGEST_HALF, SEQUENCES = 25, 16
WORD = "a"  # any text shows what a tokenizer adds before and after one


class Wrapping(NamedTuple):
    """The ids that a tokenizer adds around every text."""

    before: tuple[int, ...]
    after: tuple[int, ...]


def ordinary_ids(checkpoint: Checkpoint) -> list[int]:
    """The ids whose tokens are letters alone: no special token, no punctuation, no byte of a letter."""
    tokenizer = checkpoint.tokenizer
    pieces = {number: word_of(tokenizer.readable(token)) for token, number in tokenizer.backend.get_vocab().items()}
    letters = (number for number, piece in pieces.items() if piece.removeprefix("##").isalpha())
    return sorted(number for number in letters if number < checkpoint.config.vocabulary)


def wrapping(checkpoint: Checkpoint) -> Wrapping:
    """What the tokenizer adds around a text."""
    encoding = checkpoint.tokenizer.encode(WORD)
    typed = [position for position, special in enumerate(encoding.special) if not special]
    return Wrapping(encoding.ids[: typed[0]], encoding.ids[typed[-1] + 1 :]) if typed else Wrapping((), ())


def repeated_and_control(ordinary: list[int], half: int, seed: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """``half`` random ids twice; and the same ids before as many others. No id comes twice where there are enough."""
    drawn = np.random.default_rng(seed).choice(ordinary, 2 * half, replace=len(ordinary) < 2 * half).tolist()
    return (*drawn[:half], *drawn[:half]), tuple(drawn)


def traced(checkpoint: Checkpoint, ids: tuple[int, ...], around: Wrapping) -> Trace:
    """The trace of ids as the tokenizer would wrap them; a decoder beside an encoder reads them too."""
    source = (*around.before, *ids, *around.after)
    if not checkpoint.config.is_encoder_decoder:
        return checkpoint.trace_ids(source, logits=False)
    return checkpoint.trace_ids(source, (*start_ids(checkpoint.config, source), *ids), logits=False)


def cells_after_match(length: int, begin: int, half: int) -> Bool[np.ndarray, "query key"]:
    """From each token of the second half to the one after its earlier occurrence; the first begins at ``begin``."""
    cells = np.zeros((length, length), bool)
    queries = begin + half + np.arange(half)
    cells[queries, queries - half + 1] = True
    return cells


def induction_sums(checkpoint: Checkpoint, seeds: Iterable[int]) -> SumsByAttention:
    """The sums over one sequence a seed, of every self-attention; empty where there are no tokens to draw from."""
    ordinary, around = ordinary_ids(checkpoint), wrapping(checkpoint)
    half = min(LONGEST_HALF, (checkpoint.longest - len(around.before) - len(around.after) - 1) // 2)
    if half < 2 or len(ordinary) < 2:
        return {}
    totals: SumsByAttention = {}
    for seed in seeds:
        pair = [traced(checkpoint, ids, around) for ids in repeated_and_control(ordinary, half, seed)]
        for name, begin in begins(pair[0], around).items():
            repeated, control = (stack_of(trace, name).weights().numpy() for trace in pair)
            cells = cells_after_match(repeated.shape[-1], begin, half)
            new = sums_of_text(share(repeated, cells), share(control, cells), half)
            kinds = totals.setdefault(name, {})
            kinds[KIND] = kinds[KIND] + new if KIND in kinds else new
    return totals


def begins(trace: Trace, around: Wrapping) -> dict[str, int]:
    """Where the random tokens begin in every stack of a trace; in a decoder beside an encoder, after the start."""
    alone = trace.encoder is None
    places = {"encoder": len(around.before), "decoder": len(around.before) if alone else 1}
    return {name: place for name, place in places.items() if getattr(trace, name) is not None}


def stack_of(trace: Trace, name: str) -> StackTrace:
    """The "encoder" or the "decoder", which is there."""
    stack = getattr(trace, name)
    assert isinstance(stack, StackTrace)
    return stack
