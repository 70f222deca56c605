"""What the heads of a model do, on the page Models in a real browser."""

import pytest
from playwright.sync_api import expect

from tests.running import has_page, idle, no_complaint, open_page, visitor
from tests.viz.explorer.test_browser import serious

WIDER = "element => element.scrollWidth - element.clientWidth"


@pytest.mark.parametrize("size", [(1366, 768), (390, 844)], ids=["laptop", "phone"])
def test_a_head_opens_in_explore_and_nothing_is_wider_than_the_page(browser, address, size):
    with visitor(browser, width=size[0], height=size[1]) as page:
        open_page(page, address, "Models")
        main = page.get_by_test_id("stMain")
        main.get_by_text("Every kind, beside its null").first.click()
        idle(page)
        assert main.evaluate(WIDER) <= 0, "the table scrolls in its own place"
        assert serious(page) == []
        main.get_by_role("link", name="Layer 6, head 1: induction", exact=True).click()
        has_page(page, "Explore")
        expect(page.get_by_test_id("stMain")).to_contain_text("Layer 6, head 1 gives")
        no_complaint(page)
