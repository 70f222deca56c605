"""What is said of a verdict that may be wrong."""

import pytest

from model.measures.learn.order.two_verdicts import TwoVerdicts
from pages.parts.state.selection import EXAMPLES
from viz.text.learn.model_answers import LABELS, accuracy_of, doubt
from viz.text.learn.stops.word_order import other_wrong

CARD = {"evaluations": [{"what": "accuracy, all 25,000 test reviews", "value": 89.28}]}


def test_a_text_of_ours_is_called_wrong_only_where_it_is():
    assert doubt(EXAMPLES[1], "negative", 89.28) == "The model is wrong here: this text is positive."
    assert doubt(EXAMPLES[1], "positive", 89.28) == ""
    assert set(LABELS) == set(EXAMPLES)


def test_of_any_other_text_it_is_said_how_often_the_model_is_right():
    assert "about 89 of 100 reviews" in doubt("Fine.", "negative", accuracy_of(CARD))
    assert doubt("Fine.", "negative", None) == ""


@pytest.mark.parametrize(
    "card", [{}, {"evaluations": 7}, {"evaluations": [3, {"what": 5}, {"what": "accuracy of reviews", "value": "x"}]}]
)
def test_a_card_that_does_not_say_it_says_nothing(card):
    assert accuracy_of(card) is None


@pytest.mark.parametrize(("same_answer", "wrong"), [(True, False), (False, True)])
def test_the_other_order_is_called_wrong_where_its_answer_is(same_answer, wrong):
    verdicts = TwoVerdicts(answer="positive", first=0.9, second=0.2, same_answer=same_answer)
    assert bool(other_wrong(verdicts, EXAMPLES[1], ("negative", "positive"))) is wrong
    assert not other_wrong(verdicts, "A text of a visitor.", ("negative", "positive"))
