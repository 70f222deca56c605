"""Sentences under one another, some of their words marked, as the browser draws them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from model.measures.learn.order.changed_words import WORD

LONGEST = 400  # characters of a sentence that are drawn
UNSEEN = "?"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A sentence, and what stands above it in small letters.

    text: None is one that is still to be guessed. marked: for each of its words whether it is marked; () for none.
    """

    label: str
    text: str | None
    marked: Sequence[bool] = ()


@dataclass(frozen=True, kw_only=True)
class RowGroup:
    """Rows under one heading."""

    title: str
    rows: Sequence[Row]


def sentence_rows(groups: Sequence[RowGroup]) -> dict[str, Any]:
    """Every group with its rows, a row in parts: what is marked, and what stands between.

    ValueError for a row whose marks are not as many as its words.
    """
    return {
        "groups": [
            {
                "title": group.title,
                "rows": [{"label": one_line(row.label), "parts": parts_of(row)} for row in group.rows],
            }
            for group in groups
        ]
    }


def parts_of(row: Row) -> list[dict[str, Any]]:
    """The sentence cut where marks begin and end."""
    if row.text is None:
        return [{"text": UNSEEN, "marked": False}]
    words = list(WORD.finditer(row.text))
    if row.marked and len(row.marked) != len(words):
        raise ValueError(f"{len(row.marked)} marks came with {len(words)} words")
    parts, end = list[dict[str, Any]](), 0
    for match, marked in zip(words, row.marked, strict=False):
        if marked:
            parts += [{"text": row.text[end : match.start()], "marked": False}, {"text": match[0], "marked": True}]
            end = match.end()
    return [part for part in [*parts, {"text": row.text[end:], "marked": False}] if part["text"]]


def one_line(text: str) -> str:
    """The text without line breaks, cut where it is too long to be read at a glance."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
