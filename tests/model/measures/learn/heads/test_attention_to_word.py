"""The word that is looked at hardest, and what a change of a verdict is called."""

import numpy as np
import pytest

from model import load_checkpoint
from model.measures.head_kinds import Sides, sides_of
from model.measures.learn.heads.attention_to_word import NEARLY_ALL, AttentionToWord, attention_to_word, change_of
from tests.first_example import FOUND

TOKENS = ("film", "loved", "it", ".")


def sides(tokens=TOKENS, special=()) -> Sides:
    added = np.array([token in special for token in tokens])
    size = len(tokens)
    return Sides(
        query_special=added,
        key_special=added,
        key_tokens=tokens,
        visible=np.ones((1, size, size), bool),
        one_text=True,
    )


def head(*row: float) -> np.ndarray:
    """A head in which every query has this row."""
    return np.array([row] * len(row))


def word_of(weights: np.ndarray, text: Sides) -> AttentionToWord:
    """The word, where there is one."""
    word = attention_to_word(weights, text)
    assert word is not None
    return word


def test_heads_that_give_nine_tenths_are_named_and_the_word_is_theirs():
    weights = np.array(
        [[head(0.0, 0.95, 0.05, 0.0), head(0.3, 0.3, 0.2, 0.2)], [head(0.02, 0.9, 0.08, 0.0), head(0, 0, 0, 1.0)]]
    )
    word = word_of(weights, sides())
    assert (word.key, word.heads, word.hardest) == (1, ((0, 0), (1, 0)), (0, 0))
    np.testing.assert_allclose(word.given, [[0.95, 0.3], [0.9, 0.0]])
    assert word.of_others.tolist() == [0.3, 0.0]


def test_the_mean_is_over_the_queries():
    rows = np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 1.0, 0, 0], [0, 1.0, 0, 0]])
    word = word_of(rows[None, None], sides())
    assert (word.key, word.given[0, 0], word.heads) == (1, 0.75, ((0, 0),))


def test_below_nine_tenths_it_is_the_hardest_head_and_below_half_none():
    one, two = head(0.1, 0.7, 0.1, 0.1), head(0.1, 0.6, 0.2, 0.1)
    assert word_of(np.array([[two, one]]), sides()).heads == ((0, 1),)
    assert word_of(np.array([[head(0.3, 0.4, 0.2, 0.1)]]), sides()).heads == ()


def test_punctuation_and_special_tokens_are_no_words():
    assert word_of(np.array([[head(0.1, 0.2, 0.0, 0.7)]]), sides()).key == 1
    weights = np.array([[head(0.6, 0.1, 0.2, 0.1)]])
    assert word_of(weights, sides(("[CLS]", "loved", "it", "."), ("[CLS]",))).key == 2
    assert attention_to_word(np.ones((1, 1, 1, 1)), sides(("fine",))) is None


def test_in_the_first_sentence_some_heads_give_all_to_loved():
    trace = load_checkpoint("sentiment", device="cpu").trace("The film was slow, but I loved it.")
    assert trace.encoder is not None
    layers = np.stack([np.asarray(block.self_attention.weights) for block in trace.encoder.blocks])
    word = word_of(layers, sides_of(trace, "encoder"))
    assert trace.encoder.names()[word.key] == "loved"
    np.testing.assert_allclose(word.given, layers[:, :, :, word.key].mean(axis=2), atol=1e-6)
    assert word.heads == tuple(map(tuple, np.argwhere(word.given >= NEARLY_ALL).tolist()))
    assert FOUND in word.heads


@pytest.mark.parametrize(
    ("before", "after", "other", "kind"),
    [
        (0.94, 0.23, True, 0),
        (0.40, 0.39, True, 0),
        (0.94, 0.80, False, 1),
        (0.94, 0.85, False, 2),
        (0.94, 0.93, False, 3),
        (0.94, 0.95, False, 3),
        (0.94, 0.97, False, 4),
    ],
)
def test_a_change_is_called_by_its_points_or_by_another_answer(before, after, other, kind):
    assert change_of(before, after, other_answer=other) == kind
