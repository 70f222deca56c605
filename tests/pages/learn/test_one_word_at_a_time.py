"""The question on writing as without a browser: what it says on texts of many kinds, and what its controls do."""

import re
from functools import partial

import numpy as np
import pytest

from model import Edits, HiddenKey, load_checkpoint
from pages.parts.learn.stops import NAMES, PATH, one_word_at_a_time
from tests.pages.learn import rounds
from tests.pages.learn.rounds import LONG, ODD_TEXTS, assert_bears, options
from tests.pages.test_break import values
from viz.text.learn.stops import one_word_at_a_time as words

STOP = PATH.index(one_word_at_a_time.STOP) + 1


at, title = partial(rounds.at, STOP), partial(rounds.title, STOP)


def sentences(app) -> str:
    return " ".join(each.value for each in app.markdown)


def test_the_stop_is_the_eleventh():
    assert NAMES[10] == "one_word_at_a_time"


def test_the_three_answers_on_its_own_texts():
    assert title(1) == "4 of 4 French words change: “Les chats sont fatigués.”"
    shares = re.fullmatch(r"Still “La”, but at ([0-9.]+)\u00a0% instead of ([0-9.]+)\u00a0%\.", title(2))
    assert shares is not None
    assert float(shares[1]) < float(shares[2])
    assert title(3) == "2 other words change: “La chatte est fatiguée.”"


@pytest.mark.parametrize(
    ("number", "right"), [(1, "3 words or more"), (2, "Still “La”, but less likely"), (3, "2 words")]
)
def test_one_option_is_right(number, right):
    assert [each for each in options(at(number, guess="b")) if each.startswith("✓")] == [f"✓ {right}"]


def test_what_does_not_change_is_not_said_to_change():
    text = "My brother is a doctor."
    assert title(3, text=text) == "No other word changes: “Mon frère est docteur.”"
    assert words.FORCE_SAME in sentences(at(3, guess="a", text=text))


@pytest.mark.parametrize("text", [*ODD_TEXTS, "I saw the dog and the cats in town. " * 6])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_every_round_bears_any_text(number, text):
    assert_bears(STOP, number, text)


def test_a_long_text_says_how_long_it_may_be():
    for number in (1, 2, 3):
        assert "takes texts of up to 48" in sentences(at(number, text=LONG))


def test_a_text_without_a_word_that_takes_an_s_says_so():
    assert words.NO_LETTER in sentences(at(1, text="Fine."))


def test_the_new_translation_is_stepped_through():
    app = at(1, guess="a").select_slider(key="written_step").set_value(2).run()
    assert not app.exception
    assert app.query_params["knob"] == "2"


def test_the_second_candidate_is_taken_at_another_step():
    app = at(3, guess="a").selectbox(key="forced_step").set_value(3).run()
    assert not app.exception
    assert app.query_params["knob"] == "3"


def test_the_candidates_are_drawn_with_the_word_and_without_it():
    checkpoint = load_checkpoint("translate-en-fr")
    hidden = Edits(hidden=frozenset({HiddenKey("decoder", 0, "cross")}))
    expected = []
    for edits in (Edits(), hidden):
        logits = checkpoint.trace("The red house is big.", target="", edits=edits).logits
        assert logits is not None
        expected.append(sorted((logits[0] - logits[0].logsumexp(0)).exp().tolist(), reverse=True)[:5])
    drawn = [[row["share"] for row in values(at(2, guess="b"), place)] for place in (0, 1)]
    np.testing.assert_allclose(drawn, expected, atol=1e-6)
    assert len(at(2).get("vega_lite_chart")) == 1, "not before the guess"
    assert len(at(2, guess="b", knob="1").get("vega_lite_chart")) == 1, "the word is asked about at the first token"


@pytest.mark.parametrize("knob", ["999", "x", "-1", "1.5"])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_knob_that_fits_nothing_is_as_if_untouched(number, knob):
    app = at(number, guess="a", knob=knob)
    assert not app.exception
    assert app.title[0].value.replace("\\", "") == title(number)


@pytest.mark.parametrize(
    ("text", "beginning"),
    [
        ("The red house is big.", "Still “La”"),
        ("The dog bit the man.", "Another token, “chien”"),
        ("My brother is a doctor.", "Another token, “Le”"),
    ],
)
def test_a_token_may_stay_though_its_word_is_hidden(text, beginning):
    assert title(2, text=text).startswith(beginning)


def test_the_rest_of_the_translation_is_not_on_the_page_before_the_guess():
    assert "rouge" not in sentences(at(2)) + at(2).title[0].value
