"""Writing in a real browser: type, step, choose, run, stop; the numbers on the screen are those of the trace."""

import re
import shutil
from collections.abc import Iterator
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from model import Edits, HeadSite, load_checkpoint
from model.checkpoint import CHECKPOINTS
from model.loading import checkpoint_files
from model.measures.logit_lens import lens_logits
from tests import tiny
from tests.running import PRESS_STOP, answered, comes_true, explored, idle, open_page, picture_shown, visitor
from tests.viz.explorer.test_browser import serious

NAME = "a-random-decoder"  # there while these tests run
TEXT = "the dog bit"
BAR = re.compile(r"token: (?:▸ )?(\d+) · (.*?); stage: (.*?); .*?probability: ([0-9.e-]+)$")
LAYER = re.compile(r"probability: ([0-9.e-]+); layer: (embedding|\d+); place: (\d+); ")


@pytest.fixture(scope="module", autouse=True)
def folder() -> Iterator[Any]:
    model = tiny.transformer("decoder", max_length=200)
    checkpoint_files.save_checkpoint(CHECKPOINTS / NAME, model, tiny.tokenizer(), {})
    yield load_checkpoint(NAME, device="cpu")
    shutil.rmtree(CHECKPOINTS / NAME)


def open_at(page: Page, address: str, **query: str) -> None:
    open_page(page, address, "Write", **({"checkpoint": NAME, "text": TEXT} | query))


def tokens(page: Page) -> Any:
    """The written tokens' buttons."""
    return page.get_by_role("group", name="The text written so far").get_by_role("button")


def written(page: Page) -> list[int]:
    parameter = parse_qs(urlsplit(page.url).query).get("written", [""])[0]
    return [int(one) for one in parameter.split(".")] if parameter else []


def bars(page: Page) -> list[tuple[int, str, str, float]]:
    """Rank, token, stage and probability of every bar, as they are told to whoever cannot see them."""
    labels = page.locator("[data-testid=stVegaLiteChart]").first.locator("path[aria-label*='stage: ']")
    expect(labels.first).to_be_attached()
    matches = [BAR.search(label) for label in labels.evaluate_all("all => all.map(one => one.ariaLabel)")]
    return [(int(one[1]), one[2], one[3], float(one[4])) for one in matches if one]


def probabilities(checkpoint: Any, ids: list[int]) -> list[float]:
    """Of the next token, the likeliest first."""
    logits = checkpoint.trace_ids([*checkpoint.tokenizer.encode(TEXT).ids, *ids]).logits[-1]
    return logits.double().softmax(dim=-1).sort(descending=True).values.tolist()


def compare(page: Page, expected: list[float]) -> None:
    """The model's own bars with the likeliest probabilities."""
    own = [value for _, _, stage, value in bars(page) if stage == "the model"]
    assert len(own) > 1
    assert own == pytest.approx(expected[: len(own)], abs=2e-6)


def compare_layers(page: Page, checkpoint: Any, ids: list[int]) -> None:
    """What each layer would have said: the likeliest tokens' probabilities, the last layer's being the model's own."""
    labels = page.locator("[data-testid=stVegaLiteChart]").last.locator("path[aria-label*='layer: ']")
    matches = [LAYER.search(label) for label in labels.evaluate_all("all => all.map(one => one.ariaLabel)")]
    shares = {(int(one[2].replace("embedding", "0")), int(one[3])): float(one[1]) for one in matches if one}
    decoder = checkpoint.trace_ids([*checkpoint.tokenizer.encode(TEXT).ids, *ids]).decoder
    expected = lens_logits(checkpoint.model, decoder).double().softmax(dim=-1).sort(descending=True).values
    assert {layer for layer, _ in shares} == set(range(len(expected)))
    assert shares == {
        (layer, place): pytest.approx(float(expected[layer, place - 1]), abs=2e-6) for layer, place in shares
    }


def take_third(page: Page) -> None:
    """Click the third row. The chart moves while the text above it grows, so that a click may miss it."""
    row = page.locator("[data-testid=stVegaLiteChart]").first.locator("path[aria-label*=' 3 · ']").first
    if tokens(page).count() == 1:
        row.click(force=True, position={"x": 1, "y": 4})
    expect(tokens(page)).to_have_count(2, timeout=10_000)


def test_a_text_is_typed_stepped_chosen_and_gone_back_in_with_the_traces_numbers(browser, address, folder):
    with visitor(browser) as page:
        open_at(page, address, text="a cat")
        page.get_by_label("Text", exact=True).first.fill(TEXT)
        page.keyboard.press("Control+Enter")
        expect(page).to_have_url(re.compile("text=the\\+dog\\+bit|text=the%20dog%20bit"))
        picture_shown(page)
        page.get_by_role("button", name="Step", exact=True).click()
        expect(tokens(page)).to_have_count(1)
        comes_true(page, lambda: compare(page, probabilities(folder, written(page))))
        comes_true(page, lambda: compare_layers(page, folder, written(page)))
        idle(page)
        assert explored(page, "explorer.view.query") == len(folder.tokenizer.encode(TEXT).ids)
        third = folder.trace_ids([*folder.tokenizer.encode(TEXT).ids, *written(page)]).logits[-1].argsort()[-3]
        comes_true(page, partial(take_third, page))
        expect(page).to_have_url(re.compile(rf"written=\d+\.{int(third)}\b"))
        idle(page)
        tokens(page).first.click()
        expect(tokens(page).first).to_have_attribute("aria-current", "step")
        expect(page).to_have_url(re.compile("at=0"))
        comes_true(page, lambda: compare(page, probabilities(folder, [])))


def test_muting_a_head_changes_all_that_the_page_says(browser, address, folder):
    with visitor(browser) as page:
        open_at(page, address, off="0.0")
        ids = folder.tokenizer.encode(TEXT).ids
        muted = folder.trace_ids(ids, edits=Edits(muted=frozenset({HeadSite("decoder", 0, 0)}))).logits[-1]
        expected = muted.double().softmax(dim=-1).sort(descending=True).values.tolist()
        assert expected != pytest.approx(probabilities(folder, []), abs=1e-4)
        comes_true(page, lambda: compare(page, probabilities(folder, [])))
        toggle = page.locator("label").filter(has_text="Mute the heads that are off")
        toggle.click()
        comes_true(page, lambda: compare(page, expected))
        toggle.click()
        comes_true(page, lambda: compare(page, probabilities(folder, [])))


def test_a_long_run_is_stopped_and_leaves_what_it_has(browser, address, folder):
    with visitor(browser) as page:
        open_at(page, address, tokens="190")
        comes_true(page, lambda: run_and_stop(page))
        count = len(written(page))
        page.reload()
        picture_shown(page)
        assert len(written(page)) == count


def run_and_stop(page):
    """Stop is pressed as soon as it is there: before the first token has come perhaps, or after the last."""
    reset = page.get_by_role("button", name="Reset", exact=True)
    expect(reset).to_have_count(1)  # while a run replaces it there may be two
    idle(page)
    if reset.is_enabled():
        reset.click()
        expect(reset).to_be_disabled()
    page.evaluate(PRESS_STOP)
    run = page.get_by_role("button", name="Run 190")
    with answered(page):
        run.click()
    expect(run).to_be_visible()
    assert 0 < len(written(page)) < 190


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_nobody_is_shut_out_and_nothing_is_wider_than_a_phone(browser, address, dark):
    with visitor(browser, dark=dark) as page:
        open_at(page, address, written="11.20.33", at="2")
        expect(tokens(page)).to_have_count(3)
        idle(page)
        assert serious(page) == []
        page.set_viewport_size({"width": 390, "height": 1000})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
