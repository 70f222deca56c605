"""Plain text to learn to write from: books read, turned into ids, and dealt out in windows."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Int, Int32, Int64
from torch import Tensor

from model.errors import InputError
from model.tokenizer import END, Tokenizer
from model.training.data.corpora import lines, read_examples, split_groups
from model.training.data.id_rows import IdRows, PreparedRows, kept_in

BOOKS = "{split}.jsonl.xz"
HELD_OUT = 20  # one book in so many validates
FEWEST_BOOKS = 20  # of fewer ones the end of each is held out, for there might be none
SAFE = 100  # characters of a text below which there is nothing to learn
BLANK_LINE, PART = "\n\n", 50_000  # characters
SHORTEST, LONGEST = 16, 3  # a span that comes again: from one sixteenth of a window to one third


class Book(NamedTuple):
    title: str
    text: str


def read_books(paths: list[Path]) -> Iterator[Book]:
    """The texts of files: a file of plain text is one, a CSV or JSONL file has one a line, as ``text`` and ``title``.

    Raises InputError naming the file.
    """
    for path in paths:
        if {".csv", ".jsonl", ".json"} & set(path.suffixes):
            examples = read_examples(path, labelled=False, group="title")
            yield from (Book(example.group, example.text) for example in examples)
        else:
            yield Book(path.name, "\n".join(lines(path)))


def split(data: list[Path]) -> tuple[list[Book], list[Book]]:
    """Books to train on and to validate with; of a few books, the last twentieth of each validates."""
    books = list(read_books([data[0] / BOOKS.format(split="train")] if data[0].is_dir() else data))
    if sum(len(book.text) for book in books) < SAFE * FEWEST_BOOKS:
        raise InputError(f"{data[0].name}: found too little text, expected {SAFE * FEWEST_BOOKS:,} characters or more.")
    kept, out = split_groups(books, lambda book: book.title, HELD_OUT)
    if len(books) >= FEWEST_BOOKS and kept and out:
        return kept, out
    ends = [len(book.text) * 19 // 20 for book in books]
    return (
        [Book(book.title, book.text[:end]) for book, end in zip(books, ends, strict=True)],
        [Book(book.title, book.text[end:]) for book, end in zip(books, ends, strict=True)],
    )


def paragraphs(books: list[Book]) -> Iterator[str]:
    """The paragraphs of books, each with the blank line before it, for a tokenizer to learn from."""
    return (f"{BLANK_LINE}{paragraph}" for book in books for paragraph in book.text.split(BLANK_LINE))


def rows_of(tokenizer: Tokenizer, books: list[Book]) -> IdRows:
    """The ids of books, each with the end token.

    A book is encoded in parts: a whole one is more than the process of a checkpoint's own tokenizer has memory for.
    """
    cut = [list(parts(book.text + END)) for book in books]
    rows = IdRows.build(tokenizer, [part for of_book in cut for part in of_book], at_once=1)
    return IdRows(ids=rows.ids, bounds=rows.bounds[np.cumsum([0, *map(len, cut)])])


def parts(text: str, longest: int = PART) -> Iterator[str]:
    """A text cut before blank lines, where no piece of a tokenizer goes on, about every so many characters."""
    start = 0
    while (end := text.find(BLANK_LINE, start + longest)) != -1:
        yield text[start:end]
        start = end
    yield text[start:]


def prepare(
    data: list[Path], vocabulary: int, folder: Path, tokenizer: Tokenizer | None = None
) -> tuple[Tokenizer, IdRows, IdRows]:
    """Tokenizer, and books to train on and to validate with; kept in ``folder``, and read from there if they are.

    Without a tokenizer the books teach one.
    """

    def make() -> PreparedRows:
        kept, out = split(data)
        its = tokenizer or Tokenizer.train_byte_pairs(paragraphs(kept), vocabulary, ended=False)
        return PreparedRows(its, {"books": rows_of(its, kept)}, {"books": rows_of(its, out)})

    rows = kept_in(folder, make)
    return rows.tokenizer, rows.training["books"], rows.validation["books"]


@dataclass(frozen=True, eq=False)
class Windows:
    """An endless, reproducible row of batches of windows, pass after pass over a text.

    ``at(step)`` depends on nothing but the step and the seed. Every pass cuts the text at other places. In a share
    ``repeats`` of the windows, chosen at random, a span of the text comes a second time. Raises InputError where the
    text is shorter than two windows.
    """

    ids: Int32[np.ndarray, "token"]
    context: int
    tokens: int  # of a batch
    seed: int
    repeats: float = 0.0

    def __post_init__(self) -> None:
        if self.count < 1:
            least = 2 * self.context
            raise InputError(f"max-length: found a text of {len(self.ids)} tokens, expected {least} or more.")

    @property
    def count(self) -> int:
        """Windows of a pass, wherever it begins to cut."""
        return (len(self.ids) - self.context) // self.context

    @property
    def rows(self) -> int:
        """Windows of a batch."""
        return max(1, min(self.tokens // self.context, self.count))

    @property
    def steps(self) -> int:
        """Batches of a pass."""
        return self.count // self.rows

    def at(self, step: int) -> Int[Tensor, "window position_and_1"]:
        """The batch of one step: windows, and the token after each."""
        number, place = divmod(step, self.steps)
        starts = starts_of_pass(self, number)[place * self.rows : (place + 1) * self.rows]
        windows = self.ids[starts[:, None] + np.arange(self.context + 1)].astype(np.int64)
        return torch.from_numpy(with_repeats(windows, self.repeats, np.random.default_rng((self.seed, 1, step))))


@lru_cache(maxsize=4)
def starts_of_pass(windows: Windows, number: int) -> Int64[np.ndarray, "window"]:
    """Where the windows of a pass begin, in the order of their batches."""
    rng = np.random.default_rng((windows.seed, number))
    offset = rng.integers(windows.context)
    return offset + windows.context * rng.permutation(windows.count)


def with_repeats(
    windows: Int64[np.ndarray, "window token"], share: float, rng: np.random.Generator
) -> Int64[np.ndarray, "window token"]:
    """The windows, in a share of which a random span overwrites a later place of its length, chosen at random.

    Books seldom repeat themselves word for word, and a model that never sees it does not learn to look back for it.
    """
    size = windows.shape[1]
    for row in np.flatnonzero(rng.random(len(windows)) < share):
        window = windows[row]
        length = rng.integers(size // SHORTEST + 1, size // LONGEST + 1)
        first = rng.integers(size - 2 * length + 1)
        again = rng.integers(first + length, size - length + 1)
        window[again : again + length] = window[first : first + length]
    return windows
