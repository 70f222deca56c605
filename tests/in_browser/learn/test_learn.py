"""Learn in a real browser: every stop is guessed, answered, left by its door and found again by Back."""

import re
from functools import partial
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page, expect

from pages.parts.learn.stops import PATH
from tests.running import (
    HEAR_THE_SERVER,
    answered,
    asks,
    comes_true,
    fits,
    idle,
    no_complaint,
    open_page,
    show_text,
    visitor,
)
from tests.viz.explorer.test_browser import serious

EVERY_STOP = range(1, len(PATH) + 1)
OWN = "We laughed all evening, but nobody in our row liked the ending."


def open_stop(page: Page, address: str, stop: int, **query: str) -> None:
    """Come to a stop by an address."""
    page.add_init_script(HEAR_THE_SERVER)
    page.goto(f"{address}/learn?{urlencode({'stop': stop, **query})}")
    at_stop(page, stop)


def at_stop(page: Page, stop: int) -> None:
    """Wait until this stop is on the screen."""
    asks(page, f"Question {stop} of {len(PATH)}")
    idle(page)


def options_of(page: Page) -> Locator:
    """The options of the question that is asked."""
    return page.locator(".st-key-guesses").get_by_role("button")


def heading(page: Page) -> str:
    return page.get_by_role("heading", level=1).inner_text()


@pytest.mark.parametrize("stop", EVERY_STOP)
def test_every_guess_of_a_stop_is_answered_and_its_door_leads_there_and_back(browser, address, stop):
    with visitor(browser, width=1366, height=768) as page:
        open_stop(page, address, stop)
        for number in range(1, len(PATH[stop - 1].rounds) + 1):
            expect(options_of(page).nth(1)).to_be_visible()
            question, count = heading(page), options_of(page).count()
            for option in range(count):
                with answered(page):
                    options_of(page).nth(option).click()
                expect(page.get_by_text("You guessed")).to_be_visible()
                assert heading(page) != question
                no_complaint(page)
            if number < len(PATH[stop - 1].rounds):
                answer = heading(page)
                with answered(page):
                    page.locator(".st-key-next_round").get_by_role("button").click()
                expect(page.get_by_role("heading", level=1)).not_to_have_text(answer)
        answer, place = heading(page), page.url
        page.locator(".st-key-door").get_by_role("link").click()
        expect(page.locator(".st-key-finding").filter(has_text=re.compile("Question \\d+ of"))).to_have_count(0)
        idle(page)
        no_complaint(page)
        page.go_back()
        at_stop(page, stop)
        expect(page.get_by_role("heading", level=1)).to_have_text(answer)
        assert page.url == place


def test_a_visitors_sentence_goes_along_the_whole_path(browser, address):
    with visitor(browser, width=1366, height=768) as page:
        open_stop(page, address, 1)
        show_text(page, OWN)
        for stop in EVERY_STOP[1:]:
            with answered(page):
                page.locator(".st-key-next_stop").get_by_role("button").click()
            at_stop(page, stop)
            no_complaint(page)
            assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop") == 0
        assert f"text={OWN.split()[0]}" in page.url


def test_the_first_page_leads_newcomers_here(browser, address):
    with visitor(browser) as page:
        open_page(page, address, "Explore")
        page.get_by_role("link", name="New here? Start: twelve questions, half an hour").click()
        at_stop(page, 1)
        page.go_back()
        asks(page, "Which words does each head look at?")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("stop", EVERY_STOP)
def test_axe_finds_nothing_serious_at_any_stop_and_it_fits_a_phone(browser, address, stop, dark):
    with visitor(browser, dark=dark, height=2000) as page:
        open_stop(page, address, stop, guesses=f"{stop}a")
        assert serious(page) == []
        page.set_viewport_size({"width": 390, "height": 844})
        page.wait_for_timeout(300)
        fits(page, 390)


@pytest.mark.parametrize("size", [(1366, 768, 280), (390, 844, 460)], ids=["laptop", "phone"])
@pytest.mark.parametrize("stop", EVERY_STOP)
def test_the_picture_of_every_stop_is_seen_without_scrolling(browser, address, stop, size):
    width, height, top = size
    with visitor(browser, width=width, height=height) as page:
        for guessed in ("", f"{stop}a"):
            open_stop(page, address, stop, guesses=guessed)
            comes_true(page, partial(begins_high, page, top))


def begins_high(page: Page, top: int) -> None:
    """The picture begins within so many pixels; what stands above it may still be drawn."""
    box = page.locator(".st-key-picture").bounding_box()
    assert box is not None
    assert box["y"] <= top


def test_a_question_can_be_guessed_and_answered_with_the_keyboard_alone(browser, address):
    with visitor(browser, width=1366, height=768) as page:
        open_stop(page, address, 1)
        first = options_of(page).first
        first.focus()
        with answered(page):
            page.keyboard.press("Enter")
        expect(page.get_by_text("You guessed")).to_be_visible()


def test_alone_on_a_projector_the_answer_waits_for_the_guess(browser, address):
    with visitor(browser, width=1280, height=720) as page:
        open_stop(page, address, 2, view="picture")
        assert page.locator(".bar").count() == 0
        question = heading(page)
        with answered(page):
            options_of(page).first.click()
        expect(page.get_by_role("heading", level=1)).not_to_have_text(question)
        assert "view=picture" in page.url
