"""The page Edit in a real browser: dragging, painting, typing, touch, and the ways back."""

import re
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from model import Edits, load_checkpoint
from tests.running import answered, back, download, has_page, idle, no_complaint, open_page, visitor
from tests.viz.explorer.test_browser import serious

TEXT = "The film was slow, but I loved it."
PAGE = "Edit"
HEAD = {"text": TEXT, "layer": "1", "head": "2"}
NUMBER = "Weight of the selected cell, in percent"


def loaded(name: Any) -> Any:
    """A checkpoint, whose traces have what its kind has."""
    return load_checkpoint(name, device="cpu")


def centre(page: Page, query: int, key: int) -> tuple[float, float]:
    """Where a cell is on the screen."""
    plan = page.locator(".editor").evaluate("root => root.held.plan")
    box = page.locator(".editor canvas").bounding_box()
    assert box is not None
    return (
        box["x"] + plan["left"] + (key + 0.5) * plan["cell"],
        box["y"] + plan["top"] + (query + 0.5) * plan["cell"],
    )


def drag(page: Page, query: int, key: int, up: float) -> None:
    """Hold a cell and move it."""
    x, y = centre(page, query, key)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - up / 2)
    page.mouse.move(x, y - up)
    with answered(page):
        page.mouse.up()


def shown_row(page: Page, query: int) -> np.ndarray:
    """A row as the browser shows it."""
    script = """(root, query) => {
      const { held } = root
      const start = (query - held.data.rows[0].place) * held.data.sent
      const row = held.base.slice(start, start + held.data.sent)
      let sum = 0, divided = false
      for (const [key, cell] of held.edited.get(query) ?? []) {
        row[key] = cell.value
        divided ||= cell.renormalise
      }
      for (const weight of row) sum += weight
      return [...row].map(weight => divided ? weight / sum : weight)
    }"""
    return np.array(page.locator(".editor").evaluate(script, query))


def edits_in(page: Page) -> Edits:
    found: Any = re.search(r"[?&]edits=([^&]*)", page.url)
    return Edits.from_text(found[1] if found else "")


def row_of_model(page: Page, query: int) -> np.ndarray:
    """The same row in a pass with the edits of the address."""
    trace = loaded("sentiment").trace(TEXT, edits=edits_in(page))
    return trace.encoder.blocks[1].self_attention.weights[2, query].numpy()


def expect_answer(page: Page) -> None:
    """The panel has what the model says with the edits of the address."""
    positive = loaded("sentiment").classify(TEXT, edits=edits_in(page))["positive"]
    expect(page.locator(".answer .row").first).to_contain_text(f"→ {100 * positive:.1f}\u00a0%")


def test_a_drag_changes_the_answer_and_is_undone_by_button_and_back_and_kept_by_a_reload(browser, address):
    with visitor(browser, width=1366, height=768) as page:
        open_page(page, address, PAGE, **HEAD)
        before = shown_row(page, 3)
        drag(page, 3, 2, 100)
        after = row_of_model(page, 3)
        assert after[2] == pytest.approx(min(1, before[2] + 100 / 140), abs=2e-3)
        assert shown_row(page, 3) == pytest.approx(after, abs=1e-6)
        others = np.delete(after, 2) / np.delete(before, 2)
        assert others == pytest.approx(np.full(9, others[0]), rel=2e-3), "the others keep their shares"
        expect_answer(page)
        page.reload()
        has_page(page, PAGE)
        assert shown_row(page, 3) == pytest.approx(after, abs=1e-6)
        drag(page, 5, 4, 60)
        with answered(page):
            page.get_by_role("button", name="Undo", exact=True).click()
        assert shown_row(page, 3) == pytest.approx(after, abs=1e-6)
        assert {cell.query for cell in edits_in(page).overwritten} == {3}
        with answered(page):
            page.get_by_role("button", name="Redo", exact=True).click()
        assert {cell.query for cell in edits_in(page).overwritten} == {3, 5}
        back(page, PAGE)
        assert {cell.query for cell in edits_in(page).overwritten} == {3}
        assert shown_row(page, 5) == pytest.approx(row_of_model(page, 5), abs=1e-6)
        assert serious(page) == []
        no_complaint(page)


def test_a_saved_edit_is_opened_again_by_somebody_else_and_a_spoilt_file_costs_one_sentence(browser, address, tmp_path):
    with visitor(browser) as page:
        open_page(page, address, PAGE, **HEAD)
        drag(page, 3, 2, 100)
        after, said = shown_row(page, 3), edits_in(page)
        saved = tmp_path / "edit.json"
        download(page, "The edit (file)").save_as(saved)
    with visitor(browser) as page:
        open_page(page, address, PAGE, text="Another text, and another film.", layer="1", head="2")
        page.get_by_text("Save or open this edit").click()
        with answered(page):
            page.locator("input[type=file]").set_input_files(saved)
        expect(page.get_by_label("Text", exact=True)).to_have_value(TEXT)
        assert edits_in(page) == said
        assert shown_row(page, 3) == pytest.approx(after, abs=1e-6)
        expect_answer(page)
        (tmp_path / "spoilt.json").write_text('{"edits": 3}', encoding="utf-8")
        with answered(page):
            page.locator("input[type=file]").set_input_files(tmp_path / "spoilt.json")
        expect(page.get_by_test_id("stAlert")).to_have_count(1)
        assert shown_row(page, 3) == pytest.approx(after, abs=1e-6), "what was there stays"


def test_the_other_weights_stay_where_they_are_asked_to(browser, address):
    with visitor(browser) as page:
        open_page(page, address, PAGE, **HEAD)
        before = shown_row(page, 3)
        page.get_by_role("button", name="stay as they are").click()
        drag(page, 3, 2, 70)
        after = row_of_model(page, 3)
        assert np.delete(after, 2) == pytest.approx(np.delete(before, 2), abs=1e-6)
        assert shown_row(page, 3) == pytest.approx(after, abs=1e-6)
        expect(page.locator(".editor .said")).to_contain_text(f"The row sums to {after.sum():.3g}, not to 1.")
        page.reload()
        has_page(page, PAGE)
        expect(page.get_by_role("button", name="stay as they are")).to_have_attribute("aria-pressed", "true")
        page.get_by_role("button", name="make room").click()
        drag(page, 3, 5, 70)
        assert row_of_model(page, 3).sum() == pytest.approx(1, abs=1e-6)
        assert shown_row(page, 3) == pytest.approx(row_of_model(page, 3), abs=1e-6)


def test_a_weight_out_of_range_is_said_to_be_and_the_sentence_stays_with_the_answer(browser, address):
    with visitor(browser) as page:
        open_page(page, address, PAGE, **HEAD, query="3", key="2")
        said, number = page.locator(".editor .said"), page.get_by_label(NUMBER)
        for typed, share in (("250", 1.0), ("-5", 0.0)):
            number.fill(typed)
            with answered(page):
                number.press("Enter")
            expect(said).to_have_text(f"A weight is between 0 and 100 %: this one is {100 * share:.0f} % now.")
            assert row_of_model(page, 3)[2] == pytest.approx(share, abs=1e-6)
        number.fill("-10")  # again 0: nothing is new, so that no answer is waited for
        number.press("Enter")
        expect(said).to_have_text("A weight is between 0 and 100 %: this one is 0 % now.")
        expect(page.locator(".answer")).not_to_have_attribute("aria-busy", "true")
        number.fill("forty")
        number.press("Enter")
        expect(said).to_have_text("This is no number: type one from 0 to 100.")
        assert row_of_model(page, 3)[2] == pytest.approx(0, abs=1e-6)
        number.fill("33,3")
        with answered(page):
            number.press("Enter")
        assert row_of_model(page, 3)[2] == pytest.approx(0.333, abs=1e-4)
        number.fill("40")
        with answered(page):
            number.press("Enter")
        expect(said).to_contain_text("Before: ")


def test_cells_are_painted(browser, address):
    with visitor(browser) as page:
        open_page(page, address, PAGE, **HEAD)
        page.get_by_role("button", name="Paint", exact=True).click()
        page.get_by_role("button", name="50 %", exact=True).click()
        page.mouse.move(*centre(page, 2, 0))
        page.mouse.down()
        page.mouse.move(*centre(page, 2, 1), steps=4)
        with answered(page):
            page.mouse.up()
        assert row_of_model(page, 2) == pytest.approx(np.eye(10)[0] / 2 + np.eye(10)[1] / 2, abs=1e-6)
        page.get_by_role("button", name="0 %", exact=True).click()
        page.mouse.move(*centre(page, 0, 7))
        page.mouse.down()
        page.mouse.move(*centre(page, 9, 7), steps=12)
        with answered(page):
            page.mouse.up()
        for query in (0, 4, 9):
            assert row_of_model(page, query)[7] == 0
            assert shown_row(page, query) == pytest.approx(row_of_model(page, query), abs=1e-6)
        expect_answer(page)


def test_the_keyboard_moves_types_and_puts_back(browser, address):
    with visitor(browser) as page:
        open_page(page, address, PAGE, **HEAD, query="3", key="2")
        handle = page.get_by_role("gridcell")
        handle.focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowDown")
        expect(handle).to_have_attribute("aria-label", re.compile("“,” looks at “slow” with"))
        page.keyboard.press("Enter")
        expect(page.get_by_label(NUMBER)).to_be_focused()
        page.keyboard.type("30")
        with answered(page):
            page.keyboard.press("Enter")
        assert row_of_model(page, 4)[3] == pytest.approx(0.3, abs=1e-4)
        expect(handle).to_be_focused()
        expect(handle).to_have_attribute("aria-label", re.compile("30.0\u00a0%, edited"))
        with answered(page):
            page.keyboard.press("+")
            page.keyboard.press("+")
        assert row_of_model(page, 4)[3] == pytest.approx(0.4, abs=1e-4)
        with answered(page):
            page.keyboard.press("Control+z")
        assert row_of_model(page, 4)[3] == pytest.approx(0.3, abs=1e-4)
        page.keyboard.press("Enter")
        page.keyboard.type("97")
        with answered(page):
            page.keyboard.press("Enter")
        assert row_of_model(page, 4)[3] == pytest.approx(0.97, abs=1e-4)
        expect(handle).to_have_attribute("aria-label", re.compile("97.0\u00a0%, edited"))
        page.keyboard.press("ArrowLeft")
        expect(handle).not_to_have_attribute("aria-label", re.compile("edited"))  # it only makes room
        page.keyboard.press("ArrowRight")
        with answered(page):
            page.keyboard.press("Delete")
        assert edits_in(page) == Edits()
        page.keyboard.press("Escape")
        expect(handle).not_to_be_focused()
        no_complaint(page)


def test_a_masked_cell_is_refused_unless_that_is_asked_for(browser, address):
    with visitor(browser) as page:
        open_page(page, address, PAGE, text="Once upon a time", checkpoint="stories", layer="0", head="0")
        drag_alone(page, 1, 3)
        expect(page.locator(".editor .said")).to_contain_text("The mask hides this token from the query.")
        assert edits_in(page) == Edits()
        drag_alone(page, 0, 0, -80)
        expect(page.locator(".editor .said")).to_contain_text("Nothing else in the row could take the weight")
        page.get_by_label("allow masked cells").check()
        drag(page, 1, 3, 70)
        trace = loaded("stories").trace("Once upon a time", edits=edits_in(page))
        assert trace.decoder.blocks[0].self_attention.weights[0, 1, 3] == pytest.approx(0.5, abs=1e-3)


def drag_alone(page: Page, query: int, key: int, up: float = 70) -> None:
    """A drag that tells the server nothing."""
    x, y = centre(page, query, key)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - up)
    page.mouse.up()


def test_a_phone_taps_and_drags_by_touch_without_scrolling(browser, address):
    with visitor(browser, width=390, height=844) as page:
        open_page(page, address, PAGE, **HEAD)
        touch = page.context.new_cdp_session(page)
        touch.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
        x, y = centre(page, 3, 2)

        def send(kind: str, at: float | None = None) -> None:
            points = [] if at is None else [{"x": x, "y": at}]
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        send("touchStart", y)
        send("touchEnd")
        expect(page.locator(".name")).to_have_text("“slow” looks at “was” with")
        before, top = shown_row(page, 3)[2], scrolled(page)
        send("touchStart", y)
        for step in range(1, 8):
            send("touchMove", y - 10 * step)
        with answered(page):
            send("touchEnd")
        assert scrolled(page) == top
        assert row_of_model(page, 3)[2] == pytest.approx(before + 0.5, abs=5e-3)
        assert serious(page) == []
        idle(page)
        no_complaint(page)


def scrolled(page: Page) -> float:
    return float(page.get_by_test_id("stMain").evaluate("main => main.scrollTop"))


def test_a_pattern_selects_the_cell_that_its_address_does_and_a_cell_selected_meanwhile_stays(browser, address):
    with visitor(browser, width=1366, height=768) as page:
        open_page(page, address, PAGE, **HEAD)
        number = page.get_by_label(NUMBER)
        for pattern in ("the token before", "the first token"):
            page.mouse.click(*centre(page, 2, 1))  # the pattern's cell is selected all the same
            with answered(page):
                page.get_by_role("button", name=pattern, exact=True).click()
            selected, shown = page.locator(".editor .name").inner_text(), number.input_value()
            page.goto(page.url)
            has_page(page, PAGE)
            expect(page.locator(".editor .name")).to_have_text(selected)
            expect(number).to_have_value(shown)
        drag(page, 3, 2, 20)
        x, y = centre(page, 6, 5)
        number.fill("40")
        number.press("Enter")
        page.mouse.click(x, y)  # before the answer to the number comes
        elsewhere = page.locator(".editor .name").inner_text()
        idle(page)
        expect(page.locator(".editor .name")).to_have_text(elsewhere)
        no_complaint(page)
