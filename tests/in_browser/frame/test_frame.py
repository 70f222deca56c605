"""What every page begins with: its question, what was found, and the picture, to be seen without scrolling."""

from functools import partial

import pytest
from playwright.sync_api import Page, expect

from tests.pages.test_every_page import opened
from tests.running import PAGES, asks, comes_true, has_page, idle, open_page, visitor

LAPTOP, PHONE = (1366, 768), (390, 844)
TOPS = {LAPTOP: 280, PHONE: 460}  # pixels above the picture, at most
IN_SIGHT = 2 / 3  # of it, on a laptop
PICTURE = ".st-key-picture"
DRAWN = "canvas, svg, img, table, .headlight, .formula, [data-testid=stVegaLiteChart]"
SMALLEST = 100  # pixels; less is no picture


def place(page: Page) -> dict[str, float]:
    """Where the picture is, once something stands in it."""
    box = page.locator(PICTURE).bounding_box()
    assert box is not None
    assert box["height"] > SMALLEST
    assert page.locator(PICTURE).locator(DRAWN).count()
    return {"top": box["y"], "height": box["height"]}


def has_picture(page: Page) -> None:
    place(page)


@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["laptop", "phone"])
@pytest.mark.parametrize("title", PAGES)
def test_the_picture_of_every_page_is_seen_without_scrolling(browser, address, title, size):
    width, height = size

    def high_enough() -> None:
        box = place(page)
        assert box["top"] <= TOPS[size]
        if size == LAPTOP:
            assert (height - box["top"]) / box["height"] >= IN_SIGHT

    with visitor(browser, width=width, height=height) as page:
        open_page(page, address, title)
        comes_true(page, high_enough)
        comes_true(page, partial(nothing_is_covered, page))


# What can be pressed, in every shadow root, but is not what a finger on its middle would meet.
COVERED = """() => {
  const roots = [document]
  for (const root of roots) {
    roots.push(...[...root.querySelectorAll("*")].map((one) => one.shadowRoot).filter(Boolean))
  }
  const within = (outer, one) => one && (one === outer || within(outer, one.parentNode ?? one.host))
  const met = (x, y, root = document) => {
    const top = root.elementFromPoint(x, y)
    return top?.shadowRoot && top.shadowRoot !== root ? met(x, y, top.shadowRoot) ?? top : top
  }
  const pressed = roots.flatMap((root) => [...root.querySelectorAll("button, a[href], textarea, select, summary")])
  const seen = pressed.filter((one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
  return seen.filter((one) => {
    const { x, y, width, height } = one.getBoundingClientRect()
    const [middle, centre] = [x + width / 2, y + height / 2]
    const inside = width > 1 && middle > 0 && middle < innerWidth - 1 && centre > 0 && centre < innerHeight - 1
    return inside && !within(one, met(middle, centre))
  }).map((one) => one.outerHTML.slice(0, 120))
}"""


def nothing_is_covered(page: Page) -> None:
    assert page.evaluate(COVERED) == []


def test_with_the_sidebar_folded_nothing_lies_over_the_bar(browser, address):
    width, height = LAPTOP
    with visitor(browser, width=width, height=height) as page:
        open_page(page, address, "Explore")
        page.get_by_test_id("stSidebar").hover()
        page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()
        expect(page.get_by_test_id("stExpandSidebarButton")).to_be_visible()
        comes_true(page, partial(nothing_is_covered, page))
        field = page.get_by_role("textbox", name="Text", exact=True)
        field.click()
        expect(field).to_be_focused()
        page.get_by_test_id("stExpandSidebarButton").click()
        expect(page.get_by_test_id("stSidebar").get_by_role("link", name="Write", exact=True)).to_be_visible()


@pytest.mark.parametrize("title", [title for title in PAGES if title != "Learn"])  # it has its own way to hide
def test_a_picture_alone_has_nothing_around_it_and_hides_what_was_found_until_asked(browser, address, title):
    with visitor(browser, width=1280, height=720) as page:
        open_page(page, address, title)
        heading_text = page.get_by_role("heading", level=1).inner_text()
        page.goto(f"{address}/{PAGES[title][0]}?view=picture")
        question = page.get_by_test_id("stExpander").get_by_text(PAGES[title][1])
        question.wait_for()
        comes_true(page, lambda: has_picture(page))
        assert page.get_by_test_id("stSidebar").get_by_role("link").count() == 0
        assert page.locator(".bar").count() == 0
        heading = page.get_by_role("heading", level=1)
        assert heading.count() == 0 or not heading.is_visible()
        below = page.evaluate("""() => {
            const end = document.querySelector(".st-key-picture").getBoundingClientRect().bottom
            const all = document.querySelectorAll("[data-testid=stMain] p, [data-testid=stMain] button")
            return [...all].filter((each) => each.getBoundingClientRect().top > end).map((each) => each.textContent)
        }""")
        assert below == []
        question.click()
        heading.wait_for()
        assert heading.inner_text() == heading_text
        assert "view=picture" in page.url


def test_a_picture_alone_stays_alone_while_it_is_used(browser, address):
    with visitor(browser, width=1280, height=720) as page:
        open_page(page, address, "Explore")
        page.goto(f"{address}/?view=picture&text=A+fine+film.")
        comes_true(page, lambda: has_picture(page))
        page.locator(".word").first.click()
        page.keyboard.press("ArrowDown")
        expect(page.locator(".word").first).to_have_attribute("aria-pressed", "true")
        comes_true(page, lambda: has_picture(page))
        assert page.locator(".bar").count() == 0
        assert "view=picture" in page.url


def test_a_view_that_there_is_not_is_a_page_as_any_other():
    app = opened(view="nonsense")
    assert not app.exception
    assert app.main.caption or app.title


def test_the_question_stands_above_what_was_found(browser, address):
    with visitor(browser) as page:
        open_page(page, address, "Translate")
        has_page(page, "Translate")
        asks(page, PAGES["Translate"][1])


# In every frame: where the newcomers' link stands, and whether the finding was there and is gone.
STEADY = """
window.seen = { tops: [], lost: 0 }
;(function look() {
  const finding = document.querySelector(".st-key-finding")
  const link = [...document.querySelectorAll(".st-key-start a")].find((one) => one.checkVisibility())
  const top = link ? Math.round(link.getBoundingClientRect().top) : null
  if (top !== null && !window.seen.tops.includes(top)) window.seen.tops.push(top)
  if (!finding && window.seen.tops.length) window.seen.lost++
  requestAnimationFrame(look)
})()
"""


@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_what_can_be_pressed_early_does_not_move_as_the_first_page_arrives(browser, address, size):
    width, height = size
    for _ in range(3):
        with visitor(browser, width=width, height=height) as page:
            page.add_init_script(STEADY)
            open_page(page, address, "Explore")
            seen = page.evaluate("window.seen")
            assert len(seen["tops"]) == 1
            assert not seen["lost"]


def test_the_page_that_a_link_at_the_end_leads_to_begins_at_its_top(browser, address):
    with visitor(browser) as page:
        open_page(page, address, "Explore", checkpoint="translate-en-fr", text="Wonderful")
        main = page.get_by_test_id("stMain")
        main.evaluate("node => node.scrollTo(0, node.scrollHeight)")
        page.get_by_role("link", name="Next: inside this head").click()
        has_page(page, "Inside a head")
        idle(page)
        comes_true(page, lambda: main.evaluate("node => node.scrollTop") == 0)
