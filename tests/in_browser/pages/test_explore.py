"""How Explore opens, in a real browser: the large picture, what is done in it, and the cards below it."""

import re
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, WebSocket, expect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from model import Edits, HeadSite, HiddenKey, load_checkpoint
from tests.first_example import FOUND, FOUND_ADDRESS, LOVED, SLOW
from tests.running import (
    answered,
    comes_true,
    explored,
    fits,
    has_text,
    idle,
    open_page,
    picture_shown,
    press,
    show_text,
    visitor,
)
from viz.sentences.curve_look import LOOK

SENTENCE = "The film was slow, but I loved it."


@pytest.fixture(scope="module")
def weights():
    """(layer, head, query, key) of the sentence that the page opens with."""
    encoder = load_checkpoint("sentiment").trace(SENTENCE).encoder
    assert encoder is not None
    return encoder.weights().numpy()


def word(page: Page, side: str, place: int) -> Locator:
    return page.locator(f".word[data-side={side}][data-place='{place}']")


def curves(page: Page) -> list[dict[str, Any]]:
    """Every curve that is drawn: its query, key, weight, width and opacity."""
    return page.locator(".curve").evaluate_all("""all => all.map(one => ({
        query: Number(one.dataset.query), key: Number(one.dataset.key), weight: Number(one.dataset.weight),
        wide: Number(one.getAttribute("stroke-width")), opaque: Number(one.getAttribute("stroke-opacity")),
    }))""")


def numbers(page: Page, side: str) -> list[str]:
    """What stands at the words of a side; a narrow one has no room for the sign."""
    texts = page.locator(f".word[data-side={side}] .number").all_text_contents()
    return [text.replace("\u00a0", "").removesuffix("%") for text in texts]


def in_percent(share: float) -> str:
    if share < 0.005:
        return ""
    return ">99" if round(100 * share) == 100 and share < 1 - 1e-6 else f"{100 * share:.0f}"


def test_the_number_of_a_short_first_word_is_not_cut_off(browser, address):
    with visitor(browser, width=1366, height=768) as page:
        open_page(
            page, address, "Explore", text="Bad acting, and nobody seems to know at all what this was for, in the end."
        )
        first = word(page, "columns", 0).locator(".number")
        expect(first).to_contain_text("mean")
        sheet, number = page.locator(".sheet svg").bounding_box(), first.bounding_box()
        assert sheet is not None
        assert number is not None
        assert number["x"] >= sheet["x"]


def test_the_curves_have_the_weights_of_the_found_head(browser, address, weights):
    with visitor(browser) as page:
        open_page(page, address, "Explore")
        drawn = curves(page)
        head = weights[FOUND]
        assert {(one["query"], one["key"]) for one in drawn} == set(map(tuple, np.argwhere(head >= 0.01 * head.max())))
        for one in drawn:
            assert one["weight"] == pytest.approx(head[one["query"], one["key"]], abs=1e-6)
            assert one["wide"] == pytest.approx(LOOK.width(one["weight"] / float(head.max()), len(head)), abs=1e-4)
        assert numbers(page, "columns")[LOVED] == f"mean {in_percent(float(head[:, LOVED].mean()))}"


def test_a_stronger_weight_is_drawn_wider_and_stronger(browser, address, weights):
    with visitor(browser) as page:
        open_page(page, address, "Explore", layer="1", off="1.0-3_1.5-7")
        drawn = sorted(curves(page), key=lambda one: one["weight"])
        assert len(drawn) > 50
        assert drawn[-1]["weight"] == pytest.approx(weights[1, 4].max(), abs=1e-6)
        assert [one["wide"] for one in drawn] == sorted(one["wide"] for one in drawn)


def test_a_word_that_is_pointed_at_or_focused_shows_its_weights_alone(browser, address, weights):
    with visitor(browser) as page:
        open_page(page, address, "Explore", layer="1", off="1.0-3_1.5-7")
        head = weights[1, 4]
        word(page, "rows", SLOW).hover()
        comes_true(page, lambda: numbers(page, "columns") == [in_percent(weight) for weight in head[SLOW]])
        bright = {(one["query"], one["key"]) for one in curves(page) if one["opaque"] > 0.05}
        assert {query for query, _ in bright} == {SLOW}
        name = word(page, "columns", int(head[SLOW].argmax())).locator("text").first.text_content()
        expect(page.locator(".below .said")).to_contain_text(f"“slow” attends to “{name}” with ")
        page.mouse.move(5, 5)
        word(page, "rows", 0).focus()
        page.keyboard.press("ArrowDown")
        assert numbers(page, "rows") == [in_percent(weight) for weight in head[:, 0]]
        page.keyboard.press("ArrowRight")
        assert numbers(page, "rows") == [in_percent(weight) for weight in head[:, 1]]


def test_a_tap_keeps_a_word_and_another_lets_it_go(browser, address, weights):
    with visitor(browser, width=390, height=844) as page:
        open_page(page, address, "Explore")
        word(page, "columns", LOVED).click()
        page.mouse.move(5, 5)
        expect(word(page, "columns", LOVED)).to_have_attribute("aria-pressed", "true")
        assert numbers(page, "rows") == [in_percent(weight) for weight in weights[FOUND][:, LOVED]]
        word(page, "columns", LOVED).click()
        expect(word(page, "columns", LOVED)).to_have_attribute("aria-pressed", "false")


def test_two_words_are_swapped_by_clicks_and_by_dragging(browser, address):
    with visitor(browser) as page:
        open_page(page, address, "Explore")
        page.get_by_role("button", name="Swap two words").click()
        word(page, "rows", 1).click()
        with answered(page):
            word(page, "rows", 3).click()
        has_text(page, "The slow was film, but I loved it.")
        with answered(page):
            word(page, "columns", 3).drag_to(word(page, "columns", 1))
        has_text(page, SENTENCE)
        show_text(page, "boring")
        expect(page.get_by_role("button", name="Swap two words")).to_be_hidden()


def test_a_card_shows_its_head_in_the_picture_and_in_the_explorer(browser, address, weights):
    with visitor(browser) as page:
        open_page(page, address, "Explore")
        card = page.locator(".cards button").filter(has_text="Punctuation")
        named = re.search(r"Layer (\d+), head (\d+)", card.inner_text())
        assert named is not None
        layer, head = (int(number) - 1 for number in named.groups())
        with answered(page):
            card.click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("looks at punctuation")

        def drawn() -> None:
            assert max(one["weight"] for one in curves(page)) == pytest.approx(weights[layer, head].max(), abs=1e-6)
            assert explored(page, "explorer.view.layer") == layer
            assert explored(page, "explorer.view.off.size ?? explorer.view.off.length") == 7

        comes_true(page, drawn)
        with answered(page):
            page.locator(".cards button").filter(has_text="Points at").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Every word looks at “loved”.")


def test_a_head_chosen_in_the_explorer_is_that_of_the_picture(browser, address, weights):
    with visitor(browser) as page:
        open_page(page, address, "Explore", layer="2", off="2.0-5")
        expect(page.get_by_role("heading", level=1)).to_contain_text("loved")
        with answered(page):
            page.get_by_role("button", name="Head 7", exact=True).click()
        comes_true(page, lambda: picture_of(page, weights[2, 7]))


def picture_of(page: Page, head: np.ndarray) -> None:
    """The curves are those of this head."""
    assert curves(page)[-1]["weight"] == pytest.approx(head.max(), abs=1e-6)


def test_the_three_results_come_and_a_press_does_what_was_said(browser, address):
    with visitor(browser) as page:
        open_page(page, address, "Explore")
        results = page.locator(".st-key-changes strong")
        head, word = HeadSite("encoder", *FOUND), HiddenKey("encoder", LOVED)
        changed = [
            (SENTENCE, Edits(muted=frozenset({head}))),
            ("I loved the film, but it was slow.", Edits()),
            (SENTENCE, Edits(hidden=frozenset({word}))),
        ]
        classify = load_checkpoint("sentiment").classify
        now, *after = (100 * classify(text, edits)["positive"] for text, edits in [(SENTENCE, Edits()), *changed])
        changes = [f"{now:.1f} % → {share:.1f} %" for share in after]
        expect(results).to_have_text([re.compile(text.replace(" ", r"\s")) for text in changes])
        press(page, "Swap the halves")
        has_text(page, "I loved the film, but it was slow.")
        with answered(page):
            page.go_back()
        has_text(page, SENTENCE)


@pytest.mark.parametrize("width", [390, 1366])
def test_of_a_long_text_nothing_is_cut_without_a_sign(browser, address, width):
    with visitor(browser, width=width) as page:
        open_page(page, address, "Explore", text="It was a long film about a man and his dog, " * 4)
        words = page.locator(".word[data-side=rows]")
        assert words.count() == 48
        wide = page.locator(".sheet svg").evaluate("one => one.getBoundingClientRect().width")
        room = page.locator(".sheet").evaluate("one => one.clientWidth")
        assert page.get_by_text("scroll it sideways").is_visible() == (wide > room)
        fits(page, width)


# Both in one moment, which no hand of a test is quick enough for.
PRESS_AND_POINT = """({ explorer }) => {
    const button = document.querySelector(".st-key-give_back button")
    button.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true, composed: true }))
    button.click()
    setTimeout(() => explorer.server.exact(explorer.requests.ofRow(explorer.scene, 2)), 30)
}"""


def test_the_explorer_asks_nothing_until_a_press_is_answered(browser, address):
    """Streamlit takes a run at whose end a question waits for a broken one, and leaves on the page what it left out."""
    with visitor(browser) as page:
        messages: list[str] = []
        page.on("websocket", lambda socket: note_messages(socket, messages))
        open_page(page, address, "Explore", head=str(FOUND[1]), layer=str(FOUND[0]), muted=FOUND_ADDRESS)
        picture_shown(page)
        messages.clear()
        page.locator(".headlight").evaluate(PRESS_AND_POINT)
        comes_true(page, lambda: "asked" in messages)
        assert messages.index("finished") < messages.index("asked")


LOSE_ONE = """() => {
  const { send } = WebSocket.prototype
  WebSocket.prototype.send = function () { WebSocket.prototype.send = send }
}"""


def test_what_is_chosen_in_the_explorer_is_told_again_where_it_was_lost(browser, address):
    """Streamlit puts two requests into one: a view in the run of a fragment alone is not in the address."""
    with visitor(browser) as page:
        open_page(page, address, "Explore")
        page.locator(".headlight").evaluate(LOSE_ONE)
        page.locator(".headlight .words button").first.press("4")
        expect(page).to_have_url(re.compile("show=matrix"), timeout=20_000)


def test_a_layer_further_away_comes_while_a_finger_presses_and_is_asked_for_once(browser, address):
    with visitor(browser) as page:
        messages: list[str] = []
        page.on("websocket", lambda socket: note_messages(socket, messages))
        open_page(page, address, "Explore", text="the film was slow but I liked it a lot and " * 44)
        picture_shown(page)
        idle(page)
        explorer = page.locator(".headlight")
        assert explorer.evaluate("root => !root.explorer.model.has(root.explorer.kind, 2)"), "it is sent unasked"
        messages.clear()
        layer = explorer.get_by_role("button", name="Layer 3", exact=True)
        layer.dispatch_event("pointerdown")
        comes_true(page, lambda: bool(explorer.evaluate("({ explorer }) => explorer.model.has(explorer.kind, 2)")))
        asked = messages.count("asked")  # once, or again where the server has not answered for seconds
        layer.dispatch_event("click")
        comes_true(page, lambda: explorer.evaluate("({ explorer }) => explorer.scene.view.layer") == 2)
        assert messages.count("asked") == asked


def test_a_layer_whose_question_is_lost_is_asked_for_again(browser, address):
    with visitor(browser) as page:
        open_page(page, address, "Explore", text="the film was slow but I liked it a lot and " * 44)
        picture_shown(page)
        idle(page)
        explorer = page.locator(".headlight")
        explorer.evaluate(LOSE_ONE)
        explorer.get_by_role("button", name="Layer 3", exact=True).dispatch_event("pointerdown")
        comes_true(page, lambda: bool(explorer.evaluate("({ explorer }) => explorer.model.has(explorer.kind, 2)")))


def note_messages(socket: WebSocket, messages: list[str]) -> None:
    """Note the explorer's questions and the ends of runs, in their order."""

    def note_sent(payload: Any) -> None:
        widgets = BackMsg.FromString(payload).rerun_script.widget_states.widgets
        if any("explorer_answers" in widget.id and widget.WhichOneof("value") for widget in widgets):
            messages.append("asked")

    def note_received(payload: Any) -> None:
        if ForwardMsg.FromString(payload).WhichOneof("type") == "script_finished":
            messages.append("finished")

    socket.on("framesent", note_sent)
    socket.on("framereceived", note_received)


FOCUS_BEHIND_THE_LINE = """node => {
  node.blur()
  document.querySelector("[data-testid=stMain]").scrollBy(0, node.getBoundingClientRect().top - 10)
  node.focus()
}"""


@pytest.mark.parametrize("size", [(1366, 768), (390, 844)], ids=["laptop", "phone"])
def test_the_line_that_stays_at_the_top_leaves_no_row_above_it_and_covers_nothing_that_has_the_focus(
    browser, address, size
):
    width, height = size
    with visitor(browser, width=width, height=height) as page:
        open_page(page, address, "Explore", show="table", layer="1", query="2", key="3")
        line, body = page.locator(".readout"), page.locator(".explorer .body")

        def at_the_edge() -> None:
            body.evaluate("node => node.scrollIntoView({ block: 'start' })")
            page.get_by_test_id("stMain").evaluate("node => node.scrollBy(0, 120)")
            assert body.bounding_box()["y"] < 0  # type: ignore[index]
            box, around = line.bounding_box(), page.locator(".explorer").bounding_box()
            assert box is not None
            assert around is not None
            assert (box["y"], box["x"], box["width"]) == pytest.approx((0, around["x"], around["width"]), abs=1)
            assert box["height"] <= 76

        comes_true(page, at_the_edge)
        below = page.locator(".explorer .side :is(button, select, input)").first

        def in_sight() -> None:
            below.evaluate(FOCUS_BEHIND_THE_LINE)
            box, top = below.bounding_box(), line.bounding_box()
            assert box is not None
            assert top is not None
            assert box["y"] >= top["y"] + top["height"]

        comes_true(page, in_sight)
        comes_true(page, lambda: line_meets_no_button(page))


def line_meets_no_button(page: Page) -> None:
    """Where the button that opens the sidebar lies over the line, the line has no words."""
    button, words = page.get_by_test_id("stExpandSidebarButton"), page.locator(".readout .said").bounding_box()
    if button.count() and button.is_visible():
        box = button.bounding_box()
        assert box is not None
        assert words is not None
        assert words["x"] >= box["x"] + box["width"] or words["y"] >= box["y"] + box["height"]


@pytest.mark.parametrize("size", [(1366, 768), (390, 844)], ids=["laptop", "phone"])
def test_two_presses_at_one_place_mute_the_head_and_give_it_back(browser, address, size):
    width, height = size
    with visitor(browser, width=width, height=height) as page:
        open_page(page, address, "Explore")
        expect(page.locator(".st-key-changes strong")).to_have_count(3)
        page.locator(".st-key-changes").evaluate("node => node.scrollIntoView({ block: 'center' })")
        button = page.locator(".st-key-change_mute button").filter(visible=True)
        box = button.bounding_box()
        assert box is not None
        middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        for label, muted in (("Unmute this head", True), ("Mute this head", False)):
            with answered(page):
                page.mouse.click(*middle)
            expect(button).to_have_text(label)
            assert (f"muted={FOUND_ADDRESS}" in page.url) == muted
            assert button.bounding_box() == pytest.approx(box, abs=1)


def test_a_head_chosen_on_inside_is_let_go_when_the_explorer_shows_another_layer(browser, address):
    with visitor(browser) as page:
        open_page(page, address, "Explore", layer="1", head="7", query="2", key="3")
        finding = page.locator(".st-key-finding")
        expect(finding).to_contain_text("head 8")
        with answered(page):
            page.get_by_role("button", name="Layer 4", exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Every word looks at “loved”.")
        expect(finding).to_contain_text("The explorer below shows all heads of layer 4.")
        assert "head=" not in page.url


BARS = """(root) => {
  const { grid, scene } = root.explorer
  const sites = grid.sorted ?? []
  return { bar: grid.bar, first: sites[0], name: scene.measure?.name, values: scene.measure?.values }
}"""


def test_the_effect_of_muting_a_head_is_measured_once_it_is_chosen(browser, address):
    """Beside passes in which one head after the other is muted."""
    checkpoint = load_checkpoint("sentiment")
    before = checkpoint.classify(SENTENCE)
    answer = max(before, key=before.__getitem__)
    losses = [
        [
            100 * before[answer]
            - 100 * (checkpoint.classify(SENTENCE, Edits(muted=frozenset([HeadSite("encoder", layer, head)])))[answer])
            for head in range(8)
        ]
        for layer in range(4)
    ]
    with visitor(browser, width=1366, height=768) as page:
        open_page(page, address, "Explore")
        page.get_by_label("Heads by").select_option("muted")
        shown = page.locator(".headlight").first
        comes_true(page, lambda: shown.evaluate(BARS)["values"][0][0] is not None)
        assert np.allclose(shown.evaluate(BARS)["values"], losses, rtol=2e-3, atol=2e-3)
        expect(page.locator(".explorer .note")).to_contain_text("points that the answer loses")


def test_heads_are_measured_and_put_in_order_at_once_and_the_address_keeps_it(browser, address, weights):
    """Entropy in bits, the mean over queries, written out from the weights of the trace."""
    with visitor(browser, width=1366, height=768) as page:
        open_page(page, address, "Explore")
        by = page.get_by_label("Heads by")
        expect(by).to_be_visible()
        with np.errstate(divide="ignore", invalid="ignore"):
            entropies = -np.nansum(weights * np.log2(weights), axis=-1).mean(axis=-1)
        by.select_option("entropy")
        page.get_by_label("Order of heads").select_option("measure")
        shown = page.locator(".headlight").first.evaluate(BARS)
        assert (shown["name"], shown["bar"] > 0) == ("entropy", True)
        assert np.allclose(shown["values"], entropies, rtol=2e-3, atol=2e-3)
        assert tuple(shown["first"]) == np.unravel_index(entropies.argmax(), entropies.shape)
        comes_true(page, lambda: "measure=entropy" in page.url and "order=measure" in page.url)
        page.reload()
        picture_shown(page)
        expect(page.get_by_label("Heads by")).to_have_value("entropy")
        expect(page.locator(".explorer .note")).to_contain_text("Bars: entropy (bits); a whole bar is")
        page.get_by_label("Heads by").select_option("")
        expect(page.get_by_label("Order of heads")).to_be_hidden()
