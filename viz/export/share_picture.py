"""A picture to share: the sentence, what was found in it, a figure of that, and the address that shows it.

The figure is of where a head looks, or of numbers as bars.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from viz.explorer.attention_kinds import Kind
from viz.explorer.printing import png
from viz.explorer.svg.paint import (
    WIDEST_FONT,
    Length,
    Panel,
    box,
    curve,
    element,
    fitted,
    label,
    moved,
    safe,
    text_width,
    wrapped,
)
from viz.explorer.svg.scene import place_of
from viz.explorer.view import ShownNumbers, TokenGroup, View, shown_numbers
from viz.export.provenance import PROGRAM, Provenance
from viz.sentences.curve_look import LOOK
from viz.theme import FONT, LIGHT, Theme, colour_at, difference_scale
from viz.tokens import list_of, visible

WIDTH, HEIGHT = 1200, 630  # pixels: what sites show beside a link
MARGIN = 56
ROOM = WIDTH - 2 * MARGIN
# The widest lines in DejaVu Sans beside the estimate, of "i" and "l" alone; nothing may run off.
WIDER, BOLDER = 1.25, 1.55
TITLE_SIZES, SENTENCE_SIZES, TOKEN_SIZES = (44, 38, 32), (25, 22), (28, 25, 22, 19, 16)
LONGEST = 200  # characters of any line: more has no room
SMALL, LEADING = 20, 1.25
THICKEST, BAR_TYPE = 56, 28  # of a bar where there are few, and of the type beside it
SENTENCE_END = re.compile(r"(?<=[.)]) (?=[A-Z])")
MOST_LINES = 2  # of the title, of the sentence
BETWEEN_TOKENS = 0.9  # of the type's size
_MARKUP = re.compile(r"\\([!-/:-@\[-`{-~])|\*\*|(?<!\\)[*`]|\[([^\]]*)\]\([^)]*\)")


@dataclass(frozen=True, kw_only=True)
class ShareWords:
    """What stands in the picture beside its figure, all plain text."""

    text: str
    title: str
    sentence: str
    address: str


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A number of a finding. length: from 0 to 1, where the longest bar ends; label: the number in words.

    against: whether the number is negative where others are positive, which has the other colour of a difference.
    """

    name: str
    length: float
    label: str
    against: bool = False


def bars_png(
    bars: Sequence[Bar], foot: str, words: ShareWords, *, theme: Theme = LIGHT, provenance: Provenance | None = None
) -> bytes:
    """1200 × 630 pixels, with bars. foot: what they are."""
    return png(bars_svg(bars, foot, words, theme=theme), 1, provenance=provenance)


def bars_svg(bars: Sequence[Bar], foot: str, words: ShareWords, *, theme: Theme = LIGHT) -> str:
    """The same as SVG."""
    return framed(words, lambda height: bar_chart(bars, height, theme), foot, theme)


def bar_chart(bars: Sequence[Bar], height: Length, theme: Theme) -> Panel:
    """A line for every number, the first above, of as many as there is room for; few are thick and fill the height."""
    shown = bars[: int(height / (2 * SMALL))]
    thick = max(SMALL, min(THICKEST, height / (2 * len(shown)))) if shown else SMALL
    size, third = min(BAR_TYPE, thick), ROOM / 3
    parts = []
    for place, bar in enumerate(shown):
        y = (2 * place + 1) * thick
        parts += [
            label(fitted(bar.name, third / WIDER, size), third - size, y, size, text_anchor="end", fill=theme.text),
            box(third, y - thick / 2, max(2, third * bar.length), thick, fill=bar_colour(bar, theme)),
            label(fitted(bar.label, third / WIDER, size), third * (1 + bar.length) + size, y, size, fill=theme.text),
        ]
    return Panel("".join(parts), ROOM, height)


def bar_colour(bar: Bar, theme: Theme) -> str:
    """The accent, or what stands for the other direction."""
    return colour_at(difference_scale(theme), -1.0) if bar.against else theme.accent


def share_png(
    kind: Kind, view: View, words: ShareWords, *, theme: Theme = LIGHT, provenance: Provenance | None = None
) -> bytes:
    """1200 × 630 pixels; the letters are those that the fonts of this machine have."""
    return png(share_svg(kind, view, words, theme=theme), 1, provenance=provenance)


def share_svg(kind: Kind, view: View, words: ShareWords, *, theme: Theme = LIGHT) -> str:
    """The same as SVG. What is too long becomes smaller, and then ends in "…"."""
    seen = shown_numbers(kind, view)
    marked = place_of(seen.queries, view.query), place_of(seen.keys, view.key)
    return framed(words, lambda height: curves(seen, marked, height, theme), caption(view, seen), theme)


def framed(words: ShareWords, draw: Callable[[Length], Panel], foot: str, theme: Theme) -> str:
    """The words above, the figure, drawn into the height that is left, and below what it is and the address."""
    above = top(words, theme)
    figure = draw(HEIGHT - MARGIN - SMALL - above.height - 64)
    address = fitted(f"{PROGRAM} · {words.address[: 2 * LONGEST]}", ROOM / WIDER, SMALL - 3)
    parts = [
        element("title", safe(words.title or words.text)),
        box(0, 0, WIDTH, HEIGHT, fill=theme.background),
        box(0, 0, WIDTH, 8, fill=theme.accent),
        moved(above.body, MARGIN, MARGIN - 14),
        moved(figure.body, MARGIN + (ROOM - figure.width) / 2, MARGIN + above.height),
        label(fitted(foot, ROOM, SMALL - 2), MARGIN, HEIGHT - 66, SMALL - 2, fill=theme.quiet),
        label(address, MARGIN, HEIGHT - 36, SMALL - 3, fill=theme.quiet),
    ]
    spaces = {"xmlns": "http://www.w3.org/2000/svg", "xml:space": "preserve", "font_family": FONT}
    return element("svg", *parts, width=WIDTH, height=HEIGHT, viewBox=f"0 0 {WIDTH} {HEIGHT}", **spaces)


def top(words: ShareWords, theme: Theme) -> Panel:
    """The sentence small, the finding large, and its numbers."""
    quoted = f"“{visible(words.text, LONGEST)}”" if words.text.strip() else ""
    parts, y = [label(fitted(quoted, ROOM / WIDER, SMALL), 0, SMALL / 2, SMALL, fill=theme.quiet)], SMALL + 14.0
    for text, sizes, weight, wider in (
        (words.title, TITLE_SIZES, "700", BOLDER),
        (words.sentence, SENTENCE_SIZES, "400", WIDER),
    ):
        size, lines = whole_sentences(text, ROOM / wider, sizes)
        for line in lines:
            parts.append(label(line, 0, y + size * LEADING / 2, size, font_weight=weight, fill=theme.text))
            y += size * LEADING
        y += 8
    return Panel("".join(parts), ROOM, y)


def whole_sentences(text: str, room: Length, sizes: Sequence[int]) -> tuple[int, list[str]]:
    """As many sentences from the first on as fit; a single one is cut at the end."""
    sentences = SENTENCE_END.split(text)
    for kept in range(len(sentences), 1, -1):
        size, lines = lines_that_fit(shorter := " ".join(sentences[:kept]), room, sizes)
        if " ".join(lines) == shorter:
            return size, lines
    return lines_that_fit(sentences[0], room, sizes)


def lines_that_fit(text: str, room: Length, sizes: Sequence[int]) -> tuple[int, list[str]]:
    """The largest size at which the text takes no more than two lines; at the smallest it is cut."""
    for size in sizes:
        lines = wrapped(text[: MOST_LINES * LONGEST], room, size) if text else []
        if len(lines) <= MOST_LINES:
            return size, lines
    kept = [*lines[: MOST_LINES - 1], fitted(" ".join(lines[MOST_LINES - 1 :]), room, size)]
    return size, kept


def curves(seen: ShownNumbers, marked: tuple[int | None, int | None], height: Length, theme: Theme) -> Panel:
    """The queries above, the keys below, and a curve for every weight, wide and dark as it is large.

    seen: what a view shows; of several heads it is their mean. marked: the row and the column that are kept in the
    view, over whose curves all others fade.
    """
    size = size_of(seen)
    rows, columns = (places(groups, size) for groups in (seen.queries, seen.keys))
    width = max([end for _, end in (*rows, *columns)], default=1.0)
    ends = size * 1.1, height - size * 1.1
    parts = []
    weights = seen.mean[: len(rows), : len(columns)] if seen.heads else np.zeros((0, 0), np.float32)
    for row, column in strongest(weights).tolist():
        faded = any(mark not in (None, place) for mark, place in zip(marked, (row, column), strict=True))
        share = float(weights[row, column] / weights.max())
        x, to = middle(rows[row]), middle(columns[column])
        path = curve(x, ends[0], x, height / 2, to, height / 2, to, ends[1])
        wide, opaque = LOOK.width(share, len(rows)), LOOK.faded if faded else LOOK.opacity(share)
        look = {"stroke_width": wide, "stroke_opacity": opaque}
        data = {"data_query": row, "data_key": column, "data_weight": f"{weights[row, column]:.6f}"}
        parts.append(element("path", d=path, fill="none", stroke=theme.accent, **look, **data))
    for y, groups, spans in ((size / 2, seen.queries, rows), (height - size / 2, seen.keys, columns)):
        for group, span in zip(groups, spans, strict=False):
            parts.append(label(group.label, middle(span), y, size, text_anchor="middle", fill=theme.text))
    return Panel("".join(parts), width, height)


def size_of(seen: ShownNumbers) -> int:
    """The largest type in which both rows fit, or the smallest: then their ends are left out."""
    for size in TOKEN_SIZES:
        if fits(seen, size):
            return size
    return TOKEN_SIZES[-1]


def fits(seen: ShownNumbers, size: int) -> bool:
    """Whether all tokens have room at a size of type."""
    return all(len(places(groups, size)) == len(groups) for groups in (seen.queries, seen.keys))


def places(groups: Sequence[TokenGroup], size: int) -> list[tuple[float, float]]:
    """Where each token of a row begins and ends, of as many as there is room for."""
    spans, x = [], 0.0
    for group in groups:
        wide = WIDEST_FONT * text_width(group.label, size)
        if x + wide > ROOM:
            break
        spans.append((x, x + wide))
        x += wide + BETWEEN_TOKENS * size
    return spans


def middle(span: tuple[float, float]) -> float:
    return (span[0] + span[1]) / 2


def strongest(weights: Float[np.ndarray, "query key"]) -> Int[np.ndarray, "curve 2"]:
    """Query and key of the largest weights, the largest last; those that nobody would see are left out."""
    if not weights.size or weights.max() <= 0:
        return np.zeros((0, 2), int)
    order = np.argsort(weights, axis=None, kind="stable")[-LOOK.most :]
    order = order[weights.reshape(-1)[order] >= LOOK.faintest * weights.max()]
    return np.stack(np.unravel_index(order, weights.shape), axis=1)


def caption(view: View, seen: ShownNumbers) -> str:
    """Whose curves they are."""
    if not seen.heads:
        return f"Layer {view.layer + 1}: no head is on."
    heads = f"head {list_of(seen.heads)}" if len(seen.heads) == 1 else f"mean of {len(seen.heads)} heads"
    cut = "" if fits(seen, size_of(seen)) else " The text's end is left out."
    return f"Layer {view.layer + 1}, {heads}: words above attend to words below; a wider curve is a larger weight.{cut}"


def plain_text(markdown: str) -> str:
    """What a reader of this Markdown sees: marks of emphasis, links and escapes are gone."""
    return _MARKUP.sub(lambda match: match[1] or match[2] or "", markdown)
