"""What the page Positions is set to: a table and what is drawn of it, a shift in it, and schemes side by side."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from model.measures.positions.schemes import HEADS
from pages.parts.state.codec import PageState
from pages.parts.state.fields import OF_CHECKPOINT, OF_TEXT, address_field, one_of, switch, whole, whole_numbers
from viz.theme import MOST_CURVES

EXAMPLE = "The dog bit the man"

STACKS = ("encoder", "decoder")
TABLES = ("formula", "own")
# What can be unfolded below the visitor's own text, each with the settings that its controls show.
SECTIONS = {
    "table": ("table", "length", "width", "dimensions"),
    "products": (),
    "waves": (),
    "shift": ("pair_of", "position", "shift"),
    "beyond": (),
    "schemes": ("compared", "of_query", "of_head", "causal"),
}
LONGEST, WIDEST, LONGEST_SHIFT, LONGEST_SCHEME, MOST_TOKENS = 5000, 1024, 1000, 128, 10_000


@dataclass(frozen=True, kw_only=True)
class PositionsSettings:
    """Every field is a plain value; the names are those of an address. Places count from 0.

    stack: whose tokens are looked at, where there are two; "": those of the first.
    token: whose numbers are listed.
    width: of the formula's table; a checkpoint's has its own.
    dimensions: drawn as curves. pair_of: a sine and its cosine, which a shift rotates.
    compared: positions that each picture of a scheme compares.
    causal: whether later keys are hidden; None: as the stack does.
    sections: places in SECTIONS of those that are unfolded; None: those with a setting that is not as at first.
    """

    stack: str = address_field("", one_of(("", *STACKS)), reset_by=OF_CHECKPOINT)
    token: int = address_field(0, whole(0, MOST_TOKENS - 1), reset_by=OF_TEXT)
    table: str = address_field(TABLES[0], one_of(TABLES))
    length: int = address_field(100, whole(1, LONGEST))
    width: int = address_field(128, whole(1, WIDEST))
    dimensions: tuple[int, ...] = address_field((4, 5, 6, 7), whole_numbers(MOST_CURVES, WIDEST - 1, once=True))
    pair_of: int = address_field(2, whole(0, WIDEST // 2 - 1))
    position: int = address_field(3, whole(0, LONGEST_SHIFT))
    shift: int = address_field(5, whole(0, LONGEST_SHIFT))
    compared: int = address_field(32, whole(2, LONGEST_SCHEME))
    of_query: int = address_field(20, whole(0, LONGEST_SCHEME - 1))
    of_head: int = address_field(0, whole(0, HEADS - 1))
    causal: bool | None = address_field(None, switch)
    sections: tuple[int, ...] | None = address_field(None, whole_numbers(len(SECTIONS), len(SECTIONS) - 1, once=True))

    def unfolded(self, section: str) -> bool:
        """Whether a section is open."""
        if self.sections is not None:
            return list(SECTIONS).index(section) in self.sections
        plain = PositionsSettings()
        return any(getattr(self, name) != getattr(plain, name) for name in SECTIONS[section])

    def with_fold(self, section: str) -> tuple[int, ...]:
        """The sections that are open once this one is turned over."""
        return tuple(place for place, name in enumerate(SECTIONS) if self.unfolded(name) != (name == section))


STATE = PageState(settings=PositionsSettings, opening={"text": EXAMPLE})


def fitting_settings(
    chosen: PositionsSettings,
    *,
    stacks: Sequence[str],
    tables: Sequence[str] = TABLES,
    width: int,
    tokens: int = MOST_TOKENS,
) -> PositionsSettings:
    """The settings, where what they name is not there as they are at first, or as near to that as can be.

    stacks: of the model; tables: those that there are; width: of the table that is shown; tokens: of the text.
    """
    plain, pairs = PositionsSettings(), width // 2
    there = tuple(dimension for dimension in chosen.dimensions if dimension < width)
    return replace(
        chosen,
        stack=chosen.stack if chosen.stack in stacks else plain.stack,
        table=chosen.table if chosen.table in tables else plain.table,
        token=chosen.token if chosen.token < tokens else plain.token,
        dimensions=there or ((0,) if chosen.dimensions else ()),
        pair_of=chosen.pair_of if chosen.pair_of < pairs else max(min(plain.pair_of, pairs - 1), 0),
        of_query=chosen.of_query if chosen.of_query < chosen.compared else min(plain.of_query, chosen.compared - 1),
    )


def misfits(chosen: PositionsSettings, fitting: PositionsSettings) -> list[str]:
    """The names of settings that did not fit, but for those that nobody chose."""
    before, after, plain = vars(chosen), vars(fitting), vars(PositionsSettings())
    return [name for name in before if before[name] != after[name] and before[name] != plain[name]]
