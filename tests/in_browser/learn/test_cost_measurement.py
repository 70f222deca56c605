"""Measuring an LSTM and a Transformer anew in a real browser: progress, Stop, and the numbers of this server."""

import re

from playwright.sync_api import expect

from pages.parts.learn.stops import PATH
from pages.parts.learn.stops.recurrent_network import STOP
from tests.in_browser.learn.test_learn import open_stop
from tests.running import idle, no_complaint, visitor

NUMBER = PATH.index(STOP) + 1


def test_a_measurement_shows_how_far_it_is_can_be_stopped_and_done_again(browser, address):
    with visitor(browser, width=1366, height=768) as page:
        open_stop(page, address, NUMBER, round="2", guesses=f"{NUMBER}.2a")
        expect(page.get_by_text("Recorded on")).to_be_visible()
        page.get_by_role("button", name="Measure it here").click()
        expect(page.get_by_role("progressbar")).to_be_visible()
        page.get_by_role("button", name="Stop", exact=True).click()
        expect(page.get_by_role("progressbar")).to_have_count(0)
        idle(page)
        expect(page.get_by_text("Recorded on")).to_be_visible()
        no_complaint(page)
        page.get_by_role("button", name="Measure it here").click()
        expect(page.get_by_text(re.compile("Measured here just now"))).to_be_visible()
        idle(page)
        no_complaint(page)
