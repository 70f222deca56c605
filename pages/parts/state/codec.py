"""The one codec between what was chosen, the selection that a page shows, and the address."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from pages.parts.models.catalogue import asked_at_start, checkpoint_names, is_here
from pages.parts.state.fields import Field, address_text, fields_of, packed, unpacked
from pages.parts.state.selection import LONGEST_TEXT, TEXTS, VIEW_FIELDS, Selection, typable
from viz.explorer import View

Chosen = Mapping[str, Any]  # what somebody chose, by the names of the codec; the rest is as the page opens


@dataclass(frozen=True, kw_only=True)
class PageState:
    """What a page adds to the address, and how it opens.

    settings: its own, a dataclass whose fields were made by ``declared``; None where it has none.
    packed: the one name under which they stand together in the address; "": each under its own.
    opening: what it shows where nobody has chosen anything, as far as that is not the selection's default.
    opening_at: the text and the model that it shows where nobody has chosen others, if they go by its settings: called
    with what is chosen. It shows them itself in place of ``opening``.
    architecture: of the checkpoints that it can use; None: of all.
    follows: whether it speaks of what the page before showed: text and model come along, chosen or not; unless that
    page showed another model in place of the chosen one. follows_stand_in: then too.
    of_file: whether its layers, heads and tokens are those of a file, and not of the text and the model.
    older: what makes an address of today of one that an earlier version wrote.
    """

    settings: type | None = None
    packed: str = ""
    opening: Mapping[str, Any] = field(default_factory=dict)
    opening_at: Callable[[Chosen], Mapping[str, Any]] | None = None
    architecture: str | None = None
    follows: bool = False
    follows_stand_in: bool = False
    of_file: bool = False
    older: Callable[[Mapping[str, str]], Mapping[str, str]] | None = None


class Codec:
    """All that can stand in an address. Values are named as there; those that are packed, "translation.step".

    Raises ValueError where two pages declare the same name.
    """

    def __init__(self, pages: Mapping[str, PageState]) -> None:
        self.pages = pages
        self.fields: dict[str, Field] = {}
        for declared in [fields_of(Selection), VIEW_FIELDS, *map(_fields_of_page, pages.values())]:
            if twice := self.fields.keys() & declared.keys():
                raise ValueError(f"declared twice: {', '.join(sorted(twice))}")
            self.fields |= declared

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """Every value where no page says otherwise."""
        return self.values(Selection())

    def values(self, selection: Selection) -> dict[str, Any]:
        """Everything in a selection, by its name."""
        values = {name: getattr(selection, name) for name in fields_of(Selection)} | vars(selection.view)
        for page in self.pages.values():
            if page.settings is not None:
                values |= prefixed(page, vars(selection.of(page.settings)))
        return values

    def build(self, values: Mapping[str, Any]) -> Selection:
        """The selection of these values. ValueError for one that cannot be."""
        settings = [
            page.settings(**{field.name: values[prefix(page) + field.name] for field in fields(page.settings)})
            for page in self.pages.values()
            if page.settings is not None
        ]
        view = View(**{name: values[name] for name in VIEW_FIELDS})
        own = {name: values[name] for name in fields_of(Selection)}
        return Selection(**own, view=view, settings=tuple(settings))

    def opening(self, page: str) -> dict[str, Any]:
        """Every value as a page opens; with another checkpoint that it can use where its own is not there.

        With that which the app was started for, wherever the page can use it.
        """
        state = self.pages[page]
        values = {**self.defaults, **state.opening}
        names = checkpoint_names()
        if (start := asked_at_start()) and start in checkpoint_names(state.architecture):
            values["checkpoint"] = start
        if names and values["checkpoint"] not in names:
            usable = checkpoint_names(state.architecture) if state.architecture else []
            values["checkpoint"] = (usable or names)[0]
        return values

    def unnamed(self, page: str, chosen: Chosen) -> dict[str, Any]:
        """Every value as a page shows it where the address does not name it."""
        opening, opening_at = self.opening(page), self.pages[page].opening_at
        return opening | (dict(opening_at(chosen)) if opening_at else {})

    def resolve(self, chosen: Chosen, page: str) -> Selection:
        """What a page shows: what was chosen, and the rest as it opens. ValueError for a value that cannot be."""
        values = self.opening(page)
        there = is_here(chosen.get("checkpoint"))  # it may have been deleted since
        return self.build(values | {name: value for name, value in chosen.items() if name != "checkpoint" or there})

    def reset(self, chosen: Chosen, changed: Collection[str], but: Collection[str] = ()) -> dict[str, Any]:
        """What is left of a choice once these values have changed. ``but``: names that stay in any case."""
        gone = {name for name in chosen if name not in but and self.fields[name].reset_by & set(changed)}
        left = {name: keep(chosen[name], changed) for name in gone if (keep := self.fields[name].left) is not None}
        kept = {name: value for name, value in chosen.items() if name not in gone}
        return kept | {name: value for name, value in left.items() if value != self.defaults[name]}

    def differing(self, values: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
        """The values that are not as in the others."""
        return {name: values[name] for name in self.fields if values[name] != others[name]}

    def write(self, values: Mapping[str, Any], page: str) -> dict[str, str]:
        """The address at which a page shows these values: those that it would not show anyway."""
        differing = self.differing(values, self.unnamed(page, values))
        for name in differing.keys() & set(TEXTS):
            if len(differing[name]) > LONGEST_TEXT or typable(differing[name]) != differing[name]:
                del differing[name]  # it is refused anyway, and no address carries it
        address = {name: address_text(value) for name, value in differing.items() if "." not in name}
        for state in filter(lambda state: state.packed, self.pages.values()):
            inside = {name: value for name, value in differing.items() if name.startswith(prefix(state))}
            if inside:
                address[state.packed] = packed({name.removeprefix(prefix(state)): inside[name] for name in inside})
        return address

    def read(self, address: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
        """What an address chooses, and the names of the values in it that cannot be used."""
        for older in [state.older for state in self.pages.values() if state.older]:
            address = older(address)
        chosen: dict[str, Any] = {}
        unusable: list[str] = []
        for name in [name for name in self.fields if name in address]:
            try:
                chosen[name] = self.fields[name].parse(address[name])
            except ValueError:
                unusable.append(name)
        for state in [state for state in self.pages.values() if state.packed in address]:
            try:
                inside = unpacked(address[state.packed])
                chosen |= {prefix(state) + name: self.parse(prefix(state) + name, inside[name]) for name in inside}
            except ValueError:
                unusable.append(state.packed)
        return chosen, unusable

    def parse(self, name: str, text: str) -> Any:
        """One value. ValueError where there is no such name, or the value cannot be."""
        if name not in self.fields:
            raise ValueError(f"{name}: unknown")
        return self.fields[name].parse(text)

    def changed(self, selection: Selection, **changes: Any) -> Selection:
        """The selection with some of these values changed, nothing else put back. ValueError for one that cannot be."""
        return self.build(self.values(selection) | changes)


def prefix(page: PageState) -> str:
    """What stands before the names of packed settings."""
    return f"{page.packed}." if page.packed else ""


def prefixed(page: PageState, settings: Mapping[str, Any]) -> dict[str, Any]:
    """A page's settings by their names in the codec."""
    return {prefix(page) + name: value for name, value in settings.items()}


def _fields_of_page(page: PageState) -> dict[str, Field]:
    if page.settings is None:
        return {}
    return prefixed(page, fields_of(page.settings))
