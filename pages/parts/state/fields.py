"""One value of an address: how it is read, how it is written, and which other values' change puts it back."""

import dataclasses
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

MOST_RUNS, MOST_HEADS, MOST_SITES = 1000, 1000, 2000  # that an address may name
OF_CHECKPOINT = frozenset({"checkpoint"})  # what has no meaning in another model
OF_TEXT = frozenset({"text", "pair", "checkpoint"})  # what has none in another text, or as another model reads it
_FIELD = "address"


@dataclass(frozen=True, kw_only=True)
class Field:
    """How a value stands in an address.

    parse: from the text in the address. ValueError for a value that cannot be.
    reset_by: the names of the values whose change puts this one back to its default.
    left: what is left of it where some of these change, of the value and the names; None: nothing ever is.
    """

    parse: Callable[[str], Any]
    reset_by: frozenset[str] = frozenset()
    left: Callable[[Any, Collection[str]], Any] | None = None


def address_field(
    default: Any,
    parse: Callable[[str], Any],
    *,
    reset_by: Iterable[str] = (),
    left: Callable[[Any, Collection[str]], Any] | None = None,
) -> Any:
    """A field of a dataclass that stands in the address under its own name."""
    field = Field(parse=parse, reset_by=frozenset(reset_by), left=left)
    return dataclasses.field(default=default, metadata={_FIELD: field})


def fields_of(kind: type) -> dict[str, Field]:
    """The fields of a dataclass that were made by ``address_field``."""
    return {field.name: field.metadata[_FIELD] for field in dataclasses.fields(kind) if _FIELD in field.metadata}


def address_text(value: object) -> str:
    """One value as it stands in an address. Nothing in numbers, words and sites needs escaping there."""
    if isinstance(value, frozenset):
        return written_sites(value)
    if isinstance(value, tuple):
        return ".".join(map(str, value))
    if isinstance(value, float):
        return f"{value:.6f}".rstrip("0").rstrip(".")
    return str(int(value)) if isinstance(value, bool) else str(value)


def written_sites(sites: frozenset[tuple[int, int]]) -> str:
    """ "0.2-5_1.3": heads 2 to 5 of layer 0 and head 3 of layer 1."""
    runs: list[list[int]] = []
    for layer, head in sorted(sites):
        if runs and runs[-1][0] == layer and runs[-1][2] == head - 1:
            runs[-1][2] = head
        else:
            runs.append([layer, head, head])
    return "_".join(f"{layer}.{first}" + (f"-{last}" if last > first else "") for layer, first, last in runs)


def whole(least: int, most: int) -> Callable[[str], int]:
    """A whole number in a range. int() alone would also read "+1", "1_0" and "１"."""

    def parse(text: str) -> int:
        if not re.fullmatch("[0-9]{1,6}", text) or not least <= int(text) <= most:
            raise ValueError(f"wanted a whole number from {least} to {most}")
        return int(text)

    return parse


index = whole(0, 9999)  # a layer, a head or a position


def decimal(least: float, most: float) -> Callable[[str], float]:
    """A decimal in a range, without an exponent."""

    def parse(text: str) -> float:
        if not re.fullmatch(r"[0-9]{1,2}(\.[0-9]{1,6})?|\.[0-9]{1,6}", text) or not least <= float(text) <= most:
            raise ValueError(f"wanted a decimal from {least} to {most}")
        return float(text)

    return parse


def one_of(allowed: Iterable[str]) -> Callable[[str], str]:
    """A word that stands in a list."""
    words = tuple(allowed)

    def parse(text: str) -> str:
        if text not in words:
            raise ValueError(f"wanted one of {words}")
        return text

    return parse


def word_like(pattern: str) -> Callable[[str], str]:
    """A word of this form."""

    def parse(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"wanted {pattern}")
        return text

    return parse


def text_up_to(most: int) -> Callable[[str], str]:
    """A text of at most so many characters."""

    def parse(text: str) -> str:
        if len(text) > most:
            raise ValueError(f"wanted at most {most} characters")
        return text

    return parse


def whole_numbers(most: int, largest: int, *, once: bool = False) -> Callable[[str], tuple[int, ...]]:
    """ "4.5": at most ``most`` numbers from 0 to ``largest``, each at most once if so asked; "" for none."""
    number = whole(0, largest)

    def parse(text: str) -> tuple[int, ...]:
        parts = text.split(".", maxsplit=most) if text else []
        if len(parts) > most or (once and len(set(parts)) < len(parts)):
            raise ValueError(f"wanted at most {most} numbers with points between them")
        return tuple(map(number, parts))

    return parse


def switch(text: str) -> bool:
    """ "1" for on, "0" for off."""
    if text not in ("0", "1"):
        raise ValueError("wanted 0 or 1")
    return text == "1"


def sites(text: str) -> frozenset[tuple[int, int]]:
    """What ``written_sites`` wrote; "" for none."""
    heads: set[tuple[int, int]] = set()
    for run in text.split("_", maxsplit=MOST_RUNS) if text else ():
        layer, _, named = run.partition(".")
        first, _, last = named.partition("-")
        heads |= {(index(layer), head) for head in range(index(first), min(index(last or first), MOST_HEADS) + 1)}
        if len(heads) > MOST_SITES:
            raise ValueError(f"more than {MOST_SITES} heads")
    return frozenset(heads)


def packed(values: Mapping[str, object]) -> str:
    """ "method.beam~width.8": several values in one."""
    return "~".join(f"{name}.{address_text(value)}" for name, value in values.items())


def unpacked(text: str) -> dict[str, str]:
    """What ``packed`` wrote. ValueError for a name that stands in it twice."""
    parts = [part.partition(".") for part in filter(None, text.split("~"))]
    values = {name: value for name, _, value in parts}
    if len(values) < len(parts):
        raise ValueError("a name stands in it twice")
    return values
