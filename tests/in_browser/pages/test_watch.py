"""The page Watch it learn in a real browser: it plays, is dragged, trains, stops, and leads into other pages."""

import math
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

from model import load_checkpoint
from model.training.watched.head_pictures import head_pictures
from model.training.watched.recordings import recorded
from tests.running import answered, back, comes_true, download, has_page, idle, no_complaint, open_page, visitor
from tests.viz.explorer.test_browser import serious

PAGE = "Watch it learn"
LINE = "wordplaywordplay"
LENGTH = len(LINE)
WEIGHTS_AT = """(root, [number, head]) => {
  const { run, place, weights } = root.held.screens[number]
  const size = run.tokens.length ** 2
  const start = (place * run.layers * run.heads + head) * size
  return [...weights.slice(start, start + size)]
}"""


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """The page, with a film that stands still at a step."""
    with visitor(browser, width=1366, height=768) as page:
        open_page(page, address, PAGE, watch="step.256")
        expect(page.locator(".player canvas").first).to_be_visible()
        yield page
        no_complaint(page)


def player(page: Page, script: str) -> Any:
    """Something that the player holds."""
    return page.locator(".player").evaluate(f"root => {{ const {{ held }} = root; return {script} }}")


def step(page: Page) -> int:
    """At which the player stands."""
    return int(player(page, "held.steps[held.place]"))


def roots(page: Page, run: int, head: int) -> np.ndarray:
    """The roots of a head's weights as they are drawn, of the moment that is seen."""
    sent = page.locator(".player").evaluate(WEIGHTS_AT, [run, head])
    return np.array(sent).reshape(LENGTH, LENGTH) / 255


def slide_to(page: Page, place: int) -> None:
    """Move the slider, and let it go."""
    with answered(page):
        page.locator(".player input[type=range]").fill(str(place))


def weights_of(training: str, at: int) -> np.ndarray:
    """A snapshot's weights: (layer, head, query, key)."""
    history = recorded(training)
    return head_pictures(history, LINE).weights[history.steps.index(at)]


PACE = """async (root) => {
  const { held } = root
  const frame = () => new Promise(requestAnimationFrame)
  const [first, from] = [await frame(), held.at]
  while ((await frame()) - first < 600);
  return (1000 * (held.at - from)) / (performance.now() - first)
}"""


def test_it_plays_more_slowly_for_those_who_explain_it(page):
    speed = page.get_by_label("Speed", exact=True)
    speed.select_option("¼×")
    page.get_by_label("Play", exact=True).click()
    seconds = player(page, "held.data.seconds")
    assert page.locator(".player").evaluate(PACE) == pytest.approx(0.25 / seconds, rel=0.3)
    speed.select_option("½×")
    assert page.locator(".player").evaluate(PACE) == pytest.approx(0.5 / seconds, rel=0.3)
    with answered(page):
        page.get_by_label("Pause", exact=True).click()


def test_it_plays_by_itself_from_random_weights_to_the_last_step_and_can_be_held(browser, address):
    with visitor(browser) as page:
        open_page(page, address, PAGE)
        button = page.locator(".player .play")
        expect(button).to_have_attribute("aria-label", "Pause")
        comes_true(page, lambda: player(page, "held.at > 0.15"))
        first = step(page)
        button.click()
        expect(button).to_have_attribute("aria-label", "Play")
        held = step(page)
        assert 0 <= first <= held < 1000
        page.wait_for_timeout(500)
        assert step(page) == held
        on_axis = math.log2(1 + held) / math.log2(1 + 1000)
        assert player(page, "held.at") == pytest.approx(on_axis, abs=1e-9), "the line is at the step that is read"
        button.click()
        comes_true(page, lambda: player(page, "held.at === 1"))
        expect(button).to_have_attribute("aria-label", "Play")
        expect(page).to_have_url(re.compile("step.1000"))
        no_complaint(page)


def test_while_it_plays_the_line_stands_at_the_step_whose_numbers_are_read(browser, address):
    with visitor(browser) as page:
        open_page(page, address, PAGE)
        read = """(() => {
          const [screen] = held.screens
          return [Number(screen.playheads[0].getAttribute("x1")), screen.plot, held.steps[held.place], held.at]
        })()"""
        comes_true(page, lambda: player(page, "held.at > 0.3"))
        seen = []
        while (now := player(page, read))[-1] < 1:
            seen.append(now)
        left = now[0] - now[1]  # of the axis: the film has ended
        assert now[2] == 1000
        assert len(seen) >= 3
        on_axis = [math.log2(1 + step) / math.log2(1 + 1000) for _, _, step, _ in seen]
        assert any(at > place + 0.005 for (_, _, _, at), place in zip(seen, on_axis, strict=True)), "between two steps"
        for (x, plot, _, _), place in zip(seen, on_axis, strict=True):
            assert x == pytest.approx(left + plot * place, abs=0.01)
        no_complaint(page)


def test_whoever_wants_nothing_to_move_sees_the_end(browser, address):
    with visitor(browser) as page:
        page.emulate_media(reduced_motion="reduce")
        open_page(page, address, PAGE)
        expect(page.locator(".player .readout")).to_have_text("step 1,000 of 1,000")
        assert player(page, "held.frame") == 0


def test_the_slider_goes_to_a_moment_whose_numbers_and_pictures_are_those_of_its_weights(page):
    history = recorded("induction-two-layers")
    for place in (0, len(history.steps) - 6):
        slide_to(page, place)
        moment = history.at(history.steps[place])
        expect(page.locator(".player .readout")).to_have_text(f"step {moment.step:,} of 1,000")
        expect(page.locator(".player .accuracy").first).to_have_text(f"accuracy {round(100 * moment.accuracy)} %")
        assert page.locator(".player .loss").first.inner_text() == f"loss {moment.loss:.2f} nats"
        exact = weights_of("induction-two-layers", moment.step).reshape(4, LENGTH, LENGTH)
        for head in range(4):
            assert np.abs(np.sqrt(exact[head]) - roots(page, 0, head)).max() < 0.0021


def test_a_drag_in_a_chart_and_the_arrow_keys_move_all_that_is_seen(page):
    box = page.locator(".player .charts svg").first.bounding_box()
    assert box is not None
    with answered(page):
        page.mouse.move(box["x"] + 60, box["y"] + 40)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] - 34, box["y"] + 40, steps=4)
        page.mouse.up()
    assert step(page) == 1000
    page.locator(".player input[type=range]").focus()
    with answered(page):
        page.keyboard.press("ArrowLeft")
    assert step(page) == 776
    expect(page).to_have_url(re.compile("step.776"))


def test_pointing_at_a_cell_gives_its_weight(page):
    weights = weights_of("induction-two-layers", 256)
    canvas = page.locator(".player .run").first.locator("canvas").nth(3)
    canvas.scroll_into_view_if_needed()
    cell, left = (int(str(canvas.get_attribute(f"data-{name}"))) for name in ("cell", "left"))
    canvas.hover(position={"x": left + 1.5 * cell, "y": 8.5 * cell})
    said = f"layer 2, head 2: 9 · w → 2 · o, weight ≈ {weights[1, 1, 8, 1]:.2f}"
    expect(page.locator(".player .pointed").first).to_have_text(said)


def test_a_kind_of_head_is_drawn_where_it_is_wanted(page):
    lines = page.locator(".player .run").first.locator("svg").nth(1).locator("polyline")
    expect(lines).to_have_count(4)
    page.get_by_role("button", name="copying").click()
    expect(lines).to_have_count(6)
    for name in ("copying", "induction", "previous letter"):
        page.get_by_role("button", name=name).click()
    expect(lines).to_have_count(0)
    expect(page.locator(".player .caption").first).to_have_text("No kind of head is chosen above.")


def test_a_moment_opens_on_other_pages_and_back_leads_to_it(page):
    with answered(page):
        page.get_by_role("link", name="Inside layer 2, head 2").click()
    has_page(page, "Inside a head")
    expect(page.get_by_label("Model", exact=True)).to_have_value("induction-two-layers.256")
    back(page, PAGE)
    assert step(page) == 256
    with answered(page):
        page.get_by_role("link", name="Explore it").first.click()
    has_page(page, "Explore")
    expect(page.get_by_label("Model", exact=True)).to_have_value("induction-two-layers.256")
    back(page, PAGE)
    expect(page.locator(".player .readout")).to_have_text("step 256 of 1,000")


def test_a_moment_and_the_film_are_downloaded(page, tmp_path):
    download(page, "induction-two-layers, step 256 (ZIP)").save_as(tmp_path / "moment.zip")
    with zipfile.ZipFile(tmp_path / "moment.zip") as archive:
        archive.extractall(tmp_path / "moment")
    trace: Any = load_checkpoint(tmp_path / "moment").trace(LINE)
    assert np.array_equal(trace.decoder.weights().numpy(), weights_of("induction-two-layers", 256))
    download(page, "Film (GIF)").save_as(tmp_path / "film.gif")
    with Image.open(tmp_path / "film.gif") as film:
        assert getattr(film, "n_frames", 1) == len(recorded("induction-two-layers").steps)


def test_a_training_is_begun_watched_stopped_and_opened(browser, address, tmp_path: Path):
    with visitor(browser) as page:
        open_page(page, address, PAGE, watch="step.256~steps.10000")
        with answered(page):
            page.get_by_role("button", name="Train", exact=True).click()
        expect(page.locator(".player .readout")).to_have_text(re.compile("of 10,000"))
        expect(page.get_by_text(re.compile("Step [0-9,]+ of 10,000")).first).to_be_visible()
        first = player(page, "held.steps.length")
        comes_true(page, lambda: player(page, "held.steps.length") > first)
        page.get_by_role("button", name="Stop", exact=True).click()
        expect(page.get_by_role("button", name="Stop", exact=True)).to_have_count(0)
        expect(page.get_by_role("link", name="Explore it")).to_be_visible()
        idle(page)
        page.locator(".player .play").click()  # it plays once; hold it
        slide_to(page, int(player(page, "held.steps.length")) - 1)
        last = step(page)
        assert 0 < last < 10_000
        drawn = roots(page, 0, 0)
        with answered(page):
            page.get_by_role("link", name="Explore it").click()
        has_page(page, "Explore")
        download(page, "All weights (NPZ)").save_as(tmp_path / "weights.npz")
        with np.load(tmp_path / "weights.npz") as content:
            exact = content["decoder_weights"][0, 0]
        assert np.abs(np.sqrt(exact) - drawn).max() < 0.0021
        no_complaint(page)


def test_a_training_goes_on_over_a_reload(browser, address):
    with visitor(browser, width=1366, height=768) as page:
        open_page(page, address, PAGE, watch="task.copy~steps.10000")
        page.get_by_role("button", name="Train", exact=True).click()
        progress = page.get_by_text(re.compile("Step [0-9,]+ of 10,000"))
        expect(progress).to_be_visible()
        before = step_said(progress)
        page.reload()
        expect(progress).to_be_visible()
        assert step_said(progress) >= before > 0
        page.get_by_role("button", name="Stop", exact=True).click()
        expect(page.get_by_text(re.compile(r"It ended early, at step [0-9,]+ of 10,000"))).to_be_visible()
        no_complaint(page)


def step_said(progress: Locator) -> int:
    """The step that the page says it has come to."""
    return int(re.sub(r"Step ([0-9,]+) of.*", r"\1", progress.inner_text()).replace(",", ""))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1366])
@pytest.mark.parametrize("film", ["induction", "language"])
def test_nobody_is_shut_out_and_nothing_is_cut(browser, address, width, dark, film):
    with visitor(browser, width=width, height=800, dark=dark) as page:
        open_page(page, address, PAGE, watch=f"film.{film}~step.256")
        expect(page.locator(".player canvas").first).to_be_visible()
        assert serious(page) == []
        wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wider <= 0
        no_complaint(page)
