"""The page on positions in a real browser."""

import math
import re
from functools import partial
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from model import load_checkpoint
from tests.running import comes_true, fits, idle, open_from_menu, visitor
from tests.viz.explorer.test_browser import serious

CHARTS, FIRST_CHARTS = 14, 2  # with all sections unfolded, and with none
TALL = 6600  # of the window, so that all of the page is drawn and checked


def opened(page: Page, address: str) -> None:
    """Unfold every section, and wait until every picture is drawn."""
    page.goto(f"{address}/positions?sections=0.1.2.3.4.5")
    expect(page.locator(".js-plotly-plot")).to_have_count(CHARTS)
    expect(page.locator(".js-plotly-plot .xaxislayer-above").last).to_be_attached()
    idle(page)


def drawn(page: Page, key: str, script: str) -> list[float]:
    """What Plotly holds of one picture; ``data`` are its traces."""
    plot = page.locator(f".st-key-{key} .js-plotly-plot").first  # while it changes, there may be two
    return plot.evaluate(f"plot => {{ const data = plot._fullData; return Array.from({script} ?? []) }}")


def compare(page: Page, key: str, script: str, expected: list[float]) -> None:
    assert drawn(page, key, script) == pytest.approx(expected, abs=1e-6)


def test_a_text_and_a_size_that_are_typed_are_drawn(browser, address):
    encoder = load_checkpoint("sentiment").trace("A dog saw a cat.").encoder
    assert encoder is not None
    assert encoder.embedding.position is not None
    with visitor(browser) as page:
        opened(page, address)
        page.get_by_label("Text", exact=True).fill("A dog saw a cat.")
        page.get_by_label("Text", exact=True).press("Control+Enter")
        expect(page.get_by_text("5 · cat").first).to_be_visible()
        for place, part in enumerate((encoder.embedding.token, encoder.embedding.position, encoder.embedding.total)):
            comes_true(page, partial(compare, page, "sum", f"data[{place}].z[3]", part[3].tolist()))
        page.get_by_label("Dimensions", exact=True).fill("6")
        page.get_by_label("Dimensions", exact=True).press("Enter")
        expect(page.get_by_text("All 6 dimensions of 100 positions")).to_be_visible()
        expected = [
            wave(place / 10_000 ** (even / 6)) for place in [99] for even in (0, 2, 4) for wave in (math.sin, math.cos)
        ]
        comes_true(page, partial(compare, page, "heatmap", "data[0].z[99]", expected))
        for width in ("1", "32"):  # without a pair to rotate, and with one again
            page.get_by_label("Dimensions", exact=True).fill(width)
            page.get_by_label("Dimensions", exact=True).press("Enter")
            expect(page.get_by_text("One dimension has no pair")).to_have_count(1 if width == "1" else 0)
        for name, value in (("Pair", "2"), ("Position", "3"), ("Shift", "5")):
            expect(page.get_by_label(name, exact=True)).to_have_value(value)


def test_a_text_typed_in_explore_is_there_and_pointing_at_a_cell_names_it(browser, address):
    with visitor(browser) as page:
        page.goto(f"{address}/?text=A+dog+saw+it")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        idle(page)
        open_from_menu(page, "Positions")
        expect(page.locator(".js-plotly-plot")).to_have_count(FIRST_CHARTS)
        page.get_by_text("The position vectors", exact=True).click()
        expect(page.locator(".js-plotly-plot")).to_have_count(FIRST_CHARTS + 2)
        page.wait_for_url("**/positions?*sections=0*")
        idle(page)
        expect(page.get_by_label("Text", exact=True)).to_have_value("A dog saw it")
        expect(page.get_by_text("4 · it").first).to_be_visible()
        expected = f"position 49, dimension 64: {math.sin(49 / 10_000**0.5):.6f}"

        def named() -> bool:
            point(page, "heatmap", 64.5 / 128, 0.5)
            return expected in (page.locator(".st-key-heatmap .hoverlayer").text_content() or "")

        comes_true(page, named)  # a chart may still grow after the pointer has come to it


def point(page: Page, key: str, across: float, down: float) -> None:
    """Bring the pointer over a picture, by shares of its width and height."""
    area = page.locator(f".st-key-{key} .nsewdrag").first
    box = area.bounding_box()
    assert box is not None
    area.hover(position={"x": across * box["width"], "y": down * box["height"]})


def pointed_at(page: Page, key: str, across: float, down: float) -> str:
    """What a picture says where one points, by shares of its width and height."""
    point(page, key, across, down)
    label = page.locator(f".st-key-{key} .hoverlayer .hovertext").first
    expect(label).to_be_visible()
    return label.text_content() or ""


def test_numbers_below_0_have_a_minus_where_one_points(browser, address):
    with visitor(browser) as page:
        opened(page, address)
        for key, down in (("heatmap", 0.9), ("curves", 0.9)):
            label = pointed_at(page, key, 0.2, down)
            position, dimension, number = re.findall("[0-9.−-]+", label)
            waves = (math.sin, math.cos)[int(dimension) % 2]
            expected = waves(int(position) / 10_000 ** (int(dimension) // 2 * 2 / 128))
            assert expected < 0
            assert number == f"{expected:.6f}".replace("-", "−")
        turned = 8 / 10_000 ** (4 / 128)  # the hand of position 8, in a picture from −1.1 to 1.1
        across, down = (math.sin(turned) + 1.1) / 2.2, (1.1 - math.cos(turned)) / 2.2
        assert f"sine −{abs(math.sin(turned)):.6f}, cosine" in pointed_at(page, "rotation", across, down)


def test_what_is_set_is_in_the_address_and_comes_back_with_it(browser, address):
    with visitor(browser) as page:
        opened(page, address)
        page.get_by_label("Positions", exact=True).fill("7")
        page.get_by_label("Positions", exact=True).press("Enter")
        expect(page.get_by_text("All 128 dimensions of 7 positions")).to_be_visible()
        page.get_by_label("Shift", exact=True).fill("2")
        page.get_by_label("Shift", exact=True).press("Enter")
        expect(page.get_by_text("at position 5")).to_be_visible()
        page.wait_for_url("**/positions?*length=7*")
        page.wait_for_url("**/positions?*shift=2*")
        with visitor(browser) as other:
            other.goto(page.url)
            expect(other.get_by_text("All 128 dimensions of 7 positions")).to_be_visible()
            expect(other.get_by_label("Shift", exact=True)).to_have_value("2")
            expect(other.get_by_text("at position 5")).to_be_visible()


def test_a_long_token_leaves_the_picture_most_of_a_phone_and_is_named_whole_where_one_points(browser, address):
    with visitor(browser, width=390, height=2000) as page:
        page.goto(f"{address}/positions?{urlencode({'text': 'unforgettable ' + 'x' * 200})}")
        picture = page.locator(".st-key-sum .nsewdrag").first
        expect(picture).to_be_visible()
        idle(page)
        box = picture.bounding_box()
        assert box is not None
        assert box["width"] > 390 / 2
        picture.hover(position={"x": box["width"] / 2, "y": 4})
        expect(page.locator(".st-key-sum .hoverlayer")).to_contain_text("token 1 · unforgettable, dimension")


@pytest.mark.parametrize(("width", "dark"), [(1440, False), (390, True)], ids=["light", "dark"])
def test_axe_finds_nothing_serious_and_the_page_fits_the_window(browser, address, width, dark):
    with visitor(browser, dark=dark, width=width, height=TALL if width > 1000 else 10_400) as page:
        opened(page, address)
        fits(page, width)
        for plot in page.locator(".js-plotly-plot").all():
            box = plot.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
        assert serious(page) == []
