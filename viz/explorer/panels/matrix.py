"""One layer's heads that are on, as a heatmap: query rows, key columns: matrix.js."""

from collections.abc import Iterable, Sequence

import numpy as np

from viz.explorer.panels.paint import (
    Length,
    Panel,
    around,
    box,
    element,
    fitted,
    label,
    outline,
    raster,
    shaded,
    text_width,
)
from viz.explorer.panels.scene import Scene
from viz.explorer.view import Group

TALLEST = 560
WIDEST_LABEL = 104
TYPE = 12
LARGEST_CELL = 40
BELOW = 30  # the scale under the picture
RAMP = 64  # its steps
VEIL = 0.8  # how much of the rest is hidden behind the marked row and column


def matrix(scene: Scene, width: Length) -> Panel:
    """The heatmap of the mean, its axes, and what its colours stand for."""
    rows, columns = scene.found.queries, scene.found.keys
    left = min(longest(rows), WIDEST_LABEL, width / 3) + 12
    top = min(longest(columns), WIDEST_LABEL) + 12
    tallest = max((TALLEST - top) / max(len(rows), 1), 1)
    cell = min((width - left - 2) / max(len(columns), 1), LARGEST_CELL, tallest)
    inner = (left, top, cell * len(columns), cell * len(rows))
    parts = [
        cells(scene, inner),
        veil(scene, inner),
        row_labels(scene, inner),
        column_labels(scene, inner),
        marks(scene, inner),
    ]
    return Panel("".join([*parts, legend(scene, inner, width)]), width, top + inner[3] + BELOW)


def longest(groups: Iterable[Group]) -> Length:
    """The width of the widest label."""
    return max((text_width(group.label, TYPE) for group in groups), default=0.0)


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
    down, across = others(scene.row, len(scene.found.queries)), others(scene.column, len(scene.found.keys))
    look = {"fill": scene.theme.background, "fill_opacity": str(VEIL)}
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
    groups = scene.found.queries
    parts = [""]
    for place in fitting_places(groups, height, scene.row):
        text = fitted(groups[place].label, left - 8, TYPE)
        y = top + (place + 0.5) / len(groups) * height
        parts.append(label(text, left - 6, y, TYPE, text_anchor="end", **look(scene, place == scene.row)))
    return "".join(parts)


def column_labels(scene: Scene, inner: tuple[Length, Length, Length, Length]) -> str:
    """The same above the columns, turned so that they are read upwards."""
    left, top, width, _ = inner
    groups = scene.found.keys
    parts = [""]
    for place in fitting_places(groups, width, scene.column):
        text = fitted(groups[place].label, top - 8, TYPE)
        x = left + (place + 0.5) / len(groups) * width
        turned = f"translate({x:.2f} {top - 6:.2f}) rotate(-90)"
        parts.append(label(text, 0, 0, TYPE, transform=turned, **look(scene, place == scene.column)))
    return "".join(parts)


def fitting_places(groups: Sequence[Group], size: Length, chosen: int | None) -> list[int]:
    """Which labels are printed: every so many, but none that would touch the marked one, which always is."""
    count = len(groups)
    every = max(1, -(-(TYPE + 2) * count // max(int(size), 1)))
    near = range(0) if chosen is None else range(chosen - every + 1, chosen + every)
    return [place for place in range(count) if place == chosen or (place % every == 0 and place not in near)]


def look(scene: Scene, chosen: bool) -> dict[str, str]:
    """A label's colour and weight."""
    return {"fill": scene.theme.second, "font_weight": "600"} if chosen else {"fill": scene.theme.text}


def marks(scene: Scene, inner: tuple[Length, Length, Length, Length]) -> str:
    """The edges of the marked row and column."""
    left, top, width, height = inner
    parts = [""]
    if scene.row is not None:
        tall = height / len(scene.found.queries)
        parts.append(around(left, top + scene.row * tall, width, tall, scene.theme.second, 2))
    if scene.column is not None:
        wide = width / len(scene.found.keys)
        parts.append(around(left + scene.column * wide, top, wide, height, scene.theme.second, 2))
    return "".join(parts)


def legend(scene: Scene, inner: tuple[Length, Length, Length, Length], width: Length) -> str:
    """The colours from weight 0 to full."""
    left, top, _, height = inner
    y, length = top + height + 8, max(min(120.0, width - left - 60), 20.0)
    ramp = scene.strength_of(np.linspace(0, scene.full_mean, RAMP)[None])
    most = "1" if scene.full_mean == 1 else f"{scene.full_mean:.3g}"
    return element(
        "g",
        label("0", left, y + 5, TYPE, fill=scene.theme.quiet),
        raster(shaded(scene.shades, ramp), left + 12, y, length, 10),
        box(left + 11.5, y - 0.5, length + 1, 11, fill="none", stroke=scene.theme.grid),
        label(f"{most}  weight", left + length + 18, y + 5, TYPE, fill=scene.theme.quiet),
    )
