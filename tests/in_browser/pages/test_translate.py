"""Translating in a real browser: type, choose, step, stop; the numbers on the screen are those of the trace."""

import re
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Page, expect

from model import Checkpoint, load_checkpoint
from tests.running import (
    PRESS_STOP,
    asks,
    comes_true,
    explored,
    idle,
    open_page,
    picture_shown,
    show_text,
    visitor,
)
from tests.viz.explorer.test_browser import serious
from viz.tokens import position_name

SOURCE, TARGET = "The dog bit the man.", "Le chien a mordu l'homme."
DOG_AND_CAT, HAPPY = "The dog and the big cat are not here.", "I am happy 😀 today."
CHARTS = "[data-testid=stVegaLiteChart]"
BAR = re.compile(r"(?:weight|probability): ([0-9.e-]+); name: (\d+) · .*")
TOKEN = re.compile(r"probability: ([0-9.e-]+); token: (\d+) · .*")


@pytest.fixture(scope="module")
def checkpoint():
    return load_checkpoint("translate-en-fr", device="cpu")


def open_at(page: Page, address: str, **query: str) -> None:
    page.goto(f"{address}/translate?{urlencode(query)}")
    asks(page, "Which source words does the model look at?")
    picture_shown(page)
    expect(page.locator(f"{CHARTS} svg").first).to_be_visible()


def bars(page: Page, place: int, form: re.Pattern[str]) -> dict[int, float]:
    """The bars of one chart, as they are told to whoever cannot see them, by the number before the name."""
    labels = page.locator(CHARTS).nth(place).locator("path[aria-label]")
    matches = [form.match(label) for label in labels.evaluate_all("all => all.map(one => one.ariaLabel)")]
    return {int(match[2]): float(match[1]) for match in matches if match}


def compare(page: Page, place: int, form: re.Pattern[str], expected: Any) -> None:
    shares = bars(page, place, form)
    assert sorted(shares) == list(range(1, len(expected) + 1))
    assert [shares[number] for number in sorted(shares)] == pytest.approx(expected.tolist(), abs=1e-5)


def words(page: Page) -> Any:
    """The words of the translation in the picture, as buttons."""
    return page.get_by_role("group", name="Translation").get_by_role("button")


def curved(page: Page, place: int, weights: Any) -> None:
    """The dark curves are those of one word, and their weights the trace's; none of 1 % or more is left out."""
    curves = page.locator("path.dark").evaluate_all("all => all.map(({ dataset }) => ({ ...dataset }))")
    assert {int(curve["target"]) for curve in curves} == {place}
    drawn = {int(curve["source"]): float(curve["weight"]) for curve in curves}
    assert drawn == {
        source: pytest.approx(weight, abs=1e-6) for source, weight in enumerate(weights.tolist()) if weight >= 0.01
    }


def test_a_word_of_the_picture_is_reached_by_the_keyboard_and_shows_its_links_before_it_is_chosen(
    browser, address, checkpoint
):
    weights = checkpoint.trace("The red house is big.", target="La maison rouge est grande.").decoder.cross_weights()
    rows = weights[2].double().mean(dim=0)
    with visitor(browser) as page:
        open_at(page, address)
        expect(page.get_by_role("heading", level=1)).to_have_text("To write “rouge”, the model looked at “red”.")
        comes_true(page, partial(curved, page, 2, rows[2]))
        words(page).nth(2).focus()
        page.keyboard.press("ArrowLeft")
        comes_true(page, partial(curved, page, 1, rows[1]))
        assert "step" not in page.url
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("To write “maison”, the model looked at “house”.")
        expect(page).to_have_url(re.compile("step.1"))
        expect(words(page).nth(1)).to_have_attribute("aria-current", "step")


def test_words_that_do_not_fit_are_scrolled_to_with_a_sign_and_the_marked_link_in_sight(browser, address):
    long = "I would have gone with you if you had asked me, and we would have seen the red house near the river."
    with visitor(browser, width=390, height=844) as page:
        open_at(page, address, text=long)
        expect(page.get_by_text("Scroll sideways for the other words")).to_be_visible()
        marked = page.locator(".target[aria-current]").bounding_box()
        above = page.locator(".source[data-most]").bounding_box()
        assert marked
        assert above
        assert 0 <= marked["x"] <= 390 - marked["width"]
        assert 0 <= above["x"] <= 390 - above["width"]
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


CUT = """strip => {
  const ends = [...strip.querySelectorAll(".source, .target")].map((box) => box.getBoundingClientRect())
  const { left, right } = strip.getBoundingClientRect()
  return ends.some((box) => box.left < left - 0.5 || box.right > right + 0.5)
}"""


@pytest.mark.parametrize("width", [1366, 1280, 390])
def test_no_word_is_cut_without_a_sign_whatever_word_is_pointed_at(browser, address, width):
    """Words were moved beyond the strip's end by the numbers above them, which came after the words were fitted."""
    text = "The animal didn't cross the street because it was too tired to go on and on"
    with visitor(browser, width=width, height=844) as page:
        for count in (11, 12, 13):
            open_at(page, address, text=" ".join(text.split()[:count]) + ".")
            sign = page.get_by_text("Scroll sideways for the other words").is_visible()
            for word in words(page).all():
                word.dispatch_event("pointerenter")
                assert sign or not page.locator(".linked .strip").evaluate(CUT)


def test_a_typed_translation_is_stepped_through_and_every_number_is_the_traces(browser, address, checkpoint):
    trace = checkpoint.trace(SOURCE, target=TARGET)
    with visitor(browser) as page:
        open_at(page, address, text=SOURCE)
        page.get_by_text("Type the translation yourself", exact=True).first.click()
        page.get_by_role("textbox", name="Type the translation yourself").fill(TARGET)
        page.get_by_role("button", name="Read this").click()
        expect(page.get_by_text("Typed translation")).to_be_visible()
        logs = trace.logits.double().softmax(dim=-1)
        next_ids = [*trace.decoder.ids.tolist()[1:], checkpoint.config.end_id]
        comes_true(page, partial(compare, page, 2, TOKEN, logs[range(len(next_ids)), next_ids]))
        words(page).first.click()
        expect(page.get_by_text(re.compile("^To write 1 · "))).to_be_visible()
        page.get_by_role("button", name="Next", exact=True).click()
        expect(page.get_by_text(re.compile("^To write 2 · "))).to_be_visible()
        row = trace.decoder.cross_weights()[2].double().mean(dim=0)[1]
        comes_true(page, partial(compare, page, 0, BAR, row))
        comes_true(page, partial(curved, page, 1, row))
        idle(page)
        assert explored(page, "explorer.view.query") == 1
        query = parse_qs(urlsplit(page.url).query)
        assert (query["target"], query["query"]) == ([TARGET], ["1"])


def test_a_beam_is_chosen_and_the_tree_shows_every_beginning(browser, address, checkpoint):
    expected = checkpoint.generate(SOURCE, 512, method="beam", width=3)
    with visitor(browser) as page:
        open_at(page, address, text=SOURCE, translation="method.beam~width.3")
        second = expected.alternatives[0].text
        page.locator("label").filter(has_text=second).last.click()
        expect(page.locator("[data-testid=stText]").filter(has_text=second)).to_be_visible()
        idle(page)
        assert "choice.1" in page.url
        lines = page.locator(CHARTS).last.locator("text").all_text_contents()
        assert sum(line.startswith("▶") for line in lines) == 3
        assert any(line.startswith("✕") for line in lines)
        assert any(f"▶ 1: −{-(expected.score or 0):.2f} · " in line for line in lines)


def test_a_long_translation_can_be_stopped_and_leaves_what_it_has(browser, address):
    long = "We were walking along the river when it began to rain, and nobody had brought an umbrella. " * 20
    with visitor(browser) as page:
        page.goto(f"{address}/translate?{urlencode({'text': long, 'translation': 'method.beam~width.8'})}")
        page.evaluate(PRESS_STOP)
        expect(page.get_by_text(re.compile(r"Stopped after \d+ tokens; this is the text so far\."))).to_be_visible()
        picture_shown(page)
        expect(page.get_by_role("button", name="Produce the whole translation")).to_be_visible()


def test_any_method_leads_back_from_a_typed_translation(browser, address):
    with visitor(browser) as page:
        open_at(page, address, text=SOURCE, target="Le chat dort.")
        ways = page.get_by_role("radiogroup", name="Decoding method").get_by_role("radio")
        for place in range(3):
            expect(ways.nth(place)).not_to_be_checked()
        page.locator("label").filter(has_text="Greedy").click()
        expect(page.get_by_text("Typed translation")).to_have_count(0)
        expect(page.locator("[data-testid=stText]", has_text=TARGET)).to_be_visible()
        expect(ways.first).to_be_checked()
        comes_true(page, lambda: "target" not in page.url)


@pytest.mark.parametrize(("setting", "dark"), [("", False), ("method.beam", True), ("method.sample", False)])
def test_axe_finds_nothing_serious_and_the_page_fits_a_phone(browser, address, setting, dark):
    with visitor(browser, dark=dark, height=2600) as page:
        open_at(page, address, text=SOURCE, translation=setting)
        assert serious(page) == []
        page.set_viewport_size({"width": 390, "height": 2600})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_bars_of_another_text_stand_in_its_own_order(browser, address, checkpoint):
    """Vega keeps the places of bars whose names the text before had too, unless it is told the order."""
    with visitor(browser) as page:
        open_page(page, address, "Translate", text=DOG_AND_CAT)
        comes_true(page, lambda: names_of_bars(page) == names_of_tokens(checkpoint, DOG_AND_CAT))
        show_text(page, HAPPY)  # of as many tokens, two of which are the same
        comes_true(page, lambda: names_of_bars(page) == names_of_tokens(checkpoint, HAPPY))


def names_of_tokens(checkpoint: Checkpoint, text: str) -> list[str]:
    return [position_name(*each) for each in enumerate(checkpoint.tokenizer.encode(text).tokens)]


def names_of_bars(page: Page) -> list[str]:
    """The names of the first chart's bars, from above."""
    written = page.locator(CHARTS).first.locator("text")
    labels = written.evaluate_all("all => all.map(one => [one.getBoundingClientRect().top, one.textContent])")
    return [name for _, name in sorted(labels) if " · " in name]
