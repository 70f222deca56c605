"""The page How we know in a real browser."""

import re

import pytest
from playwright.sync_api import Page, expect

from model import load_checkpoint
from tests.running import asks, download, fits, idle, visitor
from tests.viz.explorer.test_browser import serious

TEXT = "A dog saw a cat."
TALL = {1440: 3900, 390: 6000}  # of the window, so that all of the page is drawn and checked


def checked(page: Page) -> None:
    """Wait until all that was checked is on the screen."""
    expect(page.locator("[data-testid=stTable] td").last).to_be_visible()
    idle(page)


def test_a_text_that_is_typed_is_checked_and_its_numbers_are_those_of_the_trace(browser, address):
    encoder = load_checkpoint("sentiment").trace(TEXT).encoder
    assert encoder is not None
    with visitor(browser, height=TALL[1440]) as page:
        page.goto(f"{address}/evidence")
        checked(page)
        page.get_by_label("Text", exact=True).fill(TEXT)
        page.get_by_label("Text", exact=True).press("Control+Enter")
        row = page.get_by_role("row").filter(has=page.get_by_role("cell", name="attention weights", exact=True))
        expect(row).to_contain_text(f"{encoder.weights().numel():,}")
        checked(page)
        verdict, _, difference, allowed, ours, reference, where, *_ = row.get_by_role("cell").all_inner_texts()
        layer, head, query, key = (int(number) - 1 for number in re.findall(r"\d+", where))
        # Another process may add in another order, so that its last digits are others.
        assert float(ours) == pytest.approx(float(encoder.weights()[layer, head, query, key]), abs=1e-5)
        assert float(difference) == pytest.approx(abs(float(ours) - float(reference)), rel=0.05)
        assert (verdict.split(), float(difference) <= float(allowed)) == (["✓", "agrees"], True)
        assert ours in download(page, "Table (CSV)").path().read_text(encoding="utf-8-sig")


@pytest.mark.parametrize("page_name", ["", "inside"])
def test_other_pages_have_a_door_to_this_one_that_keeps_the_text(browser, address, page_name):
    with visitor(browser) as page:
        page.goto(f"{address}/{page_name}?text=A+dog+saw+it")
        page.get_by_role("link", name="How we know: all numbers checked").click()
        checked(page)
        asks(page, "Why should I believe this number?")
        expect(page.get_by_label("Text", exact=True)).to_have_value("A dog saw it")
        assert "text=A+dog+saw+it" in page.url


@pytest.mark.parametrize(("width", "dark"), [(1440, False), (390, True)], ids=["light", "dark"])
def test_axe_finds_nothing_serious_and_the_page_fits_the_window(browser, address, width, dark):
    with visitor(browser, dark=dark, width=width, height=TALL[width]) as page:
        page.goto(f"{address}/evidence")
        checked(page)
        fits(page, width)
        assert serious(page) == []


CUT = "table => table.parentElement.scrollWidth > table.parentElement.clientWidth"


@pytest.mark.parametrize("checkpoint", ["sentiment", "translate-en-fr"])
@pytest.mark.parametrize("width", [1366, 1280, 390])
def test_no_column_of_a_table_is_cut_without_a_sign(browser, address, width, checkpoint):
    with visitor(browser, width=width, height=6000) as page:
        page.goto(f"{address}/evidence?checkpoint={checkpoint}&text=A+dog+saw+it")
        checked(page)
        tables = page.locator("[data-testid=stTable] table")
        expect(tables).to_have_count(5)
        cut = [bool(table.evaluate(CUT)) for table in tables.all()]
        assert any(cut) == (width == 390)
        sign = page.get_by_text("Scroll the table sideways for its other columns")
        assert [one.is_visible() for one in sign.all()] == [width == 390] * 5
