"""The map as SVG, in the style of figure 1 of "Attention Is All You Need": what is computed first stands at the bottom.

Colour only repeats what each box says. Boxes that open something are links or buttons with a label of their own; the
browser component fills in what they do.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from viz.architecture.boxes import Box, Column, ModelMap, Sublayer
from viz.explorer.svg.paint import MIDDLE, WIDEST_FONT, Length, element, label, moved, number, safe, wrapped
from viz.explorer.svg.paint import box as rectangle
from viz.theme import FONT, LIGHT, Theme

TITLE, SMALL = 13, 11.5  # pixels of type
TITLE_LINE, SMALL_LINE = 16, 14
PADDING = 5  # inside a box, above and below
LANE = 15  # beside the boxes, for the residual connections
MARGIN = 9  # on the other side
BETWEEN = 24  # the columns; the encoder's output crosses here
GAP, LABELLED_GAP = 13, 25  # between boxes, without and with the shape of what passes
FRAME, CAPTION = 8, 20  # around a layer, and the line in it that counts the layers
WIDE, NARROW = 236, 141  # boxes of one column alone, and of two beside each other
SCALE = 1.15  # at which it is shown where there is room
HEAD = 4  # of an arrow


@dataclass(frozen=True, kw_only=True)
class Link:
    """What a box opens. label: for screen readers, after what the box says. target: the address of a page; "": none,
    since it is a button that the page itself answers."""

    label: str
    target: str = ""


@dataclass(frozen=True)
class DrawingOptions:
    """What all columns of a picture have in common."""

    lit: Collection[str]
    links: Mapping[str, Link]
    theme: Theme
    small: bool


@dataclass(frozen=True)
class PlacedBox:
    """A box in the picture: the height of its upper edge, its own height, and the lines of text in it."""

    box: Box
    top: Length
    height: Length
    titles: tuple[str, ...]
    lines: tuple[str, ...]

    @property
    def bottom(self) -> Length:
        """The height of its lower edge."""
        return self.top + self.height

    @property
    def middle(self) -> Length:
        """Between both."""
        return self.top + self.height / 2


def draw_map(
    model_map: ModelMap,
    *,
    lit: Collection[str] = (),
    links: Mapping[str, Link] | None = None,
    small: bool = False,
    theme: Theme = LIGHT,
) -> str:
    """The map as SVG.

    lit: the names of boxes that are marked; one that is not there marks nothing. links: what boxes open, by name.
    small: with the names of the boxes alone; sizes and parameters stand in their labels.
    """
    pair = len(model_map.columns) > 1
    room = NARROW if pair or small else WIDE
    drawn = [
        ColumnDrawing(column, room, DrawingOptions(lit, links or {}, theme, small), mirrored=pair and place > 0)
        for place, column in enumerate(model_map.columns)
    ]
    height = max(column.height for column in drawn)
    width = sum(column.width for column in drawn) + BETWEEN * (len(drawn) - 1)
    parts, left = list[str](), 0.0
    for column in drawn:
        parts.append(moved(column.body, left, height))
        left += column.width + BETWEEN
    if pair:
        parts.insert(0, memory_arrow(drawn[0], drawn[1], height, theme))
    return element(
        "svg",
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(width)} {number(height)}",
        width=number(width * SCALE),
        height=number(height * SCALE),
        font_family=FONT,
        role="group",
        aria_label=map_in_words(model_map),
    )


def map_in_words(model_map: ModelMap) -> str:
    """What the map shows as a whole, for those who cannot see it."""
    stacks = [
        f"{column.stack} of {column.layers} layer{'s' if column.layers > 1 else ''}" for column in model_map.columns
    ]
    return f"Map of the model: {' and '.join(stacks)}, {model_map.parameters:,} parameters; from the bottom to the top"


class ColumnDrawing:
    """One stack, drawn upwards from the height 0, so that heights are negative.

    mirrored: the lane of the residual connections is on the right, as of the decoder beside an encoder.
    """

    def __init__(self, column: Column, room: Length, look: DrawingOptions, *, mirrored: bool) -> None:
        self.column, self.room, self.theme, self.mirrored = column, room, look.theme, mirrored
        self.lit, self.links, self.small = look.lit, look.links, look.small
        self.left: Length = FRAME + (MARGIN if mirrored else LANE)
        self.right = self.left + room
        self.width = self.right + FRAME + (LANE if mirrored else MARGIN)
        self.lane = self.right + LANE - 2 if mirrored else self.left - LANE + 2
        self.center = self.left + room / 2
        self.placed: dict[str, PlacedBox] = {}
        self.top: Length = 0.0
        self.last_shape, self.last_kind = "", ""  # of the box drawn last
        self.behind, self.before = list[str](), list[str]()
        self.draw()

    @property
    def body(self) -> str:
        """Its elements."""
        return "".join([*self.behind, *self.before])

    @property
    def height(self) -> Length:
        """From the top to the bottom."""
        return -self.top

    def draw(self) -> None:
        """From the ids to the answer."""
        many = "tokens" if self.column.tokens != "1" else "token"
        self.write_heading(f"{self.column.stack.capitalize()}: {self.column.tokens} {many}")
        for box in self.column.before:
            self.stack(box)
        self.draw_layer()
        for box in self.column.after:
            self.stack(box)
        self.arrow_up(GAP + 4)

    def draw_layer(self) -> None:
        """One layer in its frame, with its residual connections."""
        self.arrow_up(GAP + 4)
        bottom, entry = self.top, self.top - 4
        for place, sublayer in enumerate(self.column.layer):
            self.draw_sublayer(sublayer, entry if sublayer.parallel and place else None)
        self.top -= CAPTION + 4
        self.before.append(self.caption())
        self.arrow_to(self.top, "", start=self.top + CAPTION + 4)
        self.draw_frame(bottom)
        self.last_shape = f"{self.column.tokens} × {self.column.width:,}"

    def draw_frame(self, bottom: Length) -> None:
        """A dashed edge around a layer, from here down to a height."""
        look: dict[str, Any] = {"fill": "none", "stroke": self.theme.quiet, "stroke_dasharray": "5 3", "rx": 9}
        self.behind.append(rectangle(1, self.top, self.width - 2, bottom - self.top, **look))

    def caption(self) -> str:
        """How many layers there are, and what one has."""
        words = f"× {self.column.layers}"
        each = f", {self.column.each_layer:,} each" if self.column.layers > 1 else f", {self.column.each_layer:,}"
        y = self.top + CAPTION / 2 + 1
        x = self.left if self.mirrored else self.lane
        on_line: dict[str, str | Length] = {"stroke": self.theme.background, "stroke_width": 5, "paint_order": "stroke"}
        count = element("tspan", safe(words), font_weight="700", font_size=TITLE, fill=self.theme.text)
        look = {"x": x, "y": y + MIDDLE * SMALL, "font_size": SMALL, "fill": self.theme.quiet}
        return element("text", count, safe(each), **look, **on_line)

    def draw_sublayer(self, sublayer: Sublayer, source: Length | None) -> None:
        """The boxes of a sublayer, and the stream past them: from below the first to the last.

        source: the height at which a sublayer reads the stream, where that is below the one before it.
        """
        branch = self.top - 4
        for place, box in enumerate(sublayer.boxes):
            self.stack(box, source=None if place else source)
        end = self.placed[sublayer.boxes[-1].name].middle
        edge = self.right if self.mirrored else self.left
        self.line(f"M{number(self.center)} {number(branch)}H{number(self.lane)}V{number(end)}H{number(edge)}")
        self.behind.append(arrow_head(edge, end, "left" if self.mirrored else "right", self.theme))

    def line(self, path: str) -> None:
        """A line behind the boxes."""
        self.behind.append(element("path", d=path, fill="none", stroke=self.theme.quiet, stroke_width=1.4))

    def bypass(self, source: Length, top: Length) -> None:
        """From the stream at a height, past what stands above it, to a height; on the side without residual lanes."""
        side = self.left - MARGIN + 4 if self.mirrored else self.right + MARGIN - 4
        turn = top + 9
        self.line(
            f"M{number(self.center)} {number(source)}H{number(side)}V{number(turn)}H{number(self.center)}V{number(top)}"
        )
        self.behind.append(arrow_head(self.center, top, "up", self.theme))

    def stack(self, box: Box, source: Length | None = None) -> None:
        """A box above all that there is, and an arrow into it; boxes of one attention touch.

        source: the height that the arrow comes from, where that is not what is below.
        """
        touches = box.kind == "attention" and self.last_kind == "inner_positions"
        gap = 0.0 if touches else LABELLED_GAP if self.last_shape or source is not None else GAP
        titles = tuple(wrapped(box.title, self.room - 8, TITLE * WIDEST_FONT))
        small_print = () if self.small else self.small_print(box)
        lines = tuple(line for text in small_print for line in wrapped(text, self.room - 6, SMALL * WIDEST_FONT))
        height = 2 * PADDING + TITLE_LINE * len(titles) + SMALL_LINE * len(lines)
        if source is not None:
            self.line(f"M{number(self.center)} {number(self.top)}V{number(self.top - 4)}")
            self.bypass(source, self.top - gap)
        elif gap:
            self.arrow_to(self.top - gap, self.last_shape)
        self.top -= gap + height
        placed = PlacedBox(box, self.top, height, titles, lines)
        self.placed[box.name] = placed
        self.before.append(self.draw_box(placed))
        self.last_shape, self.last_kind = box.shape, box.kind

    @staticmethod
    def small_print(box: Box) -> tuple[str, ...]:
        """The lines under a box's title."""
        return (*box.lines, *([f"{box.parameters:,} parameters"] if box.parameters else []))

    def draw_box(self, placed: PlacedBox) -> str:
        """A box; a link or a button where it opens something."""
        box, theme = placed.box, self.theme
        is_lit = box.name in self.lit
        edge: dict[str, str | Length] = {"stroke": theme.text if is_lit else theme.quiet}
        edge |= {"stroke_width": 3.5 if is_lit else 1}
        shape = rectangle(self.left, placed.top, self.room, placed.height, rx=6, fill=self.fill(box), **edge)
        return self.wrapped_box(box, shape + self.words(placed, bold=is_lit), is_lit=is_lit)

    def words(self, placed: PlacedBox, *, bold: bool) -> str:
        """The lines of text in a box."""
        look = {"text_anchor": "middle", "fill": self.theme.text}
        written, y = list[str](), placed.top + PADDING
        for title in placed.titles:
            weight = "700" if bold else "600"
            written.append(label(title, self.center, y + TITLE_LINE / 2, TITLE, font_weight=weight, **look))
            y += TITLE_LINE
        for line in placed.lines:
            written.append(label(line, self.center, y + SMALL_LINE / 2, SMALL, **look))
            y += SMALL_LINE
        return "".join(written)

    def wrapped_box(self, box: Box, body: str, *, is_lit: bool) -> str:
        """What a box is besides its look: a link, a button, or nothing; and whether it is the present one."""
        told: dict[str, str | Length] = {"data_box": box.name}
        if is_lit:
            told["aria_current"] = "step"
        link = self.links.get(box.name)
        if link is None:
            return element("g", body, **told)
        told |= {"aria_label": ". ".join([box.title, *self.small_print(box), link.label]), "class": "opens"}
        tip = element("title", link.label)
        if link.target:
            return element("a", tip, body, href=link.target, **told)
        return element("g", tip, body, role="button", tabindex="0", **told)

    def fill(self, box: Box) -> str:
        """The colour of a kind of box, light enough for its text in both themes."""
        theme = self.theme
        return {
            "attention": theme.orange[1],
            "inner_positions": theme.background,
            "positions": theme.background,
            "feed_forward": theme.weights[1],
            "embedding": theme.surface,
            "output": theme.above[1],
            "softmax": theme.surface,
        }.get(box.kind, theme.grey[1])

    def arrow_up(self, least: Length) -> None:
        """An arrow out of what is drawn so far, which ends the picture as yet."""
        top = self.top - max(least, LABELLED_GAP if self.last_shape else 0)
        self.arrow_to(top, self.last_shape)
        self.top, self.last_shape = top, ""

    def arrow_to(self, top: Length, shape: str, *, start: Length | None = None) -> None:
        """From what is drawn so far up to a height, with the shape of what passes beside it."""
        bottom = self.top if start is None else start
        self.line(f"M{number(self.center)} {number(bottom)}V{number(top + 1)}")
        self.behind.append(arrow_head(self.center, top, "up", self.theme))
        if shape:
            self.behind.append(label(shape, self.center + 8, (bottom + top) / 2, SMALL, fill=self.theme.quiet))

    def write_heading(self, text: str) -> None:
        """A line in the middle of the column, below all of it."""
        self.top -= TITLE_LINE
        look = {"text_anchor": "middle", "fill": self.theme.text, "font_weight": "600"}
        self.before.append(label(text, self.center, self.top + TITLE_LINE / 2, TITLE, **look))
        self.top -= 3


def arrow_head(x: Length, y: Length, towards: str, theme: Theme) -> str:
    """A small triangle whose tip is here."""
    corners = {
        "up": ((-HEAD, HEAD + 2), (HEAD, HEAD + 2)),
        "right": ((-HEAD - 2, -HEAD), (-HEAD - 2, HEAD)),
        "left": ((HEAD + 2, -HEAD), (HEAD + 2, HEAD)),
    }[towards]
    points = [(x, y), *((x + across, y + down) for across, down in corners)]
    return element("path", d="M" + "L".join(f"{number(a)} {number(b)}" for a, b in points) + "Z", fill=theme.quiet)


def memory_arrow(encoder: ColumnDrawing, decoder: ColumnDrawing, height: Length, theme: Theme) -> str:
    """From the encoder's output to the decoder's cross-attention, between the two."""
    (name,) = [box.name for box in decoder.column.layer_boxes if box.name.endswith("cross_attention")]
    middle, top = height + decoder.placed[name].middle, height + encoder.top
    across = encoder.width + BETWEEN / 2
    edge = encoder.width + BETWEEN + decoder.left
    path = f"M{number(encoder.center)} {number(top)}H{number(across)}V{number(middle)}H{number(edge)}"
    line = element("path", d=path, fill="none", stroke=theme.second, stroke_width=2)
    tip = element("path", d=f"M{number(edge)} {number(middle)}l-7 -4v8Z", fill=theme.second)
    return line + tip
