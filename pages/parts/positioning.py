"""What the page Positions is set to: a table and what is drawn of it, a shift in it, and schemes side by side."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from model.measures.positions import HEADS
from pages.parts.continuation import whole
from viz.theme import MOST_CURVES

STACKS = ("encoder", "decoder")
TABLES = ("formula", "own")
LONGEST, WIDEST, LONGEST_SHIFT, LONGEST_SCHEME, MOST_TOKENS = 5000, 1024, 1000, 128, 10_000


@dataclass(frozen=True, kw_only=True)
class Positioning:
    """Every field is a plain value, as in a selection; the names are those of an address. Places count from 0."""

    stack: str = ""  # whose tokens are looked at, where there are two; "": those of the first
    token: int = 0  # whose numbers are listed
    table: str = TABLES[0]
    length: int = 100
    width: int = 128  # of the formula's table; a checkpoint's has its own
    dimensions: tuple[int, ...] = (4, 5, 6, 7)  # drawn as curves
    pair_of: int = 2  # a sine and its cosine, which a shift turns
    position: int = 3
    shift: int = 5
    compared: int = 32  # positions that each picture of a scheme compares
    of_query: int = 20
    of_head: int = 0
    causal: bool | None = None  # whether later keys are hidden; None: as the stack does


OF_TEXT = {"token": 0}  # what belongs to one text as one checkpoint reads it


def fitted(chosen: Positioning, *, stacks: Sequence[str], width: int, tokens: int = MOST_TOKENS) -> Positioning:
    """The settings, where what they name is not there as they are at first, or as near to that as can be.

    stacks: of the model; width: of the table that is shown; tokens: of the text.
    """
    plain, pairs = Positioning(), width // 2
    there = tuple(dimension for dimension in chosen.dimensions if dimension < width)
    return replace(
        chosen,
        stack=chosen.stack if chosen.stack in stacks else plain.stack,
        token=chosen.token if chosen.token < tokens else plain.token,
        dimensions=there or ((0,) if chosen.dimensions else ()),
        pair_of=chosen.pair_of if chosen.pair_of < pairs else max(min(plain.pair_of, pairs - 1), 0),
        of_query=chosen.of_query if chosen.of_query < chosen.compared else min(plain.of_query, chosen.compared - 1),
    )


def put_back(chosen: Positioning, fitting: Positioning) -> list[str]:
    """The names of settings that did not fit, but for those that nobody chose."""
    before, after, plain = vars(chosen), vars(fitting), vars(Positioning())
    return [name for name in before if before[name] != after[name] and before[name] != plain[name]]


def dimensions(text: str) -> tuple[int, ...]:
    """ "4.5": what ``Positioning.dimensions`` is in an address; "" for none."""
    found = tuple(map(whole(0, WIDEST - 1), text.split("."))) if text else ()
    if len(found) > MOST_CURVES or len(set(found)) < len(found):
        raise ValueError(f"wanted at most {MOST_CURVES} dimensions, each once")
    return found


READERS: dict[str, Callable[[str], Any]] = {
    "token": whole(0, MOST_TOKENS - 1),
    "length": whole(1, LONGEST),
    "width": whole(1, WIDEST),
    "dimensions": dimensions,
    "pair_of": whole(0, WIDEST // 2 - 1),
    "position": whole(0, LONGEST_SHIFT),
    "shift": whole(0, LONGEST_SHIFT),
    "compared": whole(2, LONGEST_SCHEME),
    "of_query": whole(0, LONGEST_SCHEME - 1),
    "of_head": whole(0, HEADS - 1),
}
