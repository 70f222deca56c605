"""Inside a head in a real browser: the way to a weight, walked, compared with the trace, looked at."""

import json
from functools import partial
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from model import load_checkpoint
from tests.running import choose, comes_true, download, fits, idle, open_page, picture_shown, visitor
from tests.viz.explorer.test_browser import serious
from tests.walk import heading
from viz.walkthrough.step_sentences import TITLES

SENTENCE = "An odd film, but a good film."
PLACE = {"text": SENTENCE, "layer": "1", "head": "3", "query": "2", "key": "4"}
FIRST = {"step": "embedding"}


@pytest.fixture(scope="module")
def block() -> Any:
    encoder = load_checkpoint("sentiment").trace(SENTENCE).encoder
    assert encoder is not None
    return encoder.blocks[1]


# The listener for the arrow keys comes a moment after the step's charts.
WATCH_FOR_LISTENER = """
const { addEventListener } = document
document.addEventListener = function (type, listener, ...options) {
  addEventListener.call(this, type, listener, ...options)
  window.hearsArrows ||= type === "keydown" && String(listener).includes("presses")
}
"""


def at_step(page: Page, step: str) -> None:
    """Wait until a step is on the screen with its charts."""
    expect(page.get_by_role("heading", name=heading(step))).to_be_visible()
    idle(page)
    expect(page.get_by_test_id("stVegaLiteChart").locator(".marks").first).to_be_visible()


def at_whole_head(page: Page) -> None:
    """Wait until the whole head is on the screen."""
    expect(page.get_by_role("heading", name="The whole head")).to_be_visible()
    idle(page)
    expect(page.locator(".whole .said")).to_contain_text("attends to key")


def printed(page: Page, label: str) -> Any:
    """The numbers in the code block after the caption that begins with this label."""
    captions = page.get_by_test_id("stMarkdownContainer").filter(has_text=f"{label} · ")
    code = captions.first.locator("xpath=following::*[@data-testid='stCode'][1]")
    return np.array(json.loads(code.inner_text()), np.float32)


def test_the_way_is_walked_by_keys_and_buttons_and_shows_the_numbers_of_the_trace(browser, address, block):
    attention = block.self_attention
    with visitor(browser) as page:
        page.goto(f"{address}/inside?{urlencode(PLACE | FIRST | {'depth': 'numbers'})}")
        at_step(page, "embedding")
        weight = float(attention.weights[3, 2, 4])
        expect(page.get_by_text("In head 4 of layer 2, query 3")).to_contain_text(f"gives {100 * weight:.4g}"[:-1])
        numbers: dict[str, tuple[str, Any]] = {
            "product": ("q · k, coordinate by coordinate", None),
            "softmax": ("weight of every key", attention.weights[3, 2]),
            "value": ("context: the sum over all keys", attention.context[3, 2]),
            "feed-forward": ("stream that leaves the layer", block.stream_out[2]),
        }
        for place, step in enumerate(TITLES):
            at_step(page, step)
            if step in numbers:
                label, values = numbers[step]
                printed_numbers = printed(page, label)
                if values is None:
                    assert printed_numbers.sum() == pytest.approx(float(attention.products[3, 2, 4]), abs=1e-4)
                else:
                    assert np.allclose(printed_numbers, values.numpy(), atol=1e-6)
            if place < len(TITLES) - 1:
                if place % 2:
                    page.get_by_role("button", name="Next").click()
                else:
                    page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowLeft")
        at_step(page, "logits")
        assert "step=logits" in page.url


def test_every_press_counts_however_fast_they_come(browser, address):
    with visitor(browser) as page:
        page.add_init_script(WATCH_FOR_LISTENER)
        page.goto(f"{address}/inside?{urlencode(PLACE | FIRST | {'depth': 'numbers'})}")
        at_step(page, "embedding")
        page.wait_for_function("window.hearsArrows")
        for _ in range(7):
            page.keyboard.press("ArrowRight")
        at_step(page, list(TITLES)[7])
        for _ in range(3):
            page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowRight")
        at_step(page, list(TITLES)[5])


@pytest.mark.parametrize("width", [1366, 390])
def test_a_step_is_chosen_by_its_name_with_the_keyboard_and_the_arrow_keys_go_on_from_there(browser, address, width):
    with visitor(browser, width=width, height=844) as page:
        open_page(page, address, "Inside a head", **PLACE, **FIRST)
        at_step(page, "embedding")
        steps = page.get_by_role("combobox", name="Step", exact=True)
        steps.focus()
        steps.press("ArrowDown")
        expect(page.get_by_role("option", name=heading("position"), exact=True)).to_be_visible()
        steps.press("Enter")
        at_step(page, "position")
        page.keyboard.press("ArrowRight")
        at_step(page, "norm")
        choose(page, "Step", heading("output"))
        at_step(page, "output")
        expect(steps).to_have_value(heading("output"))
        assert steps.evaluate("node => node.scrollWidth <= node.clientWidth"), "the longest name is not cut off"
        page.keyboard.press("ArrowLeft")
        at_step(page, "heads")


def test_the_recheck_the_files_and_the_choice_of_a_step(browser, address, block):
    with visitor(browser) as page:
        open_page(page, address, "Inside a head", **PLACE, **FIRST)
        at_step(page, "embedding")
        choose(page, "Step", heading("softmax"))
        at_step(page, "softmax")
        page.get_by_role("button", name="Recheck this weight").click()
        expect(page.get_by_test_id("stTable")).to_be_visible()
        cells = page.get_by_test_id("stTable").locator("tr").last.locator("td").all_inner_texts()
        weight = float(block.self_attention.weights[3, 2, 4])
        assert [float(cell) for cell in cells[-3:-1]] == pytest.approx([weight, weight], abs=1e-6)
        with np.load(download(page, "This step (NPZ)").path()) as file:
            assert float(file["softmax_weight"]) == pytest.approx(weight, abs=1e-6)
        assert f"trace({SENTENCE!r}" in download(page, "As Python").path().read_text(encoding="utf-8")


def test_the_door_of_explore_opens_the_weight_that_is_kept_and_back_returns(browser, address):
    with visitor(browser) as page:
        page.goto(f"{address}/?{urlencode(PLACE | {'off': '1.0-2_1.4-7'})}")
        picture_shown(page)
        page.get_by_role("link", name="Inside this weight").click()
        at_whole_head(page)
        expect(page.get_by_text("In head 4 of layer 2, query 3")).to_be_visible()
        expect(page.get_by_label("Text", exact=True)).to_have_value(SENTENCE)
        assert "/inside?" in page.url
        assert "head=3" in page.url
        page.go_back()
        picture_shown(page)
        expect(page.locator(".readout")).to_contain_text("Layer 2, head 4: query 3")


def test_the_door_back_shows_the_weight_and_keys_typed_into_a_text_take_no_step(browser, address):
    with visitor(browser) as page:
        page.goto(f"{address}/inside?{urlencode(PLACE)}")
        at_whole_head(page)
        page.get_by_label("Text", exact=True).press("ArrowRight")
        page.get_by_role("link", name="See it in Explore").click()
        picture_shown(page)
        expect(page.locator(".readout")).to_contain_text("query 3")
        expect(page.get_by_label("Text", exact=True)).to_have_value(SENTENCE)
        assert "step=" not in page.url
        assert "layer=1" in page.url


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(("depth", "step"), [("idea", "softmax"), ("numbers", "product")])
def test_axe_finds_nothing_serious(browser, address, depth, step, dark):
    with visitor(browser, dark=dark, height=3600) as page:
        page.goto(f"{address}/inside?{urlencode(PLACE | {'step': step, 'depth': depth, 'layer': '0'})}")
        at_step(page, step)
        assert serious(page) == []


@pytest.mark.parametrize("step", ["embedding", "product", "mask", "heads"])
def test_a_step_fits_the_window(browser, address, step):
    with visitor(browser) as page:
        page.goto(f"{address}/inside?{urlencode(PLACE | {'step': step, 'depth': 'numbers', 'layer': '0'})}")
        at_step(page, step)
        for width in (1440, 390):
            page.set_viewport_size({"width": width, "height": 1000})
            comes_true(page, partial(narrow, page, width))


def narrow(page: Page, width: int) -> None:
    """Nothing reaches beyond the window."""
    fits(page, width)
    assert page.locator(".katex").first.evaluate("node => node.getBoundingClientRect().right") <= width
