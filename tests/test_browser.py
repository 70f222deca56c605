"""The app in a real browser, against the server that a user starts."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from model import Edits, HeadSite, load_checkpoint
from tests.running import ROOT, chromium, idle, picture_shown, running_app, visitor
from viz.theme import DARK, LIGHT

SENTENCE = "An odd film, but a good film."
PICTURES = ROOT / "test-results"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running_app() as (address, _):
        yield address


@pytest.fixture(scope="module")
def weights():
    """(layer, head, query, key) of the sentence that the tests type."""
    encoder = load_checkpoint("sentiment").trace(SENTENCE).encoder
    assert encoder is not None
    return encoder.weights().numpy()


def type_sentence(page: Page, text: str = SENTENCE) -> None:
    page.get_by_label("Text", exact=True).fill(text)
    page.get_by_label("Text", exact=True).press("Control+Enter")
    expect(page).to_have_url(re.compile(re.escape(urlencode({"text": text}))))
    picture_shown(page)


def press(page: Page, control: str, label: str) -> None:
    """Press one button of a group; a group of one choice and one of many have different roles."""
    page.locator(f".st-key-{control}").get_by_text(label, exact=True).click()


def read_out(page: Page) -> tuple[int, int, float]:
    """Query, key and weight as they stand beside the picture; positions counted from 0."""
    sides = [page.get_by_role("combobox", name=name).input_value() for name in ("Query", "attends to key")]
    query, key = (int(shown.split(" · ")[0]) - 1 for shown in sides)
    return query, key, float(page.locator("[data-testid=stCode]").first.inner_text())


def hovered(page: Page, query: int, key: int, count: int) -> str:
    """What the picture says while the pointer rests on a cell."""
    box = page.locator("[data-testid=stPlotlyChart] .nsewdrag").first.bounding_box()
    assert box is not None
    across, down = (key + 0.5) / count * box["width"], (query + 0.5) / count * box["height"]
    page.mouse.move(box["x"] + across - 1, box["y"] + down)
    page.mouse.move(box["x"] + across, box["y"] + down)
    hover = page.locator(".hoverlayer .hovertext")
    expect(hover).to_be_visible()
    return hover.text_content() or ""


def test_a_sentence_typed_and_a_head_toggled_show_the_weights_of_the_trace(browser, address, weights):
    with visitor(browser) as page:
        page.goto(address)
        picture_shown(page)
        type_sentence(page)
        press(page, "heads", "1")
        expect(page.get_by_text("Layer 1, mean of heads 2, 3, 4, 5, 6, 7 and 8.", exact=True)).to_be_visible()
        picture_shown(page)
        expected = weights[0, 1:].mean(axis=0, dtype=np.float64)
        query, key, value = read_out(page)
        assert value == pytest.approx(expected[query, key], abs=1e-6)
        assert expected[query, key] == expected.max(), "the strongest cell is read out first"
        shown = hovered(page, 2, 5, len(expected))
        assert float(shown.split("weight ")[1]) == pytest.approx(expected[2, 5], abs=2e-6)


def test_a_copied_address_opens_the_same_view_on_a_server_that_has_just_started(browser, address, weights):
    with visitor(browser) as page:
        page.goto(f"{address}/?layer=2&query=1&key=3")
        picture_shown(page)
        type_sentence(page)
        press(page, "only", "5")
        expect(page.get_by_text("Layer 3, head 5.", exact=True)).to_be_visible()
        picture_shown(page)
        page.get_by_role("button", name="Share").click()
        expect(page.get_by_role("button", name="Copied")).to_be_visible()
        copied = page.evaluate("navigator.clipboard.readText()")
        before = read_out(page)
    with running_app() as (fresh, _), visitor(browser) as page:
        page.goto(f"{fresh}/?{urlsplit(copied).query}")
        picture_shown(page)
        expect(page.get_by_label("Text", exact=True)).to_have_value(SENTENCE)
        expect(page.get_by_text("Layer 3, head 5.", exact=True)).to_be_visible()
        assert read_out(page) == before
        assert before[2] == pytest.approx(weights[2, 4, before[0], before[1]], abs=1e-6)


@pytest.mark.parametrize("page_name", ["explore", "checkpoints"])
def test_a_page_opened_first_on_a_fresh_server_has_its_menu_and_keeps_its_address(browser, page_name):
    with running_app() as (fresh, _), visitor(browser) as page:
        page.goto(f"{fresh}/{page_name}?layer=3")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        idle(page)
        for title in ("Explore", "Checkpoints"):
            expect(page.get_by_role("link", name=title)).to_be_visible()
        assert "layer=3" in page.url
        other = "Checkpoints" if page_name == "explore" else "Explore"
        page.get_by_role("link", name=other).click()
        expect(page).to_have_url(
            re.compile(r"/checkpoints\?layer=3$" if other == "Checkpoints" else r":\d+/\?layer=3$")
        )
        assert page.get_by_role("dialog").count() == 0, "no page was missing"


def test_muting_every_head_changes_the_prediction_as_the_model_says(browser, address):
    edits = Edits(muted=frozenset(HeadSite("encoder", 0, head) for head in range(8)))
    checkpoint = load_checkpoint("sentiment")
    with visitor(browser) as page:
        page.goto(f"{address}/?{urlencode({'text': SENTENCE})}")
        picture_shown(page)
        page.get_by_role("button", name="None", exact=True).click()
        page.get_by_text("Mute the heads that are off").click()
        expect(page.get_by_text("Before muting")).to_be_visible()
        for probabilities, place in (
            (checkpoint.classify(SENTENCE, edits=edits), page.get_by_test_id("stMetricValue")),
            (checkpoint.classify(SENTENCE), page.get_by_text("Before muting")),
        ):
            label = max(probabilities, key=probabilities.__getitem__)
            expect(place).to_contain_text(f"{label} {100 * probabilities[label]:.1f}")


def test_the_downloaded_files_hold_the_weights_of_the_trace(browser, address, weights):
    with visitor(browser) as page:
        page.goto(f"{address}/?{urlencode({'text': SENTENCE, 'heads': '2', 'layer': '1'})}")
        picture_shown(page)
        page.get_by_test_id("stPopover").get_by_role("button").click()
        with page.expect_download() as npz:
            page.get_by_role("button", name="All weights (NPZ)").click()
        with page.expect_download() as csv:
            page.get_by_role("button", name="This layer (CSV)").click()
        with np.load(npz.value.path()) as file:
            assert np.allclose(file["weights"], weights, atol=1e-6)
        rows = Path(csv.value.path()).read_text(encoding="utf-8-sig").splitlines()[1:]
        column = np.array([float(row.rsplit(",", 1)[1]) for row in rows])
        assert np.allclose(column, weights[1, 2].reshape(-1), atol=1e-6)


@pytest.mark.parametrize(
    "text",
    [
        "<img src=x onerror='document.title=\"run\"'> good <b>film</b>",
        "![picture](https://example.org/a.png) **good** $\\frac{1}{2}$ :red[x]",
        "</script><script>document.title='run'</script>",
    ],
)
def test_a_text_in_a_link_stays_text(browser, address, text):
    with visitor(browser) as page:
        page.goto(f"{address}/?{urlencode({'text': text})}")
        picture_shown(page)
        expect(page.get_by_label("Text", exact=True)).to_have_value(text)
        assert page.title() != "run"
        assert page.locator("[data-testid=stMain] :is(img, script, .katex)").count() == 0


def test_the_browsers_back_button_undoes_a_choice(browser, address):
    with visitor(browser) as page:
        page.goto(address)
        picture_shown(page)
        for number in ("2", "3"):
            press(page, "layer", number)
            expect(page.get_by_text(f"Layer {number}, mean of heads")).to_be_visible()
            idle(page)
        for number in ("2", "1"):
            page.go_back()
            expect(page.get_by_text(f"Layer {number}, mean of heads")).to_be_visible()
            idle(page)


@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("page_name", ["", "checkpoints"])
def test_the_pages_fit_the_window_in_both_themes(browser, address, page_name, dark, width):
    theme = DARK if dark else LIGHT
    with visitor(browser, dark=dark, width=width) as page:
        page.goto(f"{address}/{page_name}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        idle(page)
        if not page_name:
            picture_shown(page)
            background = page.locator("[data-testid=stPlotlyChart] .main-svg").first.evaluate("e => e.style.background")
            assert background == "rgb({}, {}, {})".format(*bytes.fromhex(theme.background[1:]))
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        PICTURES.mkdir(exist_ok=True)
        name = f"{page_name or 'explore'}-{'dark' if dark else 'light'}-{width}.png"
        page.screenshot(path=PICTURES / name)
