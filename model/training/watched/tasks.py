"""Small tasks, and what their heads must learn. Every sequence is drawn anew, so that none can be learned by heart.

copy, reverse, sort: random letters, ">", and the letters again in the order of the task. induction: random letters, and
for each that has come before the letter that stood after it then. text: windows of a text of somebody's own, as
characters. Only what can be predicted counts: what stands after ">", the letters that have come before, in a text all.

Induction is learned from letters of which none follows from others, for two layers find other ways where they can.
Measured: letters that differ in an order that repeats, and made-up words in random order, are learned to 98 % and more
while no head scores 0.15 for induction, by what has not come for longest and by what stands in the same word.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor

LETTERS, MARK = "abcdefghijklmnopqrstuvwxyz", ">"
FIRST_ID = 2  # of a character: 0 is padding, 1 the unknown
MARK_ID = FIRST_ID + len(LETTERS)
SHORTEST, LONGEST = 4, 10  # letters to copy, reverse or sort
INDUCTION_LENGTH, TEXT_LENGTH = 32, 64  # tokens that are read
HELD_OUT = 0.1  # of a text, from its end


class Batch(NamedTuple):
    """Sequences of one length. truth: what is asked for at each position; counted: where it can be known."""

    ids: Int[Tensor, "sequence position"]
    truth: Int[Tensor, "sequence position"]
    counted: Bool[Tensor, "sequence position"]


Draw = Callable[[torch.Generator, int], Batch]  # as many sequences


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is to be learned.

    length: the most tokens that are read. draw: sequences to learn from; fresh: sequences to measure with.
    """

    characters: str
    length: int
    draw: Draw
    fresh: Draw


def written_after_mark(change: Callable[[Tensor], Tensor]) -> Draw:
    """Draws random letters, the mark, and the letters as ``change`` has them."""

    def draw(generator: torch.Generator, count: int) -> Batch:
        length = int(torch.randint(SHORTEST, LONGEST + 1, (1,), generator=generator))
        letters = torch.randint(FIRST_ID, MARK_ID, (count, length), generator=generator)
        rows = torch.cat([letters, torch.full((count, 1), MARK_ID), change(letters)], dim=1)
        counted = torch.arange(2 * length) >= length
        return Batch(rows[:, :-1], rows[:, 1:], counted.expand(count, -1))

    return draw


def copied(letters: Tensor) -> Tensor:
    return letters


def reversed_letters(letters: Tensor) -> Tensor:
    return letters.flip(-1)


def sorted_letters(letters: Tensor) -> Tensor:
    return letters.sort(dim=-1).values


def after_last_same(generator: torch.Generator, count: int) -> Batch:
    """Random letters; what is asked for is the one that stood after the last same one, where there is one."""
    rows = torch.randint(FIRST_ID, MARK_ID, (count, INDUCTION_LENGTH), generator=generator)
    earlier_same = (rows[:, :, None] == rows[:, None]).tril(-1)  # (sequence, position, earlier position)
    after_last = (earlier_same * torch.arange(1, INDUCTION_LENGTH + 1)).amax(dim=-1)  # 0: there is none
    return Batch(rows, rows.gather(1, after_last), after_last > 0)


def windows(ids: Int[Tensor, " character"]) -> Draw:
    """Draws windows that begin anywhere in these characters."""

    def draw(generator: torch.Generator, count: int) -> Batch:
        starts = torch.randint(len(ids) - TEXT_LENGTH, (count, 1), generator=generator)
        rows = ids[starts + torch.arange(TEXT_LENGTH + 1)]
        return Batch(rows[:, :-1], rows[:, 1:], torch.ones(count, TEXT_LENGTH, dtype=torch.bool))

    return draw


def of_letters(draw: Draw, length: int) -> Task:
    """A task of letters, of which fresh sequences are drawn like others."""
    return Task(characters=LETTERS + MARK, length=length, draw=draw, fresh=draw)


OF_LETTERS = {
    "copy": of_letters(written_after_mark(copied), 2 * LONGEST),
    "reverse": of_letters(written_after_mark(reversed_letters), 2 * LONGEST),
    "sort": of_letters(written_after_mark(sorted_letters), 2 * LONGEST),
    "induction": of_letters(after_last_same, INDUCTION_LENGTH),
}
TEXT = "text"
NAMES = (*OF_LETTERS, TEXT)


def of_text(characters: str, ids: Int[Tensor, " character"]) -> Task:
    """The task of a text: its last tenth is held out."""
    cut = len(ids) - int(HELD_OUT * len(ids))
    return Task(characters=characters, length=TEXT_LENGTH, draw=windows(ids[:cut]), fresh=windows(ids[cut:]))
