"""All heads of all layers as thumbnails, with the mean of each layer and of each head over the layers: grid.js."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from viz.explorer.attention_kinds import Kind
from viz.explorer.head_measures import largest_magnitude, ranks, value_text
from viz.explorer.layout import (
    BAR_APART,
    BAR_LINE,
    BAR_NUMBER_Y,
    BAR_NUMBERS,
    BAR_THICK,
    BAR_TYPE,
    BETWEEN,
    GRID_APART,
    GRID_BAR,
    GRID_CORNER_X,
    GRID_DIMMED,
    GRID_GAP,
    GRID_LEFT,
    GRID_NAME_X,
    GRID_SMALL_TYPE,
    GRID_TOP,
    GRID_TYPE,
    GRID_VEIL,
    LARGEST_FIRST,
    LARGEST_TILE,
    MARK_WIDTH,
    NARROWEST_ROW,
    SHARES,
    SMALL_TILE,
    SMALLEST_TILE,
    SPARSE_TILE,
    TALLEST_GRID,
    TARGET_TILE,
)
from viz.explorer.packing import tiles_of
from viz.explorer.svg.paint import Length, Panel, box, element, label, outline, raster, shaded
from viz.explorer.svg.scene import Scene
from viz.explorer.view import View, largest_of, shown_numbers, strength
from viz.theme import Theme
from viz.tokens import counted


def grid(scene: Scene, width: Length) -> Panel:
    """The thumbnails, no wider than ``width`` unless even the smallest need more room."""
    kind = scene.kind
    sheet = sheet_of(scene, width)
    tiles = thumbnails(scene)
    strengths = tile_strengths(tiles, scene)
    parts = [axes(scene, sheet)]
    for layer, head in np.ndindex(kind.layers + 1, kind.heads + 1):
        place = tile_number(kind, layer, head)
        if place is not None and tiles.size and not (sheet.ranks and place >= kind.layers * kind.heads):
            parts.append(thumbnail(scene, strengths[place], (layer, head), sheet))
            parts.append(veil(scene, strengths[place].shape, sheet.corner(layer, head), sheet.tile))
    parts += bars(scene, sheet)
    parts += [selected(scene, head, sheet) for head in scene.selection.heads]
    height = GRID_TOP + (kind.layers + 1) * (sheet.tile + GRID_GAP + sheet.bar) + GRID_GAP
    return Panel("".join(parts), max(width, GRID_LEFT + (kind.heads + 1) * (sheet.tile + GRID_GAP)), height)


@dataclass(frozen=True)
class Sheet:
    """Where thumbnails stand. ``bar``: the room below each. ``ranks``: in order of a measure, the rank of each head."""

    heads: int
    tile: Length
    bar: Length
    ranks: Mapping[tuple[int, int], int]

    def corner(self, layer: int, head: int) -> tuple[Length, Length]:
        """The upper left corner of a thumbnail."""
        rank = self.ranks.get((layer, head))
        row, column = (layer, head) if rank is None else divmod(rank, self.heads)
        return GRID_LEFT + column * (self.tile + GRID_GAP), GRID_TOP + row * (self.tile + GRID_GAP + self.bar)


def sheet_of(scene: Scene, width: Length) -> Sheet:
    """The thumbnails of a scene: layer by layer, or by its measure."""
    kind, measure = scene.kind, scene.measure
    bar = 0 if measure is None else GRID_BAR + (BAR_LINE if scene.view.order == "measure" else 0)
    tile = tile_of(kind, width, math.inf if scene.view.show == "grid" else TALLEST_GRID, bar)
    in_order = measure if scene.view.order == "measure" else None
    order = [] if in_order is None else ranks(in_order.values, by_size=in_order.by_size)
    return Sheet(kind.heads, tile, bar, {site: rank for rank, site in enumerate(order)})


def bars(scene: Scene, sheet: Sheet) -> list[str]:
    """What the measure is of each head: a bar as long as its share of the largest, and the number."""
    measure = scene.measure
    if measure is None:
        return []
    largest, parts = largest_magnitude(measure.values), []
    for layer, head in np.ndindex(measure.values.shape):
        value, (x, y) = float(measure.values[layer, head]), sheet.corner(layer, head)
        parts += bar_texts((layer, head), value, (x, y + sheet.tile + BAR_NUMBER_Y), sheet, scene.theme)
        if np.isfinite(value):
            fill = scene.theme.below[-1] if value < 0 else scene.theme.accent
            length = sheet.tile * abs(value) / largest
            parts.append(box(x, y + sheet.tile + BAR_APART, length, BAR_THICK, fill=fill))
    return parts


def bar_texts(
    site: tuple[int, int], value: float, place: tuple[Length, Length], sheet: Sheet, theme: Theme
) -> list[str]:
    """Which head it is, where the order does not say it, and the number, where there is room."""
    x, y = place
    name = "·".join(map(counted, site)) if sheet.ranks else ""
    parts = [label(name, x, y, BAR_TYPE, fill=theme.text)] if name else []
    if value_text(value) and sheet.tile >= BAR_NUMBERS:
        below = y + BAR_LINE if name else y
        parts.append(label(value_text(value), x + sheet.tile, below, BAR_TYPE, text_anchor="end", fill=theme.text))
    return parts


def tile_of(kind: Kind, width: Length, tallest: Length, bar: Length = 0) -> Length:
    """How large thumbnails are: as the width allows, and the height, by the numbers of heads and layers."""
    across = (width - GRID_LEFT - GRID_GAP) / (kind.heads + 1)
    down = (tallest - GRID_TOP - GRID_GAP) / (kind.layers + 1) - bar
    return min(max(min(across, down) // 1 - GRID_GAP, SMALLEST_TILE), LARGEST_TILE)


def stands_beside(kind: Kind, width: Length) -> bool:
    """Whether thumbnails stand beside lines and matrix: where they could be pointed at in their share of the width."""
    room = (width - BETWEEN * (len(SHARES) - 1)) * SHARES["grid"] / sum(SHARES.values())
    return width >= NARROWEST_ROW and tile_of(kind, room, math.inf) >= TARGET_TILE


def thumbnails(scene: Scene) -> Float[np.ndarray, "tile row column"]:
    """Every head's, then the layers' means, then the heads': of the rows and columns that the view has."""
    if not scene.mean.size:
        return np.zeros((0, 0, 0), np.float32)
    every = replace(scene.view, off=frozenset())
    return tiles_of(
        shown_numbers(scene.kind, replace(every, layer=layer)).weights for layer in range(scene.kind.layers)
    )


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


def thumbnail(scene: Scene, strengths: Float[np.ndarray, "row column"], site: tuple[int, int], sheet: Sheet) -> str:
    """One thumbnail, dimmed where its head is off."""
    (x, y), tile = sheet.corner(*site), sheet.tile
    parts = [raster(shaded(scene.shades, strengths), x, y, tile, tile)]
    parts.append(outline(x - 0.5, y - 0.5, tile + 1, tile + 1, scene.theme.grid))
    return element("g", *parts, opacity=GRID_DIMMED if site in scene.view.off else 1)


def veil(scene: Scene, shape: tuple[int, ...], place: tuple[Length, Length], tile: Length) -> str:
    """The page's background over all of a thumbnail but the row of the marked query, else the column of the key."""
    (x, y), (rows, columns) = place, shape
    if scene.row is not None:
        start, size = block(scene.row, len(scene.selection.queries), rows, tile)
        covers = [(x, y, tile, start), (x, y + start + size, tile, tile - start - size)]
    elif scene.column is not None:
        start, size = block(scene.column, len(scene.selection.keys), columns, tile)
        covers = [(x, y, start, tile), (x + start + size, y, tile - start - size, tile)]
    else:
        covers = []
    return "".join(box(*cover, fill=scene.theme.background, fill_opacity=GRID_VEIL) for cover in covers)


def block(place: int, length: int, blocks: int, tile: Length) -> tuple[Length, Length]:
    """Where a row of the text lies in a thumbnail of so many blocks, and how tall it is there."""
    starts = np.arange(blocks) * length // blocks
    return float(np.searchsorted(starts, place, side="right") - 1) / blocks * tile, tile / blocks


def axes(scene: Scene, sheet: Sheet) -> str:
    """Heads above, layers on the left; every other number where the thumbnails are small. None in another order."""
    kind, theme, tile = scene.kind, scene.theme, sheet.tile
    if sheet.ranks:
        size = GRID_SMALL_TYPE if tile < SMALL_TILE else GRID_TYPE
        return label(LARGEST_FIRST, GRID_LEFT, GRID_TOP / 2, size, fill=theme.quiet)
    size, every = GRID_SMALL_TYPE if tile < SMALL_TILE else GRID_TYPE, 2 if tile < SPARSE_TILE else 1
    alone = scene.selection.heads if len(scene.selection.heads) == 1 else ()
    parts = [label("head", GRID_CORNER_X, GRID_TOP / 2, size, fill=theme.quiet)]
    for head in [*range(0, kind.heads, every), kind.heads]:
        x = sheet.corner(0, head)[0] + tile / 2
        fill = theme.text if head in alone else theme.quiet
        parts.append(axis_label(head, kind.heads, x, GRID_TOP / 2, size, text_anchor="middle", fill=fill))
    for layer in [*range(0, kind.layers, every), kind.layers]:
        y = sheet.corner(layer, 0)[1] + tile / 2
        fill = theme.text if layer == scene.view.layer else theme.quiet
        parts.append(axis_label(layer, kind.layers, GRID_LEFT - GRID_APART, y, size, text_anchor="end", fill=fill))
    middle = GRID_TOP + kind.layers * (tile + GRID_GAP + sheet.bar) / 2
    turned = f"rotate(-90 {GRID_NAME_X} {middle:.1f})"
    parts.append(label("layer", GRID_NAME_X, middle, size, text_anchor="middle", fill=theme.quiet, transform=turned))
    return "".join(parts)


def axis_label(index: int, count: int, x: Length, y: Length, size: Length, **attributes: str | Length) -> str:
    """A layer's or a head's number; the one after the last is the mean."""
    return label("mean" if index == count else counted(index), x, y, size, **attributes)


def selected(scene: Scene, head: int, sheet: Sheet) -> str:
    """The edge of a head that is on in the layer that the other panels show."""
    x, y = sheet.corner(scene.view.layer, head)
    out, side = MARK_WIDTH / 2, sheet.tile + MARK_WIDTH
    return outline(x - out, y - out, side, side, scene.theme.second, MARK_WIDTH)
