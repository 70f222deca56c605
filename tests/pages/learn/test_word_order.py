"""The question on order as without a browser: what it says on texts of many kinds, and what its controls do."""

from functools import partial

import pytest

from model import Edits, load_checkpoint
from pages.parts.learn.stops import NAMES, PATH, word_order
from tests.pages.learn import rounds
from tests.pages.learn.rounds import LONG, ODD_TEXTS, assert_bears, options

STOP = PATH.index(word_order.STOP) + 1
TRANSLATED = "The dog bites the man."
ORDERS = ("The film was slow, but I loved it.", "I loved the film, but it was slow.")


at, title = partial(rounds.at, STOP), partial(rounds.title, STOP)


def without_positions() -> str:
    """What the translator makes of its text."""
    edits = Edits(unpositioned=frozenset({"encoder"}))
    return load_checkpoint("translate-en-fr").generate(TRANSLATED, max_tokens=64, edits=edits).text


def test_the_stop_is_the_third():
    assert NAMES[2] == "word_order"


def test_the_three_answers_on_its_own_texts():
    classify, without = load_checkpoint("sentiment").classify, Edits(unpositioned=frozenset({"encoder"}))
    shares = [100 * classify(text)["positive"] for text in ORDERS]
    fall = "falls from {:.1f}\u00a0% to {:.1f}\u00a0%".format(*shares)
    assert title(1) == f"It notices: “positive” {fall}, and another answer wins."
    both = 100 * classify(ORDERS[0], without)["positive"]
    assert title(2) == f"They are equal: “positive” {both:.1f}\u00a0% in both orders."
    assert title(3) == f"2 of 4 are lost: “{without_positions()}”"


@pytest.mark.parametrize(("number", "right"), [(1, "Another answer wins"), (2, "They are equal"), (3, "2 words")])
def test_one_option_is_right(number, right):
    assert [each for each in options(at(number, guess="b")) if each.startswith("✓")] == [f"✓ {right}"]


@pytest.mark.parametrize("text", [*ODD_TEXTS, "The film was slow and long. " * 9])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_every_round_bears_any_text(number, text):
    assert_bears(STOP, number, text)


def test_a_text_too_long_to_translate_says_so_and_is_not_translated():
    app = at(3, text=LONG)
    assert not options(app)
    assert any("texts of up to 32" in each.value for each in app.markdown)


def test_a_text_without_two_words_says_so():
    assert any("no two different words" in each.value for each in at(1, text="🎬").markdown)


def test_a_text_that_hardly_changes_is_not_said_to_change():
    text = "A dog saw a cat."
    assert "falls from" not in title(1, text=text) or "✓ Falls" in " ".join(options(at(1, guess="a", text=text)))


@pytest.mark.parametrize(("number", "key"), [(2, "positions_moved"), (3, "positions_moved")])
def test_positions_are_moved_beyond_the_longest_text(number, key):
    app = at(number, guess="a")
    moved = app.select_slider(key=key).set_value(1000).run()
    assert not moved.exception
    assert moved.query_params["knob"] == "1000"
    assert number == 3 or any("1,000 to 1,009" in each.value for each in moved.markdown)


def test_two_neighbours_are_swapped():
    app = at(1, guess="a")
    swapped = app.selectbox(key="neighbours_swapped").set_value(3).run()
    assert not swapped.exception
    assert swapped.query_params["knob"] == "3"


@pytest.mark.parametrize("knob", ["999", "x", "-1", "1.5", "0_0"])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_knob_that_fits_nothing_is_as_if_untouched(number, knob):
    app = at(number, guess="a", knob=knob)
    assert not app.exception
    assert app.title[0].value.replace("\\", "") == title(number)


def test_the_answer_does_not_stand_on_the_page_before_the_guess():
    app, answer = at(3), without_positions()
    sent = " ".join(str(each.proto) for each in app.main if hasattr(each, "proto"))
    assert answer not in sent
    assert answer not in " ".join(each.value for each in app.markdown)
