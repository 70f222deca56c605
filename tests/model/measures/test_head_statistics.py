"""Measures of a trace: worked by hand, and equal to slow loops in plain Python."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from model.measures.head_statistics import head_statistics, is_punctuation, most_attended_by_head
from tests.tiny import TEXT, checkpoint

NAMES = ["entropy", "distance", "self", "previous", "next", "first", "special", "punctuation"]
OF_TWO_TEXTS = ["entropy", "first", "special", "punctuation"]


def one_head(rows, special=None, punctuation=None, **options):
    """The statistics of a single head as plain numbers."""
    statistics = head_statistics(torch.tensor([[rows]], dtype=torch.float32), special, punctuation, **options)
    return {name: values.item() for name, values in statistics.items()}


def random_attention(layers, heads, queries, keys, seed, *, causal=False):
    """Float32 weights whose rows sum to 1 or, some of them, to 0."""
    generator = np.random.default_rng(seed)
    weights = generator.dirichlet(np.full(keys, 0.3), size=(layers, heads, queries))
    weights *= generator.random((layers, heads, queries, 1)) > 0.2
    return (np.tril(weights) if causal else weights).astype(np.float32)


# Worked by hand


def test_two_tokens_worked_by_hand():
    statistics = one_head([[0.5, 0.5], [0.25, 0.75]], special=[True, False], punctuation=[False, False])
    entropy_of_row_2 = 0.25 * 2 + 0.75 * math.log2(4 / 3)
    expected = {"entropy": (1 + entropy_of_row_2) / 2, "distance": (0.5 + 0.25) / 2, "self": 1.25 / 2}
    expected |= {"previous": 0.25 / 2, "next": 0.5 / 2, "first": 0.75 / 2, "special": 0.75 / 2, "punctuation": 0.0}
    assert list(statistics) == NAMES
    assert statistics == pytest.approx(expected, abs=1e-12)


def test_three_causal_tokens_worked_by_hand():
    rows = [[1, 0, 0], [0.5, 0.5, 0], [0.25, 0.25, 0.5]]
    statistics = one_head(rows, special=[True, False, True], punctuation=[False, False, True])
    expected = {"entropy": (0 + 1 + 1.5) / 3, "distance": (0.5 + 0.5 + 0.25) / 3, "self": 2 / 3}
    expected |= {"previous": 0.75 / 3, "next": 0.0, "first": 1.75 / 3, "special": 2.25 / 3, "punctuation": 0.5 / 3}
    assert statistics == pytest.approx(expected, abs=1e-12)


def test_looking_at_the_previous_token_is_not_looking_at_the_next():
    previous = one_head([[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    assert (previous["previous"], previous["next"], previous["self"]) == (1, 0, 0)
    following = one_head([[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    assert (following["previous"], following["next"], following["distance"]) == (0, 1, 1)


def test_one_token_looks_at_itself():
    assert one_head([[1.0]]) == {"entropy": 0, "distance": 0, "self": 1, "previous": 0, "next": 0, "first": 1}


def test_a_row_of_zeros_does_not_count():
    with_it = one_head([[0.5, 0.5], [0, 0]])
    assert (with_it["entropy"], with_it["self"], with_it["distance"]) == (1, 0.5, 0.5)


def test_a_head_without_any_weight_has_no_number():
    statistics = one_head([[0, 0], [0, 0]], special=[True, False], punctuation=[False, False])
    assert list(statistics) == NAMES
    assert all(math.isnan(value) for value in statistics.values())


def test_even_attention_has_the_logarithm_of_the_keys_for_entropy():
    statistics = head_statistics(torch.full((2, 3, 8, 8), 1 / 8), None, None)
    assert statistics["entropy"] == pytest.approx(np.full((2, 3), 3.0), abs=1e-12)


# Cross-attention


def test_cross_attention_has_no_statistics_that_need_one_text():
    statistics = one_head(
        [[0.5, 0.25, 0.25], [0, 0, 1]], special=[False, False, True], punctuation=[False, True, False]
    )
    assert list(statistics) == OF_TWO_TEXTS
    expected = {"entropy": 1.5 / 2, "first": 0.5 / 2, "special": 1.25 / 2, "punctuation": 0.25 / 2}
    assert statistics == pytest.approx(expected, abs=1e-12)


def test_cross_attention_between_texts_of_one_length_is_told_by_the_caller():
    flags = [False, True]
    statistics = one_head([[0.5, 0.5], [0, 1]], special=flags, punctuation=flags, cross=True)
    assert list(statistics) == OF_TWO_TEXTS


# Against slow loops


def slow_statistics(weights, special, punctuation):
    """One head, written out in plain Python from the formulas."""
    cells = [(query, key, float(weight)) for query, row in enumerate(weights) for key, weight in enumerate(row)]
    total = sum(weight for _, _, weight in cells)
    seeing = [row for row in weights if any(weight > 0 for weight in row)]
    if not seeing:
        return dict.fromkeys(NAMES, math.nan)
    statistics = {
        "entropy": sum(-float(weight) * math.log2(weight) for row in seeing for weight in row if weight > 0)
        / len(seeing)
    }
    statistics["distance"] = sum(weight * abs(query - key) for query, key, weight in cells) / total
    for name, offset in (("self", 0), ("previous", -1), ("next", 1)):
        statistics[name] = sum(weight for query, key, weight in cells if key - query == offset) / total
    statistics["first"] = sum(weight for _, key, weight in cells if key == 0) / total
    for name, flags in (("special", special), ("punctuation", punctuation)):
        statistics[name] = sum(weight for _, key, weight in cells if flags[key]) / total
    return statistics


@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 7), st.integers(1, 7), st.booleans(), st.data())
def test_the_statistics_equal_slow_loops(layers, heads, queries, keys, causal, data):
    weights = random_attention(layers, heads, queries, keys, data.draw(st.integers(0, 10_000)), causal=causal)
    special, punctuation = (data.draw(st.lists(st.booleans(), min_size=keys, max_size=keys)) for _ in range(2))
    statistics = head_statistics(weights, special, punctuation)
    assert list(statistics) == (NAMES if queries == keys else OF_TWO_TEXTS)
    for layer, head in np.ndindex(layers, heads):
        slow = slow_statistics(weights[layer, head], special, punctuation)
        for name, values in statistics.items():
            assert values.shape == (layers, heads)
            assert values[layer, head] == pytest.approx(slow[name], rel=1e-10, abs=1e-12, nan_ok=True)


def test_a_trace_gives_one_number_per_layer_and_head():
    stack = checkpoint().trace(TEXT).encoder
    statistics = head_statistics(stack.weights(), stack.special, [is_punctuation(token) for token in stack.tokens])
    assert {values.shape for values in statistics.values()} == {(2, 4)}
    assert {name for name in NAMES if (statistics[name] > 0).all()} == set(NAMES) - {"special"}, (
        "nothing special was added"
    )
    assert all((statistics[name] < 1).all() for name in NAMES[2:])


def test_tensors_and_read_only_arrays_give_the_same():
    weights = random_attention(2, 2, 5, 5, seed=1)
    of_tensor = head_statistics(torch.tensor(weights), [True] * 5, None)
    weights.setflags(write=False)
    of_array = head_statistics(weights, [True] * 5, None)
    assert all(np.array_equal(of_tensor[name], of_array[name], equal_nan=True) for name in of_tensor)


def test_what_is_not_known_is_left_out():
    assert list(one_head([[1.0]], special=None, punctuation=[True]))[-2:] == ["first", "punctuation"]


@pytest.mark.parametrize("count", [0, 2, 4])
def test_flags_that_are_not_one_per_key_are_refused(count):
    with pytest.raises(ValueError, match=f"{count} entries of punctuation, wanted one for each of the 3 keys"):
        head_statistics(torch.full((1, 1, 2, 3), 1 / 3), [False] * 3, [False] * count)


def test_weights_of_nothing_are_refused():
    with pytest.raises(ValueError, match=r"shape \(1, 0, 3, 3\), wanted \(layer, head, query, key\)"):
        head_statistics(torch.zeros(1, 0, 3, 3), None, None)


# Punctuation


@pytest.mark.parametrize(
    "token", [".", "...", "##.", "▁,", "Ġ(", " !", "—", "«", "$", "+", "```", "##", "###", "。", "¿", "😀", "Ġ—"]
)
def test_punctuation_and_symbols_are_punctuation(token):
    assert is_punctuation(token)


@pytest.mark.parametrize("token", ["", " ", "▁", "Ġ", "▁▁", "a", "##ly", "it's", "1", "3.5", "[CLS]", "</s>", "\u200b"])
def test_words_numbers_and_bare_marks_are_not(token):
    assert not is_punctuation(token)


def test_the_key_that_a_head_attends_to_most_is_a_typed_one_where_there_is_any():
    weights = np.array([[0.6, 0.3, 0.1], [0.6, 0.1, 0.3], [0.6, 0.0, 0.4]])
    assert most_attended_by_head(weights) == 0
    assert most_attended_by_head(weights, (True, False, False)) == 2
    assert most_attended_by_head(weights, (True, True, True)) == 0
    assert most_attended_by_head(np.eye(3), (False, False, False)) == 0, "of equals the first"
    assert most_attended_by_head(np.array([[1.0, 0.0]]), (True, False)) == 1, "a typed key without weight too"
