"""The current view of the explorer as one SVG for print: what the browser draws, by the same rules.

Paper is as wide as it is, nobody points at it or zooms, and instead of controls it has a caption. Thumbnails have the
rows and columns of the view at once, which a browser that lacks layers of a large model cannot give them.

Matrices are rasters of one pixel a cell inside the file, all else is lines and text. Nothing in it refers to anything
outside.
"""

import json
from collections.abc import Mapping, Sequence

from viz.explorer.attention_kinds import Kind
from viz.explorer.head_measures import NO_MEASURES, HeadMeasure
from viz.explorer.layout import BETWEEN, BETWEEN_ROWS, PANELS_OF, SHARES, SHARES_BELOW, TITLES
from viz.explorer.svg.caption import caption
from viz.explorer.svg.grid import grid, stands_beside
from viz.explorer.svg.lines import lines
from viz.explorer.svg.matrix import matrix
from viz.explorer.svg.paint import Length, Panel, beside, box, element, moved, safe, stacked
from viz.explorer.svg.scene import Scene, scene_of
from viz.explorer.svg.words import paragraph, table, titled, words
from viz.explorer.view import View
from viz.export.provenance import Provenance
from viz.theme import FONT, LIGHT, Theme

PANELS = {"grid": grid, "lines": lines, "matrix": matrix, "text": words, "table": table}
WIDTHS = {"all": 1100}
WIDTH = 640  # pixels, of any other view
MARGIN = 16
NAMESPACES = {"xmlns": "http://www.w3.org/2000/svg", "xmlns:xlink": "http://www.w3.org/1999/xlink"}


def svg(
    kinds: Mapping[str, Kind],
    view: View,
    *,
    theme: Theme = LIGHT,
    width: int | None = None,
    provenance: Provenance | None = None,
    measures: Mapping[str, Sequence[HeadMeasure]] = NO_MEASURES,
) -> str:
    """The view as an SVG document ``width`` pixels wide; wider where what it holds cannot be any narrower.

    kinds: those of ``kinds_of(trace)``. provenance: a line under the caption says it, and ``<metadata>`` has its facts
    as JSON. measures: of heads, by attention, for the view's bars. Raises ValueError where the kinds lack the view's
    attention or layer.
    """
    scene = scene_of(kinds, view, theme, measures)
    inner = (width or WIDTHS.get(view.show, WIDTH)) - 2 * MARGIN
    sentences = caption(scene)
    body = panels(scene, inner)
    lines = [" ".join(sentences), *([provenance.sentence()] if provenance is not None else [])]
    parts = [body, *(paragraph(line, body.width, theme) for line in lines)]
    return document(stacked(parts, BETWEEN), sentences[0], theme, provenance)


def panels(scene: Scene, width: Length) -> Panel:
    """All panels of the view, row by row, each under its name."""
    rows = rows_of(scene, width)
    return stacked((panel_row(scene, row, width) for row in rows), BETWEEN_ROWS)


def rows_of(scene: Scene, width: Length) -> list[Mapping[str, int]]:
    """What stands side by side, with its share of the width; the grid of many heads, or in little room, has a row."""
    show = scene.view.show
    if show != "all":
        return [{name: 1} for name in PANELS_OF.get(show, (show,))]
    below = [SHARES] if stands_beside(scene.kind, width) else [{"grid": 1}, SHARES_BELOW]
    return [{"text": 1}, *below]


def panel_row(scene: Scene, shares: Mapping[str, int], width: Length) -> Panel:
    room = (width - BETWEEN * (len(shares) - 1)) / sum(shares.values())
    row = [titled(TITLES[name], PANELS[name](scene, room * share), scene.theme) for name, share in shares.items()]
    return beside(row, BETWEEN)


def document(body: Panel, title: str, theme: Theme, provenance: Provenance | None = None) -> str:
    """The whole file: as large as its body, on the page's background."""
    about = [element("title", safe(title))] if provenance is None else file_description(title, provenance)
    wide, tall = body.width + 2 * MARGIN, body.height + 2 * MARGIN
    size = {"width": f"{wide:.0f}", "height": f"{tall:.0f}", "viewBox": f"0 0 {wide:.0f} {tall:.0f}"}
    ground = box(0, 0, round(wide), round(tall), fill=theme.background)
    parts = [*about, ground, moved(body.body, MARGIN, MARGIN)]
    return (
        element("svg", *parts, **NAMESPACES, **size, **{"xml:space": "preserve"}, font_family=FONT, role="img") + "\n"
    )


def file_description(title: str, provenance: Provenance) -> list[str]:
    """What the file says of itself; the facts as JSON, which is ASCII alone, so that no reader changes a line's end."""
    facts = json.dumps(provenance.facts(1))
    texts = {"title": f"{provenance.checkpoint}: {title}", "desc": provenance.sentence(), "metadata": facts}
    return [element(name, safe(text)) for name, text in texts.items()]
