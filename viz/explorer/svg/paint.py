"""SVG by hand: elements, rasters, colours, and about how much room a text takes."""

import base64
import struct
import unicodedata
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from xml.sax.saxutils import escape

import numpy as np
from jaxtyping import Float, UInt8

from viz.explorer.layout import READABLE, SHADES
from viz.theme import Theme
from viz.tokens import NOT_XML, spelled, without_mark

Length = int | float  # the check of types while testing takes no int for a float
MIDDLE = 0.35  # of the type's size, from the middle of a line down to where its letters stand
_ISOLATE, _END_ISOLATE = "\u2068", "\u2069"

# Helvetica's widths of the characters from space to tilde, in thousandths of the type's size. Other sans-serif faces
# are about as wide or narrower.
_WIDTHS = (
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
    260, 334, 584,
)  # fmt: skip
_COMMON = 0x0500  # Latin, Greek and Cyrillic end here; beyond, another face stands in for the whole text
_WIDER = 1.15  # which is that much wider
WIDEST_FONT, WIDEST_BOLD = 1.15, 1.3  # a line in DejaVu Sans, which many machines take, beside the estimate


@dataclass(frozen=True)
class Panel:
    """A piece of a picture: its elements, drawn from (0, 0) on, and its size."""

    body: str
    width: Length
    height: Length


def element(name: str, *children: str, **attributes: str | Length) -> str:
    """One element; an attribute's underscores stand for hyphens. Children are elements, or text that is escaped."""
    written = "".join(f' {key.replace("_", "-")}="{_value(value)}"' for key, value in attributes.items())
    return f"<{name}{written}>{''.join(children)}</{name}>" if children else f"<{name}{written}/>"


def _value(value: str | Length) -> str:
    return safe(value) if isinstance(value, str) else number(value)


def curve(*points: Length) -> str:
    """The path of a cubic curve: its start, two control points and its end, each as x and y."""
    return "M{} {}C{} {} {} {} {} {}".format(*map(number, points))


def number(value: Length) -> str:
    """At most four decimals."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


def rounded(weight: float, digits: int) -> str:
    """So many significant digits, zeros among them and never a power of ten: JavaScript's toPrecision, from 1e-6 on."""
    power = int(f"{weight:.{digits - 1}e}".partition("e")[2])
    return f"{weight:.{max(digits - 1 - power, 0)}f}"


def safe(text: str) -> str:
    """Text inside an element or an attribute; a character that XML does not know as its number."""
    return escape(spelled(text), {'"': "&quot;"})


def label(text: str, x: Length, y: Length, size: Length, **attributes: str | Length) -> str:
    """A line of text with its middle at the height y. Not every reader knows ``dominant-baseline``."""
    return element("text", safe(text), x=x, y=y + MIDDLE * size, font_size=size, **attributes)


def box(x: Length, y: Length, width: Length, height: Length, **attributes: str | Length) -> str:
    return element("rect", x=x, y=y, width=width, height=height, **attributes)


def outline(x: Length, y: Length, width: Length, height: Length, colour: str, stroke: Length = 1) -> str:
    """A rectangle's edge."""
    return box(x, y, width, height, fill="none", stroke=colour, stroke_width=stroke)


def moved(body: str, x: Length, y: Length) -> str:
    """Elements drawn from (x, y) on."""
    return element("g", body, transform=f"translate({number(x)} {number(y)})")


def stacked(panels: Iterable[Panel], gap: Length) -> Panel:
    """One under the other."""
    parts, below, width = [], 0.0, 0.0
    for panel in panels:
        parts.append(moved(panel.body, 0, below))
        below += panel.height + gap
        width = max(width, panel.width)
    return Panel("".join(parts), width, below - gap)


def beside(panels: Iterable[Panel], gap: Length) -> Panel:
    """From left to right."""
    parts, right, height = [], 0.0, 0.0
    for panel in panels:
        parts.append(moved(panel.body, right, 0))
        right += panel.width + gap
        height = max(height, panel.height)
    return Panel("".join(parts), right - gap, height)


def shades_of(theme: Theme, name: str) -> UInt8[np.ndarray, "shade channel"]:
    """256 colours from weight 0, the page's background, to full strength."""
    return interpolated(theme.scales[name])


def interpolated(scale: Sequence[str]) -> UInt8[np.ndarray, "shade channel"]:
    """256 colours from the first of a scale to its last."""
    stops = np.array([rgb(colour) for colour in scale])
    places = np.linspace(0, len(stops) - 1, SHADES)
    channels = [np.interp(places, np.arange(len(stops)), channel) for channel in stops.T]
    return np.rint(np.stack(channels, axis=1)).astype(np.uint8)


def rgb(colour: str) -> list[int]:
    """ "#rrggbb" as three numbers."""
    return [int(colour[start : start + 2], 16) for start in (1, 3, 5)]


def shaded(
    shades: UInt8[np.ndarray, "shade channel"], strengths: Float[np.ndarray, "..."]
) -> UInt8[np.ndarray, "... channel"]:
    """The colours of strengths from 0 to 1."""
    return shades[np.floor(strengths * (SHADES - 1) + 0.5).astype(int)]


def shade(shades: UInt8[np.ndarray, "shade channel"], strength: float) -> str:
    """One of them, as "#rrggbb"."""
    return "#" + shaded(shades, np.array(strength, float)).tobytes().hex()


def ink_on(theme: Theme, colour: str) -> str:
    """A label on a shade: the page's own colours where they can be read on it, else white or black."""
    inks = (theme.text, theme.background, "#ffffff")
    return next((ink for ink in inks if contrast(ink, colour) >= READABLE), "#000000")


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours (WCAG 2.2)."""
    low, high = sorted((brightness(one), brightness(other)))
    return (high + 0.05) / (low + 0.05)


def brightness(colour: str) -> float:
    """Relative luminance (WCAG 2.2)."""
    shares = np.array(rgb(colour)) / 255
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def raster(
    colours: UInt8[np.ndarray, "row column channel"], x: Length, y: Length, width: Length, height: Length
) -> str:
    """A matrix of colours, one pixel a cell, with sharp edges however large it is drawn."""
    data = "data:image/png;base64," + base64.b64encode(png_of(colours)).decode("ascii")
    sharp = {"image_rendering": "optimizeSpeed", "style": "image-rendering: pixelated"}  # the older name and the newer
    place: dict[str, Length] = {"x": x, "y": y, "width": width, "height": height}
    return element("image", **place, preserveAspectRatio="none", **sharp, **{"xlink:href": data})


def png_of(colours: UInt8[np.ndarray, "row column channel"]) -> bytes:
    """The pixels as a PNG file, without loss."""
    rows, columns, _ = colours.shape
    lines = b"".join(b"\0" + row.tobytes() for row in colours)
    header = struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(name, body) for name, body in chunks)


def chunk(name: bytes, body: bytes) -> bytes:
    """One chunk of a PNG file."""
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def text_width(text: str, size: Length) -> Length:
    """About how wide a text is; rather too wide than too narrow."""
    other = any(ord(character) >= _COMMON and character not in "…–→√≥×" for character in text)
    return sum(map(_character_width, text)) * size / 1000 * (_WIDER if other else 1)


def _character_width(character: str) -> int:
    if " " <= character <= "~":
        return _WIDTHS[ord(character) - ord(" ")]
    if NOT_XML.match(character):
        return 4200  # it is printed as "U+FFFE"
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 1000 if unicodedata.east_asian_width(character) in "WF" or character == "…" else 600


def fitted(text: str, room: Length, size: Length) -> str:
    """The text, cut at the end so that it fits; the mark of an unknown token goes before its word does.

    What isolates text that runs from right to left stays around it.
    """
    text = text if text_width(text, size) <= room else without_mark(text)
    if text_width(text, size) <= room:
        return text
    isolated = text.startswith(_ISOLATE) and text.endswith(_END_ISOLATE)
    letters = text[1:-1] if isolated else text
    while letters and text_width(letters + "…", size) > room:
        letters = letters[:-1]
    return f"{_ISOLATE}{letters}…{_END_ISOLATE}" if isolated else letters + "…"


def wrapped(text: str, room: Length, size: Length) -> list[str]:
    """Lines that fit, broken at spaces; within a word where it fills a line alone."""
    lines = [""]
    for piece in chain.from_iterable(broken(word, room, size) for word in text.split(" ")):
        longer = f"{lines[-1]} {piece}" if lines[-1] else piece
        if lines[-1] and text_width(longer, size) > room:
            lines.append(piece)
        else:
            lines[-1] = longer
    return lines


def broken(word: str, room: Length, size: Length) -> list[str]:
    """The word in pieces that fit; no piece is empty but that of an empty word."""
    pieces = [word[:1]]
    for character in word[1:]:
        if text_width(pieces[-1] + character, size) > room:
            pieces.append(character)
        else:
            pieces[-1] += character
    return pieces
