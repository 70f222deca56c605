"""Opinions to train on: none is evaluated with, one in ten is held out, and no two contradict each other."""

import numpy as np
import pytest

from model import load_checkpoint
from model.training.data.list_files import words
from model.training.data.opinions import PROBABILITIES, opinions
from model.training.data.phrases import phrases
from model.training.data.preparation import NEUTRAL_TIMES, evaluated_sentences, known_sentences

WRITTEN = {heading: opinions(heading) for heading in PROBABILITIES}
HELD_OUT = {heading: opinions(heading, kept=False) for heading in PROBABILITIES}


def test_no_opinion_has_the_words_of_a_sentence_to_evaluate_with_or_of_another_opinion() -> None:
    said = [words(text) for lists in (WRITTEN, HELD_OUT) for texts in lists.values() for text in texts]
    assert len(set(said)) == len(said)
    assert not evaluated_sentences() & set(said)


@pytest.mark.parametrize("heading", PROBABILITIES)
def test_one_opinion_in_ten_is_held_out(heading: str) -> None:
    count = len(WRITTEN[heading]) + len(HELD_OUT[heading])
    assert 0.07 < len(HELD_OUT[heading]) / count < 0.13


def test_what_is_held_out_stands_in_no_sentence_of_training() -> None:
    trained = "\n".join(text for text, _ in phrases(20_000))
    found = [text for text in HELD_OUT["positive"] if len(words(text)) > 3 and text.rstrip(".") in trained]
    assert not found
    assert sum(text.rstrip(".") in trained for text in WRITTEN["positive"]) > 100


def test_opinions_become_certain_targets_and_sentences_without_one_even_odds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model.training.data.preparation.PHRASES", 100)
    tokenizer = load_checkpoint("sentiment", "cpu").tokenizer
    corpus = known_sentences(tokenizer, (), ())["opinions"]
    negative, neutral = len(WRITTEN["negative"]), NEUTRAL_TIMES * len(WRITTEN["neutral"])
    assert corpus.targets[:negative].tolist() == [[1, 0]] * negative
    assert np.all(corpus.targets[negative : negative + neutral] == 0.5)
    assert corpus.targets[negative + neutral :].tolist() == [[0, 1]] * len(WRITTEN["positive"])
    assert corpus.whole(0).tolist() == list(tokenizer.encode(WRITTEN["negative"][0]).ids)
