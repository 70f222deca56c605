"""The page Is attention the explanation? in a real browser."""

import re

import pytest
from playwright.sync_api import expect

from tests.running import back, has_page, idle, no_complaint, open_page, visitor
from tests.viz.explorer.test_browser import serious

TEXT = "The film was slow, but I loved it."
PAGE = "Is attention the explanation?"


@pytest.mark.parametrize("size", [(1366, 768), (390, 844)], ids=["laptop", "phone"])
def test_a_token_is_pressed_and_looked_at_elsewhere(browser, address, size):
    with visitor(browser, width=size[0], height=size[1]) as page:
        open_page(page, address, PAGE, text=TEXT)
        main = page.get_by_test_id("stMain")
        expect(page.get_by_role("heading", level=1)).to_contain_text("“loved”")
        box = page.locator('svg path[aria-label^="slow:"]').first.bounding_box()
        assert box is not None
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.wait_for_url(re.compile("key=3"))
        expect(main.get_by_text("Without “slow”, the verdict “positive” goes from ")).to_be_visible()
        expect(main.get_by_text("The integrated gradients sum to")).to_be_visible()
        idle(page)
        assert serious(page) == []
        main.get_by_role("link", name="See the head that looks at it most").click()
        has_page(page, "Explore")
        no_complaint(page)
        page.go_back()
        has_page(page, PAGE)
        expect(main.get_by_text("Without “slow”, the verdict “positive” goes from ")).to_be_visible()
        no_complaint(page)


def test_rollout_alone_stands_in_the_address_and_a_text_without_an_answer_is_told(browser, address):
    with visitor(browser) as page:
        open_page(page, address, PAGE, text="The red house is big.", checkpoint="translate-en-fr")
        page.get_by_test_id("stMain").get_by_text("attention alone", exact=True).click()
        page.wait_for_url("**rollout=alone**")
        idle(page)
        title = page.get_by_role("heading", level=1).inner_text()
        page.reload()
        expect(page.get_by_role("heading", level=1)).to_have_text(title)
        no_complaint(page)


def test_after_back_the_marked_row_is_that_of_the_numbers_below_and_can_be_pressed_again(browser, address):
    with visitor(browser, width=1366, height=768) as page:
        open_page(page, address, PAGE, text=TEXT)
        expect(page.get_by_role("heading", level=1)).to_contain_text("“loved”")
        idle(page)
        rows = {word: page.locator(f'svg path[aria-label^="{word}:"]').first for word in ("slow", "loved")}
        plain, marked = (str(rows[word].get_attribute("fill")) for word in ("slow", "loved"))
        assert plain != marked
        for _ in range(2):
            box = rows["slow"].bounding_box()
            assert box is not None
            page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            page.mouse.move(5, 5)
            page.wait_for_url(re.compile("key=3"))
            expect(rows["slow"]).to_have_attribute("fill", marked)
            expect(rows["loved"]).to_have_attribute("fill", plain)
            back(page, PAGE)
            expect(rows["loved"]).to_have_attribute("fill", marked)
            expect(rows["slow"]).to_have_attribute("fill", plain)
