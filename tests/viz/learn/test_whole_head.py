"""The words of the question on √d_k, on outcomes of every kind."""

from typing import Any

import pytest

from model.measures.learn.heads.score_scale import Sharpness, WithoutDivision
from model.measures.outcome import Outcome
from viz.text.learn.stops import whole_head as words


def result(before: float, after: float, other: int | None = None) -> Any:
    outcome = Outcome(kind="label", answers=(1,), rows=(0,))
    share = 0.0 if other is None else 1 - after
    return WithoutDivision(outcome=outcome, probability=before, after=after, other=other, other_probability=share)


def sharp(divided: float, undivided: float, deviation: float) -> Sharpness:
    return Sharpness(divided=divided, undivided=undivided, deviation=deviation)


@pytest.mark.parametrize(
    ("before", "after", "other", "option", "title"),
    [
        (0.939, 0.963, None, "It changes less", "Without the division, it rises from 93.9\u00a0% to 96.3\u00a0%."),
        (0.9, 0.7, None, "Down 10 points or more", "Without the division, it falls from 90.0\u00a0% to 70.0\u00a0%."),
        (0.6, 0.8, None, "Up 10 points or more", "Without the division, it rises from 60.0\u00a0% to 80.0\u00a0%."),
        (0.6, 0.6, None, "It changes less", "Without the division, it stays at 60.0\u00a0%."),
        (
            *(0.6, 0.3, 0, "Another answer wins"),
            "Without the division, that wins with 70.0\u00a0%; it falls from 60.0\u00a0% to 30.0\u00a0%.",
        ),
    ],
)
def test_the_right_option_and_the_title_say_what_happened(before, after, other, option, title):
    outcome = result(before, after, other)
    assert words.OPTIONS[words.right_option(outcome)] == option
    assert words.title(outcome, words.outcome_words(outcome, "it", "that")) == title


@pytest.mark.parametrize(("fresh", "option"), [(4.0, "Far smaller"), (20.0, "About as large"), (90.0, "Far larger")])
def test_the_spread_beside_that_of_training(fresh, option):
    trained, untrained = sharp(0.55, 0.82, 22.0), sharp(0.26, 0.64, fresh)
    assert words.SPREAD_OPTIONS[words.right_spread(trained, untrained)] == option
    names = words.spread_words(trained, untrained, 16)
    assert ("reaches" in names["learned"]) == (option == "Far smaller")
    assert "For random vectors the paper expects √16 = 4." in words.SPREAD_SENTENCE.format(**names)


def test_a_token_is_named_without_being_read_as_markdown():
    assert words.answer_name("next", "<b>") == r"the next token “\<b\>”"
    assert words.answer_name("label", "positive") == "the answer “positive”"
