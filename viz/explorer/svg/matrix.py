"""One layer's heads that are on, as a heatmap: query rows, key columns: matrix.js."""

import math
from collections.abc import Iterable

import numpy as np

from viz.explorer.layout import (
    LABEL_SHARE,
    LARGEST_CELL,
    LONGEST_RAMP,
    MARK_WIDTH,
    MATRIX_APART,
    MATRIX_AROUND,
    MATRIX_BELOW,
    MATRIX_LABELS,
    MATRIX_RIGHT,
    MATRIX_ROOM,
    MATRIX_TYPE,
    MATRIX_VEIL,
    MATRIX_WEIGHT,
    RAMP_BESIDE,
    RAMP_DIGITS,
    RAMP_HEIGHT,
    RAMP_LEFT,
    RAMP_STEPS,
    RAMP_TOP,
    SHORTEST_RAMP,
    TALLEST_MATRIX,
    WIDEST_LABEL,
)
from viz.explorer.svg.paint import (
    Length,
    Panel,
    box,
    element,
    fitted,
    label,
    outline,
    raster,
    rounded,
    shaded,
    text_width,
)
from viz.explorer.svg.scene import Scene
from viz.explorer.view import TokenGroup


def matrix(scene: Scene, width: Length) -> Panel:
    """The heatmap of the mean, its axes, and what its colours stand for.

    Alone on the screen it grows with the window; paper has none.
    """
    rows, columns = scene.selection.queries, scene.selection.keys
    left = min(longest(rows), WIDEST_LABEL, width * LABEL_SHARE) + MATRIX_ROOM
    top = min(longest(columns), WIDEST_LABEL) + MATRIX_ROOM
    tallest = max((TALLEST_MATRIX - top) / max(len(rows), 1), 1)
    cell = min((width - left - MATRIX_RIGHT) / max(len(columns), 1), LARGEST_CELL, tallest)
    inner = (left, top, cell * len(columns), cell * len(rows))
    parts = [
        cells(scene, inner),
        veil(scene, inner),
        row_labels(scene, inner),
        column_labels(scene, inner),
        marks(scene, inner),
    ]
    return Panel("".join([*parts, legend(scene, inner, width)]), width, top + inner[3] + MATRIX_BELOW)


def longest(groups: Iterable[TokenGroup]) -> Length:
    """The width of the widest label."""
    return max((text_width(group.label, MATRIX_TYPE) for group in groups), default=0.0)


def cells(scene: Scene, inner: tuple[Length, Length, Length, Length]) -> str:
    """One pixel a cell, stretched."""
    if not scene.mean.size:
        return ""
    left, top, width, height = inner
    colours = shaded(scene.shades, scene.strength_of(scene.mean))
    return raster(colours, *inner) + outline(left - 0.5, top - 0.5, width + 1, height + 1, scene.theme.grid)


def veil(scene: Scene, inner: tuple[Length, Length, Length, Length]) -> str:
    """The page's background over all cells but those of the marked row and column."""
    if scene.row is None and scene.column is None:
        return ""
    left, top, width, height = inner
    down, across = others(scene.row, len(scene.selection.queries)), others(scene.column, len(scene.selection.keys))
    look = {"fill": scene.theme.background, "fill_opacity": str(MATRIX_VEIL)}
    return "".join(
        box(left + start * width, top + above * height, (end - start) * width, (below - above) * height, **look)
        for above, below in down
        for start, end in across
    )


def others(marked: int | None, count: int) -> list[tuple[float, float]]:
    """Shares of an axis before and after the marked place; all of it where none is marked."""
    return [(0.0, 1.0)] if marked is None else [(0.0, marked / count), ((marked + 1) / count, 1.0)]


def row_labels(scene: Scene, inner: tuple[Length, Length, Length, Length]) -> str:
    """As many as fit without touching, and the marked one."""
    left, top, _, height = inner
    groups = scene.selection.queries
    parts = [""]
    for place in fitting_places(len(groups), height, scene.row):
        text = fitted(groups[place].label, left - MATRIX_AROUND, MATRIX_TYPE)
        y = top + (place + 0.5) / len(groups) * height
        parts.append(
            label(text, left - MATRIX_APART, y, MATRIX_TYPE, text_anchor="end", **look(scene, place == scene.row))
        )
    return "".join(parts)


def column_labels(scene: Scene, inner: tuple[Length, Length, Length, Length]) -> str:
    """The same above the columns, turned so that they are read upwards."""
    left, top, width, _ = inner
    groups = scene.selection.keys
    parts = [""]
    for place in fitting_places(len(groups), width, scene.column):
        text = fitted(groups[place].label, top - MATRIX_AROUND, MATRIX_TYPE)
        x = left + (place + 0.5) / len(groups) * width
        turned = f"translate({x:.2f} {top - MATRIX_APART:.2f}) rotate(-90)"
        parts.append(label(text, 0, 0, MATRIX_TYPE, transform=turned, **look(scene, place == scene.column)))
    return "".join(parts)


def fitting_places(count: int, size: Length, chosen: int | None) -> list[int]:
    """Which labels are printed: every so many, but none that would touch the marked one, which always is."""
    every = max(1, math.ceil((MATRIX_TYPE + MATRIX_LABELS) * count / size)) if count else 1
    near = range(0) if chosen is None else range(chosen - every + 1, chosen + every)
    return [place for place in range(count) if place == chosen or (place % every == 0 and place not in near)]


def look(scene: Scene, chosen: bool) -> dict[str, str]:
    """A label's colour and weight."""
    return {"fill": scene.theme.second, "font_weight": MATRIX_WEIGHT} if chosen else {"fill": scene.theme.text}


def marks(scene: Scene, inner: tuple[Length, Length, Length, Length]) -> str:
    """The edges of the marked row and column."""
    left, top, width, height = inner
    parts = [""]
    if scene.row is not None:
        tall = height / len(scene.selection.queries)
        parts.append(outline(left, top + scene.row * tall, width, max(tall, 1), scene.theme.second, MARK_WIDTH))
    if scene.column is not None:
        wide = width / len(scene.selection.keys)
        parts.append(outline(left + scene.column * wide, top, max(wide, 1), height, scene.theme.second, MARK_WIDTH))
    return "".join(parts)


def legend(scene: Scene, inner: tuple[Length, Length, Length, Length], width: Length) -> str:
    """The colours from weight 0 to full."""
    left, top, _, height = inner
    x, y, length = left + RAMP_LEFT, top + height + RAMP_TOP, min(LONGEST_RAMP, width - left - RAMP_BESIDE)
    middle, length = y + RAMP_HEIGHT / 2, max(length, SHORTEST_RAMP)
    ramp = scene.strength_of(np.linspace(0, scene.full_mean, RAMP_STEPS)[None])
    most = "1" if scene.full_mean == 1 else rounded(scene.full_mean, RAMP_DIGITS)
    return element(
        "g",
        label("0", left, middle, MATRIX_TYPE, fill=scene.theme.quiet),
        raster(shaded(scene.shades, ramp), x, y, length, RAMP_HEIGHT),
        box(x - 0.5, y - 0.5, length + 1, RAMP_HEIGHT + 1, fill="none", stroke=scene.theme.grid),
        label(f"{most}  weight", x + length + MATRIX_APART, middle, MATRIX_TYPE, fill=scene.theme.quiet),
    )
