"""The whole head in a real browser: a weight that is pointed at lights up, and its numbers are those of the trace."""

import re
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page, expect

from model import load_checkpoint
from model.measures.comparison import mean_largest
from model.measures.learn.heads.score_scale import without_scale
from model.measures.whole_head import whole_head
from tests.running import HEAR_THE_SERVER, answered, asks, fits, idle, visitor
from tests.viz.explorer.test_browser import serious

SENTENCE = "An odd film, but a good film."
PLACE = {"text": SENTENCE, "layer": "1", "head": "3", "query": "2", "key": "4"}
LONG = "The quick story of a very long evening at the cinema, " * 12
# The middle of a cell in a matrix, in pixels of the canvas; matrices are found by the plan of the picture.
CELL = """
(root, [part, row, column]) => {
  const panel = root.held.plan.panels.find((each) => each.part === part)
  return {
    x: panel.left + ((column + 0.5) * panel.width) / panel.columns,
    y: panel.top + ((row + 0.5) * panel.height) / panel.rows,
  }
}
"""
# Which matrices have a strip that is not veiled there: what is lit is clear on the upper canvas.
LIT = """
(root, [part, row, column]) => {
  const panel = root.held.plan.panels.find((each) => each.part === part)
  const density = window.devicePixelRatio || 1
  const x = (panel.left + ((column + 0.5) * panel.width) / panel.columns) * density
  const y = (panel.top + ((row + 0.5) * panel.height) / panel.rows) * density
  return root.held.over.getContext("2d").getImageData(x, y, 1, 1).data[3] === 0
}
"""


@pytest.fixture(scope="module")
def head() -> Any:
    encoder = load_checkpoint("sentiment").trace(SENTENCE).encoder
    assert encoder is not None
    return whole_head(encoder.blocks[1].self_attention, 3)


def open_whole(page: Page, address: str, **place: str) -> Locator:
    """The picture, drawn."""
    page.add_init_script(HEAR_THE_SERVER)
    page.goto(f"{address}/inside?{urlencode(place)}")
    asks(page, "Where does this one number come from?")
    idle(page)
    whole = page.locator(".whole")
    expect(whole.locator(".said")).to_contain_text("attends to key")
    return whole


def point(whole: Locator, part: str, row: int, column: int) -> None:
    """Move the mouse over a cell of a matrix."""
    whole.locator(".over").hover(position=whole.evaluate(CELL, [part, row, column]))


def readout(whole: Locator) -> str:
    return whole.locator(".said").inner_text()


def said_numbers(whole: Locator) -> list[float]:
    """q·k, the scaled product and the weight, as they are said."""
    return [float(number.replace("−", "-")) for number in re.findall(r"= (−?[\d.]+(?:e[+−]\d+)?)", readout(whole))]


def test_a_weight_that_is_pointed_at_says_the_numbers_of_the_trace(browser, address, head):
    with visitor(browser) as page:
        whole = open_whole(page, address, **PLACE)
        for row, column in ((2, 4), (0, 0), (7, 3), (5, 8)):
            point(whole, "weights", row, column)
            numbers = head.products[row, column], head.scores[row, column], head.weights[row, column]
            assert said_numbers(whole) == pytest.approx([float(number) for number in numbers], rel=1e-3)
            assert readout(whole).startswith(f"Query {row + 1} · ")
            assert f"key {column + 1} · " in readout(whole)
        page.mouse.move(5, 5)
        expect(whole.locator(".said")).to_contain_text("Query 3 · ")


def test_what_makes_the_weight_lights_up_and_nothing_else(browser, address):
    with visitor(browser) as page:
        whole = open_whole(page, address, **PLACE)
        point(whole, "weights", 5, 1)
        lit = {"query": (5, 7), "key": (7, 1), "value": (1, 7), "context": (5, 7), "products": (5, 3)}
        for part, place in lit.items():
            assert whole.evaluate(LIT, [part, *place]), part
        dark = {"query": (4, 7), "key": (7, 2), "value": (2, 7), "context": (6, 7), "products": (6, 3)}
        for part, place in dark.items():
            assert not whole.evaluate(LIT, [part, *place]), part
        expect(whole.locator(".formula .lit").first).to_have_text("softmax(")


def test_a_row_of_q_a_column_of_k_and_a_row_of_v_lead_to_the_weight(browser, address):
    with visitor(browser) as page:
        whole = open_whole(page, address, **PLACE)
        for part, cell, words in (
            ("query", (6, 3), "Query 7 · good attends to key 5"),
            ("key", (3, 0), "Query 7 · good attends to key 1 · an"),
            ("value", (8, 3), "Query 7 · good attends to key 9"),
            ("context", (0, 3), "Query 1 · an attends to key 9"),
        ):
            point(whole, part, *cell)
            expect(whole.locator(".said")).to_contain_text(words)


def test_a_click_chooses_the_weight_for_all_steps(browser, address, head):
    with visitor(browser) as page:
        whole = open_whole(page, address, **PLACE)
        with answered(page):
            whole.locator(".over").click(position=whole.evaluate(CELL, ["weights", 6, 2]))
        expect(page.get_by_text("In head 4 of layer 2, query 7 · good")).to_be_visible()
        assert "query=6" in page.url
        assert "key=2" in page.url
        with answered(page):
            page.get_by_role("button", name="Next").click()
        expect(page.get_by_role("heading", name="Step 1 of ")).to_be_visible()
        expect(page.get_by_text("In head 4 of layer 2, query 7 · good")).to_be_visible()


def test_the_keyboard_moves_from_weight_to_weight_and_chooses_one(browser, address, head):
    with visitor(browser) as page:
        whole = open_whole(page, address, **PLACE)
        whole.locator(".over").focus()
        for key in ("ArrowDown", "ArrowRight", "ArrowRight", "ArrowUp", "ArrowUp"):
            page.keyboard.press(key)
        assert said_numbers(whole)[2] == pytest.approx(float(head.weights[1, 6]), rel=1e-3)
        with answered(page):
            page.keyboard.press("Enter")
        assert "query=1" in page.url
        assert "key=6" in page.url
        assert "step=" not in page.url


def test_a_causal_mask_is_said_where_it_hides_a_key(browser, address):
    with visitor(browser) as page:
        place = {"checkpoint": "stories", "text": "Once upon a time", "layer": "1", "query": "2", "key": "1"}
        whole = open_whole(page, address, **place)
        point(whole, "weights", 1, 3)
        expect(whole.locator(".said")).to_contain_text("the mask hides this key, the weight is 0")
        expect(page.get_by_text("The mask hides 6 of 16 cells.")).to_be_visible()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_serious_in_the_whole_head(browser, address, dark):
    with visitor(browser, dark=dark, height=2400) as page:
        open_whole(page, address, **PLACE)
        assert serious(page) == []


@pytest.mark.parametrize("text", ["Fine.", SENTENCE, LONG], ids=["short", "usual", "long"])
def test_the_whole_head_fits_a_phone(browser, address, text):
    with visitor(browser, width=390, height=844) as page:
        whole = open_whole(page, address, text=text, layer="1", head="3")
        fits(page, 390)
        wide = whole.locator(".sheet").evaluate("sheet => sheet.scrollWidth > sheet.clientWidth + 1")
        assert wide == whole.locator(".wider").is_visible()
        if text == LONG:
            expect(whole.locator(".cut")).to_contain_text("The text is long: the picture shows queries ")


def test_the_knob_of_learn_draws_the_head_at_another_scale(browser, address):
    encoder: Any = load_checkpoint("sentiment").trace("The film was slow, but I loved it.").encoder
    heads = [whole_head(block.self_attention, number) for block in encoder.blocks for number in range(8)]
    head = max(
        heads, key=lambda each: mean_largest(without_scale(each).weights[None]) - mean_largest(each.weights[None])
    )
    with visitor(browser) as page:
        page.goto(f"{address}/learn?{urlencode({'stop': stop_number(), 'guesses': f'{stop_number()}a'})}")
        whole = page.locator(".whole")
        shares = [f"{100 * mean_largest(each.weights[None]):.0f}" for each in (head, without_scale(head))]
        expect(whole.locator(".scaled")).to_contain_text(f"{shares[0]}\u00a0% on average.".replace("\u00a0", " "))
        whole.get_by_role("button", name="without: × 1").click()
        expect(whole.locator(".scaled")).to_contain_text(f"{shares[1]} % on average")
        point(whole, "weights", 3, 5)
        assert said_numbers(whole)[2] == pytest.approx(float(without_scale(head).weights[3, 5]), rel=1e-3)
        slider = whole.get_by_role("slider")
        slider.focus()
        page.keyboard.press("Home")
        expect(whole.locator(".scaled")).to_contain_text("QKᵀ × 0: the largest weight of a row is 10 % on average")


def stop_number() -> int:
    """Where the stop stands on the path."""
    from pages.parts.learn.stops import PATH

    return [stop.name for stop in PATH].index("From QKᵀ to weights") + 1
