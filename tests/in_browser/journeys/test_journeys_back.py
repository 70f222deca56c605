"""From page to page, back, and back again, in a real browser: what is a visitor's own stays, whichever way they go."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from model import Edits, HeadSite, load_checkpoint
from model.checkpoint import CHECKPOINTS
from model.loading import checkpoint_files
from model.measures.alignment import produced_words, renumbered, strongest_links, word_weights
from pages.parts.positions.settings import EXAMPLE as WORDS
from pages.parts.state.selection import EXAMPLES
from pages.parts.translate.settings import SENTENCES
from pages.parts.write.settings import EXAMPLE as STORY
from tests import reference, tiny
from tests.folders import KINDS
from tests.in_browser.frame.test_app import exact
from tests.in_browser.journeys.test_journeys import (
    DOG,
    OWN,
    assert_weights,
    close,
    exported,
    has_prediction,
    names,
    read_table,
    says_weight,
)
from tests.in_browser.pages.test_write import tokens, written
from tests.running import (
    PAGES,
    answered,
    back,
    choose,
    choose_checkpoint,
    comes_true,
    download,
    entries,
    fits,
    forward,
    go_to,
    has_checkpoint,
    has_page,
    has_text,
    idle,
    no_complaint,
    open_page,
    pick,
    press,
    running_app,
    show_text,
    visitor,
)
from tests.walk import heading

HATED = "I hated it"
# Back is pressed when the browser has heard that a run began, and before it hears which pages there are.
BACK_BEFORE_THE_PAGES = """
window.WebSocket = class extends window.WebSocket {
  addEventListener(kind, listener, options) {
    const isOfTheApp = this.binaryType === "arraybuffer"
    if (kind !== "message" || !isOfTheApp) return super.addEventListener(kind, listener, options)
    let waits = 0
    super.addEventListener(kind, (event) => {
      if (!waits && new TextDecoder().decode(event.data).includes("Inside a head")) {
        waits = 1000
        setTimeout(() => history.back(), waits / 2)
      }
      setTimeout(() => listener(event), waits)
    })
  }
}"""
OPENING = {  # the text and the model that a page shows to whoever has chosen none
    "Explore": (EXAMPLES[0], "sentiment"),
    "Inside a head": (EXAMPLES[0], "sentiment"),
    "Positions": (WORDS, "sentiment"),
    "Break the formula": (EXAMPLES[0], "sentiment"),
    "Translate": (SENTENCES[0], "translate-en-fr"),
    "Write": (STORY, "stories"),
}


@pytest.fixture(scope="module")
def sentiment() -> Any:
    return load_checkpoint("sentiment", device="cpu")


def opened(page: Page, title: str) -> None:
    """The page as it opens."""
    text, checkpoint = OPENING[title]
    has_text(page, text)
    has_checkpoint(page, checkpoint)


# History


def test_back_from_any_page_of_the_menu_is_one_step_to_the_text_that_was_there(browser, address):
    with visitor(browser) as page:
        open_page(page, address, "Explore", text=HATED)
        before = entries(page)
        for title in ("Inside a head", "Break the formula", "Models"):
            go_to(page, title)
            assert entries(page) == before + 1
            back(page, "Explore")
            has_text(page, HATED)
            assert entries(page) == before + 1
        no_complaint(page)


@pytest.mark.parametrize("target", ["Inside a head", "Translate", "Write"])
def test_a_page_that_keeps_less_in_its_address_is_one_step_too(browser, address, target):
    """The address that a page writes as it opens is no entry of the page that is left."""
    with visitor(browser) as page:
        open_page(page, address, "Explore", layer="1", text=HATED)
        before, left = entries(page), page.url
        go_to(page, target)
        page.get_by_role("heading", level=1).wait_for()
        assert entries(page) == before + 1
        back(page, "Explore")
        has_text(page, HATED)
        assert page.url == left
        no_complaint(page)


def test_back_from_translate_shows_explore_with_its_own_text_and_model(browser, address, sentiment):
    with visitor(browser) as page:
        open_page(page, address, "Explore")
        before = entries(page)
        go_to(page, "Translate")
        opened(page, "Translate")
        assert entries(page) == before + 1
        back(page, "Explore")
        opened(page, "Explore")
        has_prediction(page, sentiment.classify(EXAMPLES[0]))
        no_complaint(page)


def test_back_and_forward_go_through_all_that_was_shown(browser, address, sentiment):
    with visitor(browser) as page:
        open_page(page, address, "Explore")
        show_text(page, HATED)
        has_prediction(page, sentiment.classify(HATED))
        go_to(page, "Inside a head")
        show_text(page, OWN)
        go_to(page, "Write")
        opened_with(page, OWN, "stories")
        went = [("Inside a head", OWN), ("Inside a head", HATED), ("Explore", HATED), ("Explore", EXAMPLES[0])]
        for title, text in went:
            back(page, title)
            opened_with(page, text, "sentiment")
        has_prediction(page, sentiment.classify(EXAMPLES[0]))
        for title, text in [*went[-2::-1], ("Write", OWN)]:
            forward(page, title)
            opened_with(page, text, OPENING[title][1])
        no_complaint(page)


def test_what_a_run_still_says_after_back_does_not_bring_its_page_back(browser, address):
    with visitor(browser) as page:
        open_page(page, address, "Translate")
        go_to(page, "Explore")
        before = entries(page)
        # As Streamlit does where a run of Explore that has just begun names its page.
        page.evaluate("addEventListener('popstate', () => history.pushState({}, '', '/'), { once: true })")
        back(page, "Translate")
        assert entries(page) == before
        forward(page, "Explore")
        go_to(page, "Break the formula")
        assert entries(page) == before + 1
        no_complaint(page)


def opened_with(page: Page, text: str, checkpoint: str) -> None:
    has_text(page, text)
    has_checkpoint(page, checkpoint)


# The menu


def test_a_sentence_of_ones_own_stays_on_every_page_of_the_menu(browser, address):
    with visitor(browser) as page:
        open_page(page, address, "Explore")
        show_text(page, OWN)
        for title in [*list(PAGES)[1:], "Explore"]:
            go_to(page, title)
            if title in OPENING:
                opened_with(page, OWN, OPENING[title][1])
            no_complaint(page)


def test_a_sentence_that_one_page_opens_with_stays_chosen_on_the_others(browser, address):
    with visitor(browser) as page:
        open_page(page, address, "Positions")
        show_text(page, WORDS)  # told again what is there already
        for title in ("Explore", "Translate"):
            go_to(page, title)
            has_text(page, WORDS)
        show_text(page, EXAMPLES[0])
        for title in ("Explore", "Write", "Positions"):
            go_to(page, title)
            has_text(page, EXAMPLES[0])
        no_complaint(page)


def pages_open_as_always(page: Page, address: str) -> None:
    """Every page of the menu, one after the other, shows its opening's text and model."""
    open_page(page, address, "Explore")
    for title in [*list(OPENING)[1:], "Explore"]:
        go_to(page, title)
        opened(page, title)
        assert "?" not in page.url
        no_complaint(page)


def test_pages_that_nobody_touched_open_as_they_always_do(browser, address):
    with visitor(browser) as page:
        pages_open_as_always(page, address)


def test_how_we_know_checks_what_the_page_before_showed_and_says_where_another_model_opens(browser, address):
    with visitor(browser) as page:
        open_page(page, address, "Write")
        before = entries(page)
        go_to(page, "How we know")
        opened_with(page, STORY, "stories")
        assert entries(page) == before + 1
        go_to(page, "Explore")
        opened(page, "Explore")
        expect(page.get_by_text("The page before showed stories; this page opens with sentiment.")).to_be_visible()
        back(page, "How we know")
        opened_with(page, STORY, "stories")
        no_complaint(page)


def test_back_beyond_how_we_know_shows_the_model_that_was_there(browser, address):
    """Its model came along from the page before; nobody chose it, and no page that Back leads to is to show it."""
    with visitor(browser) as page:
        open_page(page, address, "Positions", text=OWN)
        go_to(page, "Write")
        opened_with(page, OWN, "stories")
        go_to(page, "How we know")
        opened_with(page, OWN, "stories")
        back(page, "Write")
        opened_with(page, OWN, "stories")
        back(page, "Positions")
        opened_with(page, OWN, "sentiment")
        forward(page, "Write")
        forward(page, "How we know")
        opened_with(page, OWN, "stories")
        no_complaint(page)


# Addresses


def test_reload_gives_every_page_back(browser, address, sentiment):
    stack = sentiment.trace(OWN).encoder
    with visitor(browser) as page:
        open_page(page, address, "Explore", text=OWN, layer="1")
        for title in PAGES:
            if title != "Explore":
                go_to(page, title)
            expect(page.get_by_role("heading", level=1)).to_be_visible()
            lines, url = page.get_by_test_id("stMain").inner_text().split("\n")[:3], page.url
            page.reload()
            has_page(page, title)
            comes_true(page, partial(same_words, page, lines))
            if title in OPENING:
                opened_with(page, OWN, OPENING[title][1])
            if title == "Inside a head":
                says_weight(page, stack, 1, 0)
            assert page.url == url
            no_complaint(page)


def same_words(page: Page, lines: list[str]) -> None:
    assert page.get_by_test_id("stMain").inner_text().split("\n")[:3] == lines


def test_a_deep_link_on_a_fresh_server_shows_what_it_names_and_back_leaves_it(browser, sentiment):
    stack = sentiment.trace(OWN).encoder
    with running_app() as (fresh, _), visitor(browser) as page:
        open_page(page, fresh, "Inside a head", text=OWN, layer="1", head="3", query="2", step="softmax")
        says_weight(page, stack, 1, 3, 2)
        expect(page.get_by_role("heading", name=heading("softmax"))).to_be_visible()
        choose(page, "Head", "1")
        says_weight(page, stack, 1, 0, 2)
        back(page, "Inside a head")
        says_weight(page, stack, 1, 3, 2)
        go_to(page, "Explore")
        has_text(page, OWN)
        expect(page.locator(".readout")).to_contain_text("Layer 2, mean of 8 heads: query 3")
        no_complaint(page)


# Break the formula


def test_what_is_kept_broken_is_named_beside_the_next_verdict_and_mended_alone(browser, address):
    scale, positions = "q·k × 1 in place of the model's scale", "no positions"
    with visitor(browser) as page:
        open_page(page, address, "Break the formula", text=OWN, experiment="scale")
        press(page, "Keep this edit")
        for experiment, parts in (("No positions", [scale]), ("No norm", [scale, positions])):
            pick(page, experiment)
            expect(page.get_by_role("heading", name=experiment, exact=True)).to_be_visible()
            expect(page.get_by_text("Kept edits, also in effect")).to_be_visible()
            expect(kept(page)).to_have_text(parts)
            if experiment == "No positions":
                press(page, "Keep this edit")
        with answered(page):
            page.get_by_role("button", name="Undo", exact=True).first.click()
        expect(kept(page)).to_have_text([positions])
        expect(page).to_have_url(re.compile("[?&]edits=unplace_e(&|$)"))
        no_complaint(page)


def kept(page: Page) -> Locator:
    """What is kept broken, each part beside the button that mends it."""
    mend = page.get_by_role("button", name="Undo", exact=True)
    return mend.locator("xpath=ancestor::*[@data-testid='stHorizontalBlock'][1]").get_by_test_id("stMarkdown")


def test_explore_says_what_is_kept_broken_and_shows_the_model_as_it_is(browser, address, sentiment):
    with visitor(browser) as page:
        open_page(page, address, "Break the formula", text=OWN, experiment="scale")
        press(page, "Keep this edit")
        go_to(page, "Explore")
        kept = "Edits kept on the page Break the formula: q·k × 1 in place of the model's scale."
        expect(page.get_by_text(kept)).to_be_visible()
        has_prediction(page, sentiment.classify(OWN))
        back(page, "Break the formula")
        expect(page.get_by_text("q·k × 1 in place of the model's scale", exact=True)).to_be_visible()
        press(page, "Undo")
        go_to(page, "Explore")
        expect(page.get_by_text("Edits kept on the page")).to_have_count(0)
        no_complaint(page)


# Checkpoints


def test_a_card_opens_its_checkpoint_in_explore_and_back_returns_to_the_cards(browser, address):
    with visitor(browser) as page:
        open_page(page, address, "Models", text=OWN)
        before = entries(page)
        page.get_by_role("link", name="Open in Explore").nth(1).click()
        has_page(page, "Explore")
        opened_with(page, OWN, "stories")
        assert entries(page) == before + 1
        back(page, "Models")
        page.get_by_role("link", name="Open in Explore").first.click()
        has_page(page, "Explore")
        opened_with(page, OWN, "sentiment")
        no_complaint(page)


def test_a_card_opens_the_model_that_explore_opens_with_after_another_was_chosen(browser, address):
    with visitor(browser) as page:
        open_page(page, address, "Models", checkpoint="stories")
        before = entries(page)
        page.get_by_role("link", name="Open in Explore").first.click()
        has_page(page, "Explore")
        opened_with(page, EXAMPLES[0], "sentiment")
        assert entries(page) == before + 1
        back(page, "Models")
        no_complaint(page)


BROUGHT = {"a-classifier": "bert-classifier", "a-decoder": "gpt2", "a-translator": "marian"}
CANNOT = {
    ("Translate", "a-classifier"),
    ("Translate", "a-decoder"),
    ("Write", "a-classifier"),
    ("Write", "a-translator"),
}
WRAPPER = """import runpy, sys
from pathlib import Path
sys.path.insert(0, {root!r})
import model.checkpoint
model.checkpoint.CHECKPOINTS = Path({folder!r})
runpy.run_path({app!r}, run_name="__main__")
"""


@pytest.fixture(scope="module")
def brought(tmp_path_factory) -> Iterator[str]:
    """Where the app runs with three checkpoints more, whose names come before those of its own."""
    root, folder = CHECKPOINTS.parent, tmp_path_factory.mktemp("checkpoints")
    for name in load_names():
        (folder / name).symlink_to(CHECKPOINTS / name)
    for name, kind in BROUGHT.items():
        of_class, fields = KINDS[kind]
        reference.make(of_class, folder / name, **fields)
        tiny.tokenizer().save(folder / name / checkpoint_files.TOKENIZER)
    wrapper = tmp_path_factory.mktemp("app") / "wrapper.py"
    wrapper.write_text(WRAPPER.format(root=str(root), folder=str(folder), app=str(root / "app.py")), encoding="utf-8")
    with running_app(wrapper) as (started, _):
        yield started


def load_names() -> list[str]:
    """The checkpoints that the pages open with."""
    return sorted({checkpoint for _, checkpoint in OPENING.values()})


def test_checkpoints_whose_names_come_first_change_no_pages_opening(browser, brought):
    with visitor(browser) as page:
        pages_open_as_always(page, brought)


@pytest.mark.parametrize("name", BROUGHT)
def test_every_page_reads_a_brought_checkpoint(browser, brought, name):
    with visitor(browser) as page:
        open_page(page, brought, "Explore", text="the dog bit")
        choose_checkpoint(page, name)
        for title in [*list(PAGES)[1:], "Explore"]:
            go_to(page, title)
            if title in OPENING:
                has_text(page, "the dog bit")
                offered = page.get_by_role("link", name=re.compile("^Open "))
                assert (title, name) in CANNOT or offered.count() == 0
            no_complaint(page)


# Files


def test_files_are_named_by_page_checkpoint_and_eight_digits_of_what_is_selected(browser, address):
    with visitor(browser) as page:
        open_page(page, address, "Explore", text=OWN)
        file_names = [download(page, "This view (CSV)").suggested_filename]
        with answered(page):
            page.get_by_role("button", name="Layer 2", exact=True).click()
        file_names.append(download(page, "All weights (NPZ)").suggested_filename)
        go_to(page, "How we know")
        file_names.append(download(page, "Table (CSV)").suggested_filename)
        go_to(page, "Positions")
        with answered(page):
            page.get_by_text("The position vectors", exact=True).click()
        file_names.append(download(page, "Position vectors (CSV)").suggested_filename)
        stems = ["explore-sentiment", "explore-sentiment", "evidence-sentiment", "positions-table-sentiment"]
        endings = ["csv", "npz", "csv", "csv"]
        for name, stem, ending in zip(file_names, stems, endings, strict=True):
            assert re.fullmatch(rf"{stem}-[0-9a-f]{{8}}\.{ending}", name)
        assert file_names[0].split("-")[-1].split(".")[0] != file_names[1].split("-")[-1].split(".")[0]


def test_the_table_of_explore_holds_its_numbers_and_says_what_was_muted(browser, address, sentiment):
    edits = Edits(muted=frozenset({HeadSite("encoder", 0, 0)}))
    with visitor(browser) as page:
        open_page(page, address, "Explore", text=OWN)
        page.get_by_role("button", name="Head 1", exact=True).click()
        pick(page, "Mute the heads that are off")
        with answered(page):
            page.get_by_role("button", name="Layer 2", exact=True).click()
        expect(page).to_have_url(re.compile("layer=1"))
        table, facts = exported(page)
        assert (facts["checkpoint"], facts["text"], facts["edits"]) == ("sentiment", OWN, edits.to_text())
        assert_weights(table, 1, sentiment.trace(OWN, edits=edits).encoder.blocks[1].self_attention.weights)
        no_complaint(page)


def test_the_table_of_write_holds_the_numbers_of_the_text_so_far(browser, address):
    stories: Any = load_checkpoint("stories", device="cpu")
    with visitor(browser) as page:
        open_page(page, address, "Write", text=OWN)
        for count in (1, 2):
            press(page, "Step")
            expect(tokens(page)).to_have_count(count)
        ids = written(page)
        with answered(page):
            page.get_by_role("button", name="Layer 2", exact=True).click()
        expect(page).to_have_url(re.compile("layer=1"))
        table, facts = exported(page)
        assert (facts["checkpoint"], facts["text"], facts["edits"]) == ("stories", OWN, "none")
        assert (facts["target"], facts["target_by"][:7]) == (stories.tokenizer.decode(ids), "written")
        trace = stories.trace_ids([*stories.tokenizer.encode(OWN).ids, *ids])
        assert_weights(table, 1, trace.decoder.blocks[1].self_attention.weights)
        no_complaint(page)


def test_the_tables_of_translate_hold_its_numbers_and_its_alignment(browser, address):
    translator: Any = load_checkpoint("translate-en-fr", device="cpu")
    trace = translator.trace(DOG)
    with visitor(browser) as page:
        open_page(page, address, "Translate", text=DOG, translation="reading.all")
        table, facts = exported(page)
        target = translator.tokenizer.decode(trace.decoder.ids.tolist())
        assert (facts["checkpoint"], facts["text"], facts["target"]) == ("translate-en-fr", DOG, target)
        assert facts["target_by"].startswith("greedy")
        assert_weights(table, 0, trace.decoder.cross_weights()[0])
        links, facts = read_table(Path(download(page, "Alignment (CSV)").path()))
        assert (facts["target"], facts["heads"]) == (target, "mean of all layers and heads")
        weights = words_given(trace)
        assert set(zip(links["source"], links["target"], strict=True)) == strongest_links(weights)
        expected = [weights[target, source] for target, source in zip(links["target"], links["source"], strict=True)]
        assert links["weight"].tolist() == pytest.approx(expected, abs=1e-6)
        no_complaint(page)


def words_given(trace: Any) -> np.ndarray:
    """(target word, source word): what each word gave to each while it was produced, the mean of all heads."""
    mean = trace.decoder.cross_weights().double().mean(dim=(0, 1)).numpy()
    sides = [renumbered(stack.words) for stack in (trace.decoder, trace.encoder)]
    counted = tuple(len({word for word in side if word is not None}) for side in sides)
    return word_weights(mean, produced_words(sides[0]), sides[1], (counted[0], counted[1]))


# A phone


def test_a_phone_goes_the_main_ways(browser, address, sentiment):
    stack = sentiment.trace(OWN).encoder
    with visitor(browser, width=390, height=844) as page:
        open_page(page, address, "Explore")
        before = entries(page)
        show_text(page, OWN)
        has_prediction(page, sentiment.classify(OWN))
        go_to(page, "Inside a head")
        assert entries(page) == before + 2
        choose(page, "Layer", "1")  # it opens on another, that of the head that does most
        choose(page, "Head", "4")
        says_weight(page, stack, 0, 3)
        choose(page, "Query", names(stack)[1])
        says_weight(page, stack, 0, 3, 1)
        page.get_by_role("link", name="See it in Explore").click()
        has_page(page, "Explore")
        expect(page.locator(".readout")).to_contain_text("Layer 1, head 4: query 2")
        weight = float(stack.blocks[0].self_attention.weights[3, 1].max())
        comes_true(page, lambda: close(exact(page), weight))
        back(page, "Inside a head")
        says_weight(page, stack, 0, 3, 1)
        go_to(page, "Translate")
        has_text(page, OWN)
        with answered(page):
            page.get_by_role("group", name="Translation").get_by_role("button").first.click()
        press(page, "Next")
        expect(page.get_by_text(re.compile("^To write 2 · "))).to_be_visible()
        no_complaint(page)
        fits(page, 390)
        page.mouse.move(200, 600)
        page.mouse.wheel(0, 500)
        expect(page.get_by_test_id("stExpandSidebarButton")).not_to_be_in_viewport()  # or it would lie on what is read


@pytest.mark.parametrize("moment", ["before the run begins", "before the pages are known"])
def test_back_in_the_moment_after_a_reload_leads_to_what_was_shown_before(browser, address, moment):
    with visitor(browser) as page:
        open_page(page, address, "Break the formula", text=OWN)
        title = page.get_by_role("heading", level=1).inner_text()
        show_text(page, HATED)
        expect(page.get_by_role("heading", level=1)).not_to_have_text(title)
        if moment == "before the pages are known":
            page.add_init_script(BACK_BEFORE_THE_PAGES)
            page.reload()
        else:
            page.reload()
            page.go_back()
        has_text(page, OWN)
        expect(page.get_by_role("heading", level=1)).to_have_text(title)
        assert "/break?" in page.url
        no_complaint(page)
        forward(page, "Break the formula")
        has_text(page, HATED)


def test_what_a_page_that_back_left_still_sends_does_not_take_the_place_of_the_one_it_leads_to(browser, address):
    """A run of a fragment of the page before comes last: Streamlit empties the screen, and goes to its address."""
    with visitor(browser) as page:
        open_page(page, address, "Break the formula", text=OWN)
        go_to(page, "Inside a head")
        back(page, "Break the formula")
        with answered(page):
            page.evaluate("history.pushState({}, '', '/inside')")
        has_page(page, "Break the formula")
        assert "/break?" in page.url
        forward(page, "Inside a head")


@pytest.mark.parametrize("name", ["Explore", "See it in Explore"])
def test_a_link_to_the_first_page_opened_in_a_new_tab_leads_there(browser, address, name):
    with visitor(browser) as page:
        open_page(page, address, "Inside a head", text=OWN)
        with page.context.expect_page() as opened:
            page.get_by_role("link", name=name).filter(visible=True).first.click(button="middle")
        has_page(opened.value, "Explore")


def test_what_is_pressed_right_after_a_link_does_not_stop_it(browser, address):
    """Both in one turn of the browser, as where it was busy: the server would make one run of them, of neither page."""
    with visitor(browser) as page:
        open_page(page, address, "Inside a head", text=OWN)
        with answered(page):
            page.get_by_role("link", name="Break the formula", exact=True).evaluate("""link => {
                link.click()
                for (const one of document.querySelectorAll("[data-testid=stMain] button"))
                    if (one.textContent.includes("Recheck this weight")) one.click()
            }""")
        has_page(page, "Break the formula")
        has_text(page, OWN)
        page.get_by_role("heading", level=1).wait_for()
        no_complaint(page)


@pytest.mark.parametrize("away", ["link.click()", "history.back()"])
def test_what_a_page_that_is_left_asks_by_itself_does_not_empty_the_next(browser, address, away):
    """The run of its fragment comes after that of the page: the browser takes away what that one had drawn."""
    with visitor(browser) as page:
        open_page(page, address, "How we know", text=OWN)
        go_to(page, "Write")
        page.get_by_role("link", name="How we know", exact=True).evaluate(f"""link => {{
            const {{ ask, steer }} = window.headlight
            {away}
            const question = () => ask("layer", JSON.stringify({{ name: steer.name, layer: 0 }}))
            question()
            addEventListener("popstate", () => setTimeout(question))
        }}""")
        has_page(page, "How we know")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        page.wait_for_timeout(1000)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        no_complaint(page)


# As where the page that it stands on was drawn anew meanwhile.
REPLACED = "link => Object.defineProperty(link, 'isConnected', { value: false })"


@pytest.mark.parametrize("meanwhile", ["link => {}", REPLACED], ids=["it stays", "it is replaced"])
def test_a_link_whose_message_is_lost_leads_on_all_the_same(browser, address, meanwhile):
    with visitor(browser) as page:
        open_page(page, address, "Explore", text=OWN)
        before = page.evaluate("history.length")
        page.evaluate("""() => {
            const { send } = WebSocket.prototype
            WebSocket.prototype.send = () => Object.assign(WebSocket.prototype, { send })
        }""")
        link = page.get_by_role("link", name="Inside a head", exact=True)
        link.evaluate(meanwhile)
        link.click()
        has_page(page, "Inside a head")
        has_text(page, OWN)
        assert page.evaluate("history.length") == before + 1
        back(page, "Explore")
        has_text(page, OWN)


def test_the_page_comes_that_the_address_names(browser, address):
    with visitor(browser) as page:
        open_page(page, address, "Explore", text=OWN)
        # A run that is under way when the address changes would write its own over it.
        page.wait_for_function("performance.now() - window.heard.last > 2000")
        idle(page)
        page.evaluate("history.replaceState({}, '', `/break${location.search}`)")  # as by a Back that was not heard
        has_page(page, "Break the formula")
        has_text(page, OWN)
        no_complaint(page)
