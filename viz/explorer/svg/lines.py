"""Tokens left and right, and a line for every weight, from the query to the key that it looks at: lines.js."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from viz.explorer.layout import (
    DASHES,
    FAINTEST_LINE,
    HEADING_ROOM,
    LINE_GROWS,
    LINES_APART,
    LINES_AROUND,
    LINES_BAR,
    LINES_BELOW,
    LINES_BENDS,
    LINES_EDGE,
    LINES_FADED,
    LINES_FRAME,
    LINES_HEADING,
    LINES_PLATES,
    LINES_ROW,
    LINES_SIDE,
    LINES_TOP,
    LINES_TYPE,
    MARK_WIDTH,
    MOST_LINES,
    SHORTEST_LINES,
    SMALLEST_ROW,
    TALLEST_LINES,
    THINNEST_LINE,
    WIDEST_SIDE,
)
from viz.explorer.svg.paint import (
    Length,
    Panel,
    box,
    curve,
    element,
    fitted,
    ink_on,
    label,
    moved,
    shade,
    text_width,
)
from viz.explorer.svg.scene import Scene
from viz.explorer.view import TokenGroup
from viz.theme import Theme
from viz.tokens import counted

# The pieces of line that name the heads' colours, which on the screen their buttons have.
SAMPLE, SAMPLE_APART, SAMPLES_APART, SAMPLE_WIDTH = 18, 5, 14, 3


def lines(scene: Scene, width: Length) -> Panel:
    """All lines, or those of the marked token over the others."""
    most = max(len(scene.selection.queries), len(scene.selection.keys), 1)
    height = min(max(most * LINES_ROW, SHORTEST_LINES), TALLEST_LINES)
    room = room_of(width)
    lit = scene.row is not None or scene.column is not None
    resting = element(
        "g", *edges(scene, strongest(scene.numbers), width, height), fill="none", opacity=LINES_FADED if lit else 1
    )
    parts = [heading(scene.theme, room, width), resting]
    if lit:
        parts.append(element("g", *edges(scene, of_marked(scene), width, height), fill="none"))
    parts += [side(scene, at_left, room, width, height) for at_left in (True, False)]
    names = head_names(scene, width)
    below = LINES_TOP + height + LINES_BELOW
    return Panel("".join(parts) + moved(names.body, 0, below), width, below + names.height)


def room_of(width: Length) -> Length:
    """The room of the tokens on either side."""
    return min(width * LINES_SIDE, WIDEST_SIDE)


def heading(theme: Theme, room: Length, width: Length) -> str:
    """Which way the lines run; from the edge of the panel on where the left side has too little room."""
    fits = text_width("query attends", LINES_TYPE) * HEADING_ROOM <= room - LINES_EDGE
    x, anchor = (room - LINES_EDGE, "end") if fits else (0, "start")
    left = label("query attends", x, LINES_HEADING, LINES_TYPE, text_anchor=anchor, fill=theme.quiet)
    return left + label("to key", width - room + LINES_EDGE, LINES_HEADING, LINES_TYPE, fill=theme.quiet)


def strongest(numbers: Float[np.ndarray, "head query key"]) -> Int[np.ndarray, "edge 3"]:
    """Head, row and column of the strongest lines of all heads that are on."""
    cells = numbers.reshape(-1)
    least = np.partition(cells, -MOST_LINES)[-MOST_LINES] if cells.size > MOST_LINES else 0
    return strongest_last(numbers, np.argwhere(numbers >= least))[-MOST_LINES:]


def strongest_last(
    numbers: Float[np.ndarray, "head query key"], sites: Int[np.ndarray, "edge 3"]
) -> Int[np.ndarray, "drawn 3"]:
    """The order in which lines are drawn: the strongest lies on top, of equal ones that which comes first.

    What is 0 is not drawn.
    """
    weights = numbers[tuple(sites.T)]
    order = np.argsort(-weights, kind="stable")[::-1]
    return sites[order[weights[order] > 0]]


def of_marked(scene: Scene) -> Int[np.ndarray, "edge 3"]:
    """Head, row and column of every line of the marked query or key, or of the one between both."""
    heads, rows, columns = (np.arange(size) for size in scene.numbers.shape)
    rows = rows if scene.row is None else np.array([scene.row])
    columns = columns if scene.column is None else np.array([scene.column])
    grid = np.meshgrid(heads, rows, columns, indexing="ij")
    return strongest_last(scene.numbers, np.stack([axis.reshape(-1) for axis in grid], axis=1))


def edges(scene: Scene, sites: Int[np.ndarray, "edge 3"], width: Length, height: Length) -> list[str]:
    """Lines whose width and opacity grow with how strong they are drawn."""
    strengths = scene.strengths[tuple(sites.T)]
    return [
        edge(scene, tuple(site), strength, width, height)
        for site, strength in zip(sites.tolist(), strengths.tolist(), strict=True)
    ]


def edge(scene: Scene, site: tuple[int, int, int], strength: float, width: Length, height: Length) -> str:
    """One line from its query to its key."""
    head, row, column = site
    room = room_of(width)
    first, second = (room + (width - 2 * room) * share for share in LINES_BENDS)
    start, end = row_y(row, scene.selection.queries, height), row_y(column, scene.selection.keys, height)
    path = curve(room, start, first, start, second, end, width - room, end)
    look = stroke(scene.theme, scene.selection.heads[head])
    opacity = FAINTEST_LINE + (1 - FAINTEST_LINE) * strength**2
    return element("path", d=path, **look, stroke_width=THINNEST_LINE + LINE_GROWS * strength, stroke_opacity=opacity)


def stroke(theme: Theme, head: int) -> dict[str, str]:
    dash = " ".join(map(str, DASHES[head // len(theme.heads) % len(DASHES)]))
    return {"stroke": theme.heads[head % len(theme.heads)]} | ({"stroke_dasharray": dash} if dash else {})


def row_y(place: int, groups: Sequence[TokenGroup], height: Length) -> float:
    """The middle of a row."""
    return LINES_TOP + (place + 0.5) / len(groups) * height


def side(scene: Scene, at_left: bool, room: Length, width: Length, height: Length) -> str:
    """The tokens of one side, as many as fit; the marked one in a frame, and shaded what it attends to or gets."""
    groups = scene.selection.queries if at_left else scene.selection.keys
    chosen = scene.row if at_left else scene.column
    colours = side_colours(scene, at_left)
    tall = height / max(len(groups), 1)
    parts = [
        plate(colour, at_left, room, width, row_y(place, groups, height), tall) for place, colour in colours.items()
    ]
    frame = min(max(tall, SMALLEST_ROW), LINES_FRAME)
    for place in side_places(len(groups), height, chosen, frame):
        on_plate = place in colours and tall >= SMALLEST_ROW
        ink = ink_on(scene.theme, colours[place]) if on_plate else scene.theme.text
        parts.append(token(groups[place].label, at_left, room, width, row_y(place, groups, height), ink))
    if chosen is not None:
        y = row_y(chosen, groups, height)
        parts.append(framed(scene.theme, groups[chosen].label, at_left, room, width, y, frame))
    return "".join(parts)


def side_places(count: int, height: Length, chosen: int | None, frame: Length) -> list[int]:
    """Which tokens are printed: every so many, and none that would touch the frame of the marked one."""
    every = max(1, -(-SMALLEST_ROW * count // int(height)))
    places = range(0, count, every)
    return [place for place in places if chosen is None or abs(place - chosen) * height / count > frame - 1]


def side_colours(scene: Scene, at_left: bool) -> dict[int, str]:
    """The shades behind the tokens of one side, where one of the other side is marked."""
    strengths = side_strengths(scene, at_left)
    if strengths is None:
        return {}
    return {place: shade(scene.shades, strength) for place, strength in enumerate(strengths.tolist()) if strength > 0}


def side_strengths(scene: Scene, at_left: bool) -> Float[np.ndarray, "place"] | None:
    """How strong the mean weight between each token and the one that is marked on the other side is drawn."""
    if at_left and scene.column is not None and scene.row is None:
        return scene.strength_of(scene.mean[:, scene.column])
    if not at_left and scene.row is not None and scene.column is None:
        return scene.strength_of(scene.mean[scene.row])
    return None


def plate(colour: str, at_left: bool, room: Length, width: Length, y: Length, tall: Length) -> str:
    """What lies behind a token; where rows are thinner than letters, a bar beside it."""
    thin = tall < SMALLEST_ROW
    wide, height = (LINES_BAR, max(tall, 1)) if thin else (room - LINES_EDGE, min(tall, LINES_ROW) - LINES_PLATES)
    x = room - LINES_EDGE - wide if at_left else width - room + LINES_EDGE
    return box(x, y - height / 2, wide, height, fill=colour)


def token(text: str, at_left: bool, room: Length, width: Length, y: Length, ink: str) -> str:
    x, anchor = (room - LINES_APART, "end") if at_left else (width - room + LINES_APART, "start")
    return label(fitted(text, room - LINES_AROUND, LINES_TYPE), x, y, LINES_TYPE, text_anchor=anchor, fill=ink)


def framed(theme: Theme, text: str, at_left: bool, room: Length, width: Length, y: Length, tall: Length) -> str:
    """The marked token, over whatever is near."""
    x, wide = 0 if at_left else width - room + LINES_EDGE, room - LINES_EDGE
    edge = {"stroke": theme.second, "stroke_width": str(MARK_WIDTH)}
    frame = box(x + MARK_WIDTH / 2, y - tall / 2, wide - MARK_WIDTH, tall, fill=theme.background, **edge)
    return frame + token(text, at_left, room, width, y, theme.text)


def head_names(scene: Scene, width: Length) -> Panel:
    """A piece of line for every head that is on, and its number: on the screen the buttons say it."""
    parts, x, y = [""], 0.0, LINES_TYPE / 2
    for head in scene.selection.heads:
        name = f"head {counted(head)}"
        needed = SAMPLE + SAMPLE_APART + text_width(name, LINES_TYPE) + SAMPLES_APART
        if x and x + needed > width:
            x, y = 0.0, y + LINES_ROW
        look = stroke(scene.theme, head)
        parts.append(element("line", x1=x, x2=x + SAMPLE, y1=y, y2=y, stroke_width=SAMPLE_WIDTH, **look))
        parts.append(label(name, x + SAMPLE + SAMPLE_APART, y, LINES_TYPE, fill=scene.theme.text))
        x += needed
    return Panel("".join(parts), width, y + LINES_TYPE / 2)
