"""The rows of an embedding table that lie nearest to a word's row, against what random rows would give."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from model.config import Config

STARTS = (" ", "▁")  # what byte pairs and SentencePiece write before a token that begins a word
CONTINUES = "##"  # what word pieces write before one that does not
MARKED_SHARE = 0.1  # of the tokens, from which on a start counts as written
LETTERS = re.compile(r"[^\W\d_]{2,}")
BINS = 20_000
CHANCE = 0.99  # of random tables, in which no row lies nearer than the bound


@dataclass(frozen=True, kw_only=True)
class Neighbour:
    """A word of the table. cosine: between its row and the row that it is near to. noise: not above chance."""

    word: str
    cosine: float
    noise: bool


@dataclass(frozen=True, kw_only=True)
class WordRow:
    """A word's row of the table, unscaled, and its nearest rows, the nearest first.

    chance: the largest cosine that random rows, as many and as wide, reach in one table of a hundred.
    """

    word: str
    token_id: int
    row: Float[np.ndarray, " width"]
    neighbours: tuple[Neighbour, ...]
    chance: float

    @property
    def above_chance(self) -> float:
        """How far the nearest row's cosine lies above chance; below it, negative."""
        return self.neighbours[0].cosine - self.chance

    def scaled(self, factor: float) -> Float[np.ndarray, " width"]:
        """The row as it enters the stack."""
        return self.row * factor


def embedding_scale(config: Config) -> float:
    """What a row is multiplied by before it enters the stack: √d_model as in the paper, section 3.4, or 1."""
    return math.sqrt(config.width) if config.scale_embeddings else 1.0


def whole_words(pieces: Sequence[str]) -> dict[str, int]:
    """The tokens of a vocabulary that can be a whole word, two letters or more, without the mark of a start: their ids.

    pieces: by id. Some of them are only beginnings of words: a vocabulary does not tell.
    """
    mark = next((mark for mark in STARTS if is_usual(mark, pieces)), "")
    words = ((piece.removeprefix(mark), number) for number, piece in enumerate(pieces) if piece.startswith(mark))
    return {word: number for word, number in words if LETTERS.fullmatch(word)}


def is_usual(mark: str, pieces: Sequence[str]) -> bool:
    """Whether a good part of the tokens begin so."""
    return sum(piece.startswith(mark) for piece in pieces) > MARKED_SHARE * len(pieces)


def word_id(words: Mapping[str, int], word: str) -> int | None:
    """The id of a word, as it is written or in small letters; None where the vocabulary cuts it into pieces."""
    return words.get(word, words.get(word.lower()))


def nearest_rows(
    table: Float[np.ndarray, "row width"], words: Mapping[str, int], asked: Sequence[str], count: int
) -> dict[str, WordRow]:
    """Of each word asked for that has a row, the ``count`` other words with the largest cosines to it.

    words: the words of the table and their rows, as ``whole_words``. A word's other spelling in capitals counts as
    another word. Rows of length 0 are at right angles to all.
    """
    ids = {word: number for word in asked if (number := word_id(words, word)) is not None}
    names, rows = list(words), np.fromiter(words.values(), dtype=int, count=len(words))
    directions = unit(table[rows])
    cosines = unit(table[list(ids.values())]) @ directions.T
    chance = largest_by_chance(len(words) - 1, table.shape[1])
    nearest = {}
    for (word, number), line in zip(ids.items(), cosines, strict=True):
        line = np.where(rows == number, -np.inf, line)
        best = np.argsort(-line, kind="stable")[: min(count, len(names) - 1)]
        neighbours = tuple(
            Neighbour(word=names[place], cosine=float(line[place]), noise=bool(line[place] <= chance)) for place in best
        )
        nearest[word] = WordRow(word=word, token_id=number, row=table[number], neighbours=neighbours, chance=chance)
    return nearest


def unit(rows: Float[np.ndarray, "row width"]) -> Float[np.ndarray, "row width"]:
    """The rows at length 1; one of length 0 stays so."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return rows / np.where(lengths == 0, 1, lengths)


def largest_by_chance(rows: int, width: int, share: float = CHANCE) -> float:
    """The bound below which the largest cosine of a random row with ``rows`` others stays with this probability.

    The cosine t of two random directions of ``width`` numbers has a density proportional to (1 − t²)^((width − 3)/2);
    the largest of n independent ones is at most t with the n-th power of the probability of one. The density is summed
    over a fine grid. Of a table of one row, or rows of fewer than three numbers, nothing is known: 1.
    """
    if rows < 1 or width < 3:
        return 1.0
    edges = np.linspace(-1, 1, BINS + 1)
    density = (1 - ((edges[:-1] + edges[1:]) / 2) ** 2) ** ((width - 3) / 2)
    below = np.concatenate([[0.0], density.cumsum() / density.sum()])
    return float(np.interp(share ** (1 / rows), below, edges))
