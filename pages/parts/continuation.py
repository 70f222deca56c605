"""What the page Write holds: the tokens written so far, the step that is looked at, and how the next is chosen."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

MOST_WRITTEN = 512
METHODS = ("sample", "greedy")
HOTTEST, MOST_LEFT, HARDEST, LARGEST_SEED, MOST_AT_ONCE = 2.0, 1000, 2.0, 999_999, 200


@dataclass(frozen=True, kw_only=True)
class Continuation:
    """Every field is a plain value, as in a selection; the names are those of an address."""

    written: tuple[int, ...] = ()  # ids
    at: int | None = None  # how many of them the model has read at the step that is looked at; None: all
    method: str = METHODS[0]
    penalty: float = 1.0  # for repetition
    temperature: float = 0.8
    top_k: int = 40
    top_p: float = 0.9
    seed: int = 0
    tokens: int = 20  # that a run writes


# What belongs to one text as one checkpoint reads it.
OF_TEXT = {"written": (), "at": None}


def ids(text: str) -> tuple[int, ...]:
    """ "12.7": what ``Continuation.written`` is in an address."""
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})*", text) or text.count(".") >= MOST_WRITTEN:
        raise ValueError(f"wanted at most {MOST_WRITTEN} ids with points between them")
    return tuple(map(int, text.split(".")))


def whole(least: int, most: int) -> Callable[[str], int]:
    """A whole number in a range."""

    def read(text: str) -> int:
        if not re.fullmatch("[0-9]{1,6}", text) or not least <= int(text) <= most:
            raise ValueError(f"wanted a whole number from {least} to {most}")
        return int(text)

    return read


def decimal(least: float, most: float) -> Callable[[str], float]:
    """A decimal in a range."""

    def read(text: str) -> float:
        if not re.fullmatch(r"[0-9](\.[0-9]{1,6})?|\.[0-9]{1,6}", text) or not least <= float(text) <= most:
            raise ValueError(f"wanted a decimal from {least} to {most}")
        return float(text)

    return read


def method(text: str) -> str:
    """One of the ways to choose."""
    if text not in METHODS:
        raise ValueError(f"wanted one of {METHODS}")
    return text


READERS: dict[str, Callable[[str], Any]] = {
    "written": ids,
    "at": whole(0, MOST_WRITTEN),
    "method": method,
    "penalty": decimal(1, HARDEST),
    "temperature": decimal(0, HOTTEST),
    "top_k": whole(0, MOST_LEFT),
    "top_p": decimal(0, 1),
    "seed": whole(0, LARGEST_SEED),
    "tokens": whole(1, MOST_AT_ONCE),
}
