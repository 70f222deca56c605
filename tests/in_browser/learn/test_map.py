"""The map and the page What it costs in a real browser: boxes lead to their pages and back, by mouse and by keys."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.running import (
    PRESS_STOP,
    answered,
    back,
    entries,
    fits,
    has_page,
    idle,
    no_complaint,
    open_page,
    press,
    visitor,
)
from tests.viz.explorer.test_browser import serious


def box(page: Page, name: str, place: str = "map") -> Locator:
    """A box of a map."""
    return page.locator(f".st-key-{place} [data-box='{name}']")


def test_a_box_of_a_checkpoint_leads_to_its_page_with_one_entry_and_back(browser, address):
    with visitor(browser, width=1366, height=768) as page:
        open_page(page, address, "Models")
        before = entries(page)
        box(page, "decoder.cross_attention", "map_2").click()
        has_page(page, "Explore")
        assert entries(page) == before + 1
        assert "checkpoint=translate-en-fr" in page.url
        assert "attention=cross" in page.url
        no_complaint(page)
        back(page, "Models")
        expect(box(page, "projection", "map_2")).to_have_attribute("href", re.compile(r"^\./translate"))
        box(page, "projection", "map_2").press("Enter")
        has_page(page, "Translate")
        no_complaint(page)


def test_on_inside_a_box_of_the_walk_is_a_step_and_marks_where_one_stands(browser, address):
    with visitor(browser, width=1366, height=768) as page:
        open_page(page, address, "Inside a head", step="product")
        expect(box(page, "encoder.self_attention")).to_have_attribute("aria-current", "step")
        feed_forward = box(page, "encoder.feed_forward")
        feed_forward.focus()
        with answered(page):
            page.keyboard.press("Enter")
        expect(feed_forward).to_have_attribute("aria-current", "step")
        expect(feed_forward).to_be_focused()
        assert "step=feed-forward" in page.url
        back(page, "Inside a head")
        expect(box(page, "encoder.self_attention")).to_have_attribute("aria-current", "step")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("title", ["Models", "Inside a head", "What it costs"])
def test_axe_finds_nothing_serious_and_it_fits_a_phone(browser, address, title, dark):
    with visitor(browser, dark=dark, height=3000) as page:
        open_page(page, address, title)
        assert serious(page) == []
        page.set_viewport_size({"width": 390, "height": 844})
        page.wait_for_timeout(300)
        fits(page, 390)


@pytest.mark.parametrize("size", [(1366, 768, 280), (390, 844, 460)], ids=["laptop", "phone"])
def test_the_picture_of_costs_is_seen_without_scrolling(browser, address, size):
    width, height, top = size
    with visitor(browser, width=width, height=height) as page:
        open_page(page, address, "What it costs")
        placed = page.locator(".st-key-picture").bounding_box()
        assert placed is not None
        assert placed["y"] <= top


def test_a_typed_width_is_counted_and_back_undoes_it(browser, address):
    with visitor(browser, width=1366, height=768) as page:
        open_page(page, address, "What it costs")
        field = page.get_by_label("Width (d_model)", exact=True)
        field.fill("1024")
        with answered(page):
            field.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_contain_text("This model has")
        assert "costs=width.1024" in page.url
        back(page, "What it costs")
        expect(page.get_by_role("heading", level=1)).to_contain_text("63.1 million")


def test_a_measurement_can_be_stopped_and_made_anew(browser, address):
    with visitor(browser, width=1366, height=768) as page:
        open_page(page, address, "What it costs")
        page.evaluate(PRESS_STOP)
        press(page, "Measure here")
        start = page.get_by_role("button", name=re.compile("Measure (here|again)"))  # stopped before or after a length
        expect(start).to_be_visible()
        expect(page.get_by_text("On this server, 512 tokens take")).to_have_count(0)
        idle(page)
        no_complaint(page)
        with answered(page):
            start.click()
        outcome = re.compile("On this server, (512 tokens take|.* disturbed this)")  # the tests are work of that kind
        expect(page.get_by_text(outcome)).to_be_visible()
        no_complaint(page)
