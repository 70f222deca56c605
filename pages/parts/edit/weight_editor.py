"""The weights of one head as cells to drag, paint and type, as a browser component; and the check of what it sends."""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import streamlit as st

from model.edits import HeadSite, Overwrite
from pages.parts.components.component import component
from pages.parts.frame.finding import picture_alone

KEY = "weight_editor"
MARKUP = '<div class="editor"></div>'
MOST_CELLS = 65_536  # that a browser may send


class Sent(NamedTuple):
    """What came from the browser: the overwritten weights of the head, all of them, and the selected cell."""

    cells: frozenset[Overwrite]
    place: tuple[int, int]


def weight_editor(
    figure: Mapping[str, Any],
    on_edit: Callable[[object], None],
    on_undo: Callable[[], None],
    on_redo: Callable[[], None],
) -> None:
    """Draw what ``viz.charts.causes.weight_editor`` gives. on_edit: called with what the browser sent, unchecked."""
    data = dict(figure) | {"alone": picture_alone()}
    draw = component(KEY, __file__, MARKUP)
    draw(
        key=KEY,
        data=data,
        height="content",
        on_edited_change=lambda: on_edit(getattr(st.session_state.get(KEY), "edited", None)),
        on_undone_change=on_undo,
        on_redone_change=on_redo,
    )


def sent_cells(sent: object, site: HeadSite, head: str, shape: tuple[int, int]) -> Sent | None:
    """What was edited, if it is of this head and of these many queries and keys: a browser can send anything.

    The first of two values of one weight counts, and a row that is renormalised is so by all of its weights.
    """
    if not isinstance(sent, dict) or sent.get("head") != head:
        return None
    place, items = sent.get("place"), sent.get("cells")
    if (
        not isinstance(place, list)
        or not is_place(place, shape)
        or not isinstance(items, list)
        or len(items) > MOST_CELLS
    ):
        return None
    cells: dict[tuple[int, int], Overwrite] = {}
    for item in items:
        if not is_cell(item, shape):
            return None
        query, key, value, renormalise = item
        cells.setdefault((query, key), Overwrite(site, query, key, float(value), renormalise))
    return Sent(frozenset(cells.values()), (place[0], place[1]))


def is_cell(item: object, shape: tuple[int, int]) -> bool:
    """Whether it is a query, a key, a value and whether the row is renormalised."""
    if not isinstance(item, list) or len(item) != 4 or not is_place(item[:2], shape) or type(item[3]) is not bool:
        return False
    return type(item[2]) in (int, float) and math.isfinite(item[2]) and 0 <= item[2] <= 1


def is_place(item: Any, shape: tuple[int, int]) -> bool:
    """Whether it is a query and a key that there are."""
    if not isinstance(item, list) or len(item) != 2:
        return False
    return all(type(at) is int and 0 <= at < length for at, length in zip(item, shape, strict=True))
