"""All heads of all layers as thumbnails, with the mean of each layer and of each head over the layers: grid.js."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from viz.explorer.kinds import Kind
from viz.explorer.packing import tiles_of
from viz.explorer.panels.paint import Length, Panel, around, box, element, label, outline, raster, shaded
from viz.explorer.panels.scene import Scene
from viz.explorer.view import View, largest_of, shown, strength
from viz.tokens import counted

LEFT, TOP, GAP = 46, 20, 3
SMALLEST, LARGEST = 12, 110
DIMMED = 0.22  # a head that is off


def grid(scene: Scene, width: Length) -> Panel:
    """The thumbnails, no wider than ``width`` unless even the smallest need more room."""
    kind = scene.kind
    tile = min(max((width - LEFT - GAP) // (kind.heads + 1) - GAP, SMALLEST), LARGEST)
    tiles = thumbnails(scene)
    strengths = tile_strengths(tiles, scene)
    parts = [axes(scene, tile)]
    for layer, head in np.ndindex(kind.layers + 1, kind.heads + 1):
        place = tile_number(kind, layer, head)
        if place is not None and tiles.size:
            parts.append(thumbnail(scene, strengths[place], (layer, head), tile))
    parts += [selected(scene, head, tile) for head in scene.found.heads]
    height = TOP + (kind.layers + 1) * (tile + GAP) + GAP
    return Panel("".join(parts), max(width, LEFT + (kind.heads + 1) * (tile + GAP)), height)


def narrowest(kind: Kind) -> int:
    """The width below which the thumbnails of a kind do not go."""
    return LEFT + (kind.heads + 1) * (SMALLEST + GAP) + GAP


def thumbnails(scene: Scene) -> Float[np.ndarray, "tile row column"]:
    """Every head's, then the layers' means, then the heads': of the rows and columns that the view has."""
    if not scene.mean.size:
        return np.zeros((0, 0, 0), np.float32)
    every = replace(scene.view, off=frozenset())
    return tiles_of(shown(scene.kind, replace(every, layer=layer)).weights for layer in range(scene.kind.layers))


def tile_strengths(tiles: Float[np.ndarray, "tile row column"], scene: Scene) -> list[Float[np.ndarray, "row column"]]:
    """How strong the cells are drawn; the largest weight that thumbnails share is that of all of them."""
    shared = float(tiles.max()) if tiles.size else 1.0
    return [strength(tile, scene.view, full_of(tile, scene.view, shared)) for tile in tiles]


def full_of(tile: Float[np.ndarray, "row column"], view: View, shared: float) -> float:
    """What full colour stands for in a thumbnail."""
    return largest_of(tile[None], view)[0] if view.maximum != "shared" else shared


def tile_number(kind: Kind, layer: int, head: int) -> int | None:
    """Where a thumbnail stands among all; the last row and column are the means, and there is no mean of means."""
    if layer == kind.layers:
        return None if head == kind.heads else kind.layers * (kind.heads + 1) + head
    return kind.layers * kind.heads + layer if head == kind.heads else layer * kind.heads + head


def corner(layer: int, head: int, tile: Length) -> tuple[Length, Length]:
    """The upper left of a thumbnail."""
    return LEFT + head * (tile + GAP), TOP + layer * (tile + GAP)


def thumbnail(scene: Scene, strengths: Float[np.ndarray, "row column"], site: tuple[int, int], tile: Length) -> str:
    """One thumbnail, with what the marked query and key attend in it."""
    x, y = corner(*site, tile)
    rows, columns = strengths.shape
    colour = scene.theme.second
    parts = [raster(shaded(scene.shades, strengths), x, y, tile, tile)]
    parts.append(outline(x - 0.5, y - 0.5, tile + 1, tile + 1, scene.theme.grid))
    if scene.row is not None:
        start, size = block(scene.row, len(scene.found.queries), rows, tile)
        parts.append(around(x, y + start, tile, size, colour, 0.75))
    if scene.column is not None:
        start, size = block(scene.column, len(scene.found.keys), columns, tile)
        parts.append(around(x + start, y, size, tile, colour, 0.75))
    return element("g", *parts, opacity=DIMMED if site in scene.view.off else 1)


def block(place: int, length: int, blocks: int, tile: Length) -> tuple[Length, Length]:
    """Where a row of the text lies in a thumbnail of so many blocks, and how tall it is there."""
    starts = np.arange(blocks) * length // blocks
    return float(np.searchsorted(starts, place, side="right") - 1) / blocks * tile, tile / blocks


def axes(scene: Scene, tile: Length) -> str:
    """Heads above, layers on the left; every other number where the thumbnails are small."""
    kind, theme = scene.kind, scene.theme
    size, every = (10, 2) if tile < 16 else (12, 1)
    parts = [label("head", 2, TOP / 2, size, fill=theme.quiet)]
    for head in [*range(0, kind.heads, every), kind.heads]:
        x = corner(0, head, tile)[0] + tile / 2
        parts.append(axis_label(head, kind.heads, x, TOP / 2, size, text_anchor="middle", fill=theme.quiet))
    for layer in [*range(0, kind.layers, every), kind.layers]:
        y = corner(layer, 0, tile)[1] + tile / 2
        fill = theme.text if layer == scene.view.layer else theme.quiet
        parts.append(axis_label(layer, kind.layers, LEFT - 8, y, size, text_anchor="end", fill=fill))
    turned = f"rotate(-90 7 {TOP + kind.layers * (tile + GAP) / 2:.1f})"
    middle = TOP + kind.layers * (tile + GAP) / 2
    parts.append(label("layer", 7, middle, size, text_anchor="middle", fill=theme.quiet, transform=turned))
    return "".join(parts)


def axis_label(index: int, count: int, x: Length, y: Length, size: Length, **attributes: str | Length) -> str:
    """A layer's or a head's number; the one after the last is the mean."""
    return label("mean" if index == count else counted(index), x, y, size, **attributes)


def selected(scene: Scene, head: int, tile: Length) -> str:
    """The edge of a head that is on in the layer that the other panels show."""
    x, y = corner(scene.view.layer, head, tile)
    return box(x - 1, y - 1, tile + 2, tile + 2, fill="none", stroke=scene.theme.second, stroke_width=2)
