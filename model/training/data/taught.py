"""Sentences that a pretrained teacher labelled: lines of the probability of "positive", a tab and the sentence."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from model.errors import InputError


class Taught(NamedTuple):
    """A sentence, and how likely it speaks well of something, 0 to 1."""

    text: str
    positive: float

    def is_clear(self, least: float) -> bool:
        """Whether one of both is at least so likely."""
        return max(self.positive, 1 - self.positive) >= least

    def line(self) -> str:
        """As it stands in a file."""
        return f"{self.positive:.3f}\t{self.text}\n"


def taught_sentences(files: Sequence[Path]) -> Iterator[Taught]:
    """The sentences of files. InputError naming the file that cannot be read, or the line that is not such a one."""
    for file in files:
        try:
            lines = file.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            raise InputError(f"{file.name}: this file cannot be read as lines of text.") from None
        for number, line in enumerate(lines, start=1):
            yield taught(line, f"{file.name}: line {number}")


def taught(line: str, where: str) -> Taught:
    """The sentence of a line; InputError beginning with ``where`` where the line is not one."""
    said, _, text = line.partition("\t")
    try:
        positive = float(said)
    except ValueError:
        positive = -1.0
    if not 0 <= positive <= 1 or not text.strip():
        raise InputError(f"{where}: expected a probability and a sentence, with a tab between.")
    return Taught(text, positive)
