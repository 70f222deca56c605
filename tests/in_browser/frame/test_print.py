"""A page on paper: nothing is wider than the sheet, nothing that can only be clicked is printed."""

import pytest
from playwright.sync_api import Page

from tests.running import PAGES, comes_true, idle, open_page, visitor

SHEET = 718  # pixels, of A4 with margins of 10 mm
WIDER = f"""() => {{
  const seen = (element) => element.checkVisibility() && element.getBoundingClientRect().width > 0
  const within = (one) => [one, ...(one.shadowRoot ? inside(one.shadowRoot) : [])]
  const inside = (root) => [...root.querySelectorAll("*")].flatMap(within)
  const main = document.querySelector("[data-testid=stMainBlockContainer]")
  const left = main.getBoundingClientRect().left
  const drawn = inside(main).filter((one) => ["CANVAS", "IMG", "svg", "TABLE", "P"].includes(one.tagName) && seen(one))
  return drawn.filter((one) => !one.closest("[data-testid=stDataFrame]"))
    .filter((one) => one.getBoundingClientRect().right - left > {SHEET} + 1)
    .map((one) => one.outerHTML.slice(0, 120))
}}"""
CLICKED = """() => [...document.querySelectorAll("[data-testid=stMain] button, [data-testid=stSidebar] a")]
  .filter((one) => one.checkVisibility()).map((one) => one.textContent)"""
FIGURES = """() => [...document.querySelectorAll("[data-testid^=stBidiComponent], [data-testid^=stBidiComponent] *")]
  .map((one) => one.shadowRoot?.querySelector(".headlight")).filter((one) => one).map((one) => {
    const { left, right } = one.getBoundingClientRect()
    return [right - left, ...[...one.querySelectorAll("canvas")].map((each) => each.width)]
  })"""


def printed(page: Page, title: str) -> None:
    """Nothing is cut at the right, and nothing is there to be clicked."""
    assert page.evaluate(WIDER) == [], title
    assert page.evaluate("document.documentElement.scrollWidth") <= SHEET
    assert page.evaluate(CLICKED) == [], title


def begins_to_print(page: Page) -> None:
    """The page hears that it will be printed: what listens for it may come after the server is idle."""
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.documentElement.hasAttribute('data-printing')")


@pytest.mark.parametrize("title", PAGES)
def test_on_paper_nothing_is_wider_than_the_sheet_and_there_is_nothing_to_click(browser, address, title):
    with visitor(browser, width=SHEET, height=1000) as page:
        open_page(page, address, title)
        page.emulate_media(media="print")
        comes_true(page, lambda: printed(page, title))


@pytest.mark.parametrize("title", ["Explore", "How we know"])
def test_what_is_drawn_for_a_wide_window_is_made_to_fit_before_it_is_printed_and_is_as_before_then(
    browser, address, title
):
    with visitor(browser, width=1366, height=768) as page:
        open_page(page, address, title)
        idle(page)
        before = page.evaluate(FIGURES)
        comes_true(page, lambda: begins_to_print(page))
        page.emulate_media(media="print")
        assert page.evaluate(WIDER) == []
        for now, then in zip(page.evaluate(FIGURES), before, strict=True):
            assert now[0] <= SHEET + 1
            assert now[1:] == then[1:], "a canvas that is drawn anew prints blank"
        page.emulate_media(media="screen")
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.evaluate(FIGURES) == before


def test_a_page_prints_on_sheets(browser, address, tmp_path):
    with visitor(browser, width=1366, height=768) as page:
        open_page(page, address, "Explore")
        page.pdf(path=tmp_path / "explore.pdf", format="A4")
        assert (tmp_path / "explore.pdf").read_bytes().count(b"/Type /Page\n") in range(1, 6)
        assert not page.evaluate("document.documentElement.hasAttribute('data-printing')")
