"""Breaking the formula in a real browser: the difference is seen, its numbers are the trace's, cells can be typed."""

import json
import re
import time
from contextlib import suppress
from functools import partial
from urllib.parse import parse_qs, urlencode, urlsplit

import numpy as np
import pytest
from playwright.sync_api import Page, TimeoutError, expect

from model import Edits, load_checkpoint
from pages.parts.subjects import GROUPS
from tests.running import PATIENCE, comes_true, idle, visitor
from tests.test_explorer_browser import serious

SENTENCE = "An odd film, but a good film."
CHARTS = "[data-testid=stVegaLiteChart]"
CELL = re.compile(r"key: (\d+) · .*?; query: (\d+) · .*?; .*?(?:weight|after): ([0-9.e-]+)$")
DIGITS = {0: 1e-6, 1: 1e-6, 2: 5e-5 + 1e-9}  # the chart of the difference names four of both runs


def weights(edits: Edits) -> np.ndarray:
    """(query, key): the mean over the heads of the first layer."""
    encoder = load_checkpoint("sentiment").trace(SENTENCE, edits=edits).encoder
    assert encoder is not None
    return encoder.blocks[0].self_attention.weights.double().mean(dim=0).numpy()


def open_at(page: Page, address: str, **wanted: str) -> None:
    page.goto(f"{address}/break?{urlencode(wanted)}")
    expect(page.get_by_role("heading", level=1)).to_have_text("What is each part of the formula for?")
    expect(page.locator(f"{CHARTS} svg").first).to_be_visible()
    idle(page)


def numbers(page: Page, place: int) -> np.ndarray:
    """The weights of one chart, as they are told to whoever cannot see it."""
    labels = page.locator(CHARTS).nth(place).locator("path[aria-label*='query: ']")
    found = [CELL.match(label) for label in labels.evaluate_all("all => all.map(one => one.ariaLabel)")]
    cells = [match.groups() for match in found if match]
    side = max((int(query) for _, query, _ in cells), default=0)
    matrix = np.full((side, side), np.nan)
    for key, query, number in cells:
        matrix[int(query) - 1, int(key) - 1] = float(number)
    return matrix


def compare(page: Page, chart: int, wanted: np.ndarray) -> None:
    found = numbers(page, chart)
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max() <= DIGITS[chart]


def test_the_formula_is_broken_with_one_click_and_the_numbers_are_those_of_the_trace(browser, address):
    with visitor(browser) as page:
        open_at(page, address, text=SENTENCE)
        for name, edits in (("scale", Edits(scale=1.0)), ("positions", Edits(unpositioned=frozenset({"encoder"})))):
            if name == "positions":
                page.locator("label").filter(has_text=re.compile("^No positions$")).click()
                expect(page.get_by_role("heading", level=3).first).to_have_text("No positions")
                expect(page).to_have_url(re.compile("experiment=positions"))
                idle(page)
            for chart, run in ((0, Edits()), (1, edits), (2, edits)):
                comes_true(page, partial(compare, page, chart, weights(run)))
        expect(page.get_by_text("who bit whom is lost")).to_be_visible()


def test_a_cell_typed_by_hand_moves_every_step_and_stays_in_the_address(browser, address):
    with visitor(browser) as page:
        open_at(page, address, experiment="bench")
        type_cell(page, "-0.5")
        (typed,) = parse_qs(urlsplit(page.url).query)["setting"]
        assert json.loads(typed)[0][0] == ["-0.5", "0"]
        expect(page.locator(CHARTS).first.locator("text").filter(has_text=re.compile("^−0.5$"))).to_have_count(2)
        type_cell(page, "abc")
        expect(page.get_by_role("alert")).to_contain_text("Q, row 1, column 1 holds “abc”: type a number")
        type_cell(page, "3")
        expect(page.get_by_role("alert")).to_have_count(0)
        page.reload()
        idle(page)
        (typed,) = parse_qs(urlsplit(page.url).query)["setting"]
        assert json.loads(typed)[0][0] == ["3", "0"]
        expect(page.get_by_role("button", name="Start over")).to_be_enabled()


def type_cell(page: Page, text: str) -> None:
    """Into the first cell of the queries.

    The grid is one canvas. While a message above it comes or goes it moves, and its editor closes: then once more.
    """
    before, end = page.url, time.monotonic() + PATIENCE
    editor = page.locator("#portal textarea, #portal input").first
    while page.url == before:
        assert time.monotonic() < end, "what was typed does not arrive"
        box = page.locator("[data-testid=stDataFrame]").first.bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + 0.35 * box["width"], box["y"] + 50)
        page.keyboard.press("Enter")
        with suppress(TimeoutError):
            editor.fill(text, timeout=2000)
            page.keyboard.press("Enter")
            page.wait_for_url(lambda url: url != before, timeout=4000)
    idle(page)


EVERY = [(name, False) for names in GROUPS.values() for name in names]
ONE_OF_EACH_GROUP = [(names[0], True) for names in GROUPS.values()]


@pytest.mark.parametrize(("name", "dark"), EVERY + ONE_OF_EACH_GROUP)
def test_axe_finds_nothing_serious_in_any_experiment_that_fits_a_phone(browser, address, name, dark):
    with visitor(browser, dark=dark, height=2600) as page:
        page.goto(f"{address}/break?experiment={name}")
        expect(page.get_by_text("What to look for.")).to_be_visible()
        idle(page)
        assert serious(page) == []
        page.set_viewport_size({"width": 390, "height": 2600})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
