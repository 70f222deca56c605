"""The sentence itself, shaded by attention; and the numbers of one query as a table: words.js."""

from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Float

from viz.explorer.layout import (
    AROUND_TOKENS,
    AT_REST,
    BELOW_TITLE,
    BELOW_TOKENS,
    MARK_WIDTH,
    NARROWEST_TOKEN,
    NO_WEIGHTS,
    OF_KEY,
    OF_QUERY,
    SMALL_LINE,
    SMALL_TYPE,
    TABLE_LINE,
    TABLE_PADDING,
    TABLE_WEIGHT,
    TOKEN_GAP,
    TOKEN_HEIGHT,
    TOKEN_PADDING,
    TOKEN_ROUND,
    TOKEN_TYPE,
)
from viz.explorer.svg.paint import (
    WIDEST_BOLD,
    WIDEST_FONT,
    Length,
    Panel,
    box,
    element,
    fitted,
    ink_on,
    label,
    shade,
    stacked,
    text_width,
    wrapped,
)
from viz.explorer.svg.scene import Scene
from viz.explorer.view import TokenGroup, exact_row
from viz.theme import Theme
from viz.tokens import counted


def words(scene: Scene, width: Length) -> Panel:
    """The tokens in their order; queries and keys apart where they are not the same.

    The screen scrolls where they are many, breaks one that is wider than its line, and says how to point at them.
    """
    queries, keys = scene.selection.queries, scene.selection.keys
    shading = OF_QUERY if scene.row is not None else OF_KEY if scene.column is not None else AT_REST
    if scene.kind.queries is scene.kind.keys and queries == keys:
        chosen = scene.column if scene.row is None else scene.row
        strips = [strip(scene, keys, both_weights(scene), chosen, width)]
    else:
        strips = [
            titled("Queries", strip(scene, queries, query_weights(scene), scene.row, width), scene.theme),
            titled("Keys", strip(scene, keys, key_weights(scene), scene.column, width), scene.theme),
        ]
    return stacked([*strips, paragraph(shading, width, scene.theme)], BELOW_TOKENS)


def both_weights(scene: Scene) -> Float[np.ndarray, "place"]:
    """What shades the only strip: where a key alone is marked, the queries that attend to it."""
    only_key = scene.row is None and scene.column is not None
    return query_weights(scene) if only_key else key_weights(scene)


def query_weights(scene: Scene) -> Float[np.ndarray, "place"]:
    """What each query gives to the marked key; nothing where a query is marked, or no key."""
    if scene.row is not None or scene.column is None:
        return np.zeros(len(scene.mean), np.float32)
    return scene.mean[:, scene.column]


def key_weights(scene: Scene) -> Float[np.ndarray, "place"]:
    """What each key gets from the marked query, or on average."""
    if scene.row is not None:
        return scene.mean[scene.row]
    return scene.mean.mean(axis=0) if len(scene.mean) else np.zeros(scene.mean.shape[1], np.float32)


def strip(
    scene: Scene, groups: Sequence[TokenGroup], weights: Float[np.ndarray, "place"], chosen: int | None, width: Length
) -> Panel:
    """Tokens side by side, line by line, each on the shade of its weight."""
    strengths = scene.strength_of(weights)
    parts, below = [""], float(AROUND_TOKENS)
    for place, (text, x, y, wide) in enumerate(flowing([group.label for group in groups], width)):
        colour = shade(scene.shades, float(strengths[place]))
        ink = ink_on(scene.theme, colour)
        parts.append(box(x, y, wide, TOKEN_HEIGHT, rx=TOKEN_ROUND, fill=colour))
        parts.append(label(text, x + wide / 2, y + TOKEN_HEIGHT / 2, TOKEN_TYPE, text_anchor="middle", fill=ink))
        if place == chosen:
            parts.append(edge(x, y, wide, scene.theme))
        below = y + TOKEN_HEIGHT
    return Panel("".join(parts), width, below + AROUND_TOKENS)


def edge(x: Length, y: Length, wide: Length, theme: Theme) -> str:
    """What lies around the marked token, as a style sheet's outline does."""
    out = MARK_WIDTH / 2
    place = (x - out, y - out, wide + MARK_WIDTH, TOKEN_HEIGHT + MARK_WIDTH)
    return box(*place, rx=TOKEN_ROUND + out, fill="none", stroke=theme.second, stroke_width=MARK_WIDTH)


def flowing(texts: Sequence[str], width: Length) -> Iterator[tuple[str, Length, Length, Length]]:
    """Each text as it fits, where its box begins, and how wide that is."""
    x = y = float(AROUND_TOKENS)
    for text in texts:
        cut = fitted(text, (width - 2 * TOKEN_PADDING - 2 * AROUND_TOKENS) / WIDEST_FONT, TOKEN_TYPE)
        wide = max(WIDEST_FONT * text_width(cut, TOKEN_TYPE) + 2 * TOKEN_PADDING, NARROWEST_TOKEN)
        if x > AROUND_TOKENS and x + wide > width - AROUND_TOKENS:
            x, y = float(AROUND_TOKENS), y + TOKEN_HEIGHT + TOKEN_GAP
        yield cut, x, y, wide
        x += wide + TOKEN_GAP


def paragraph(text: str, width: Length, theme: Theme) -> Panel:
    """Small text, broken into lines."""
    rows = wrapped(text, width / WIDEST_FONT, SMALL_TYPE)
    body = "".join(
        label(row, 0, SMALL_LINE * (place + 0.5), SMALL_TYPE, fill=theme.quiet) for place, row in enumerate(rows)
    )
    return Panel(body, width, SMALL_LINE * len(rows))


def titled(title: str, panel: Panel, theme: Theme) -> Panel:
    return stacked([paragraph(title, panel.width, theme), panel], BELOW_TITLE)


def table(scene: Scene, width: Length) -> Panel:
    """Every key with the exact weight of each head that is on, and their mean, for the marked query or the first.

    The screen has weights of one byte, with "≈" before them, until the exact ones have come.
    """
    if not scene.mean.size or not scene.selection.heads:
        return paragraph(NO_WEIGHTS, width, scene.theme)
    query = scene.selection.queries[scene.row or 0]
    caption = paragraph(f"Query {query.name} attends to:", width, scene.theme)
    columns = table_columns(scene, query)
    fonts = [WIDEST_BOLD, *[WIDEST_FONT] * (len(columns) - 1)]
    widths = [
        max(text_width(cell, SMALL_TYPE) for cell in column) * wider
        for column, wider in zip(columns, fonts, strict=True)
    ]
    ends = np.cumsum([wide + 2 * TABLE_PADDING for wide in widths]).tolist()
    parts = [
        cells(column, end - TABLE_PADDING, scene, first=not place)
        for place, (column, end) in enumerate(zip(columns, ends, strict=True))
    ]
    rules = [rule(scene.theme, ends[-1], row) for row in range(1, len(columns[0]) + 1)]
    body = Panel("".join([*rules, *parts]), max(width, ends[-1]), TABLE_LINE * len(columns[0]))
    return stacked([caption, body], BELOW_TITLE)


def table_columns(scene: Scene, query: TokenGroup) -> list[list[str]]:
    """Each column with its name on top."""
    exact = exact_row(scene.kind, scene.view, query.first)
    keys = ["key", *(key.name for key in scene.selection.keys)]
    heads = [[f"head {counted(head)}", *exact["heads"][str(head)]] for head in scene.selection.heads]
    return [keys, *([["mean", *exact["mean"]]] if len(heads) > 1 else []), *heads]


def cells(column: Sequence[str], end: Length, scene: Scene, *, first: bool) -> str:
    """A column's cells: names from the left, numbers to the right; those of the marked key stand out."""
    x, anchor = (TABLE_PADDING, "start") if first else (end, "end")
    marked = None if scene.column is None else scene.column + 1  # under the names
    parts = []
    for row, cell in enumerate(column):
        fill = scene.theme.second if row == marked else scene.theme.text
        weight = {"font_weight": TABLE_WEIGHT} if first or not row else {}
        middle = TABLE_LINE * (row + 0.5)
        parts.append(label(cell, x, middle, SMALL_TYPE, text_anchor=anchor, fill=fill, **weight))
    return "".join(parts)


def rule(theme: Theme, width: Length, row: int) -> str:
    """The line under a row."""
    return element("line", x1=0, x2=width, y1=TABLE_LINE * row, y2=TABLE_LINE * row, stroke=theme.grid)
