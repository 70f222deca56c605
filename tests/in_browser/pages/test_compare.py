"""The page Compare in a real browser."""

import re

import pytest
from playwright.sync_api import expect

from tests.running import answered, has_page, idle, no_complaint, open_page, press, visitor
from tests.viz.explorer.test_browser import serious

TEXT = "The film was slow, but I loved it."
PAGE = "Compare"


@pytest.mark.parametrize("size", [(1366, 768), (390, 844)], ids=["laptop", "phone"])
def test_a_head_is_pressed_and_looked_at_in_both_texts(browser, address, size):
    with visitor(browser, width=size[0], height=size[1]) as page:
        open_page(page, address, PAGE, text=TEXT)
        main = page.get_by_test_id("stMain")
        expect(page.get_by_role("heading", level=1)).to_contain_text("looks most at")
        box = page.locator(".st-key-picture").bounding_box()
        assert box is not None
        assert box["y"] <= (280 if size[0] > 768 else 460)
        cell = page.locator('svg path[aria-label^="layer 2, head 3:"]').first.bounding_box()
        assert cell is not None
        page.mouse.click(cell["x"] + cell["width"] / 2, cell["y"] + cell["height"] / 2)
        page.wait_for_url(re.compile("layer=1"))
        expect(main.get_by_text("layer 2, head 3", exact=True).first).to_be_visible()
        idle(page)
        assert serious(page) == []
        main.get_by_role("link", name="B in Explore").first.click()
        has_page(page, "Explore")
        expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value("I loved the film, but it was slow.")
        no_complaint(page)


def test_two_partners_are_parted_joined_again_and_kept_in_the_address(browser, address):
    with visitor(browser) as page:
        open_page(page, address, PAGE, text=TEXT)
        page.get_by_role("button", name="A 2 · film, partner 4 · film").click()
        with answered(page):
            page.get_by_role("button", name="B 4 · film, partner 2 · film").click()
        page.wait_for_url("**aligned=**")
        expect(page.get_by_role("button", name="A 2 · film, no partner")).to_be_visible()
        page.reload()
        expect(page.get_by_role("button", name="A 2 · film, no partner")).to_be_visible()
        idle(page)
        assert serious(page) == []
        press(page, "As found")
        expect(page.get_by_role("button", name="A 2 · film, partner 4 · film")).to_be_visible()
        no_complaint(page)


def test_another_second_text_is_typed_and_compared(browser, address):
    with visitor(browser) as page:
        open_page(page, address, PAGE, text=TEXT)
        field = page.get_by_role("textbox", name="Second text, B")
        field.fill("The film was slow, and I hated it.")
        with answered(page):
            field.press("Enter")
        page.wait_for_url("**other=**")
        expect(page.get_by_role("button", name="B 8 · hated, partner 8 · loved")).to_be_visible()
        no_complaint(page)
