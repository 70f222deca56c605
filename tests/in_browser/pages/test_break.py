"""Breaking the formula in a real browser: the difference is seen, its numbers are the trace's, cells can be typed."""

import json
import re
import time
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, TimeoutError, expect

from model import Edits, HeadSite, load_checkpoint
from pages.parts.ablations.experiments import EXPERIMENTS
from pages.parts.ablations.subjects import GROUPS
from tests.running import PATIENCE, asks, comes_true, fits, idle, visitor
from tests.viz.explorer.test_browser import serious
from tests.viz.explorer.test_pictures import colours_of
from viz.theme import DARK, LIGHT

SENTENCE = "An odd film, but a good film."
CHARTS = "[data-testid=stVegaLiteChart]"
SIDES = ("left", "top", "width", "height")


def weights(edits: Edits) -> np.ndarray:
    """(query, key): the mean over the heads of the first layer."""
    encoder = load_checkpoint("sentiment").trace(SENTENCE, edits=edits).encoder
    assert encoder is not None
    return encoder.blocks[0].self_attention.weights.double().mean(dim=0).numpy()


def open_at(page: Page, address: str, **query: str) -> None:
    page.goto(f"{address}/break?{urlencode(query)}")
    asks(page, "What is each part of the formula for?")
    expect(page.locator(f"{CHARTS} svg").first).to_be_visible()
    idle(page)


def border(page: Page, part: str) -> list[Any]:
    """How the box of a part is drawn, and whether it is pressed."""
    box = page.locator(f".formula [data-part={part}]")
    return box.evaluate("box => [getComputedStyle(box).borderTopStyle, box.ariaPressed === 'true']")


def test_the_part_whose_result_stands_below_is_marked_before_one_is_pressed(browser, address):
    with visitor(browser) as page:
        open_at(page, address, text=SENTENCE)
        most = page.locator(".formula .most").get_attribute("data-part") or ""
        other = next(part for part in ("scale", "positions") if part != most)
        assert border(page, most) == ["dashed", False]
        assert border(page, other) == ["solid", False]
        page.locator(f".formula [data-part={other}]").click()
        comes_true(page, lambda: border(page, other) == ["solid", True])
        assert border(page, most) == ["solid", False]


def numbers(page: Page) -> dict[str, np.ndarray]:
    """(query, key) of both runs and their difference, from the table for whoever cannot see the pictures."""
    read = "table => [...table.rows].map(row => [...row.cells].map(cell => cell.textContent))"
    names, *rows = page.locator(".numbers table").evaluate(read)
    side = int(rows[-1][0].split()[0])
    assert [(row[0].split()[0], row[1].split()[0]) for row in rows] == [
        (str(query + 1), str(key + 1)) for query in range(side) for key in range(side)
    ]
    return {
        name: np.array([float(row[at]) for row in rows]).reshape(side, side) for at, name in enumerate(names[2:], 2)
    }


def compare(page: Page, before: np.ndarray, after: np.ndarray) -> None:
    matrices = numbers(page)
    for name, expected in {"before": before, "after": after, "change": after - before}.items():
        assert matrices[name].shape == expected.shape
        assert np.abs(matrices[name] - expected).max() <= 1e-6


def colour_at(page: Page, panel: int, query: int, key: int) -> list[int]:
    """What is drawn near the corner of a cell, beside any sign; a picture's measures are those of its marked cell."""
    return (
        page.locator(".panel")
        .nth(panel)
        .evaluate(
            """(panel, [query, key]) => {
          const [canvas, style] = [panel.querySelector("canvas"), panel.querySelector(".mark").style]
          const [left, top, width, height] = ["left", "top", "width", "height"].map(side => parseFloat(style[side]))
          const [x, y] = [left + width * key + 3, top + height * query + 3].map(place => Math.round(place))
          return [...canvas.getContext("2d").getImageData(x, y, 1, 1).data].slice(0, 3)
        }""",
            [query, key],
        )
    )


def test_the_formula_is_broken_with_one_click_and_the_numbers_are_those_of_the_trace(browser, address):
    with visitor(browser) as page:
        open_at(page, address, text=SENTENCE, experiment="scale")
        page.get_by_text("All numbers as a table").click()
        for name, edits in (("scale", Edits(scale=1.0)), ("positions", Edits(unpositioned=frozenset({"encoder"})))):
            if name == "positions":
                page.locator("label").filter(has_text=re.compile("^No positions$")).click()
                expect(page.get_by_role("heading", level=3).first).to_have_text("No positions")
                expect(page).to_have_url(re.compile("experiment=positions"))
                idle(page)
            comes_true(page, partial(compare, page, weights(Edits()), weights(edits)))
        expect(page.get_by_text("who bit whom is lost")).to_be_visible()


@pytest.mark.parametrize("dark", [False, True])
def test_the_cells_have_the_colours_of_their_weights_and_of_their_change_in_both_themes(browser, address, dark):
    theme = DARK if dark else LIGHT
    before, after = weights(Edits()), weights(Edits(scale=1.0))
    change, largest = after - before, np.abs(after - before).max()
    with visitor(browser, dark=not dark) as page:
        open_at(page, address, text=SENTENCE, experiment="scale")
        page.emulate_media(color_scheme="dark" if dark else "light")
        page.locator(".panel").first.press("ArrowRight")
        for (query, key), shift in np.ndenumerate(change):
            name, strengths = (
                "below" if shift < 0 else "above",
                [before[query, key], after[query, key], abs(shift) / largest],
            )
            for panel, (scale, strength) in enumerate(zip(("blue", "blue", name), strengths, strict=True)):
                colour = colours_of(theme, scale, np.sqrt(np.array(strength)))
                comes_true(page, partial(coloured, page, panel, (query, key), colour))


def coloured(page: Page, panel: int, cell: tuple[int, int], colour: np.ndarray) -> None:
    assert np.abs(np.array(colour_at(page, panel, *cell)) - colour).max() <= 1.5


def test_a_cell_that_is_pointed_at_is_marked_in_all_pictures_and_says_its_numbers(browser, address):
    before, after = weights(Edits()), weights(Edits(scale=1.0))
    with visitor(browser) as page:
        open_at(page, address, text=SENTENCE, experiment="scale")
        panel, readout = page.locator(".panel").last, page.get_by_role("status").filter(has_text="attends to")
        for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowDown"):
            panel.press(key)
        expect(page.locator(".mark:visible")).to_have_count(3)
        change = f"{after[1, 2] - before[1, 2]:+.4f}".replace("-", "−")
        numbers_said = f"before {before[1, 2]:.4f}\nafter {after[1, 2]:.4f}\nchange {change}"
        sentence = f"query 2 · odd\nattends to key 3 · film\n{numbers_said}"
        assert readout.inner_text() == sentence
        panel.press("Escape")
        expect(readout).to_have_count(0)
        cell = page.locator(".panel").first.evaluate("panel => panel.querySelector('.mark').style.cssText")
        left, top, width, height = (float(re.search(rf"{side}: ([0-9.]+)px", cell)[1]) for side in SIDES)  # type: ignore[index]
        panel.hover(position={"x": left + width / 2, "y": top + height / 2})
        assert readout.inner_text() == sentence
        page.mouse.move(0, 0)
        expect(readout).to_have_count(0)


ROOM = """(root, keys) => {
  const { left, width } = root.querySelector(".mark").style
  const beside = root.querySelector(".panel").clientWidth - parseFloat(left) - parseFloat(width) * keys
  return [parseFloat(width), beside, innerHeight - root.querySelector(".tools").getBoundingClientRect().bottom]
}"""


def room_of(page: Page) -> list[float]:
    """Pixels: the side of a cell, what is free beside all cells of a picture, and what is free below the buttons."""
    page.locator(".panel").first.press("ArrowRight")
    room: list[float] = page.locator(".compared").evaluate(ROOM, len(weights(Edits())))
    return room


def fills_the_screen(page: Page, least: float) -> None:
    side, beside, below = room_of(page)
    assert side > least
    assert min(beside, below) >= 0
    assert beside < 4 or below < 30


@pytest.mark.parametrize(("width", "height", "least"), [(1920, 1080, 57), (2560, 720, 35)])
def test_in_full_screen_the_pictures_are_as_large_as_fits_and_small_again_after_it(
    browser, address, width, height, least
):
    with visitor(browser, width=width, height=height) as page:
        open_at(page, address, text=SENTENCE, experiment="scale")
        before = room_of(page)[0]
        assert before <= 56
        button = page.get_by_role("button", name="Full screen", exact=True)
        button.click()
        comes_true(page, lambda: fills_the_screen(page, least))
        button.click()
        comes_true(page, lambda: np.testing.assert_allclose(room_of(page)[0], before))


def test_the_numbers_can_be_copied_and_the_pictures_kept(browser, address):
    with visitor(browser) as page:
        open_at(page, address, text=SENTENCE, experiment="scale")
        page.get_by_role("button", name="Copy the numbers").click()
        names, *rows = [line.split("\t") for line in page.evaluate("navigator.clipboard.readText()").split("\n")]
        assert names == ["query", "key", "before", "after", "change"]
        assert np.abs(np.array([float(row[3]) for row in rows]) - weights(Edits(scale=1.0)).ravel()).max() <= 1e-6
        with page.expect_download() as kept:
            page.get_by_role("button", name="Download as PNG", exact=True).click()
        width = page.locator(".panel canvas").evaluate_all("all => all.reduce((sum, one) => sum + one.width, 0)")
        with Image.open(kept.value.path()) as picture:
            assert picture.width == width


def test_a_cell_typed_by_hand_moves_every_step_and_stays_in_the_address(browser, address):
    with visitor(browser) as page:
        page.goto(f"{address}/break?experiment=bench")
        products = page.locator(".matrices table").first
        expect(products.locator("td[title]")).to_have_count(16)
        idle(page)
        type_cell(page, "-0.5")
        (typed,) = parse_qs(urlsplit(page.url).query)["setting"]
        assert json.loads(typed)[0][0] == ["-0.5", "0"]
        expect(products.get_by_role("cell", name="−0.5", exact=True)).to_have_count(2)
        type_cell(page, "abc")
        expect(page.get_by_role("alert")).to_contain_text("Q, row 1, column 1 holds “abc”: type a number")
        type_cell(page, "3")
        expect(page.get_by_role("alert")).to_have_count(0)
        page.reload()
        idle(page)
        (typed,) = parse_qs(urlsplit(page.url).query)["setting"]
        assert json.loads(typed)[0][0] == ["3", "0"]
        expect(page.get_by_role("button", name="Start over")).to_be_enabled()
        products.locator("td[title]").first.hover()
        expect(page.get_by_text("Products: q1, k1: 3", exact=True)).to_be_visible()


def type_cell(page: Page, text: str) -> None:
    """Into the first cell of the queries.

    The grid is one canvas. While a message above it comes or goes it moves, and its editor closes: then once more.
    """
    before, end = page.url, time.monotonic() + PATIENCE
    editor = page.locator("#portal textarea, #portal input").first
    while page.url == before:
        assert time.monotonic() < end, "what was typed does not arrive"
        grid = page.locator("[data-testid=stDataFrame]").first
        grid.scroll_into_view_if_needed()
        box = grid.bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + 0.35 * box["width"], box["y"] + 50)
        page.keyboard.press("Enter")
        with suppress(TimeoutError):
            editor.fill(text, timeout=2000)
            page.keyboard.press("Enter")
            page.wait_for_url(lambda url: url != before, timeout=4000)
    idle(page)


# Experiments that act on the whole model have the same controls and pictures: the first stands for them, and one for
# which the model has no place.
ALIKE = {name for name, each in EXPERIMENTS.items() if not (each.on_layer or each.on_key)} - {"scale", "unmask"}
DIFFERENT = [(name, False) for names in GROUPS.values() for name in names if name not in ALIKE]
ONE_OF_EACH_GROUP = [(names[0], True) for names in GROUPS.values()]


@pytest.mark.parametrize(("name", "dark"), DIFFERENT + ONE_OF_EACH_GROUP)
def test_axe_finds_nothing_serious_in_any_kind_of_experiment_that_fits_a_phone(browser, address, name, dark):
    with visitor(browser, dark=dark, height=2600) as page:
        page.goto(f"{address}/break?experiment={name}")
        expect(page.get_by_text("What to look for.")).to_be_visible()
        idle(page)
        assert serious(page) == []
        page.set_viewport_size({"width": 390, "height": 2600})
        fits(page, 390)


TURNS = "The acting is not bad at all."


def test_a_part_is_taken_out_by_the_keyboard_and_the_page_shows_what_comes_of_it(browser, address):
    with visitor(browser) as page:
        open_at(page, address, text=TURNS)
        parts = page.locator(".formula button")
        positions = parts.filter(has_text="+ P")
        expect(positions).to_have_attribute("aria-pressed", "false")
        softmax = parts.filter(has_text="where to look")
        shown = page.get_by_role("heading", level=3).first
        matters_most = shown.inner_text()
        softmax.press("Enter")
        expect(softmax).to_have_attribute("aria-pressed", "true")
        expect(softmax.locator(".notation")).to_have_css("text-decoration-line", "line-through")
        expect(softmax).to_be_focused()
        expect(positions).to_have_attribute("aria-pressed", "false")
        expect(page.get_by_role("heading", name="Uniform attention: no choice of where to look")).to_be_visible()
        assert parse_qs(urlsplit(page.url).query)["experiment"] == ["uniform"]
        labels = load_checkpoint("sentiment").classify(TURNS, edits=uniform())
        expect(softmax.locator(".result")).to_contain_text(f"→ {100 * labels['positive']:.1f}")
        for box in [part.bounding_box() for part in parts.all()]:
            assert box is not None
            assert min(box["width"], box["height"]) >= 24
        softmax.press("Enter")
        expect(softmax).to_have_attribute("aria-pressed", "false")
        expect(shown).to_have_text(matters_most)
        assert "experiment" not in page.url


def uniform() -> Edits:
    return Edits(uniform=frozenset(HeadSite("encoder", layer, head) for layer in range(4) for head in range(8)))


def test_the_parts_of_a_long_text_come_one_by_one_and_the_page_then_opens_on_the_one_that_matters_most(
    browser, address
):
    text = f"{TURNS} It is dull in places, and yet I would see it again. " * 6
    with visitor(browser) as page:
        page.goto(f"{address}/break?{urlencode({'text': text})}")
        heading = page.get_by_role("heading", level=1)
        expect(heading).to_contain_text("without ")
        expect(page.locator(".formula .result")).to_have_text([re.compile("→ .*%")] * 9)
        expect(page.locator(".formula button[aria-pressed=true]")).to_have_count(0)
        idle(page)
        assert "experiment" not in page.url
        results = page.locator(".formula .result").all_inner_texts()
        checkpoint = load_checkpoint("sentiment")
        label = max(labels := checkpoint.classify(text), key=lambda name: labels[name])
        after = checkpoint.classify(text, edits=Edits(unpositioned=frozenset({"encoder"})))[label]
        assert results[0] == f"{100 * labels[label]:.1f} → {100 * after:.1f}\u00a0%"


TITLES = """root => [...root.querySelectorAll("canvas")].map(
  canvas => [...canvas.getContext("2d").getImageData(0, 0, 130, 26).data])"""


def test_pictures_that_are_drawn_again_keep_their_titles(browser, address):
    with visitor(browser) as page:
        page.goto(f"{address}/break?experiment=scale")
        expect(page.get_by_text("What to look for.")).to_be_visible()
        idle(page)
        pictures = page.locator(".compared")
        before = pictures.evaluate(TITLES)
        weights = pictures.evaluate("root => root.querySelectorAll('canvas')[1].toDataURL()")
        page.locator("label").filter(has_text="Shuffled positions").click()
        expect(page.get_by_role("heading", name="Shuffled positions", exact=True)).to_be_visible()
        idle(page)
        assert pictures.evaluate("root => root.querySelectorAll('canvas')[1].toDataURL()") != weights
        assert pictures.evaluate(TITLES) == before
