"""The explorer in a real browser, in pages of its own: what is drawn, pointed at, switched and typed."""

import ast
import base64
import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from model import load_checkpoint
from tests import tiny
from tests.running import explored
from tests.viz.explorer.test_packing import random_kind, trace_of
from viz.explorer import View, html_page, layout, source
from viz.explorer.attention_kinds import Kind, Text, kinds_of
from viz.explorer.packing import pack, unpack
from viz.explorer.standalone import page_of
from viz.explorer.svg.caption import scale
from viz.explorer.svg.grid import stands_beside, tile_of
from viz.explorer.svg.scene import scene_of
from viz.explorer.view import drawn_weights, shown_numbers, strength
from viz.export.provenance import Provenance
from viz.theme import DARK, LIGHT

FADING = 3000  # milliseconds, longer than anything takes
HOSTILE = (
    "<img src=x onerror=fail()>",
    "שלום",
    "\u200b",
    "w" * 200,
    "👩\u200d👧",
    "\x07",
    "the",
    "the",
    "${1}",
    "&amp;",
)
VIEWS = {
    "plain": View(layer=1),
    "two heads": View(off=frozenset({(0, 1)}), threshold=0.15),
    "few": View(top=2, scale="log", maximum="head"),
    "hidden": View(special="hidden", maximum="shared"),
    "renormalised": View(special="renormalised", scale="linear"),
    "words": View(words=True, top=3),
    "a to b": View(segments="AB", special="renormalised", words=True),
}


@contextmanager
def opened_page(browser: Browser, content: str, tmp_path, *, width: int = 1300, dark: bool = False) -> Iterator[Page]:
    """A page from a file. Fails if it asks for anything else, or if a script of it fails."""
    file = tmp_path / "page.html"
    file.write_text(content, encoding="utf-8")
    scheme: Any = "dark" if dark else "light"
    context = browser.new_context(viewport={"width": width, "height": 1000}, color_scheme=scheme, has_touch=width < 500)
    asked, failed = [], []
    context.on("request", lambda request: asked.append(request.url))
    page = context.new_page()
    page.on("pageerror", lambda error: failed.append(str(error)))
    page.goto(file.as_uri())
    yield page
    context.close()
    assert asked == [file.as_uri()]
    assert failed == []


@contextmanager
def explorer_of(browser: Browser, trace: Any, tmp_path, view: View | None = None, **window: Any) -> Iterator[Page]:
    with opened_page(browser, html_page(trace, view), tmp_path, **window) as page:
        expect(page.locator(".readout .said")).not_to_be_empty()
        settled(page)
        yield page


def settled(page: Page) -> None:
    """Wait until what was asked for is painted."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.wait_for_function("() => !document.querySelector('.headlight').explorer.frameRequest")


def choose(page: Page, label: str, option: str) -> None:
    """One of the settings that are folded away."""
    setting = page.get_by_label(label, exact=True)
    if not setting.is_visible():
        page.get_by_text("More settings", exact=True).click()
    setting.select_option(option)
    settled(page)


def point(page: Page, view: str, x: float, y: float) -> str:
    """Point at a place of one view, in its own pixels; what the readout then says."""
    box = page.locator(f".stack.{view}").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + x, box["y"] + y)
    settled(page)
    return page.locator(".readout").inner_text()


def number(sentence: str) -> float:
    (digits,) = re.findall(r"≈ ([\d.e-]+)", sentence)
    return float(digits)


def near(weight: float) -> Any:
    """A number that was one byte on its way and is printed with three decimals."""
    return pytest.approx(weight, abs=0.0045)


# The same rules on both sides


def sent_kind(kind: Kind) -> Kind:
    """The kind with the numbers that the browser gets."""
    layers = unpack(pack({kind.name: kind})).layers
    weights = tuple(layers[kind.name, layer] for layer in range(kind.layers))
    return Kind(name=kind.name, queries=kind.queries, keys=kind.keys, weights=weights, causal=kind.causal)


FACTS: dict[str, Any] = {
    "special": (True, False, False, False, True, False, False),
    "words": (None, 0, 0, 1, None, 0, 0),
    "segments": (0, 0, 0, 0, 0, 1, 1),
}
COMPUTE = """
async ({ packed, view, heads }) => {
  const { Model, frameOf, drawnOf, meanOf, strengthOf } = window.parts
  const model = new Model(Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0)))
  const kind = model.kinds.get("encoder")
  await model.layer(kind, view.layer)
  const frame = frameOf(kind, view)
  const matrices = heads.map((head) => model.matrix(kind, view.layer, head, frame))
  const mean = meanOf(matrices)
  const largest = Math.max(...mean)
  return {
    rows: frame.rows, columns: frame.columns, mean: [...mean],
    matrices: matrices.map((matrix) => [...drawnOf(matrix, frame.columns.length, view)]),
    strengths: [...mean].map((weight) => strengthOf(weight, largest, view.scale)),
  }
}
"""


@pytest.fixture(scope="module")
def parts(browser) -> Iterator[Page]:
    """A page with the explorer's parts in it, and nothing else."""
    names = "Model, frameOf, drawnOf, meanOf, strengthOf, pooled, blockOf, tileOf, standsBeside"
    constants = ", ".join(layout.constants())
    context = browser.new_context()
    page = context.new_page()
    page.set_content(
        f'<script type="module">{source.script()}\nwindow.parts = {{ {names}, constants: {{ {constants} }} }}</script>'
    )
    page.wait_for_function("() => window.parts")
    yield page
    context.close()


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("causal", [False, True], ids=["all", "causal"])
def test_the_browser_and_python_make_the_same_numbers_of_a_view(parts, name, causal):
    kind, view = random_kind(7, 7, causal=causal, **FACTS), VIEWS[name]
    expected = shown_numbers(sent_kind(kind), view)
    message = {"packed": base64.b64encode(pack({"encoder": kind})).decode(), "view": view.to_message()}
    numbers = parts.evaluate(COMPUTE, message | {"heads": list(expected.heads)})
    for side, groups in (("rows", expected.queries), ("columns", expected.keys)):
        assert [(group["first"], group["last"], group["label"]) for group in numbers[side]] == [
            (group.first, group.last, group.label) for group in groups
        ]
    shape = (len(expected.queries), len(expected.keys))
    assert np.allclose(np.reshape(numbers["mean"], shape), expected.mean, atol=1e-6)
    for matrix, weights in zip(numbers["matrices"], expected.weights, strict=True):
        assert np.allclose(np.reshape(matrix, shape), drawn_weights(weights, view), atol=1e-6)
    strengths = strength(expected.mean, view, float(expected.mean.max()))
    assert np.allclose(np.reshape(numbers["strengths"], shape), strengths, atol=1e-5)


def test_both_sides_cut_a_long_text_into_the_same_blocks(parts):
    for length in (1, 5, 32, 33, 64, 100, 511, 512):
        blocks = min(length, 32)
        starts = [block * length // blocks for block in range(blocks)]
        expected = [max(block for block in range(blocks) if starts[block] <= place) for place in range(length)]
        script = "([length, blocks]) => [...Array(length).keys()].map(p => window.parts.blockOf(p, length, blocks))"
        assert parts.evaluate(script, [length, blocks]) == expected


def test_both_sides_draw_by_the_same_constants(parts):
    expected = json.loads(json.dumps(layout.constants()))
    assert parts.evaluate("window.parts.constants") == expected
    files = sorted(source.FOLDER.parent.rglob("*.py"))
    sides = {
        "browser": "".join(path.read_text() for path in source.FOLDER.rglob("*.*s") if path.suffix != ".ts")
        + source.sizes(),
        "files": "".join(path.read_text() for path in files if path.name != "source.py"),
    }
    for side, code in sides.items():
        read = {name for name in expected if len(re.findall(rf"\b{name}\b", code)) > 1 or css_name(name) in code}
        assert read == set(expected), f"what {side} does not read"


def css_name(name: str) -> str:
    return f"var(--{name.lower().replace('_', '-')})"


# What both sides may count with: halves, quarters, twice, next and before.
PLAIN = {0, 0.5, 1, 2, 4, 100}


@pytest.mark.parametrize("module", ["panels/grid", "panels/lines", "panels/matrix", "panels/words", "paint"])
def test_no_number_is_written_on_both_sides(module):
    name = Path(module).name
    drawn = (source.FOLDER.parent / "svg" / f"{name}.py").read_text()
    python = {node.value for node in ast.walk(ast.parse(drawn)) if isinstance(node, ast.Constant)}
    code = re.sub(r"//.*|\"[^\"\n]*\"", "", (source.FOLDER / f"{module}.js").read_text())
    browser = {float(literal) for literal in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?:e-?\d+)?\b", code)}
    shared = {number for number in python if isinstance(number, int | float) and number in browser}
    assert shared - PLAIN == SAME.get(name, set())


# The formulas of WCAG 2.2, and channels of eight bits.
SAME = {"paint": {3, 16, 255, 0.04045, 12.92, 0.055, 1.055, 2.4, 0.2126, 0.7152, 0.0722, 0.05}}


@pytest.mark.parametrize(("layers", "heads"), [(1, 1), (4, 8), (6, 8), (12, 12), (24, 16), (48, 2), (2, 40)])
def test_both_sides_make_thumbnails_as_large(parts, layers, heads):
    kind = Kind(
        name="encoder",
        queries=Text(stack="encoder", tokens=("a",)),
        keys=Text(stack="encoder", tokens=("a",)),
        weights=(np.ones((heads, 1, 1), np.float32),) * layers,
        causal=False,
    )
    for width in (100, 358, 719, 720, 836, 956, 1068, 1500):
        for tallest in (300, 720, None):
            script = "([kind, width, tallest]) => window.parts.tileOf(kind, width, tallest ?? Infinity)"
            tile = parts.evaluate(script, [{"layers": layers, "heads": heads}, width, tallest])
            assert tile == tile_of(kind, width, tallest or math.inf)
        script = "([kind, width]) => window.parts.standsBeside(kind, width)"
        assert parts.evaluate(script, [{"layers": layers, "heads": heads}, width]) == stands_beside(kind, width)


# Pointing at things


@pytest.mark.parametrize("architecture", tiny.ARCHITECTURES)
def test_every_view_reads_the_weights_of_the_trace_for_every_kind_of_attention(browser, tmp_path, architecture):
    trace = trace_of(architecture)
    for name, kind in kinds_of(trace).items():
        mean = kind.weights[1].mean(axis=0)
        queries, keys = mean.shape
        with explorer_of(browser, trace, tmp_path, View(attention=name, layer=1)) as page:
            inner = explored(page, "explorer.matrix.inner")
            for query, key in ((0, 0), (queries - 1, keys - 1), (queries // 2, 0)):
                x = inner["left"] + (key + 0.5) / keys * inner["width"]
                y = inner["top"] + (query + 0.5) / queries * inner["height"]
                readout = point(page, "matrix", x, y)
                assert f"query {query + 1} · " in readout
                assert f"attends to key {key + 1} · " in readout
                assert number(readout) == near(mean[query, key])
            inner = explored(page, "explorer.lines.inner")
            readout = point(page, "lines", 20, inner["top"] + 1.5 / queries * inner["height"])
            assert "query 2 · " in readout
            assert "most to key " in readout
            assert number(readout) == near(mean[1].max())
            wide = explored(page, "explorer.lines.size.width")
            readout = point(page, "lines", wide - 20, inner["top"] + 0.5 / keys * inner["height"])
            (giver,) = re.findall(rf"key 1 · {kind.keys.tokens[0]} gets most from query (\d+) · ", readout)
            assert mean[int(giver) - 1, 0] == near(mean[:, 0].max()), "two may be the same byte"
            assert number(readout) == near(mean[:, 0].max())
            page.locator(".words button").nth(2).hover()
            settled(page)
            readout = page.locator(".readout").inner_text()
            assert "query 3 · " in readout
            assert number(readout) == near(mean[2].max())
            corner = explored(page, "explorer.grid.corner(0, 3)")
            tile = explored(page, "explorer.grid.tile")
            readout = point(
                page, "grid", corner["x"] + 0.5 / keys * tile, corner["y"] + (queries - 0.5) / queries * tile
            )
            assert readout.startswith("layer 1, head 4: ")
            assert number(readout) == near(kind.weights[0][3, queries - 1, 0])


def test_a_pair_of_sentences_stands_in_two_strips_where_one_attends_to_the_other(browser, tmp_path):
    kind = random_kind(5, 5, segments=(0, 0, 0, 1, 1))
    content = page_of({"encoder": kind}, View(segments="AB"))
    with opened_page(browser, content, tmp_path) as page:
        expect(page.locator(".tokens")).to_have_count(2)
        page.locator(".tokens").first.locator("button").nth(2).hover()
        settled(page)
        readout = page.locator(".readout").inner_text()
        row = kind.weights[0].mean(axis=0)[2, 3:]
        assert f"query 3 · 2 attends most to key {row.argmax() + 4} · " in readout
        assert number(readout) == near(row.max())
        choose(page, "Sentence", "all")
        expect(page.locator(".tokens")).to_have_count(1)


@pytest.mark.parametrize("width", [390, 1300])
def test_the_line_under_the_explorer_is_text_that_stays_on_the_page(browser, tmp_path, width):
    text = 'a\r\nb\n"</script><img src=x onerror=fail()> שלום \u202e ' + "W" * 2000
    provenance = Provenance(checkpoint="tiny", text=text, target=text, target_by="typed")
    page_with_line = html_page(trace_of("encoder"), provenance=provenance)
    with opened_page(browser, page_with_line, tmp_path, width=width) as page:
        expect(page.locator("p").last).to_have_text(provenance.sentence())
        expect(page.locator("p").last).to_be_visible()
        assert page.locator("meta[name='headlight:text']").get_attribute("content") == text
        box, above = page.locator("p").last.bounding_box(), page.locator(".headlight").bounding_box()
        assert box is not None
        assert above is not None
        assert box["y"] >= above["y"] + above["height"]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_hovering_marks_the_same_token_in_every_view(browser, tmp_path):
    with explorer_of(browser, trace_of("encoder"), tmp_path) as page:
        overlays = "['grid', 'lines', 'matrix'].map(name => explorer[name].over.toDataURL())"
        before = explored(page, overlays)
        page.locator(".words button").nth(1).hover()
        settled(page)
        after = explored(page, overlays)
        assert all(one != other for one, other in zip(before, after, strict=True))
        assert explored(page, "explorer.lines.base.style.opacity") == "0.14"
        page.mouse.move(1, 1)
        settled(page)
        assert explored(page, overlays) == before
        assert explored(page, "explorer.lines.base.style.opacity") == "1"


def test_a_click_keeps_a_token_and_another_lets_it_go(browser, tmp_path):
    with explorer_of(browser, trace_of("encoder"), tmp_path) as page:
        button = page.locator(".words button").nth(3)
        button.click()
        page.mouse.move(1, 1)
        settled(page)
        expect(page.locator(".readout .said")).to_contain_text("query 4 · ")
        assert explored(page, "explorer.view.query") == 3
        button.click()
        page.mouse.move(1, 1)
        settled(page)
        assert explored(page, "explorer.view.query") is None


def test_pointing_at_a_token_fades_all_of_the_matrix_but_its_row(browser, tmp_path):
    with explorer_of(browser, trace_of("encoder"), tmp_path) as page:
        page.locator(".words button").nth(2).hover()
        settled(page)
        middles = [explored(page, VEILED.format(row=row)) for row in range(6)]
        assert middles == [pytest.approx(0 if row == 2 else 0.8 * 255, abs=2) for row in range(6)]


VEILED = """(() => {{
  const {{ over, inner }} = explorer.matrix
  const [x, y] = [inner.left + (3.5 / 6) * inner.width, inner.top + (({row} + 0.5) / 6) * inner.height]
  return over.getContext('2d').getImageData(x, y, 1, 1).data[3]
}})()"""


# Switching things

PIXELS = """
(name) => {
  const explorer = document.querySelector('.headlight').explorer
  const canvas = explorer[name].base
  return canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.join()
}
"""


def tiles(page: Page) -> dict[tuple[int, int], str]:
    """The pixels of every thumbnail, without its frame."""
    script = """
    () => {
      const { grid } = document.querySelector('.headlight').explorer
      const tiles = []
      for (let layer = 0; layer <= grid.kind.layers; layer++) for (let head = 0; head <= grid.kind.heads; head++) {
        const { x, y } = grid.corner(layer, head)
        const inside = grid.base.getContext('2d').getImageData(x + 1, y + 1, grid.tile - 2, grid.tile - 2)
        tiles.push([layer, head, inside.data.join()])
      }
      return tiles
    }
    """
    return {(layer, head): pixels for layer, head, pixels in page.evaluate(script)}


def test_a_head_that_is_switched_off_changes_its_own_pixels_and_no_others(browser, tmp_path):
    with explorer_of(browser, trace_of("encoder"), tmp_path, View(layer=1)) as page:
        before, pictures = tiles(page), {name: page.evaluate(PIXELS, name) for name in ("lines", "matrix")}
        page.get_by_role("button", name="Head 3", exact=True).click()
        settled(page)
        after = tiles(page)
        assert [place for place in before if before[place] != after[place]] == [(1, 2)]
        assert all(page.evaluate(PIXELS, name) != pixels for name, pixels in pictures.items())
        page.get_by_role("button", name="Head 3", exact=True).click()
        settled(page)
        assert tiles(page) == before
        assert {name: page.evaluate(PIXELS, name) for name in pictures} == pictures


def test_a_colour_of_the_matrix_is_that_of_its_weight(browser, tmp_path):
    trace = trace_of("encoder")
    mean = kinds_of(trace)["encoder"].weights[0].mean(axis=0)
    with explorer_of(browser, trace, tmp_path) as page:
        for query, key in ((0, 0), (2, 4), (5, 1)):
            script = f"""(() => {{
              const {{ matrix, scene }} = explorer, {{ left, top, width, height }} = matrix.inner
              const x = Math.round(left + ({key} + 0.5) / {mean.shape[1]} * width)
              const y = Math.round(top + ({query} + 0.5) / {mean.shape[0]} * height)
              const seen = [...matrix.base.getContext('2d').getImageData(x, y, 1, 1).data].slice(0, 3)
              const at = Math.round(Math.sqrt({mean[query, key]}) * 255) * 3
              return [seen, [...scene.shades.slice(at, at + 3)]]
            }})()"""
            seen, expected = explored(page, script)
            assert np.abs(np.subtract(seen, expected)).max() <= 6, "two steps of a byte"


@pytest.mark.parametrize(
    ("button", "on"),
    [("None", []), ("All heads", [0, 1, 2, 3]), ("Only head 3", [2]), ("Invert", [1, 2, 3]), ("Layer off", [])],
)
def test_the_buttons_beside_the_heads_switch_several_at_once(browser, tmp_path, button, on):
    with explorer_of(browser, trace_of("encoder"), tmp_path, View(off=frozenset({(0, 1), (0, 2), (0, 3)}))) as page:
        page.get_by_role("button", name="Head 3", exact=True).click() if button == "Only head 3" else None
        page.get_by_role("button", name=button, exact=True).click()
        settled(page)
        assert explored(page, "explorer.scene.heads") == on
        if not on:
            expect(page.locator(".readout")).to_contain_text("No head of layer 1 is on")


def test_a_click_on_a_thumbnail_shows_that_head_alone_and_a_double_click_opens_it(browser, tmp_path):
    with explorer_of(browser, trace_of("encoder"), tmp_path) as page:
        place = explored(page, "[explorer.grid.corner(1, 2), explorer.grid.corner(0, 1)]")
        canvas = page.locator(".stack.grid")
        canvas.click(position={"x": place[0]["x"] + 5, "y": place[0]["y"] + 5})
        settled(page)
        assert explored(page, "[explorer.view.layer, ...explorer.scene.heads]") == [1, 2]
        canvas.dblclick(position={"x": place[1]["x"] + 5, "y": place[1]["y"] + 5})
        settled(page)
        assert explored(page, "[explorer.view.show, explorer.view.layer, ...explorer.scene.heads]") == ["matrix", 0, 1]
        assert explored(page, "explorer.headsOn(explorer.scene.kind, 1).length") == 4, (
            "the layer left has its heads back"
        )


def test_the_selector_of_attentions_appears_only_where_there_are_several(browser, tmp_path):
    with explorer_of(browser, trace_of("decoder"), tmp_path) as page:
        expect(page.get_by_role("button", name="decoder", exact=True)).to_be_hidden()
    with explorer_of(browser, trace_of("encoder-decoder"), tmp_path) as page:
        page.get_by_role("button", name="decoder → encoder").click()
        settled(page)
        assert explored(page, "explorer.scene.kind.shape") == [8, 6]


def test_the_settings_say_what_they_did_to_the_numbers(browser, tmp_path):
    trace = trace_of("encoder")
    object.__setattr__(trace.encoder, "special", (True, *[False] * 4, True))
    with explorer_of(browser, trace, tmp_path) as page:
        choose(page, "Special tokens", "renormalised")
        settled(page)
        expect(page.locator(".note")).to_contain_text("adds up to 1")
        inner = explored(page, "explorer.matrix.inner")
        readout = point(page, "matrix", inner["left"] + 2, inner["top"] + 2)
        view = View(special="renormalised")
        assert "query 2 · " in readout
        assert number(readout) == near(shown_numbers(kinds_of(trace)["encoder"], view).mean[0, 0])
        page.get_by_label("Largest per query").fill("1")
        page.get_by_label("Largest per query").press("Enter")
        settled(page)
        assert explored(page, "explorer.scene.drawnMean.filter(weight => weight > 0).length") == 4
        expect(page.locator(".note")).to_contain_text("not drawn")


def test_zooming_keeps_what_is_pointed_at_under_the_pointer(browser, tmp_path):
    with explorer_of(browser, trace_of("encoder"), tmp_path, View(show="matrix")) as page:
        inner = explored(page, "explorer.matrix.inner")
        x, y = inner["left"] + 0.7 * inner["width"], inner["top"] + 0.2 * inner["height"]
        before = point(page, "matrix", x, y)
        page.keyboard.down("Control")
        page.mouse.wheel(0, -300)
        page.keyboard.up("Control")
        settled(page)
        assert explored(page, "explorer.matrix.zoom") > 1
        assert point(page, "matrix", x + 1, y) == before
        page.get_by_role("button", name="Reset zoom").click()
        assert explored(page, "explorer.matrix.zoom") == 1


def test_two_fingers_zoom_what_lies_between_them_and_move_it_along(browser, tmp_path):
    with explorer_of(browser, trace_of("encoder"), tmp_path, View(show="matrix"), width=390) as page:
        host = page.locator(".stack.matrix")
        host.scroll_into_view_if_needed()
        box, touched = host.bounding_box(), page.context.new_cdp_session(page)
        assert box is not None
        middle = explored(page, "({ x: explorer.matrix.fromX(150), y: explorer.matrix.fromY(160) })")

        def fingers(kind: str, apart: float, down: float = 0.0) -> None:
            places = [{"x": box["x"] + 150 + side * apart / 2, "y": box["y"] + 160 + down} for side in (-1, 1)]
            touched.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places if apart else []})

        fingers("touchStart", 60)
        fingers("touchMove", 90)
        fingers("touchMove", 120)
        assert explored(page, "explorer.matrix.zoom") == pytest.approx(2)
        between = explored(page, f"[explorer.matrix.toX({middle['x']}), explorer.matrix.toY({middle['y']})]")
        assert between == [pytest.approx(150), pytest.approx(160)]
        fingers("touchMove", 120, down=-30)
        assert explored(page, f"explorer.matrix.toY({middle['y']})") == pytest.approx(130)
        fingers("touchEnd", 0)
        assert explored(page, "explorer.view.query") is None, "nothing was tapped"
        assert explored(page, "explorer.matrix.fingers") is None


def test_a_zoomed_picture_moves_by_keyboard(browser, tmp_path):
    with explorer_of(browser, trace_of("encoder"), tmp_path, View(show="matrix")) as page:
        page.keyboard.press("Tab")
        page.keyboard.press("Shift+ArrowRight")
        assert explored(page, "explorer.matrix.shift.x") == 0
        page.keyboard.press("+")
        zoomed = explored(page, "explorer.matrix.shift")
        page.keyboard.press("Shift+ArrowLeft")
        page.keyboard.press("Shift+ArrowDown")
        moved = explored(page, "explorer.matrix.shift")
        assert moved == {"x": pytest.approx(zoomed["x"] - 0.25 / 1.5), "y": pytest.approx(zoomed["y"] + 0.25 / 1.5)}
        assert explored(page, "explorer.view.layer") == 0


def test_a_change_of_theme_reaches_the_canvases(browser, tmp_path):
    with explorer_of(browser, trace_of("encoder"), tmp_path) as page:
        page.emulate_media(color_scheme="dark")
        page.wait_for_function("() => document.querySelector('.headlight').explorer.scene.theme.dark")
        assert explored(page, "explorer.scene.theme.background") == DARK.background


def test_a_grid_that_scrolls_sideways_finds_the_head_under_the_pointer(browser, tmp_path):
    weights = tuple(np.full((40, 3, 3), 1 / 3, np.float32) for _ in range(2))
    text = Text(stack="encoder", tokens=("a", "b", "c"))
    kind = Kind(name="encoder", queries=text, keys=text, weights=weights, causal=False)
    with opened_page(browser, page_of({"encoder": kind}), tmp_path, width=390) as page:
        expect(page.locator(".readout .said")).not_to_be_empty()
        corner = explored(page, "(explorer.grid.host.scrollLeft = 10000, explorer.grid.corner(1, 39))")
        scrolled = explored(page, "explorer.grid.host.scrollLeft")
        assert scrolled > 0
        assert point(page, "grid", corner["x"] - scrolled + 4, corner["y"] + 4).startswith("layer 2, head 40")


def test_an_odd_number_in_a_setting_becomes_one_that_an_address_can_carry(browser, tmp_path):
    with explorer_of(browser, trace_of("encoder"), tmp_path) as page:
        page.get_by_label("Largest per query").fill("2.5")
        page.get_by_label("Largest per query").press("Enter")
        settled(page)
        assert explored(page, "explorer.view.top") == 3


def test_the_threshold_is_a_slider_that_says_its_number(browser, tmp_path):
    with explorer_of(browser, trace_of("encoder"), tmp_path, View(threshold=0.0512)) as page:
        slider = page.get_by_role("slider", name="Draw weights from")
        expect(page.locator(".side label b")).to_have_text("0.0512")
        for _ in range(3):
            slider.press("ArrowRight")
        settled(page)
        expect(page.locator(".side label b")).to_have_text("0.08")
        weights = trace_of("encoder").encoder.weights()[0].mean(dim=0)
        drawn = explored(page, "explorer.scene.drawnMean.filter(weight => weight > 0).length")
        assert explored(page, "explorer.view.threshold") == 0.08
        assert drawn == int((weights >= 0.08).sum())


def test_settings_that_few_touch_are_folded_unless_one_was_touched(browser, tmp_path):
    with explorer_of(browser, trace_of("encoder"), tmp_path) as page:
        expect(page.get_by_label("Scale", exact=True)).to_be_hidden()
        choose(page, "Scale", "log")
        assert explored(page, "explorer.view.scale") == "log"
        expect(page.get_by_label("Scale", exact=True)).to_be_visible()
    with explorer_of(browser, trace_of("encoder"), tmp_path, View(scale="log")) as page:
        expect(page.get_by_label("Scale", exact=True)).to_have_value("log")
        expect(page.get_by_label("Scale", exact=True)).to_be_visible()


def test_zooming_a_picture_of_nothing_does_no_harm(browser, tmp_path):
    trace = trace_of("encoder")
    object.__setattr__(trace.encoder, "special", (True,) * 6)
    with explorer_of(browser, trace, tmp_path, View(special="hidden")) as page:
        page.get_by_role("button", name="Zoom in").click()
        pinch = "explorer.matrix.pinch({ targetTouches: [place, { clientX: 9, clientY: 90 }], cancelable: false })"
        for x in (10, 60):
            explored(page, f"[{{ clientX: {x}, clientY: 10 }}].forEach((place) => {pinch})")
        expect(page.locator(".readout")).to_contain_text("No token is left to look at.")
        page.get_by_label("Special tokens").select_option("shown")  # it is not as it was: no fold hides it
        settled(page)
        assert explored(page, "[explorer.matrix.shift.x, explorer.matrix.shift.y]") == [0, 0]


def test_the_zoom_is_said_to_those_who_listen_in_every_view_that_has_one(browser, tmp_path):
    with explorer_of(browser, trace_of("encoder"), tmp_path, View(show="lines")) as page:
        page.get_by_role("button", name="Zoom in").click()
        expect(page.locator(".live")).to_contain_text("Zoom 1.5.")


# Without a mouse


def test_after_a_click_into_a_picture_the_keys_go_to_it(browser, tmp_path):
    with explorer_of(browser, trace_of("encoder"), tmp_path, View(show="matrix")) as page:
        page.locator(".stack.matrix").click(position={"x": 150, "y": 160})
        assert explored(page, "explorer.view.query") is not None
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Escape")
        assert explored(page, "[explorer.view.layer, explorer.view.query]") == [1, None]


def test_a_key_for_what_the_text_does_not_have_changes_nothing(browser, tmp_path):
    trace = load_checkpoint("sentiment").trace("No special tokens")
    with explorer_of(browser, trace, tmp_path) as page:
        page.keyboard.press("Tab")
        page.keyboard.press("s")
        page.keyboard.press("w")
        assert explored(page, "[explorer.view.special, explorer.view.words]") == ["shown", True]


def test_the_main_path_works_by_keyboard_alone(browser, tmp_path):
    trace = trace_of("encoder")
    with explorer_of(browser, trace, tmp_path) as page:
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowDown")
        settled(page)
        assert explored(page, "explorer.view.layer") == 1
        page.keyboard.press("ArrowRight")
        settled(page)
        assert explored(page, "explorer.scene.heads") == [1]
        expect(page.get_by_role("status")).to_contain_text("Layer 2, head 2")
        page.keyboard.press("i")
        settled(page)
        assert explored(page, "explorer.scene.heads") == [0, 2, 3]
        page.keyboard.press("a")
        while "TOKENS" not in page.evaluate("document.activeElement.parentElement.className.toUpperCase()"):
            page.keyboard.press("Tab")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        settled(page)
        assert explored(page, "explorer.view.query") == 1
        mean = kinds_of(trace)["encoder"].weights[1].mean(axis=0)
        readout = page.locator(".readout").inner_text()
        assert "query 2 · dog attends most to key " in readout
        assert number(readout) == near(mean[1].max())
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Shift+Enter")
        settled(page)
        assert explored(page, "[explorer.view.query, explorer.view.key]") == [1, 2]
        page.locator(".title").first.hover()  # the token that has the focus counts as pointed at: away from it
        page.keyboard.press("Home")
        page.keyboard.press("s")
        assert page.evaluate("document.activeElement.parentElement.className") == "tokens"
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        expect(page.get_by_text("layer before, layer after")).to_be_visible()
        page.keyboard.press("4")
        expect(page.locator(".matrix-panel")).to_be_visible()
        expect(page.locator(".lines-panel")).to_be_hidden()


def test_whoever_leaves_by_keyboard_has_told_the_server_before(browser, tmp_path):
    """Neither property, onfocusin or onfocusout, exists in any browser: these events have listeners alone."""
    with explorer_of(browser, trace_of("encoder"), tmp_path) as page:
        assert explored(page, LEAVING) == {"near": [1], "before": [], "told": [1]}


# In one turn of the browser, in which no time passes.
LEAVING = """(() => {
  const [near, told] = [[], []]
  explorer.near = (layer) => near.push(layer)
  explorer.server = { commit: ({ layer }) => told.push(layer), exact() {}, layer() {}, drawn() {} }
  const button = root.querySelector("[aria-label=Layer] [data-name='1']")
  button.focus()
  button.click()
  const before = [...told]
  button.blur()
  return { near, before, told }
})()"""


def test_a_layer_that_is_not_there_is_asked_for_once_as_a_press_begins(browser, tmp_path):
    with explorer_of(browser, trace_of("encoder"), tmp_path) as page:
        assert explored(page, PRESS_BEGINS) == {"button": [1], "clicked": [1], "tile": [1, 0], "scrolled": []}


# Nothing is there but the layer that is seen. A tile is asked for a moment later: a finger may only scroll.
PRESS_BEGINS = """(async () => {
  const asked = []
  const wait = () => new Promise(done => setTimeout(done, 100))
  explorer.server = { commit() {}, exact() {}, layer: ({ layer }) => asked.push(layer), drawn() {} }
  explorer.model.has = () => false
  const happens = (target, name, place) =>
    target.dispatchEvent(new PointerEvent(name, { bubbles: true, pointerId: 1, ...place }))
  const other = root.querySelector("[aria-label=Layer] [data-name='1']")
  happens(other, "pointerdown")
  const button = [...asked]
  other.click()
  const clicked = [...asked]
  const { host, tile } = explorer.grid
  const { left, top } = host.getBoundingClientRect()
  const { x, y } = explorer.grid.corner(0, 0)
  const corner = { clientX: left + x + tile / 2, clientY: top + y + tile / 2 }
  happens(host, "pointerdown", corner)
  await wait()
  const pressed = [...asked]
  asked.length = 0
  explorer.asked = { key: "", at: -Infinity }
  happens(host, "pointerdown", corner)
  happens(host, "pointercancel", corner)
  await wait()
  return { button, clicked, tile: pressed, scrolled: asked }
})()"""


def test_where_queries_and_keys_are_two_texts_shift_keeps_only_a_key_as_key(browser, tmp_path):
    trace = tiny.checkpoint("encoder-decoder").trace("the dog bit", target="a cat saw the man . the dog bit the man")
    with explorer_of(browser, trace, tmp_path, View(attention="cross")) as page:
        for name, place in (("Queries", 9), ("Keys", 2)):
            page.get_by_role("group", name=name, exact=True).get_by_role("button").nth(place).click(modifiers=["Shift"])
            settled(page)
        assert explored(page, "[explorer.view.query, explorer.view.key]") == [9, 2]


def test_the_table_holds_the_weights_of_one_query(browser, tmp_path):
    trace = trace_of("encoder")
    weights = kinds_of(trace)["encoder"].weights[0]
    with explorer_of(browser, trace, tmp_path, View(show="table", query=2)) as page:
        cells = [row.split("\t") for row in page.locator("tbody").inner_text().splitlines()]
        assert [cell[0] for cell in cells] == [
            f"{place + 1} · {token}" for place, token in enumerate(trace.encoder.tokens)
        ]
        numbers = np.array([[float(weight.removeprefix("≈ ")) for weight in cell[1:]] for cell in cells])
        assert np.allclose(numbers[:, 0], weights[:, 2].mean(axis=0), atol=0.0041)
        assert np.allclose(numbers[:, 1:].T, weights[:, 2], atol=0.0041)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("show", ["all", "table"])
def test_axe_finds_nothing_serious(browser, tmp_path, dark, show):
    with explorer_of(
        browser, trace_of("encoder-decoder"), tmp_path, View(attention="cross", show=show), dark=dark
    ) as page:
        page.get_by_text("Keyboard (?)").click()
        assert serious(page) == []


def serious(page: Page) -> list[str]:
    """The rules of axe-core that the page breaks, of those that shut somebody out.

    Not those of Streamlit's own list of pages in the sidebar, which the menu's groups become in a narrow window; nor
    what is pale only while it fades in, as what Streamlit draws anew does: where there is something, axe looks again.
    """
    broken = looked_at(page)
    if broken:
        page.wait_for_timeout(FADING)
        broken = looked_at(page)
    return broken


def looked_at(page: Page) -> list[str]:
    violations = Axe().run(page, context={"exclude": [["[data-testid=stSidebarNavItems]"]]}).response["violations"]
    return [
        f"{rule['id']}: {rule['nodes'][0]['html'][:200]}"
        for rule in violations
        if rule["impact"] in ("serious", "critical")
    ]


# Hard cases


def test_hostile_tokens_are_drawn_as_text_in_order(browser, tmp_path):
    trace = tiny.checkpoint("encoder").trace("the dog bit the man . a cat saw the")
    object.__setattr__(trace.encoder, "tokens", HOSTILE)
    with explorer_of(browser, trace, tmp_path) as page:
        shown_tokens = page.locator(".words button").all_inner_texts()
        assert len(shown_tokens) == len(HOSTILE)
        assert shown_tokens[0] == "<img src=x onerror=fail…"
        assert shown_tokens[2] == "U+200B"
        assert shown_tokens[5] == "U+0007"
        assert shown_tokens[6:8] == ["the", "the"]
        assert page.locator(".headlight img").count() == 0
        page.locator(".words button").nth(7).hover()
        settled(page)
        expect(page.locator(".readout")).to_contain_text("query 8 · the")


def test_an_exact_number_that_comes_before_its_picture_waits_for_it(browser, tmp_path):
    """The answer names a query that the picture on the screen, of a shorter text, does not have."""
    longer = kinds_of(tiny.checkpoint("encoder").trace("the dog bit the man . " * 3))
    weights = longer["encoder"].weights[0].mean(axis=0)
    giver = len(weights) - 1
    asked = {"name": "longer", "attention": "encoder", "layer": 0, "off": [], "special": "shown", "words": False}
    request = json.dumps(asked | {"segments": "all", "query": None, "key": 1}, separators=(",", ":"))
    reply = {"request": request, "query": giver, "mean": [f"{weight:.9f}" for weight in weights[giver]], "heads": {}}
    receive = """(root, [packed, reply]) => {
      root.explorer.receive(Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0)))
      root.explorer.answer(reply)
    }"""
    with explorer_of(browser, trace_of("encoder"), tmp_path, View(key=1)) as page:
        before = page.locator(".readout .said").inner_text()
        packed = base64.b64encode(pack(longer, name="longer")).decode()
        page.locator(".headlight").evaluate(receive, [packed, reply])
        expect(page.locator(".readout .said")).to_contain_text(f"from query {giver + 1} · ")
        assert f"from query {giver + 1} · " not in before
        assert float(page.locator(".readout .exact").inner_text()) == pytest.approx(weights[giver, 1], abs=1e-8)


def test_512_tokens_can_be_pointed_at_and_switched(browser, tmp_path):
    trace = tiny.checkpoint("decoder", max_length=512).trace_ids(tiny.ids(512).tolist())
    mean = kinds_of(trace)["decoder"].weights[1][1:].mean(axis=0)
    with explorer_of(browser, trace, tmp_path, View(attention="decoder", layer=1)) as page:
        page.get_by_role("button", name="Head 1", exact=True).click()
        settled(page)
        inner = explored(page, "explorer.matrix.inner")
        readout = point(page, "matrix", inner["left"] + 0.1 * inner["width"], inner["top"] + 0.9 * inner["height"])
        query, key = (int(place) - 1 for place in re.findall(r"(?:query|key) (\d+)", readout))
        assert number(readout) == near(mean[query, key])
        assert query > 400


@pytest.mark.parametrize(
    ("tokens", "end", "note"), [(60, "weight 1", False), (61, "largest weight of each head", True)]
)
def test_the_colours_of_a_long_text_end_at_each_heads_largest_weight(browser, tmp_path, tokens, end, note):
    trace = tiny.checkpoint("decoder", max_length=64).trace_ids(tiny.ids(tokens).tolist())
    kinds, view = kinds_of(trace), View(attention="decoder")
    largest = kinds["decoder"].weights[0].max(axis=(1, 2)) if note else np.ones(4)
    scene = scene_of(kinds, view, LIGHT)
    assert scene.full == pytest.approx(list(largest))
    assert end in scale(scene)
    with explorer_of(browser, trace, tmp_path, view) as page:
        heads = range(len(scene.full))
        assert explored(page, f"{list(heads)}.map(explorer.scene.full)") == [near(number) for number in scene.full]
        expect(page.get_by_label("Full colour")).to_have_value("auto")
        assert ("full colour is the largest weight of each head" in page.locator(".headlight").inner_text()) == note
        choose(page, "Full colour", "one")
        settled(page)
        assert explored(page, f"{list(heads)}.map(explorer.scene.full)") == [1 for _ in heads]


@pytest.mark.parametrize(("layers", "heads", "beside"), [(4, 8, True), (12, 12, False)])
def test_thumbnails_take_the_room_there_is(browser, tmp_path, layers, heads, beside):
    text = Text(stack="encoder", tokens=("a", "b", "c"))
    weights = tuple(np.full((heads, 3, 3), 1 / 3, np.float32) for _ in range(layers))
    kind = Kind(name="encoder", queries=text, keys=text, weights=weights, causal=False)
    with opened_page(browser, page_of({"encoder": kind}), tmp_path, width=1240) as page:
        expect(page.locator(".readout .said")).not_to_be_empty()
        settled(page)
        tops = [
            box["y"] for name in ("grid", "lines", "matrix") if (box := page.locator(f".{name}-panel").bounding_box())
        ]
        assert (len(set(tops)) == 1) == beside
        assert tops[1] == tops[2]
        assert explored(page, "explorer.grid.tile") >= (31 if beside else 50)
        wide, tall = explored(page, "[explorer.grid.size.width, explorer.grid.size.height]")
        assert wide <= explored(page, "explorer.grid.host.clientWidth")
        assert tall <= 720


def test_a_heatmap_alone_takes_the_height_of_the_window(browser, tmp_path):
    trace = tiny.checkpoint("decoder", max_length=512).trace_ids(tiny.ids(450).tolist())
    sizes = {}
    for show in ("all", "matrix"):
        with explorer_of(browser, trace, tmp_path, View(attention="decoder", show=show)) as page:
            sizes[show] = explored(page, "explorer.matrix.inner")["height"]
    assert sizes["all"] < 560 < 750 < sizes["matrix"] < 850


@pytest.mark.parametrize("tokens", [1, 2])
def test_a_text_of_one_or_two_tokens_is_drawn(browser, tmp_path, tokens):
    trace = tiny.checkpoint("encoder").trace_ids([5, 9][:tokens])
    with explorer_of(browser, trace, tmp_path) as page:
        inner = explored(page, "explorer.matrix.inner")
        assert f"attends to key {tokens} · " in point(
            page, "matrix", inner["left"] + inner["width"] - 3, inner["top"] + 3
        )


def test_the_lines_at_rest_are_the_strongest_of_all_heads_and_of_equal_ones_the_first(browser, tmp_path):
    rng = np.random.default_rng(5)
    sharpness = np.arange(1, 5)[:, None, None] / 2  # later heads push out what earlier ones had
    scores = rng.standard_normal((4, 200, 200)) * sharpness
    weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    bytes_sent = np.floor(np.sqrt(weights.astype(np.float32)) * 255 + 0.5).astype(int).ravel()
    strongest = np.argsort(-bytes_sent, kind="stable")[: layout.MOST_LINES]  # head by head, query by query, key by key
    assert (bytes_sent == bytes_sent[strongest[-1]]).sum() > (bytes_sent[strongest] == bytes_sent[strongest[-1]]).sum()
    page_text = html_page(weights[None].astype(np.float32), [f"w{place}" for place in range(200)])
    with opened_page(browser, page_text, tmp_path) as page:
        expect(page.locator(".readout .said")).not_to_be_empty()
        settled(page)
        lines = "document.querySelector('.headlight').explorer.lines"
        drawn = page.evaluate(f"() => {lines}.strongest().map(({{ head, cell }}) => head * 40000 + cell)")
        assert drawn[::-1] == strongest.tolist()
        assert page.evaluate(f"() => {lines}.more")


def test_it_fits_a_phone_and_answers_a_finger(browser, tmp_path):
    with explorer_of(browser, trace_of("encoder-decoder"), tmp_path, View(attention="cross"), width=390) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.locator(".words button").nth(1).tap()
        settled(page)
        expect(page.locator(".readout")).to_contain_text("query 2 · ")
        inner = explored(page, "explorer.matrix.inner")
        page.locator(".stack.matrix").tap(position={"x": inner["left"] + 5, "y": inner["top"] + 5})
        settled(page)
        assert explored(page, "[explorer.view.query, explorer.view.key]") == [0, 0]
