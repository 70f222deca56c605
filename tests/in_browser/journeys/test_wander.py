"""The wanderer sees what must not be, and finds nothing of it in the app."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Error

from tests.random_walk.actions import role_and_name
from tests.random_walk.checks import FaultError, Watch, expected_number, proper_refusal
from tests.running import picture_shown, running_app, visitor
from tests.wander import is_under_the_header, wander

SECONDS, SEEDS = 30, (11, 22, 226)
# One fault for each name in the address; a run of the bare address has none.
PLANTED = """
import time
import streamlit as st

fault = st.query_params.get("fault")
if fault != "untitled":
    st.title("A page")
text = st.text_input("Text", "something", key="text", bind=None if fault == "address" else "query-params")
if fault == "box":
    st.error("That is not possible.")
if fault == "exception":
    raise ValueError("a number of nothing")
if fault == "refusal" and not text:
    st.error("There is nothing to read: type a word.")
if fault == "python" and not text:
    st.error("IndexError: list index out of range")
if fault == "endless":
    time.sleep(30)
if fault == "script":
    js = "export default function () {\\n  missing.part()\\n}"
    st.components.v2.component("failing", html="<p></p>", js=js)(key="failing")
names = ["one", "two"] if "others" not in st.session_state else ["three", "four"]
st.selectbox("List", range(2), format_func=names.__getitem__, key="list")
st.button("Others", on_click=st.session_state.update, kwargs={"others": True})
"""


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Where a page runs that has the fault which its address names."""
    script = tmp_path_factory.mktemp("planted") / "page.py"
    script.write_text(PLANTED, encoding="utf-8")
    with running_app(script) as (address, _):
        yield address


def opened(page, address: str, **query: str) -> Watch:
    watch = Watch(page, patience=8, page_patience=12)
    page.goto(f"{address}/?{urlencode(query)}")
    return watch


def test_a_page_without_fault_passes_every_check(browser, planted):
    with visitor(browser) as page:
        watch = opened(page, planted)
        watch.settle()
        watch.open_list(page.get_by_role("combobox", name="List"))
        page.keyboard.type(" ")  # searches in it
        watch.open_list(page.get_by_role("combobox", name="List"))
        page.keyboard.press("Escape")
        page.get_by_role("textbox").fill("another")
        page.get_by_role("textbox").press("Enter")
        watch.settle()
        watch.address()


@pytest.mark.parametrize(
    ("fault", "complaint"),
    [
        ("untitled", "no title"),
        ("box", "That is not possible"),
        ("exception", "encountered an error"),
        ("endless", "does not end"),
    ],
)
def test_a_planted_fault_is_seen_as_soon_as_the_page_is_there(browser, planted, fault, complaint):
    with visitor(browser) as page:
        watch = opened(page, planted, fault=fault)
        with pytest.raises(FaultError, match=complaint):
            watch.settle()


def test_a_script_that_fails_in_the_browser_is_seen(browser, planted):
    context = browser.new_context()  # a visitor would see it too, at its end
    watch = opened(context.new_page(), planted, fault="script")
    with pytest.raises(FaultError, match="missing is not defined"):
        watch.settle()
    context.close()


def test_an_empty_text_may_be_refused_in_a_plain_sentence_alone(browser, planted):
    with visitor(browser) as page:
        watch = opened(page, planted, fault="refusal", text="")
        watch.settle()
        assert watch.facts()["errors"]
        watch = opened(page, planted, fault="python", text="")
        with pytest.raises(FaultError, match="IndexError"):
            watch.settle()


def test_a_list_that_shows_what_it_does_not_offer_is_seen(browser, planted):
    with visitor(browser) as page:
        watch = opened(page, planted)
        watch.settle()
        page.get_by_role("button", name="Others").click()
        watch.settle()
        with pytest.raises(FaultError, match="shows 'one', but offers three, four"):
            watch.open_list(page.get_by_role("combobox", name="List"))


@pytest.mark.parametrize(("cover", "seen"), [("stHeader", True), ("stMain", False)])
def test_a_control_under_the_header_is_no_control_that_comes_too_late(browser, planted, cover, seen):
    lies_over = "position: fixed; inset: 0; height: 100vh; z-index: 9999999; pointer-events: auto; content: ''"
    with visitor(browser) as page:
        opened(page, planted).settle()
        part = "" if seen else "::after"
        page.add_style_tag(content=f"[data-testid={cover}]{part} {{ {lies_over.replace(';', ' !important;')} }}")
        with pytest.raises(Error) as late:
            page.get_by_role("button", name="Others").click(timeout=2000)
        assert is_under_the_header(late.value) == seen


def test_an_address_that_does_not_give_the_page_back_is_seen(browser, planted):
    with visitor(browser) as page:
        watch = opened(page, planted, fault="address")
        page.get_by_role("textbox").fill("another")
        page.get_by_role("textbox").press("Enter")
        watch.settle()
        with pytest.raises(FaultError, match="is 'another', then 'something'"):
            watch.address()


def test_a_text_that_is_typed_and_not_sent_is_not_asked_of_the_address(browser, planted):
    with visitor(browser) as page:
        watch = opened(page, planted)
        watch.settle()
        page.get_by_role("textbox").fill("another")
        page.get_by_text("Press Enter to apply").wait_for()
        watch.address()


def test_an_address_that_is_written_late_is_waited_for(browser, planted):
    with visitor(browser) as page:
        watch = opened(page, planted, text="early")
        watch.settle()
        page.evaluate("""() => {
          const [early, late] = ["?text=something", "?text=early"]
          history.replaceState(null, "", early)
          setTimeout(() => history.replaceState(null, "", late), 3000)
        }""")
        watch.address()


def test_a_number_that_is_not_the_traces_is_seen(browser, address):
    with visitor(browser) as page:
        watch = opened(page, address, text="An odd film.", layer="1", query="1", key="3")
        picture_shown(page)
        watch.number()
        page.locator(".readout .exact").evaluate("exact => (exact.textContent = Number(exact.textContent) + 0.001)")
        with pytest.raises(FaultError, match="but the trace has"):
            watch.number()


def test_a_number_is_expected_only_where_the_address_says_all_of_it():
    plain = {"text": "An odd film.", "query": 1}
    assert expected_number(f"http://localhost/?{urlencode(plain)}") is not None
    for changes in ({"mute": 1, "off": "0.0"}, {"words": 1}, {"query": ""}, {"off": "0.0-7"}):
        assert expected_number(f"http://localhost/?{urlencode(plain | changes)}") is None
    assert expected_number(f"http://localhost/inside?{urlencode(plain)}") is None


def test_a_refusal_is_proper_where_a_field_holds_what_it_refuses():
    field = "text field “Text”"
    assert proper_refusal("There is nothing to compute.", {field: " \u200b "})
    assert proper_refusal("The text has 2,080 characters; at most 2,000 are read.", {field: "far too long " * 160})
    assert proper_refusal("The cell holds “x”: type a number.", {field: "good", "text field “Cell”": "x"})
    assert proper_refusal("A width of 1,024 cannot be shared by 20 heads.", {"number “Heads”": 20})
    assert proper_refusal("The hub cannot be reached, so gpt2 cannot be downloaded.", {})
    assert proper_refusal("The hub cannot be reached.", {"text field “Another model, by its Hugging Face id”": "good"})
    assert proper_refusal("spoilt.zip is damaged or no plain zip.", {field: "good"})
    assert not proper_refusal("other.zip is damaged or no plain zip.", {field: "good"})
    assert not proper_refusal("A width of 1,024 cannot be shared by 20 heads.", {"number “Heads”": 8})
    assert not proper_refusal("There is nothing to compute.", {field: "good"})
    assert not proper_refusal("ValueError: nothing", {field: ""})


def test_role_and_name_are_read_as_playwright_says_them():
    assert role_and_name('- button "Next →" [disabled]: x\n  - text: y') == ("button", "Next →")
    assert role_and_name("- 'img \"it''s: a \\\"map\\\"\"'") == ("img", 'it\'s: a "map"')
    assert role_and_name("- text: nothing") == ("", "")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_walk_through_the_app_meets_no_fault(browser: Browser, address: str, seed: int):
    report = wander(browser, address, seed=seed, seconds=SECONDS)
    print(report)
    assert report.done.total() > 0
    assert report.faults == {}
