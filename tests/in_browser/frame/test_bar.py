"""The bar at the top of every page, and the sidebar, in a real browser; and what a browser may send instead."""

import re
from functools import partial
from urllib.parse import parse_qsl, urlsplit

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from pages import FOLDER, MENU
from pages.parts.frame.bar import take_texts
from pages.parts.widgets.binding import is_among
from tests.running import (
    BARELESS,
    answered,
    asks,
    back,
    comes_true,
    download,
    fits,
    go_to,
    has_page,
    has_text,
    idle,
    no_complaint,
    open_from_menu,
    open_menu,
    open_page,
    picture_shown,
    running_app,
    visitor,
)
from tests.viz.explorer.test_browser import serious

TEXT, OTHER = "An odd film.", "Not a bad film."
UNSENT = re.compile("Not shown yet")


def field(page: Page):
    return page.get_by_label("Text", exact=True)


def opened(page: Page, address: str) -> None:
    page.goto(address)
    picture_shown(page)


def first_word(page: Page, word: str) -> None:
    expect(page.locator(".words button").first).to_have_text(word)


def test_enter_shows_the_text_and_shift_enter_begins_a_line(browser, address):
    with visitor(browser) as page:
        opened(page, address)
        field(page).fill("An odd")
        field(page).press("Shift+Enter")
        field(page).press_sequentially("film.")
        expect(field(page)).to_have_value("An odd\nfilm.")
        expect(page.get_by_text(UNSENT)).to_be_visible()
        field(page).press("Enter")
        first_word(page, "an")
        expect(page.get_by_text(UNSENT)).to_have_count(0)
        assert "text=An+odd%0Afilm." in page.url


def test_a_long_text_that_was_shown_covers_nothing_until_it_is_edited_again(browser, address):
    long = "I went to the cinema with my grandmother, and although the seats were hard we laughed a lot. " * 4
    with visitor(browser, width=1366, height=768) as page:
        opened(page, address)
        line = height(page)
        field(page).fill(long)
        assert height(page) > 2 * line
        field(page).press("Enter")
        first_word(page, "i")
        expect(field(page)).to_be_focused()
        assert height(page) == line
        for unfold in (lambda: field(page).press("ArrowLeft"), lambda: field(page).press("a")):
            unfold()
            assert height(page) > 2 * line


def height(page: Page) -> int:
    return int(field(page).evaluate("field => field.offsetHeight"))


def test_what_is_typed_is_marked_until_it_is_shown_and_the_picture_of_the_text_before_is_grey(browser, address):
    def opacity() -> float:
        script = "root => Math.min(...[...function*(){for (let e = root.getRootNode().host; e; e = e.parentElement) \
yield Number(getComputedStyle(e).opacity)}()])"
        return page.locator(".headlight").evaluate(script)

    with visitor(browser) as page:
        opened(page, address)
        assert opacity() == 1
        expect(page.get_by_role("button", name="Show", exact=True)).to_be_hidden()
        text_before = field(page).input_value()
        field(page).fill(TEXT)
        comes_true(page, lambda: check(opacity() < 0.5))
        field(page).fill(text_before)
        comes_true(page, lambda: check(opacity() == 1))
        field(page).fill(TEXT)
        page.get_by_role("button", name="Show", exact=True).click()
        first_word(page, "an")
        comes_true(page, lambda: check(opacity() == 1))


def check(holds: bool) -> None:
    assert holds


@pytest.mark.parametrize("width", [1366, 390])
def test_that_a_text_is_not_shown_yet_stands_at_its_field_and_the_bar_stays_a_row(browser, address, width):
    with visitor(browser, width=width, height=844) as page:
        opened(page, address)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        place = page.get_by_role("heading", level=1).bounding_box()
        assert place is not None
        for text in (TEXT, f"{TEXT} " * 20):  # a line, and as many as the field grows to
            field(page).fill(text)
            box, note = field(page).bounding_box(), page.get_by_text(UNSENT).bounding_box()
            assert box is not None
            assert note is not None
            edge = box["y"] + box["height"]
            assert note["y"] < edge < note["y"] + note["height"]
            assert box["x"] <= note["x"] <= box["x"] + 20
            assert note["x"] + note["width"] <= box["x"] + box["width"]
            expect(page.get_by_role("heading", level=1)).to_be_visible()
            assert page.get_by_role("heading", level=1).bounding_box() == place
            row = page.locator(".bar .row").bounding_box()
            assert row is not None
            assert row["y"] + row["height"] <= (56 if width > 768 else 104)
        field(page).blur()
        expect(field(page)).not_to_be_focused()
        box, note = field(page).bounding_box(), page.get_by_text(UNSENT).bounding_box()
        assert box is not None
        assert note is not None
        assert note["y"] < box["y"] + box["height"] < note["y"] + note["height"]


def test_a_text_that_was_sent_and_never_read_is_marked_as_not_shown(browser, address):
    with visitor(browser) as page:
        open_page(page, address, "Explore", text=TEXT)
        page.evaluate("WebSocket.prototype.send = () => {}")  # as where Back comes in between
        field = page.get_by_role("textbox", name="Text", exact=True)
        field.fill(OTHER)
        field.press("Enter")
        expect(page.get_by_text(UNSENT)).to_have_count(0)
        expect(page.get_by_text(UNSENT)).to_be_visible()
        expect(field).to_have_value(OTHER)


def test_a_text_whose_message_was_lost_is_sent_again(browser, address):
    with visitor(browser) as page:
        open_page(page, address, "Explore", text=TEXT)
        page.evaluate("""() => {
            const { send } = WebSocket.prototype
            WebSocket.prototype.send = () => Object.assign(WebSocket.prototype, { send })
        }""")
        field(page).fill(OTHER)
        field(page).press("Enter")
        expect(page).to_have_url(re.compile(r"text=Not\+a\+bad\+film"))
        expect(page.get_by_text(UNSENT)).to_have_count(0)
        has_text(page, OTHER)


def test_a_link_shows_what_is_typed_first_and_leads_on_with_it(browser, address):
    with visitor(browser) as page:
        open_page(page, address, "Explore")
        before = page.evaluate("history.length")
        field(page).fill(TEXT)
        open_from_menu(page, "Inside a head")
        has_page(page, "Inside a head")
        has_text(page, TEXT)
        expect(page.get_by_text(UNSENT)).to_have_count(0)
        assert page.evaluate("history.length") == before + 2
        field(page).fill(OTHER)
        page.get_by_role("link", name="Next: Positions").last.press("Enter")
        has_page(page, "Positions")
        has_text(page, OTHER)
        expect(page.get_by_text(UNSENT)).to_have_count(0)
        back(page, "Inside a head")
        has_text(page, OTHER)
        back(page, "Inside a head")
        has_text(page, TEXT)
        back(page, "Explore")
        has_text(page, TEXT)
        no_complaint(page)


def test_a_link_leads_on_from_a_text_that_is_too_long_to_be_shown(browser, address):
    with visitor(browser) as page:
        opened(page, address)
        field(page).fill("a " * 1100)
        open_from_menu(page, "Inside a head")
        asks(page, "Where does this one number come from?")
        expect(field(page)).to_have_value("a " * 1100)


def test_a_draft_outlives_going_back_and_nothing_else(browser, address):
    with visitor(browser) as page:
        open_page(page, address, "Explore")
        go_to(page, "Inside a head")
        field(page).fill(TEXT)
        back(page, "Explore")
        expect(field(page)).to_have_value(TEXT)
        expect(page.get_by_text(UNSENT)).to_be_visible()
        open_menu(page, "Examples")
        page.get_by_role("button", name="The acting is not bad at all.").click()
        expect(field(page)).to_have_value("The acting is not bad at all.")
        expect(page.get_by_text(UNSENT)).to_have_count(0)


def test_going_back_brings_the_text_before_and_typing_on_after_sending_is_kept(browser, address):
    with visitor(browser) as page:
        opened(page, address)
        before = field(page).input_value()
        for text, word in ((TEXT, "an"), (OTHER, "not")):
            field(page).fill(text)
            field(page).press("Enter")
            first_word(page, word)
        page.go_back()
        first_word(page, "an")
        expect(field(page)).to_have_value(TEXT)
        page.go_back()
        expect(field(page)).to_have_value(before)
        field(page).fill(OTHER)
        field(page).press("Enter")
        field(page).press_sequentially(" More")
        first_word(page, "not")
        idle(page)
        expect(field(page)).to_have_value(f"{OTHER} More")
        expect(page.get_by_text(UNSENT)).to_be_visible()


def test_composing_a_character_with_enter_shows_nothing(browser, address):
    with visitor(browser) as page:
        opened(page, address)
        before = page.url
        field(page).fill(TEXT)
        field(page).dispatch_event("keydown", {"key": "Enter", "isComposing": True, "bubbles": True})
        field(page).dispatch_event("keydown", {"key": "Enter", "keyCode": 229, "bubbles": True})
        page.wait_for_timeout(500)
        expect(page.get_by_text(UNSENT)).to_be_visible()
        assert page.url == before


def test_a_model_is_chosen_by_what_it_does_and_near_the_end_characters_are_counted(browser, address):
    with visitor(browser) as page:
        opened(page, address)
        model = page.get_by_label("Model", exact=True)
        *labels, other = model.locator("option").all_inner_texts()
        assert all(" · " in label for label in labels)
        assert other == "Another model …"
        field(page).fill("a " * 900)
        counted = page.get_by_text("1,800 of 2,000 characters.")
        expect(counted).to_be_visible()
        field(page).press("Enter")
        expect(counted).to_have_count(0)  # of a text that is shown: the words would cover what stands under the bar
        field(page).fill(TEXT)
        field(page).press("Enter")
        first_word(page, "an")
        model.select_option("stories")
        expect(page).to_have_url(re.compile("checkpoint=stories"))
        expect(field(page)).to_have_value(TEXT)


@pytest.mark.parametrize("width", [1366, 390])
def test_a_text_that_is_too_long_stays_in_the_field_and_the_picture_before_it_on_the_page(browser, address, width):
    with visitor(browser, width=width) as page:
        opened(page, address)
        before = page.url
        field(page).fill("🙂" * 2001)
        counted = page.get_by_text("2,001 of 2,000 characters: shorten it by 1 to have it shown.")
        expect(counted).to_be_visible()
        box, words = field(page).bounding_box(), counted.bounding_box()
        assert box is not None
        assert words is not None
        assert 0 <= words["y"] - box["y"] - box["height"] <= 10  # below what is typed, not behind it
        assert words["x"] == pytest.approx(box["x"], abs=1)
        expect(page.get_by_role("button", name="Show", exact=True)).to_be_disabled()
        field(page).press("Enter")
        page.wait_for_timeout(500)
        assert page.url == before
        no_complaint(page)
        expect(field(page)).to_have_value("🙂" * 2001)
        expect(page.locator(".headlight")).to_be_visible()
        field(page).fill("a film " * 10)
        field(page).press("Enter")
        first_word(page, "a")


@pytest.mark.parametrize("width", [1366, 390])
def test_the_sidebar_leads_to_every_page_and_the_bar_is_at_the_top(browser, address, width):
    with visitor(browser, width=width, height=800) as page:
        opened(page, address)
        for _, stem, title in MENU:
            if (FOLDER / f"{stem}.py").exists() and stem != "explore":
                open_from_menu(page, title)
                expect(page).to_have_url(re.compile(f"/{stem}"))
                expect(page.get_by_role("heading", level=1)).to_be_visible()
                idle(page)
                if title not in BARELESS:
                    comes_true(page, partial(at_the_top, page))
                fits(page, width)


def test_the_first_visitor_of_a_fresh_server_has_the_same_sidebar_as_all_others(browser):
    with running_app() as (fresh, _):
        for _ in range(2):
            with visitor(browser, width=1366, height=768) as page:
                page.goto(f"{fresh}/inside")
                asks(page, "Where does this one number come from?")
                box = page.get_by_test_id("stSidebar").bounding_box()
                assert box is not None
                assert box["width"] == pytest.approx(220, abs=2)


def at_the_top(page: Page) -> None:
    """The field stands in the first 56 pixels."""
    box = field(page).bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 56


@pytest.mark.parametrize(("width", "dark"), [(1366, False), (390, True)])
def test_axe_finds_nothing_serious_in_bar_and_sidebar(browser, address, width, dark):
    with visitor(browser, width=width, height=800, dark=dark) as page:
        opened(page, address)
        open_menu(page, "Examples")
        assert serious(page) == []


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (390, 844)])
def test_a_menu_lists_the_files_of_the_page_and_on_a_phone_stands_in_one_with_the_others(
    browser, address, width, height
):
    with visitor(browser, width=width, height=height) as page:
        open_page(page, address, "Explore", text=TEXT)
        expect(page.locator(".bar .download")).to_have_css("display", "block")
        bar = page.locator(".bar .row").bounding_box()
        assert bar is not None
        assert bar["y"] + bar["height"] <= (56 if width > 768 else 104)
        expect(page.get_by_role("button", name="More", exact=True)).to_be_visible(visible=width <= 768)
        expect(page.get_by_label("Model", exact=True)).to_be_visible()
        started = download(page, "This view (CSV)")
        assert TEXT in started.path().read_text(encoding="utf-8-sig")
        expect(page.get_by_text("The file is being made.")).to_be_visible()
        expect(page.locator(".bar .download .list")).to_be_hidden()
        open_menu(page, "Download")
        assert len(page.locator(".bar .download .entry").all()) == 10
        assert all(page.locator(".bar .download .note").all_inner_texts())
        fits(page, width)
        assert serious(page) == []
        page.keyboard.press("Escape")
        expect(page.locator(".bar .download .list")).to_be_hidden()


def test_a_file_is_of_what_is_shown_now_and_one_that_cannot_be_is_not_offered(browser, address):
    with visitor(browser) as page:
        open_page(page, address, "Explore", text=TEXT)
        with answered(page):
            page.get_by_role("button", name="None", exact=True).click()
        open_menu(page, "Download")
        expect(page.locator(".bar").get_by_role("button", name="This view (CSV)")).to_be_disabled()
        page.keyboard.press("Escape")
        with answered(page):
            page.get_by_role("button", name="Head 3", exact=True).click()
        assert "head_2" in download(page, "This view (CSV)").path().read_text(encoding="utf-8-sig")


def test_where_a_page_has_no_file_there_is_no_menu_of_them(browser, address):
    with visitor(browser) as page:
        open_page(page, address, "Explore", text=" ")  # nothing to see, and so nothing to take away
        expect(page.locator(".bar .share")).to_be_visible()
        expect(page.locator(".bar .download")).to_be_hidden()


@pytest.mark.parametrize(
    ("title", "query", "files"),
    [
        ("Break the formula", {}, ["As Python"]),
        (
            "Positions",
            {"sections": "0.1.2.3.4.5"},
            ["Position vectors (CSV)", "Position vectors and products (NPZ)", "Schemes (NPZ)", "Token vectors (NPZ)"],
        ),
    ],
)
def test_files_of_several_places_of_a_page_stand_in_one_menu(browser, address, title, query, files):
    with visitor(browser) as page:
        open_page(page, address, title, **query)
        open_menu(page, "Download")
        comes_true(page, lambda: sorted(page.locator(".bar .download .entry button").all_inner_texts()) == files)


def shared(page: Page, label: str) -> None:
    open_menu(page, "Share")
    page.locator(".bar").get_by_role("button", name=label, exact=True).click()


def test_share_copies_the_address_and_that_of_the_picture_alone(browser, address):
    with visitor(browser) as page:
        open_page(page, address, "Explore", text=TEXT, layer="2")
        for label, alone in (("Copy the address", False), ("Copy the address of the picture alone", True)):
            shared(page, label)
            expect(page.get_by_text("Copied", exact=True)).to_be_visible()
            copied = dict(parse_qsl(urlsplit(page.evaluate("navigator.clipboard.readText()")).query))
            assert (copied["text"], copied["layer"], copied.get("view")) == (TEXT, "2", "picture" if alone else None)
            page.wait_for_timeout(2600)


@pytest.mark.parametrize(
    "title",
    [
        *("Break the formula", "Explore", "Heads that matter", "How we know", "Inside a head", "Learn", "Mistakes"),
        *("Positions", "Translate", "Write"),
    ],
)
def test_a_picture_to_share_is_a_file_of_its_size(browser, address, title):
    with visitor(browser) as page:
        open_page(page, address, title)
        with page.expect_download() as started:
            shared(page, "Picture to share (PNG, 1200 × 630)")
        with Image.open(started.value.path()) as image:
            assert (image.size, image.format) == ((1200, 630), "PNG")
        assert started.value.suggested_filename.split("-")[1] == "share"


def test_where_there_is_no_pass_there_is_no_picture_to_share(browser, address):
    with visitor(browser) as page:
        open_page(page, address, "Explore", text=" ")
        open_menu(page, "Share")
        expect(page.get_by_role("button", name="Copy the address", exact=True)).to_be_visible()
        expect(page.get_by_role("button", name=re.compile("Picture to share"))).to_have_count(0)


def test_texts_that_are_none_are_not_taken():
    taken: list[tuple[str, str]] = []
    messages: list[object] = [None, "text", [], {}, {"text": 3, "pair": ""}, {"text": "a"}, {"text": "a", "pair": None}]
    for message in messages:
        take_texts(message, lambda text, pair: taken.append((text, pair)))
    assert taken == []
    take_texts({"text": "a", "pair": "b"}, lambda text, pair: taken.append((text, pair)))
    assert taken == [("a", "b")]


def test_a_value_is_an_option_only_in_its_own_type():
    assert is_among(1, range(3))
    for value in ("1 · L'", "1", 1.0, True, None, 3):
        assert not is_among(value, range(3))
    assert is_among("a", ["a", "b"])
    assert not is_among("c", ["a", "b"])
