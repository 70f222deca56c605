"""The page Heads that matter in a real browser."""

import re

import pytest
from playwright.sync_api import Page, expect

from model import Edits, HeadSite, load_checkpoint
from tests.running import back, go_to, has_page, idle, no_complaint, open_page, visitor
from tests.viz.explorer.test_browser import serious

TEXT = "The film was slow, but I loved it."
PAGE = "Heads that matter"


def press_cell(page: Page, layer: int, head: int) -> None:
    """Press a head of the picture, where its number stands."""
    box = page.locator(f'svg path[aria-label^="layer {layer}, head {head}:"]').bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


@pytest.mark.parametrize("size", [(1366, 768), (390, 844)], ids=["laptop", "phone"])
def test_a_head_is_pressed_muted_and_looked_at_elsewhere(browser, address, size):
    muted = Edits(muted=frozenset([HeadSite("encoder", 2, 4)]))
    classify = load_checkpoint("sentiment").classify
    before, expected = (100 * classify(TEXT, edits)["positive"] for edits in (Edits(), muted))
    with visitor(browser, width=size[0], height=size[1]) as page:
        open_page(page, address, PAGE, text=TEXT)
        press_cell(page, 3, 5)
        page.wait_for_url(re.compile("layer=2&head=4|head=4&layer=2"))
        main = page.get_by_test_id("stMain")
        expect(main.get_by_text(re.compile(f"→ {expected:.2f}.% without it"))).to_be_visible()
        main.get_by_role("button", name="Mute it").click()
        expect(
            main.get_by_text(f"Muted: head 5 of layer 3. positive {before:.1f}\u00a0% → {expected:.1f}\u00a0%")
        ).to_be_visible()
        expect(page.locator('svg path[aria-label^="layer 3, head 5:"]').first).to_be_visible()
        idle(page)
        assert serious(page) == []
        main.get_by_role("button", name="Unmute it").click()
        expect(main.get_by_text("Muted: head")).to_have_count(0)
        main.get_by_role("link", name="See where it looks").click()
        has_page(page, "Explore")
        assert "layer=2" in page.url
        no_complaint(page)
        page.go_back()
        has_page(page, PAGE)
        expect(main.locator("strong").get_by_text("layer 3, head 5", exact=True)).to_be_visible()
        no_complaint(page)


def test_another_attention_and_what_replaces_a_head_stand_in_the_address(browser, address):
    with visitor(browser) as page:
        open_page(page, address, PAGE, text="The red house is big.", checkpoint="translate-en-fr")
        page.get_by_test_id("stMain").get_by_text("cross-attention, decoder to encoder").click()
        page.wait_for_url("**attention=cross**")
        page.get_by_test_id("stMain").get_by_text("its mean in this text", exact=True).click()
        page.wait_for_url("**baseline=mean**")
        idle(page)
        title = page.get_by_role("heading", level=1).inner_text()
        assert title.startswith(("Without head", "No single head"))
        page.reload()
        expect(page.get_by_role("heading", level=1)).to_have_text(title)
        no_complaint(page)
        go_to(page, "Explore")
        go_to(page, PAGE)
        no_complaint(page)


def test_an_attention_of_the_waterfall_is_pressed_and_its_heads_stand_apart(browser, address):
    with visitor(browser) as page:
        open_page(page, address, PAGE, text=TEXT)
        bar = page.locator('svg path[aria-label^="layer 3, attention:"]')
        bar.scroll_into_view_if_needed()
        box = bar.bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.wait_for_url(re.compile("layer=2"))
        expect(page.locator('svg path[aria-label^="layer 3, head 8:"]')).to_have_count(2)  # in the grid, and here
        expect(page.locator('svg path[aria-label*="after the embedding"]').first).to_be_visible()
        page.get_by_test_id("stMain").get_by_text("nats of log-odds", exact=True).click()
        page.wait_for_url("**unit=nats**")
        expect(page.get_by_role("heading", level=1)).to_contain_text("the log-odds of the verdict")
        idle(page)
        assert serious(page) == []
        no_complaint(page)


def test_after_back_the_ring_is_where_it_was(browser, address):
    with visitor(browser, width=1366, height=768) as page:
        open_page(page, address, PAGE, text=TEXT)
        idle(page)
        ring = page.locator('svg path[stroke-width="3"][fill-opacity="0"]').first
        first = str(ring.get_attribute("d"))
        for _ in range(2):
            press_cell(page, 3, 5)
            page.wait_for_url(re.compile("layer=2&head=4|head=4&layer=2"))
            expect(ring).not_to_have_attribute("d", first)
            back(page, PAGE)
            expect(ring).to_have_attribute("d", first)
