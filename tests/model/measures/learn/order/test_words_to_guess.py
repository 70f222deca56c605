"""The source words among which one guesses."""

import numpy as np
import pytest

from model.measures.learn.order.words_to_guess import MOST, words_to_guess

WORDS = ("The", "dog", "bit", "the", "man", "in", "town", ".")
IS_WORD = [True] * 7 + [False]


def row(best: int) -> np.ndarray:
    return np.where(np.arange(len(WORDS)) == best, 0.8, 0.02)


@pytest.mark.parametrize(
    ("best", "places"), [(1, [0, 1, 2, 4, 5]), (6, [0, 1, 2, 4, 6]), (3, [1, 2, 3, 4, 5]), (7, [0, 1, 2, 4, 5])]
)
def test_the_one_looked_at_is_among_a_few_different_words(best, places):
    assert words_to_guess(row(best), WORDS, IS_WORD) == places
    assert len(places) <= MOST


def test_the_others_are_those_that_get_most_after_it():
    weights = np.array([0.01, 0.02, 0.03, 0.0, 0.04, 0.05, 0.8, 0.05])
    assert words_to_guess(weights, WORDS, IS_WORD) == [1, 2, 4, 5, 6]


def test_a_text_of_one_word_has_one():
    assert words_to_guess(np.array([0.7, 0.3]), ("Go", "."), [True, False]) == [0]
