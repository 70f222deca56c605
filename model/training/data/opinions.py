"""Sentences that people could type, written for this project: opinions of everyday things, and sentences without one.

One in ten is held out of training, to see what the others bring.
"""

from functools import cache

from model.training.data.corpora import held_out
from model.training.data.list_files import read_lists

HELD_OUT = 10
PROBABILITIES = {"negative": 0.0, "neutral": 0.5, "positive": 1.0}  # of "positive", by heading


@cache
def opinions(heading: str, *, kept: bool = True) -> tuple[str, ...]:
    """The sentences of opinions.txt under a heading that training reads; or those that it does not."""
    return tuple(text for text in read_lists("opinions")[heading] if held_out(text, HELD_OUT) != kept)
