"""The app in a real browser, against the server that a user starts."""

import json
import re
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from urllib.parse import urlencode, urlsplit
from xml.etree import ElementTree

import numpy as np
import pytest
from playwright.sync_api import Page, Position, WebSocketRoute, expect

from model import Edits, HeadSite, load_checkpoint
from pages import FOLDER, MENU
from tests.running import (
    comes_true,
    download,
    explored,
    fits,
    idle,
    open_from_menu,
    open_menu,
    picture_shown,
    running_app,
    visitor,
)
from tests.viz.explorer.test_browser import serious
from viz.theme import DARK, LIGHT

SENTENCE = "An odd film, but a good film."
RESTING = 300  # milliseconds
COUNT_SENT = "window.sent = 0; const { send } = WebSocket.prototype;\
WebSocket.prototype.send = function (...given) { window.sent += 1; return send.apply(this, given) }"
# The longest time between two movements, the heads that were off, what was sent, and the heads that are off.
HOVER_AND_SWITCH = """async (root, places) => {
  const { explorer } = root
  const [before, already] = [[...explorer.view.off], window.sent]
  const { left, top } = explorer.matrix.host.getBoundingClientRect()
  let [last, longest] = [performance.now(), 0]
  for (const { x, y } of places) {
    const move = { clientX: left + x, clientY: top + y, bubbles: true }
    explorer.matrix.host.dispatchEvent(new PointerEvent("pointermove", move))
    await new Promise(requestAnimationFrame)
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }
  root.querySelector("[aria-label='Head 2']").click()
  return [longest, before, window.sent - already, [...explorer.view.off]]
}"""


@pytest.fixture(scope="module")
def weights():
    """(layer, head, query, key) of the sentence that the tests type."""
    encoder = load_checkpoint("sentiment").trace(SENTENCE).encoder
    assert encoder is not None
    return encoder.weights().numpy()


def type_sentence(page: Page, text: str = SENTENCE) -> None:
    page.get_by_label("Text", exact=True).fill(text)
    page.get_by_label("Text", exact=True).press("Control+Enter")
    expect(page).to_have_url(re.compile(re.escape(urlencode({"text": text}))))
    picture_shown(page)


def told(page: Page) -> None:
    """Wait until the server has heard what was chosen and has nothing left to say."""
    page.wait_for_timeout(400)  # what the explorer waits before it tells
    idle(page)


def exact(page: Page) -> float:
    """The number in full that stands beside the sentence once the server has sent it."""
    expect(page.locator(".readout .exact")).to_be_visible()
    return float(page.locator(".readout .exact").inner_text())


def cell(page: Page, query: int, key: int) -> Position:
    """Where a cell of the matrix lies in it."""
    script = "({ ...explorer.matrix.inner, rows: explorer.scene.frame.rows.length })"
    inner = explored(page, script)
    side = inner["height"] / inner["rows"]
    return {"x": inner["left"] + (key + 0.5) * side, "y": inner["top"] + (query + 0.5) * side}


def tile_cell(page: Page, layer: int, head: int, query: int, key: int) -> Position:
    """Where a cell lies in a thumbnail of the grid."""
    script = (
        f"({{ ...explorer.grid.corner({layer}, {head}), cell: explorer.grid.tile / explorer.grid.tiles[0].width }})"
    )
    corner = explored(page, script)
    return {"x": corner["x"] + (key + 0.5) * corner["cell"], "y": corner["y"] + (query + 0.5) * corner["cell"]}


def test_a_sentence_typed_and_a_head_toggled_show_the_weights_of_the_trace(browser, address, weights):
    with visitor(browser) as page:
        page.goto(address)
        picture_shown(page)
        type_sentence(page)
        page.get_by_role("button", name="Head 1", exact=True).click()
        expected = weights[0, 1:].mean(axis=0, dtype=np.float64)
        page.locator(".stack.matrix").hover(position=cell(page, 2, 5))
        expect(page.locator(".readout")).to_contain_text("Layer 1, mean of 7 heads: query 3")
        expect(page.locator(".readout")).to_contain_text("attends to key 6")
        assert exact(page) == pytest.approx(expected[2, 5], abs=1e-7)
        expect(page.get_by_text("On average, the 7 heads of layer 1 that are on")).to_be_visible()
        lines = explored(
            page, "({ x: explorer.lines.size.width - 20, y: explorer.lines.rowY(5, explorer.scene.frame.columns) })"
        )
        page.locator(".stack.lines").hover(position=lines)
        giver = int(expected[:, 5].argmax()) + 1
        expect(page.locator(".readout")).to_contain_text(f"gets most from query {giver} · ")
        assert exact(page) == pytest.approx(expected[:, 5].max(), abs=1e-7)
        mean = weights[2].mean(axis=0, dtype=np.float64)
        for head, name, of_head in ((4, "head 5", weights[2, 4]), (8, "mean of its heads", mean)):
            page.locator(".stack.grid").hover(position=tile_cell(page, 2, head, 3, 1))
            expect(page.locator(".readout")).to_contain_text(f"layer 3, {name}: query 4 · ")
            assert exact(page) == pytest.approx(of_head[3, 1], abs=1e-7)
        page.goto(f"{address}/?{urlencode({'text': SENTENCE, 'key': 5, 'off': '0.0'})}")
        assert exact(page) == pytest.approx(expected[:, 5].max(), abs=1e-7)


def test_the_picture_comes_before_the_controls_and_stays_with_what_is_being_typed(browser, address):
    held, servers = [], []

    def holding(socket: WebSocketRoute) -> None:
        servers.append(socket.connect_to_server())
        socket.on_message(
            lambda message: held.append(message) if b'"event":"drawn"' in message else servers[0].send(message)
        )

    with visitor(browser) as page:
        page.route_web_socket(re.compile("_stcore/stream"), holding)
        page.goto(address)
        picture_shown(page)
        expect(page.get_by_text("the 8 heads of layer 1 ")).to_be_visible()
        expect(page.get_by_label("Mute the heads that are off")).to_have_count(0)
        page.locator(".headlight").evaluate("root => { root.same = root.querySelector('canvas').same = true }")
        page.get_by_label("Text", exact=True).fill("Not sent yet")
        before = page.locator(".headlight").bounding_box()
        while not held:
            page.wait_for_timeout(50)
        servers[0].send(held[0])
        expect(page.get_by_label("Mute the heads that are off").first).to_be_visible()
        expect(page.get_by_role("heading", name="Tokens")).to_be_visible()
        expect(page.get_by_label("Text", exact=True)).to_have_value("Not sent yet")
        assert page.locator(".headlight").evaluate("root => root.same && root.querySelector('canvas').same")
        assert page.locator(".headlight").bounding_box() == before


def test_the_controls_come_even_where_nothing_can_be_drawn(browser, address):
    with visitor(browser) as page:
        page.add_init_script(
            "window.DecompressionStream = class { readable = new ReadableStream(); writable = new WritableStream() }"
        )
        page.goto(address)
        expect(page.get_by_label("Mute the heads that are off").first).to_be_visible()
        assert not explored(page, "explorer.painted")


def test_a_text_that_follows_quickly_stays(browser, address):
    with visitor(browser) as page:
        page.goto(address)
        picture_shown(page)
        for text in ("A first text.", "Another one."):
            type_sentence(page, text)
            expect(page.locator(".words button").first).to_have_text(text.split()[0].lower())
        page.wait_for_timeout(1500)
        expect(page.locator(".words button").first).to_have_text("another")


def test_hovering_and_switching_heads_ask_the_server_nothing_until_the_pointer_rests(browser, address):
    with visitor(browser) as page:
        page.add_init_script(COUNT_SENT)
        page.goto(address)
        picture_shown(page)
        told(page)
        tries = (hovered_and_switched(page) for _ in range(9))  # a pointer may rest by accident, on a busy machine
        _, before, sent, after = next(attempt for attempt in tries if attempt[0] < RESTING)
        assert (before, sent, after) == ([], 0, ["0.1"])
        told(page)
        expect(page).to_have_url(re.compile("off=0.1"))  # then the address is brought up to date


def hovered_and_switched(page: Page) -> tuple[float, list[str], int, list[str]]:
    page.get_by_role("button", name="All heads", exact=True).click()
    told(page)
    results = page.locator(".headlight").evaluate(HOVER_AND_SWITCH, [cell(page, place, place) for place in range(4)])
    longest, before, sent, after = results
    return longest, before, sent, after


def test_those_who_listen_hear_the_exact_number_and_what_has_changed(browser, address):
    with visitor(browser) as page:
        page.goto(f"{address}/?{urlencode({'text': SENTENCE, 'query': 1, 'key': 3})}")
        exact(page)
        page.get_by_role("button", name="Matrix", exact=True).click()
        expect(page.locator(".live")).to_contain_text("Matrix.")
        expect(page.locator(".live")).to_contain_text(page.locator(".readout .exact").inner_text())
        type_sentence(page, "Three short words")
        expect(page.locator(".live")).to_have_text(re.compile(r"^3 tokens\. Layer 1, mean of 8 heads\."))


def test_what_the_explorer_told_or_asked_is_told_again_where_the_message_was_lost(browser, address, weights):
    lost = []

    def losing(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def pass_on(message: bytes | str) -> None:
            content = message if isinstance(message, bytes) else message.encode()
            names = [name for name in (b'"event":"drawn"', b'"event":"row"') if name in content and name not in lost]
            lost.extend(names)
            if not names:
                server.send(message)

        socket.on_message(pass_on)

    with visitor(browser) as page:
        page.route_web_socket(re.compile("_stcore/stream"), losing)
        page.goto(f"{address}/?{urlencode({'text': SENTENCE, 'layer': 2, 'off': '2.1-7', 'query': 1, 'key': 3})}")
        assert exact(page) == pytest.approx(weights[2, 0, 1, 3], abs=1e-7)
        expect(page.get_by_role("heading", name="Every head in numbers")).to_be_visible()
    assert len(lost) == 2


def test_the_explorer_tells_nothing_from_a_page_that_back_has_left(browser, address):
    """The server would put both requests into one, for the page that was left."""
    told = []

    def losing(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()

        def pass_on(message: bytes | str) -> None:
            content = message if isinstance(message, bytes) else message.encode()
            if b'"event":"drawn"' in content:
                told.append(time.monotonic())
            elif not told:  # the page that Back asks for never comes
                server.send(message)

        socket.on_message(pass_on)

    def was_told() -> None:
        assert told

    with visitor(browser) as page:
        page.route_web_socket(re.compile("_stcore/stream"), losing)
        page.goto(f"{address}/checkpoints")
        page.get_by_role("link", name="Open in Explore").first.click()
        comes_true(page, was_told)  # and again after five seconds
        page.wait_for_timeout(3500)
        page.go_back()
        page.wait_for_timeout(2500)
    assert len(told) == 1


def test_a_copied_address_opens_the_same_view_on_a_server_that_has_just_started(browser, address, weights):
    with visitor(browser) as page:
        page.goto(f"{address}/?layer=2&scale=linear")
        picture_shown(page)
        type_sentence(page)
        page.get_by_role("button", name="Head 5", exact=True).click()
        page.get_by_role("button", name="Only head 5").click()
        page.locator(".stack.matrix").click(position=cell(page, 1, 3))
        before = exact(page)
        told(page)
        open_menu(page, "Share")
        page.get_by_role("button", name="Copy the address", exact=True).click()
        expect(page.get_by_text("Copied", exact=True)).to_be_visible()
        copied = page.evaluate("navigator.clipboard.readText()")
    with running_app() as (fresh, _), visitor(browser) as page:
        page.goto(f"{fresh}/?{urlsplit(copied).query}")
        picture_shown(page)
        expect(page.get_by_label("Text", exact=True)).to_have_value(SENTENCE)
        expect(page.locator(".readout")).to_contain_text("Layer 3, head 5: query 2")
        expect(page.get_by_label("Scale", exact=True)).to_have_value("linear")
        assert exact(page) == before == pytest.approx(weights[2, 4, 1, 3], abs=1e-7)


@pytest.mark.parametrize("delay", [0, 100, 300])
def test_a_choice_made_while_the_server_is_busy_is_the_same_on_both_sides(browser, address, delay):
    with visitor(browser) as page:
        page.goto(address)
        picture_shown(page)
        told(page)
        page.get_by_label("Text", exact=True).fill(" ".join(f"b{place % 9}" for place in range(200 + delay)))
        page.get_by_label("Text", exact=True).press("Control+Enter")
        page.wait_for_timeout(delay)
        explored(page, "(explorer.toggle(0, 1), explorer.flush())")
        expect(page.locator(".words button").first).to_have_text("b")
        page.wait_for_timeout(1500)
        idle(page)
        comes_true(page, partial(same_on_both_sides, page))


def same_on_both_sides(page):
    assert explored(page, "explorer.view.off.has('0.1')") == ("off=0.1" in page.url)


def test_a_choice_made_just_before_another_control_is_not_lost(browser, address):
    with visitor(browser) as page:
        page.goto(address)
        picture_shown(page)
        page.get_by_role("button", name="Head 3", exact=True).click()
        page.get_by_text("Mute the heads that are off").click()
        expect(page).to_have_url(re.compile("mute=1"))
        told(page)
        assert "off=0.2" in page.url
        assert explored(page, "[...explorer.view.off]") == ["0.2"]


def test_layers_of_a_long_text_come_when_they_are_looked_at(browser, address):
    text = " ".join(f"a{place % 7}" for place in range(256))
    stack = load_checkpoint("sentiment").trace(text).encoder
    assert stack is not None
    with visitor(browser) as page:
        page.goto(f"{address}/?{urlencode({'text': text})}")
        picture_shown(page)
        assert not explored(page, "explorer.model.whole")
        comes_true(page, partial(there, page, [0, 1, 3]))
        page.get_by_role("button", name="Layer 3", exact=True).hover()  # asked for before it is pressed
        comes_true(page, partial(there, page, [0, 1, 2, 3]))
        assert explored(page, "explorer.view.layer") == 0
        for layer in (2, 0, 3):
            page.get_by_role("button", name=f"Layer {layer + 1}", exact=True).click()
            expect(page.locator(".readout")).to_contain_text(f"Layer {layer + 1}, mean of 8 heads")
            page.mouse.move(1, 1)
            inner = explored(page, "explorer.matrix.inner")
            page.locator(".stack.matrix").hover(position={"x": inner["left"] + 150, "y": inner["top"] + 100})
            query, key = (
                int(number) - 1
                for number in re.findall(r"(?:query|key) (\d+)", page.locator(".readout .said").inner_text())
            )
            mean = stack.blocks[layer].self_attention.weights.double().mean(dim=0)
            assert exact(page) == pytest.approx(float(mean[query, key]), abs=1e-7)


def there(page, layers):
    assert explored(page, "[0, 1, 2, 3].filter(layer => explorer.model.has(explorer.kind, layer))") == layers


def test_cross_attention_of_the_translator_is_that_of_the_trace(browser, address):
    trace = load_checkpoint("translate-en-fr").trace("It is raining.")
    assert trace.decoder is not None
    mean = trace.decoder.cross_weights()[1].double().mean(dim=0)
    with visitor(browser) as page:
        page.goto(f"{address}/?{urlencode({'checkpoint': 'translate-en-fr', 'text': 'It is raining.', 'layer': '1'})}")
        picture_shown(page)
        page.get_by_role("button", name="decoder → encoder").click()
        inner = explored(page, "explorer.matrix.inner")
        x, y = (
            inner["left"] + 2.5 / mean.shape[1] * inner["width"],
            inner["top"] + 0.5 / mean.shape[0] * inner["height"],
        )
        page.locator(".stack.matrix").hover(position={"x": x, "y": y})
        expect(page.locator(".readout")).to_contain_text("attends to key 3")
        assert exact(page) == pytest.approx(float(mean[0, 2]), abs=1e-6)
        expect(page).to_have_url(re.compile("attention=cross"))


def test_muted_heads_come_back_with_their_attention(browser, address):
    with visitor(browser) as page:
        page.goto(f"{address}/?checkpoint=translate-en-fr&off=0.2&mute=1")
        picture_shown(page)
        for attention, heads in (("decoder → encoder", 8), ("encoder", 7)):
            page.get_by_role("button", name=attention, exact=True).click()
            told(page)
            picture_shown(page)
            assert len(explored(page, "explorer.scene.heads")) == heads
        expect(page).to_have_url(re.compile(r"off=0\.2"))


def test_heads_chosen_in_the_chart_are_those_of_the_explorer(browser, address):
    with visitor(browser, height=2600) as page:
        page.goto(address)
        picture_shown(page)
        for name in ("layer 2, head 2:", "layer 3, head 7:"):
            page.locator(f"path[aria-label^='{name}']").last.click()
            told(page)
        assert explored(page, "[explorer.view.layer, ...explorer.scene.heads]") == [2, 6], "the last one is seen"
        page.get_by_role("button", name="Layer 2", exact=True).click()
        told(page)
        assert explored(page, "[explorer.view.layer, ...explorer.scene.heads]") == [1, 1]


@pytest.mark.parametrize("page_name", ["explore", "checkpoints"])
def test_a_page_opened_first_on_a_fresh_server_has_its_menu_and_keeps_its_address(browser, page_name):
    with running_app() as (fresh, _), visitor(browser) as page:
        page.goto(f"{fresh}/{page_name}?layer=3")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        idle(page)
        for title in [title for _, stem, title in MENU if (FOLDER / f"{stem}.py").exists()]:
            expect(page.get_by_test_id("stSidebar").get_by_text(title, exact=True).last).to_be_visible()
        assert "layer=3" in page.url
        if page_name == "explore":
            open_from_menu(page, "Models")
            expect(page).to_have_url(re.compile(r"/checkpoints\?layer=3$"))
        else:
            open_from_menu(page, "Explore")
            expect(page).to_have_url(re.compile(r":\d+/\?layer=3$"))
        assert page.get_by_role("dialog").count() == 0, "no page was missing"


def test_each_page_is_the_one_that_the_menu_marks_by_whichever_address(browser, address):
    with visitor(browser, width=1366, height=768) as page:
        for path, title in [
            ("", "Explore"),
            *((name, title) for _, name, title in MENU if name in ("explore", "learn")),
        ]:
            page.goto(f"{address}/{path}")
            expect(page.locator(".st-key-page_here")).to_have_text(title)


def test_muting_every_head_changes_the_prediction_as_the_model_says(browser, address):
    edits = Edits(muted=frozenset(HeadSite("encoder", 0, head) for head in range(8)))
    checkpoint = load_checkpoint("sentiment")
    with visitor(browser) as page:
        page.goto(f"{address}/?{urlencode({'text': SENTENCE})}")
        picture_shown(page)
        page.get_by_role("button", name="None", exact=True).click()
        told(page)
        mute = page.get_by_role("switch", name="Mute the heads that are off")
        page.locator("[data-testid=stCheckbox] >> xpath=following::button[1]").click()
        expect(page.get_by_text("Runs the model again with the heads that are off muted")).to_be_visible()
        expect(mute).not_to_be_checked()  # to read what it does switches nothing
        page.get_by_text("Mute the heads that are off").click()
        expect(mute).to_be_checked()
        before = page.get_by_test_id("stText").filter(has_text="Before muting")
        expect(before).to_be_visible()
        for probabilities, place in (
            (checkpoint.classify(SENTENCE, edits=edits), page.get_by_test_id("stMetricValue")),
            (checkpoint.classify(SENTENCE), before),
        ):
            label = max(probabilities, key=probabilities.__getitem__)
            expect(place).to_contain_text(f"{label} {100 * probabilities[label]:.1f}")
        page.get_by_role("button", name="Layer 2", exact=True).click()
        told(page)
        page.locator(".stack.matrix").hover(position=cell(page, 0, 1))
        muted = checkpoint.trace(SENTENCE, edits=edits).encoder
        assert muted is not None
        assert exact(page) == pytest.approx(float(muted.blocks[1].self_attention.weights.mean(dim=0)[0, 1]), abs=1e-6)


def taken(page: Page, label: str) -> Path:
    """A file of the page."""
    return Path(download(page, label).path())


def test_the_downloaded_files_hold_the_weights_of_the_trace(browser, address, weights):
    with visitor(browser) as page:
        page.goto(f"{address}/?{urlencode({'text': SENTENCE, 'off': '1.0-1_1.3-7', 'layer': '1'})}")
        picture_shown(page)
        with np.load(taken(page, "All weights (NPZ)")) as file:
            assert np.allclose(file["encoder_weights"], weights, atol=1e-6)
        lines = taken(page, "This view (CSV)").read_text(encoding="utf-8-sig").splitlines()
        rows = [line for line in lines if not line.startswith("# ")][1:]
        column = np.array([float(row.rsplit(",", 1)[1]) for row in rows])
        assert np.allclose(column, weights[1, 2].reshape(-1), atol=1e-6)
        numbers = json.loads(taken(page, "This view (JSON)").read_text(encoding="utf-8"))
        assert np.allclose(numbers["weights"][0], weights[1, 2], atol=1e-6)
        script = taken(page, "As Python").read_text(encoding="utf-8")
        assert f"trace({SENTENCE!r})" in script
        assert "layer=1" in script


def test_the_downloaded_pictures_and_the_page_open(browser, address, weights, tmp_path):
    with visitor(browser) as page:
        page.goto(f"{address}/?{urlencode({'text': SENTENCE, 'off': '1.0-1_1.3-7', 'layer': '1', 'show': 'matrix'})}")
        picture_shown(page)
        drawing = ElementTree.parse(taken(page, "Picture (SVG)"))
        assert "layer 2 of 4, head 3 of 8" in "".join(drawing.getroot().itertext())
        assert taken(page, "Picture (PDF)").read_bytes().startswith(b"%PDF")
        assert taken(page, "Picture (PNG)").read_bytes().startswith(b"\x89PNG")
        saved = tmp_path / "attention.html"
        saved.write_bytes(taken(page, "Web page (HTML)").read_bytes())
    with closing(browser.new_context(offline=True)) as context:
        alone = context.new_page()
        alone.goto(saved.as_uri())
        expect(alone.locator(".readout")).to_contain_text("Layer 2, head 3")
        alone.locator(".stack.matrix").hover(position=cell(alone, 2, 4))
        expect(alone.locator(".readout")).to_contain_text("query 3")
        weight = float(alone.locator(".readout").inner_text().split("≈ ")[1])
        assert weight == pytest.approx(weights[1, 2, 2, 4], abs=0.0045)


@pytest.mark.parametrize(
    "text",
    [
        "<img src=x onerror='document.title=\"run\"'> good <b>film</b>",
        "![picture](https://example.org/a.png) **good** $\\frac{1}{2}$ :red[x]",
        "</script><script>document.title='run'</script>",
    ],
)
def test_a_text_in_a_link_stays_text(browser, address, text):
    with visitor(browser) as page:
        page.goto(f"{address}/?{urlencode({'text': text})}")
        picture_shown(page)
        expect(page.get_by_label("Text", exact=True)).to_have_value(text)
        assert page.title() != "run"
        assert page.locator("[data-testid=stMain] :is(img, script, .katex)").count() == 0


def test_the_browsers_back_button_undoes_a_choice(browser, address):
    with visitor(browser) as page:
        page.goto(address)
        picture_shown(page)
        for number in ("2", "3"):
            page.get_by_role("button", name=f"Layer {number}", exact=True).click()
            told(page)
        for number in ("2", "1"):
            page.go_back()
            expect(page.locator(".readout")).to_contain_text(f"Layer {number}, mean of 8 heads")
            idle(page)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("page_name", ["", "checkpoints"])
def test_axe_finds_nothing_serious_and_the_pages_fit_the_window(browser, address, page_name, dark):
    with visitor(browser, dark=dark, height=2600) as page:
        page.goto(f"{address}/{page_name}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        idle(page)
        if not page_name:
            picture_shown(page)
            assert explored(page, "explorer.scene.theme.background") == (DARK if dark else LIGHT).background
        assert serious(page) == []
        for width in (1440, 390):
            page.set_viewport_size({"width": width, "height": 1000})
            comes_true(page, partial(narrow, page, width))


def test_heads_chosen_in_the_chart_and_in_the_explorer_stay_in_step(browser, address):
    every = {(layer, head) for layer in range(1, 5) for head in range(1, 9)}
    with visitor(browser, height=2400) as page:
        page.goto(f"{address}/?off=0.0-6")
        picture_shown(page)
        comes_true(page, partial(bright, page, every - {(1, head) for head in range(1, 8)}))
        page.locator("path[aria-label^='layer 3, head 5:']").last.click(force=True)
        comes_true(page, partial(bright, page, {(3, 5)}))
        expect(page).to_have_url(re.compile("off=0.0-7_1.0-7_2.0-3_2.5-7_3.0-7"))
        picture_shown(page)
        page.get_by_role("button", name="All heads", exact=True).click()
        comes_true(page, partial(bright, page, {(3, head) for head in range(1, 9)}))  # of this layer


def bright(page: Page, heads: set[tuple[int, int]]) -> None:
    """The heads whose marks in both parts of the chart are not dimmed, counted from 1."""
    marks = page.locator("path[aria-label^='layer ']")
    opacities = marks.evaluate_all("all => all.map(one => [one.ariaLabel, one.getAttribute('opacity')])")
    assert len(opacities) == 2 * 32
    lit = [tuple(map(int, re.findall(r"\d+", label)[:2])) for label, opacity in opacities if opacity in (None, "1")]
    assert sorted(lit) == sorted([*heads, *heads])


def narrow(page: Page, width: int) -> None:
    """Nothing reaches beyond the window."""
    fits(page, width)


def test_charts_follow_a_change_of_theme(browser, address):
    with visitor(browser) as page:
        page.goto(f"{address}/break")
        chart = page.locator("[data-testid=stVegaLiteChart] svg").first
        expect(chart).to_have_css("background-color", rgb(LIGHT.background))
        idle(page)
        expect(page.locator(".st-key-theme span")).to_be_attached()
        page.wait_for_timeout(500)  # until what listens has run once
        page.emulate_media(color_scheme="dark")
        expect(chart).to_have_css("background-color", rgb(DARK.background))


def rgb(colour: str) -> str:
    """#rrggbb as browsers say it."""
    return f"rgb({', '.join(str(int(colour[start : start + 2], 16)) for start in (1, 3, 5))})"
