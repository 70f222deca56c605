"""Scenes laid out twice, by the browser's canvases and by the SVG of a file: the same marks at the same places.

The browser measures letters with the font that it has and a file estimates them, so the page measures here as files do;
of the tokens of the text, which are buttons, everything is compared but how long their words are.
"""

import base64
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page

from tests.viz.explorer.test_browser import opened_page, settled
from tests.viz.explorer.test_pictures import SVG, pixels
from viz.explorer.attention_kinds import Kind, Text
from viz.explorer.head_measures import HeadMeasure
from viz.explorer.layout import PANELS_OF, TITLES
from viz.explorer.packing import pack
from viz.explorer.standalone import messages_of, page_of
from viz.explorer.svg.paint import MIDDLE, Panel, element, rgb, text_width
from viz.explorer.svg.picture import MARGIN, NAMESPACES, PANELS, WIDTHS, svg
from viz.explorer.svg.scene import Scene, scene_of
from viz.explorer.view import View
from viz.theme import DARK, LIGHT

NEAR = 0.5  # pixels
STEP = 3  # in any channel: one of the 255 between weight 0 and full colour
MEANS = 6  # the thumbnail of a mean is on its way one byte a cell, and so is the largest weight in it
WINDOW: Any = {
    "width": WIDTHS["all"] - 2 * MARGIN + 282,
    "height": 640,
}  # with the settings beside the views, and margins
PRINTABLE = [chr(code) for code in range(ord(" "), ord("~") + 1)] + ["…"]

# Every mark that a canvas gets, in the pixels of its page.
RECORD = """(widths) => {
  const drawn = CanvasRenderingContext2D.prototype
  const own = Object.fromEntries(
    ["fillText", "fillRect", "strokeRect", "drawImage", "beginPath", "moveTo", "bezierCurveTo", "stroke"].map(
      (name) => [name, drawn[name]],
    ),
  )
  let path = []
  window.marks = []
  drawn.measureText = function (text) {
    const letters = [...text].reduce((sum, letter) => sum + widths[letter], 0)
    return { width: (letters * parseFloat(this.font.match(/([\\d.]+)px/)[1])) / 1000 }
  }
  const note = (context, kind, place, more = {}) => {
    const panel = context.canvas.closest(".stack")?.classList[1]
    if (!panel) return
    const { a, b, c, d, e, f } = context.getTransform()
    const at = (x, y) => [a * x + c * y + e, b * x + d * y + f].map((one) => one / devicePixelRatio)
    const alpha = context.globalAlpha * Number(context.canvas.style.opacity || 1)
    const corner = at(place[0], place[1])
    window.marks.push({ panel, kind, place: [...corner, ...place.slice(2)], alpha, upright: b !== 0, ...more })
  }
  drawn.fillText = function (label, x, y) {
    const { font, textAlign, textBaseline, fillStyle } = this
    note(this, "text", [x, y], { label, font, textAlign, textBaseline, colour: fillStyle })
    own.fillText.apply(this, arguments)
  }
  drawn.fillRect = function (...place) {
    note(this, "fill", place, { colour: this.fillStyle })
    own.fillRect.apply(this, place)
  }
  drawn.strokeRect = function (...place) {
    note(this, "edge", place, { colour: this.strokeStyle, width: this.lineWidth })
    own.strokeRect.apply(this, place)
  }
  for (const name of ["moveTo", "bezierCurveTo"])
    drawn[name] = function (...points) {
      path.push(...points)
      own[name].apply(this, points)
    }
  drawn.beginPath = function () {
    path = []
    own.beginPath.call(this)
  }
  drawn.stroke = function () {
    const dash = this.getLineDash().join(" ")
    note(this, "line", path, { colour: this.strokeStyle, width: this.lineWidth, dash })
    own.stroke.call(this)
  }
  drawn.drawImage = function (source, ...place) {
    const whole = [0, 0, source.width, source.height]
    const [from, to] = place.length > 4 ? [place.slice(0, 4), place.slice(4)] : [whole, place]
    const { data, width, height } = source.getContext("2d").getImageData(...from)
    note(this, "raster", to, { data: [...data], shape: [height, width, 4] })
    own.drawImage.call(this, source, ...place)
  }
}"""
STEER = """async (root, [packed, view, measures]) => {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0))
  await root.explorer.steer(view, bytes)
  return root.explorer.setMeasures(measures)
}"""
READY = """() => {
  const { explorer } = document.querySelector(".headlight")
  return (!explorer.visiblePanels.includes("grid") || explorer.grid.tiles) && !explorer.frameRequest
}"""
DRAWN = """(root) => {
  const { explorer } = root
  window.marks = []
  explorer.schedule()
  explorer.paint()
  const size = (name) => ({ ...explorer[name].size, inner: explorer[name].host.clientWidth })
  const canvases = explorer.visiblePanels.filter((name) => ["grid", "lines", "matrix"].includes(name))
  const around = explorer.views.getBoundingClientRect()
  const strips = [...root.querySelectorAll(".tokens")].map((strip) => {
    const { left, top } = strip.getBoundingClientRect()
    return [...strip.querySelectorAll("button")].map((button) => {
      const [box, style, letters] = [button.getBoundingClientRect(), getComputedStyle(button), new Range()]
      letters.selectNodeContents(button)
      return {
        label: button.textContent, fill: style.backgroundColor, ink: style.color, edge: style.outlineColor,
        edgeWidth: parseFloat(style.outlineWidth),
        edgeApart: parseFloat(style.outlineOffset), size: parseFloat(style.fontSize),
        place: [box.left - left, box.top - top, box.width, box.height], word: letters.getBoundingClientRect().width,
      }
    })
  })
  const sentences = [...root.querySelectorAll(".title, .words .caption, .table caption")]
  return {
    marks: window.marks,
    sizes: Object.fromEntries(canvases.map((name) => [name, size(name)])),
    width: explorer.views.clientWidth,
    panels: [...explorer.panels].filter(([, panel]) => !panel.hidden).map(([name]) => name),
    strips,
    lines: sentences.filter((line) => line.checkVisibility()).map((line) => {
      const [box, style] = [line.getBoundingClientRect(), getComputedStyle(line)]
      const middle = (box.top + box.bottom - parseFloat(style.paddingBottom)) / 2
      const place = [box.left - around.left, middle - around.top]
      return { label: line.textContent, place, colour: style.color, size: parseFloat(style.fontSize) }
    }),
    table: [...root.querySelectorAll(".table tr")].filter((row) => row.checkVisibility()).map((row) => (
      [...row.children].map((cell) => {
        const { color, textAlign, fontWeight } = getComputedStyle(cell)
        return { label: cell.textContent, colour: color, align: textAlign, weight: fontWeight }
      })
    )),
  }
}"""


# Scenes

WORDS = ("[S]", "un", "forget", "table", "movie", "x", "and", "[E]")
FACTS: dict[str, Any] = {
    "special": (True, *[False] * 6, True),
    "words": (None, 0, 0, 0, 1, 2, 3, None),
    "segments": (0, 0, 0, 0, 0, 1, 1, 1),
}


def text_of(stack: str, tokens: Sequence[str], **facts: Any) -> Text:
    return Text(stack=stack, tokens=tuple(tokens), **facts)


def kind_of(name: str, queries: Text, keys: Text, layers: int = 2, heads: int = 4) -> Kind:
    """Weights that are a byte each, so that those of the browser are the same."""
    shape = (layers, heads, len(queries.tokens), len(keys.tokens))
    roots = np.rint(np.sqrt(np.random.default_rng(1).dirichlet(np.full(shape[3], 0.3), size=shape[:3])) * 255)
    weights = ((roots / 255) ** 2).astype(np.float32)
    causal = name == "decoder"
    layered = np.tril(weights) if causal else weights
    return Kind(name=name, queries=queries, keys=keys, weights=tuple(layered), causal=causal)


def one_text(tokens: Sequence[str], name: str = "encoder", layers: int = 2, heads: int = 4, **facts: Any) -> Kind:
    text = text_of(name, tokens, **facts)
    return kind_of(name, text, text, layers, heads)


ENCODER = one_text(WORDS, **FACTS)
DECODER = one_text(["once", "upon", "a", "time", "there"], "decoder")
CROSS = kind_of(
    "cross", text_of("decoder", ["le", "chien", "a", "mordu"]), text_of("encoder", WORDS, special=FACTS["special"])
)
LONG = one_text([f"word{place}" for place in range(80)], layers=1, heads=3)
DEEP = one_text(WORDS[:5], layers=12, heads=14)
EMPTY = one_text(["[S]", "[E]"], special=(True, True))
SOME_OFF = frozenset({(0, 1), (0, 2), (1, 0)})
SCENES: dict[str, tuple[Kind, View]] = {
    "encoder": (ENCODER, View(layer=1)),
    "query kept": (ENCODER, View(query=2)),
    "key kept": (ENCODER, View(key=4)),
    "both kept": (ENCODER, View(query=5, key=2)),
    "decoder": (DECODER, View(attention="decoder", query=3)),
    "cross": (CROSS, View(attention="cross")),
    "cross, query kept": (CROSS, View(attention="cross", query=1, layer=1)),
    "cross, key kept": (CROSS, View(attention="cross", key=6)),
    "cross, both kept": (CROSS, View(attention="cross", query=3, key=6)),
    "some heads": (ENCODER, View(off=SOME_OFF)),
    "one head": (ENCODER, View(off=frozenset((0, head) for head in (0, 1, 3)), query=1)),
    "no head": (ENCODER, View(off=frozenset((0, head) for head in range(4)), query=1, maximum="head")),
    "threshold": (ENCODER, View(threshold=0.15, key=3)),
    "largest": (ENCODER, View(top=2, query=4)),
    "hidden": (ENCODER, View(special="hidden", query=2)),
    "renormalised": (ENCODER, View(special="renormalised", maximum="shared")),
    "words": (ENCODER, View(words=True, query=2)),
    "segments": (ENCODER, View(segments="AB", special="renormalised", words=True, key=5)),
    "one segment": (ENCODER, View(segments="AA", query=7)),
    "linear": (ENCODER, View(scale="linear", maximum="shared")),
    "linear, each head": (ENCODER, View(scale="linear", maximum="head", query=3, off=SOME_OFF)),
    "logarithm": (ENCODER, View(scale="log", maximum="head", colours="orange")),
    "root, shared": (DECODER, View(attention="decoder", maximum="shared", colours="grey", key=0)),
    "many keys": (LONG, View()),
    "many keys, query kept": (LONG, View(query=41)),
    "many keys, key kept": (LONG, View(key=79, scale="linear")),
    "many keys, weight 1": (LONG, View(query=0, key=0, maximum="one", threshold=0.01)),
    "many heads": (DEEP, View(layer=11, query=1)),
    "nothing left": (EMPTY, View(special="hidden")),
    "bars": (ENCODER, View(measure="entropy")),
    "bars, some below 0": (DECODER, View(attention="decoder", measure="above.points_at", off=SOME_OFF)),
    "bars, in order": (ENCODER, View(measure="above.points_at", order="measure", query=2)),
    "grid of bars": (DEEP, View(show="grid", measure="entropy", layer=3)),
    "grid in order": (ENCODER, View(show="grid", measure="entropy", order="measure", key=4)),
    "a measure that is not there": (ENCODER, View(measure="moved", order="measure")),
    "grid": (DEEP, View(show="grid", layer=3, key=2, off=frozenset({(2, 2)}))),
    "lines": (LONG, View(show="lines", key=40)),
    "matrix": (LONG, View(show="matrix", query=40, key=7)),
    "text": (ENCODER, View(show="text", key=2)),
    "table": (ENCODER, View(show="table", query=2, key=3)),
    "empty table": (EMPTY, View(show="table", special="hidden")),
}
THEMES = {"light": LIGHT, "dark": DARK}
IN_THE_DARK = ("both kept", "cross, key kept", "some heads", "linear", "logarithm", "many keys, query kept", "table")
CASES = [(name, "light") for name in SCENES] + [(name, "dark") for name in IN_THE_DARK]


# Marks


@dataclass(frozen=True, kw_only=True)
class Mark:
    """Something that is drawn: a text from where its letters begin, a filled or edged rectangle, a curve, a raster."""

    kind: str
    place: tuple[float, ...]
    colour: tuple[int, ...] = ()
    alpha: float = 1.0
    width: float = 0.0
    look: str = ""  # label, size and weight of a text; the dash of a line
    upright: bool = False
    picture: Any = field(default=None, compare=False, repr=False)

    def looks_like(self, other: "Mark") -> bool:
        """Whether both are one, but for half a pixel, a shade of colour, a hundredth of a line's width or opacity."""
        numbers = [(self.place, other.place, NEAR), (self.colour, other.colour, STEP)]
        numbers.append(((self.alpha, self.width), (other.alpha, other.width), 0.01))
        return (
            (self.kind, self.look, self.upright) == (other.kind, other.look, other.upright)
            and all(len(ours) == len(theirs) for ours, theirs, _ in numbers)
            and all(abs(a - b) <= limit for ours, theirs, limit in numbers for a, b in zip(ours, theirs, strict=True))
        )


def colour_of(css: str) -> tuple[int, ...]:
    """ "#rrggbb", "rgb(1, 2, 3)"; nothing of what is transparent."""
    if css.startswith("#"):
        return tuple(rgb(css))
    red, green, blue, *alpha = map(float, re.findall(r"[\d.]+", css))
    return () if alpha == [0] else (round(red), round(green), round(blue))


def text_mark(label: str, x: float, y: float, anchor: str, size: float, **look: Any) -> Mark:
    """A text by where it begins, whichever end it is set by; one that is upright is read upwards."""
    before = text_width(label, size) * {"start": 0, "middle": 0.5, "end": 1}[anchor]
    place = (x, y + before) if look["upright"] else (x - before, y)
    weight = look.pop("weight")
    return Mark(kind="text", place=place, look=f"{label!r} {size:g} {weight}", **look)


def browser_marks(recorded: Sequence[dict[str, Any]]) -> Iterator[Mark]:
    for mark in recorded:
        look = {"alpha": mark["alpha"], "upright": mark["upright"]}
        if mark["kind"] == "text":
            assert mark["textBaseline"] == "middle"
            anchor = {"left": "start", "center": "middle", "right": "end"}[mark["textAlign"]]
            size = float(re.findall(r"([\d.]+)px", mark["font"])[0])
            weight = "600" if mark["font"].startswith("600") else "400"
            look |= {"colour": colour_of(mark["colour"]), "weight": weight}
            x, y = mark["place"]
            yield text_mark(mark["label"], x, y, anchor, size, **look)
        elif mark["kind"] == "raster":
            picture = np.reshape(mark["data"], mark["shape"])[..., :3]
            yield Mark(kind="raster", place=tuple(mark["place"]), picture=picture, **look)
        else:
            look |= {"width": mark.get("width", 0), "look": mark.get("dash", "")}
            yield Mark(kind=mark["kind"], place=tuple(mark["place"]), colour=colour_of(mark["colour"]), **look)


def file_marks(node: ElementTree.Element, matrix: np.ndarray, alpha: float = 1.0) -> Iterator[Mark]:
    """The marks of an SVG, in its own pixels, whichever groups they stand in."""
    matrix = matrix @ transform_of(node.get("transform", ""))
    alpha *= float(node.get("opacity", 1))
    yield from own_marks(node, matrix, alpha)
    for child in node:
        yield from file_marks(child, matrix, alpha)


def transform_of(text: str) -> np.ndarray:
    whole = np.eye(3)
    for name, numbers in re.findall(r"(\w+)\(([^)]*)\)", text):
        values = [float(number) for number in numbers.split()]
        if name == "translate":
            whole = whole @ moved_by(*values)
        else:
            assert (name, values[0]) == ("rotate", -90)
            there = values[1:] or [0.0, 0.0]
            whole = whole @ moved_by(*there) @ QUARTER @ moved_by(*(-one for one in there))
    return whole


def moved_by(x: float, y: float) -> np.ndarray:
    return np.array([[1, 0, x], [0, 1, y], [0, 0, 1]])


QUARTER = np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]])


def own_marks(node: ElementTree.Element, matrix: np.ndarray, alpha: float) -> Iterator[Mark]:
    name = node.tag.removeprefix(SVG)
    if name == "text":
        size = float(node.attrib["font-size"])
        x, y, _ = matrix @ (float(node.attrib["x"]), float(node.attrib["y"]) - MIDDLE * size, 1)
        look = {"colour": colour_of(node.attrib["fill"]), "alpha": alpha, "upright": bool(matrix[1, 0])}
        look |= {"weight": node.get("font-weight", "400")}
        yield text_mark(node.text or "", x, y, node.get("text-anchor", "start"), size, **look)
    if name in ("rect", "image"):
        x, y, _ = matrix @ (float(node.attrib["x"]), float(node.attrib["y"]), 1)
        place = (x, y, float(node.attrib["width"]), float(node.attrib["height"]))
        yield from boxes(node, place, alpha)
    if name == "path":
        points = tuple(float(number) for number in re.findall(r"[\d.]+", node.attrib["d"]))
        line: dict[str, Any] = {"width": float(node.attrib["stroke-width"]), "look": node.get("stroke-dasharray", "")}
        strength = alpha * float(node.attrib["stroke-opacity"])
        yield Mark(kind="line", place=points, colour=colour_of(node.attrib["stroke"]), alpha=strength, **line)


def boxes(node: ElementTree.Element, place: tuple[float, ...], alpha: float) -> Iterator[Mark]:
    if node.tag == SVG + "image":
        yield Mark(kind="raster", place=place, alpha=alpha, picture=pixels(node))
    elif node.attrib["fill"] != "none":
        opacity = alpha * float(node.get("fill-opacity", 1))
        yield Mark(kind="fill", place=place, colour=colour_of(node.attrib["fill"]), alpha=opacity)
    if "stroke" in node.attrib:
        width = float(node.get("stroke-width", 1))
        yield Mark(kind="edge", place=place, colour=colour_of(node.attrib["stroke"]), alpha=alpha, width=width)


def marks_of(panel: Panel) -> list[Mark]:
    picture = ElementTree.fromstring(element("svg", panel.body, **NAMESPACES))
    return seen(file_marks(picture, np.eye(3)))


def seen(marks: Iterator[Mark]) -> list[Mark]:
    """Without rectangles that have no area."""
    return [mark for mark in marks if mark.kind != "fill" or mark.place[2] * mark.place[3] > 1e-6]


def assert_same(on_screen: list[Mark], in_file: list[Mark]) -> None:
    """Every mark has its own on the other side."""
    for kind in sorted({mark.kind for mark in [*on_screen, *in_file]}):
        left = [mark for mark in on_screen if mark.kind == kind]
        ours = [mark for mark in in_file if mark.kind == kind]
        assert len(left) == len(ours), (kind, [mark.look for mark in left], [mark.look for mark in ours])
        for mark in ours:
            other = next((other for other in left if mark.looks_like(other)), None)
            assert other is not None, f"the screen lacks {mark} and has {left[:5]}"
            left.remove(other)


def assert_same_pictures(name: str, scene: Scene, on_screen: list[Mark], in_file: list[Mark]) -> None:
    """The rasters have the same pixels."""
    both = [[mark.picture for mark in marks if mark.kind == "raster"] for marks in (on_screen, in_file)]
    for number, (screen, file) in enumerate(zip(*both, strict=True)):
        assert screen.shape == file.shape
        layer, head = divmod(number, scene.kind.heads + 1)
        means = name == "grid" and (layer == scene.kind.layers or head == scene.kind.heads)
        if not (means and scene.view.scale == "log"):  # which makes much of the least weight that a byte can say
            assert np.abs(screen.astype(int) - file).max() <= (MEANS if means else STEP), (name, number)


# Both sides


@pytest.fixture(scope="module")
def stage(browser, tmp_path_factory) -> Iterator[Page]:
    """A page with an explorer in it whose canvases are listened to."""
    content = page_of({"encoder": ENCODER}, View())
    with opened_page(browser, content, tmp_path_factory.mktemp("stage"), width=WINDOW["width"]) as page:
        page.set_viewport_size(WINDOW)
        page.evaluate(RECORD, {letter: text_width(letter, 1000) for letter in PRINTABLE})
        yield page


def measures_for(kind: Kind) -> list[HeadMeasure]:
    """Two measures of its heads: from 0 on; with equals, numbers below 0 and one that is missing."""
    rng, shape = np.random.default_rng(5), (kind.layers, kind.heads)
    signed = np.round(rng.normal(size=shape), 2)
    signed.ravel()[:3] = (0.5, 0.5, np.nan)
    values = {"entropy": rng.uniform(0, 12, shape), "above.points_at": signed}
    return [HeadMeasure(name=name, group="", label=name, said=name, values=each) for name, each in values.items()]


def on_the_screen(page: Page, kind: Kind, view: View, theme: Any) -> dict[str, Any]:
    page.emulate_media(color_scheme=theme)
    packed = base64.b64encode(pack({kind.name: kind})).decode()
    root = page.locator(".headlight")
    root.evaluate(STEER, [packed, view.to_message(), messages_of({kind.name: measures_for(kind)})])
    page.wait_for_function(READY)
    settled(page)
    return root.evaluate(DRAWN)


@pytest.mark.parametrize(("name", "theme"), CASES)
def test_a_file_has_the_marks_of_the_screen(stage, name, theme):
    kind, view = SCENES[name]
    measures = {kind.name: measures_for(kind)}
    screen, scene = on_the_screen(stage, kind, view, theme), scene_of({kind.name: kind}, view, THEMES[theme], measures)
    assert screen["panels"] == list(PANELS_OF.get(view.show, [view.show]))
    for panel_name, size in screen["sizes"].items():
        panel = PANELS[panel_name](scene, size["inner"])
        recorded = [mark for mark in screen["marks"] if mark["panel"] == panel_name]
        on_screen, in_file = seen(browser_marks(recorded)), marks_of(panel)
        if panel_name == "lines":
            in_file = without_names(scene, in_file, size["height"])
        else:
            assert panel.height == pytest.approx(size["height"], abs=NEAR)
        assert panel.width == pytest.approx(size["width"], abs=NEAR)
        assert_same(on_screen, in_file)
        assert_same_pictures(panel_name, scene, on_screen, in_file)
    if "text" in screen["panels"]:
        assert_same_text(scene, screen)
    if "table" in screen["panels"]:
        assert_same_table(scene, screen)


def without_names(scene: Scene, marks: list[Mark], height: float) -> list[Mark]:
    """The lines without the names of the heads under them: on the screen their buttons say them."""
    names = [mark.look for mark in marks if mark.place[1] > height]
    assert names == [f"'head {head + 1}' 13 400" for head in scene.selection.heads]
    return [mark for mark in marks if mark.place[1] <= height]


def assert_same_text(scene: Scene, screen: dict[str, Any]) -> None:
    panel = PANELS["text"](scene, screen["width"])
    marks = marks_of(panel)
    buttons = [button for strip in screen["strips"] for button in strip]
    tokens = [mark for mark in marks if mark.kind == "text" and " 14 " in mark.look]
    plates, edges = ([mark for mark in marks if mark.kind == kind] for kind in ("fill", "edge"))
    assert [mark.look for mark in tokens] == [f"{button['label']!r} {button['size']:g} 400" for button in buttons]
    background = tuple(rgb(scene.theme.background))
    for button, token, plate in zip(buttons, tokens, plates, strict=True):
        assert near_colours(plate.colour, colour_of(button["fill"]) or background), button
        assert near_colours(token.colour, colour_of(button["ink"])), button
    assert_same_edges(buttons, plates, edges)
    assert_same_gaps(screen["strips"], plates)
    captions = [mark.look for mark in marks if mark.kind == "text" and " 13 " in mark.look]
    lines = [
        line for line in screen["lines"] if line["label"] not in TITLES.values() and "attends to:" not in line["label"]
    ]
    for caption, line in zip(captions, lines, strict=True):
        assert caption.split("' ")[0].strip("'") in line["label"], "the screen says as well how to point at a token"
        assert caption.endswith(f" {line['size']:g} 400")
    assert {colour_of(line["colour"]) for line in screen["lines"]} == {tuple(rgb(scene.theme.quiet))}


def near_colours(one: Sequence[int], other: Sequence[int]) -> bool:
    return len(one) == len(other) == 3 and all(abs(a - b) <= STEP for a, b in zip(one, other, strict=True))


def assert_same_edges(buttons: list[dict[str, Any]], plates: list[Mark], edges: list[Mark]) -> None:
    """The outline of a kept token lies around it."""
    kept = [place for place, button in enumerate(buttons) if colour_of(button["edge"])]
    assert len(kept) == len(edges)
    for place, edge in zip(kept, edges, strict=True):
        button, plate = buttons[place], plates[place]
        out = button["edgeApart"] + button["edgeWidth"] / 2
        x, y, width, height = plate.place
        assert edge.place == pytest.approx((x - out, y - out, width + 2 * out, height + 2 * out))
        assert edge.width == button["edgeWidth"]
        assert edge.colour == colour_of(button["edge"])


def assert_same_gaps(strips: list[list[dict[str, Any]]], plates: list[Mark]) -> None:
    """Where a strip begins, what lies between two tokens or two lines of them, and what around a word."""
    tokens = iter(plates)
    for strip in strips:
        screen, file = [button["place"] for button in strip], [mark.place for mark in islice(tokens, len(strip))]
        for places in (screen, file):
            assert [x for x, *_ in places[:1]] == pytest.approx([3] * len(places[:1])), "the room of the outline"
            for (x, y, width, _), (next_x, next_y, *_) in pairwise(places):
                beside, below = (x + width + 3, y), (3, y + 26 + 3)
                assert (next_x, next_y) == pytest.approx(beside if next_x > x else below, abs=0.01)
        for button, (_, _, width, height) in zip(strip, file, strict=True):
            assert button["place"][2:] == pytest.approx([max(button["word"] + 12, 24), height], abs=NEAR)
            assert width == pytest.approx(max(1.15 * text_width(button["label"], 14) + 12, 24))


def assert_same_table(scene: Scene, screen: dict[str, Any]) -> None:
    """Names, colours and alignment of all cells; numbers that are one byte on their way are nearly the same."""
    marks = [mark for mark in marks_of(PANELS["table"](scene, screen["width"])) if mark.kind == "text"]
    if not screen["table"]:
        assert [mark.look for mark in marks] == ["'No head is on, or no token is left to show.' 13 400"]
        return
    caption, cells = marks[0], marks[1:]
    assert caption.look.split("' ")[0].strip("'") in [line["label"] for line in screen["lines"]]
    columns = np.array(cells, dtype=object).reshape(-1, len(screen["table"])).T
    for row, ours in zip(screen["table"], columns, strict=True):
        for place, (cell, mark) in enumerate(zip(row, ours, strict=True)):
            label, weight = mark.look.rsplit(" ", 2)[0].strip("'"), mark.look.rsplit(" ", 1)[1]
            assert near_colours(mark.colour, colour_of(cell["colour"]))
            assert (weight, "right" if place else "left") == (cell["weight"], cell["align"])
            if cell["label"].startswith("≈"):
                assert float(cell["label"].removeprefix("≈ ")) == pytest.approx(float(label), abs=1e-4)
            else:
                assert cell["label"] == label


@pytest.mark.parametrize(("name", "rows"), [("cross", 2), ("encoder", 2), ("many heads", 3), ("table", 2)])
def test_panels_stand_where_they_stand_on_the_screen(stage, name, rows):
    kind, view = SCENES[name]
    screen = on_the_screen(stage, kind, view, "light")
    assert screen["width"] == WIDTHS["all"] - 2 * MARGIN, "as wide as the print"
    picture = ElementTree.fromstring(svg({kind.name: kind}, view, width=WIDTHS["all"]))
    titles = {title: name for name, title in TITLES.items()}
    quoted = {f"{title!r} 13 400": title for title in titles}
    in_file = {quoted[mark.look]: mark.place for mark in file_marks(picture, np.eye(3)) if mark.look in quoted}
    on_screen = {line["label"]: line["place"] for line in screen["lines"] if line["label"] in titles}
    assert on_screen.keys() == in_file.keys()
    assert len({round(y) for _, y in on_screen.values()}) == rows
    for title, (x, y) in on_screen.items():
        assert in_file[title] == pytest.approx((x + MARGIN, y + MARGIN), abs=NEAR), title


@pytest.mark.parametrize("marked", [{}, {"query": 3}])
def test_of_equally_strong_lines_both_sides_keep_the_same_and_draw_them_in_the_same_order(stage, marked):
    few = np.random.default_rng(2).choice(np.array([0.25, 0.36, 0.49]), size=(1, 3, 30, 30))
    roots = np.rint(np.sqrt(few) * 255)
    kind = replace(
        one_text(list("abcde") * 6, layers=1, heads=3), weights=tuple(((roots / 255) ** 2).astype(np.float32))
    )
    view = View(show="lines", **marked)
    screen, scene = on_the_screen(stage, kind, view, "light"), scene_of({"encoder": kind}, view, LIGHT)
    orders = []
    for marks in (
        list(browser_marks(screen["marks"])),
        marks_of(PANELS["lines"](scene, screen["sizes"]["lines"]["inner"])),
    ):
        lines = [mark for mark in marks if mark.kind == "line"]
        assert len(lines) == 1200 + (90 if marked else 0)
        orders.append(
            [(mark.colour, round(mark.place[1]), round(mark.place[7]), round(mark.width, 2)) for mark in lines]
        )
    assert orders[0] == orders[1]
