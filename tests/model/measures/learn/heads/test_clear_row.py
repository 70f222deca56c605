"""The row to ask about: chosen by rules that a person can follow on a few numbers."""

from typing import Any

import numpy as np
import pytest

from model.measures.learn.heads.clear_row import ClearRow, at_query, clear_row, whole_words

TOKENS = ("film", "slow", "but", "loved", ".")
PLACES = [0, 1, 2, 3]
FLAT = [0.2] * 5


def one_head(*rows: list[float]) -> np.ndarray:
    return np.array([[rows]])


def chosen_row(*inputs: Any, causal: bool = False) -> ClearRow:
    """The row, where there is one."""
    row = clear_row(*inputs, causal=causal)
    assert row is not None
    return row


def test_a_far_word_goes_before_a_neighbour_with_a_larger_weight():
    near, far = [0.05, 0.9, 0.02, 0.02, 0.01], [0.05, 0.2, 0.05, 0.6, 0.1]
    row = chosen_row(np.array([[[near, *[FLAT] * 4], [far, *[FLAT] * 4]]]), TOKENS, PLACES)
    assert (row.layer, row.head, row.query, row.key, row.clear) == (0, 1, 0, 3, True)
    assert row.weights.tolist() == far


def test_the_others_are_the_query_its_neighbours_and_the_second_largest():
    row = chosen_row(one_head([0.02, 0.03, 0.25, 0.7, 0.0], *[FLAT] * 4), TOKENS, PLACES)
    assert row.others == (0, 1, 2)
    tokens, places = (*TOKENS, "ending"), [*PLACES, 5]
    row = chosen_row(one_head([0.02, 0.03, 0.05, 0.2, 0.1, 0.6], *[[1 / 6] * 6] * 5), tokens, places)
    assert (row.key, row.others) == (5, (0, 1, 2, 3))


def test_a_long_word_asks_before_a_short_one_and_a_head_of_many_favourites_before_one_of_few():
    far = [0.6, 0.1, 0.1, 0.1, 0.1]
    row = chosen_row(one_head(FLAT, FLAT, far, far, FLAT), TOKENS, PLACES)
    assert TOKENS[row.query] == "loved"
    to_film, to_slow = far, [0.1, 0.6, 0.1, 0.1, 0.1]
    few, many = [FLAT, FLAT, to_film, to_film, FLAT], [FLAT, FLAT, to_slow, to_film, FLAT]
    assert chosen_row(np.array([[few, many]]), TOKENS, PLACES).head == 1


@pytest.mark.parametrize(
    "row",
    [
        pytest.param([0.49, 0.2, 0.1, 0.1, 0.11], id="less than half"),
        pytest.param([0.55, 0.4, 0.02, 0.02, 0.01], id="the second more than half of it"),
        pytest.param([0.1, 0.1, 0.1, 0.1, 0.6], id="punctuation"),
        pytest.param([0.1, 0.1, 0.1, 0.7, 0.0], id="itself"),
    ],
)
def test_what_gives_no_clear_answer_is_not_clear(row):
    assert not chosen_row(one_head(FLAT, FLAT, FLAT, row, FLAT), TOKENS, PLACES).clear


def test_a_causal_query_has_only_earlier_words_to_guess_among():
    rows = [[1.0, 0, 0, 0, 0], [0.4, 0.6, 0, 0, 0], [0.1, 0.7, 0.2, 0, 0], [0.7, 0.1, 0.1, 0.1, 0], FLAT]
    row = chosen_row(one_head(*rows), TOKENS, PLACES, causal=True)
    assert (row.query, row.key) == (3, 0)
    assert max(row.others) <= row.query


def test_one_word_has_nobody_to_look_at():
    assert clear_row(one_head(*[FLAT] * 5), TOKENS, [1]) is None


def test_another_query_has_its_own_row():
    weights = np.random.default_rng(0).dirichlet(np.ones(5), size=(1, 1, 5))
    row = at_query(chosen_row(weights, TOKENS, PLACES), weights, 2)
    assert row.weights.tolist() == weights[0, 0, 2].tolist()
    assert (row.query, row.key) == (2, int(weights[0, 0, 2].argmax()))


def test_pieces_punctuation_and_special_tokens_are_no_whole_words():
    tokens, words = ("[CLS]", "un", "kind", " dog", "!", "שלום"), (None, 0, 0, 1, 2, 3)
    assert whole_words(tokens, words, (True, *[False] * 5)) == [3, 5]
    assert whole_words(("a", "-", "b"), None, None) == [0, 2]
