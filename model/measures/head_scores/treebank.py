"""Sentences with their syntax, from files in CoNLL-U (universaldependencies.org/format.html)."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from model.errors import InputError
from model.training.data.corpora import lines

ROOT = -1
TEXT, NAME = "# text = ", "# sent_id = "


@dataclass(frozen=True, kw_only=True)
class ParsedSentence:
    """A text, the characters of its words, and of every word its head (a word from 0, or ROOT) and its relation.

    genre: what its name in the treebank begins with, as "reviews" in UD English EWT; "" where it has no name.
    """

    text: str
    genre: str
    spans: tuple[tuple[int, int], ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]


def read_treebank(path: Path) -> Iterator[ParsedSentence]:
    """The sentences of a file, without those whose words do not stand in their text one after the other.

    Raises InputError naming the file and the line.
    """
    text, genre, rows = "", "", list[list[str]]()
    for number, line in enumerate([*lines(path), ""], start=1):
        if line.startswith(TEXT):
            text = line.removeprefix(TEXT)
        elif line.startswith(NAME):
            genre = line.removeprefix(NAME).partition("-")[0]
        elif line and not line.startswith("#"):
            rows.append(line.split("\t"))
        elif not line and rows:
            try:
                sentence = parsed(text, genre, rows)
            except (ValueError, IndexError):
                raise InputError(f"{path.name}: line {number - 1} ends no sentence in CoNLL-U.") from None
            if sentence is not None:
                yield sentence
            text, genre, rows = "", "", []


def parsed(text: str, genre: str, rows: list[list[str]]) -> ParsedSentence | None:
    """One sentence, from its rows: multiword tokens ("1-2") and empty nodes ("1.1") are no words."""
    words = [row for row in rows if row[0].isdigit()]
    heads = tuple(int(row[6]) - 1 for row in words)
    if not all(ROOT <= head < len(words) for head in heads):
        raise ValueError("a head that is no word")
    spans = spans_in(text, [row[1] for row in words])
    if spans is None:
        return None
    relations = tuple(row[7] for row in words)
    return ParsedSentence(text=text, genre=genre, spans=spans, heads=heads, relations=relations)


def spans_in(text: str, words: list[str]) -> tuple[tuple[int, int], ...] | None:
    """The characters [start, end) of words that make up a text but for its spaces; None where they do not."""
    spans, place = list[tuple[int, int]](), 0
    for word in words:
        start = text.find(word, place)
        if start < 0 or text[place:start].strip():
            return None
        place = start + len(word)
        spans.append((start, place))
    return tuple(spans)
