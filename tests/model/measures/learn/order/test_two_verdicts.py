"""Two orders of a text, measured against a pass by hand and against what the paper's section 3.5 says must hold."""

import pytest
import torch

from model import Edits, load_checkpoint
from model.measures.learn.order.two_verdicts import TwoVerdicts, same_tokens, two_verdicts
from tests import tiny

ORDERS = ("The film was slow, but I loved it.", "I loved the film, but it was slow.")
WITHOUT = Edits(unpositioned=frozenset({"encoder"}))


def verdicts(first: float, second: float) -> TwoVerdicts:
    return TwoVerdicts(answer="positive", first=first, second=second, same_answer=True)


@pytest.fixture(scope="module")
def sentiment():
    return load_checkpoint("sentiment")


def test_the_verdicts_are_the_softmax_of_the_logits(sentiment):
    traces = [sentiment.trace(text) for text in ORDERS]
    measured = two_verdicts(sentiment, *traces)
    shares = [torch.softmax(trace.logits.double(), 0)[1].item() for trace in traces]
    assert (measured.first, measured.second) == pytest.approx(shares)
    assert (measured.answer, measured.same_answer) == ("positive", shares[1] > 1 / 2)


def test_without_positions_both_orders_get_one_verdict(sentiment):
    measured = two_verdicts(sentiment, *(sentiment.trace(text, edits=WITHOUT) for text in ORDERS))
    assert measured.distance == 0
    assert measured.first == pytest.approx(sentiment.classify(ORDERS[0], edits=WITHOUT)["positive"])


def test_the_answer_is_that_of_the_first_text(sentiment):
    measured = two_verdicts(sentiment, *(sentiment.trace(text) for text in reversed(ORDERS)))
    assert measured.answer == "negative"
    assert measured.first == pytest.approx(sentiment.classify(ORDERS[1])["negative"])


@pytest.mark.parametrize(
    ("second", "distance"), [(0.5, 0), (0.5 + 1e-7, 0), (0.505, 1), (0.515, 2), (0.59, 2), (0.62, 3), (0.1, 3)]
)
def test_the_distance_of_two_verdicts(second, distance):
    assert verdicts(0.5, second).distance == distance


@pytest.mark.parametrize(
    ("other", "same"), [("the man bit the dog .", True), ("The man bit the dog.", True), ("the dog bit .", False)]
)
def test_the_same_tokens_in_any_order(other, same):
    assert same_tokens(tiny.tokenizer(), "the dog bit the man .", other) is same
