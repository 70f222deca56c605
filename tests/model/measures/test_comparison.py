"""Two runs against each other: the measures against NumPy, the charts' numbers, and laws of the broken formula."""

import json
import math

import numpy as np
import pytest

from model import Edits, load_checkpoint
from model.measures import comparison
from viz.charts.causes.comparison import MOST_DRAWN, MOST_SIGNED, comparison_data, distance_chart
from viz.theme import DARK, LIGHT, difference_scale

TOKENS = ["a", "b", "a"]


def rows_of_weights(seed: int = 0, heads: int = 2, tokens: int = 3) -> np.ndarray:
    weights = np.random.default_rng(seed).random((heads, tokens, tokens)).astype(np.float32)
    return weights / weights.sum(axis=-1, keepdims=True)


# Measures


def test_the_distance_of_a_stream_is_relative_to_its_own_length():
    before = [np.array([[3.0, 0.0], [0.0, 4.0]]), np.array([[1.0, 0.0], [0.0, 0.0]])]
    after = [np.array([[3.0, 0.0], [0.0, 4.0]]), np.array([[1.0, 2.0], [0.0, 0.0]])]
    assert comparison.stream_distances(before, after) == pytest.approx([0, 2])


def test_runs_of_different_texts_have_no_distance():
    with pytest.raises(ValueError, match="one text"):
        comparison.stream_distances([np.zeros((2, 3))], [np.zeros((3, 3))])


def test_the_measures_of_weights_are_those_of_loops_in_double_precision():
    weights = rows_of_weights()
    cells = [(query, key, float(head[query, key])) for head in weights for query in range(3) for key in range(3)]
    entropy = sum(-weight * math.log2(weight) for *_, weight in cells) / 6
    total = sum(weight for *_, weight in cells)
    assert comparison.mean_entropy(weights) == pytest.approx(entropy, abs=1e-12)
    later = sum(weight for query, key, weight in cells if key > query) / total
    assert comparison.share_later(weights) == pytest.approx(later, abs=1e-12)
    near = sum(weight for query, key, weight in cells if abs(key - query) <= 1) / total
    assert comparison.share_near(weights) == pytest.approx(near, abs=1e-12)
    largest = sum(max(map(float, row)) for head in weights for row in head) / 6
    assert comparison.mean_largest(weights) == pytest.approx(largest, abs=1e-12)


def test_likeness_and_length_of_vectors_by_hand():
    assert comparison.mean_cosine(np.array([[1.0, 0.0], [5.0, 0.0]])) == pytest.approx(1)
    assert comparison.mean_cosine(np.array([[1.0, 0.0], [0.0, 2.0], [-1.0, 0.0]])) == pytest.approx(-1 / 3)
    assert math.isnan(comparison.mean_cosine(np.array([[1.0, 0.0]])))
    assert comparison.mean_length(np.array([[3.0, 4.0], [0.0, 1.0]])) == pytest.approx(3)


def test_a_line_peaks_at_the_first_of_its_largest_numbers():
    assert comparison.peak(np.array([0.5, 2.0, 2.0, -3.0])) == (1, 2.0)


def test_tokens_are_matched_in_the_order_in_which_they_occur():
    assert comparison.matching_positions([7, 5, 9, 7, 3], [7, 3, 9, 7, 5]) == [0, 4, 2, 3, 1]
    assert comparison.matching_positions([1, 2], [1, 3]) is None


# Laws


def order_difference(edits: Edits) -> float:
    checkpoint = load_checkpoint("sentiment")
    first, second = (
        checkpoint.trace(text, edits=edits).encoder for text in ("The dog bit the man", "The man bit the dog")
    )
    assert first is not None
    assert second is not None
    order = comparison.matching_positions(first.ids.tolist(), second.ids.tolist())
    assert order is not None
    return comparison.largest_difference(first.final, second.final, order)


def test_without_positions_and_mask_the_order_of_words_is_lost():
    bare = frozenset({"encoder"})
    assert order_difference(Edits(unpositioned=bare)) <= 1e-5
    assert order_difference(Edits()) > 0.05
    assert order_difference(Edits(unpositioned=bare, causal=bare)) > 0.05, "a mask alone tells the order"


# Charts


def cells(drawn: dict) -> dict:
    data = drawn["data"]["values"] if "data" in drawn else drawn["layer"][0]["data"]["values"]
    return {(cell["query"], cell["key"]): cell for cell in data}


def test_the_pictures_hold_the_weights_and_their_signed_difference():
    before, after = rows_of_weights(heads=1)[0], rows_of_weights(1, heads=1)[0]
    picture = comparison_data(before, after, TOKENS, TOKENS, "weights")
    assert picture["queries"] == picture["keys"] == ["1 · a", "2 · b", "3 · a"]
    assert (picture["before"], picture["after"]) == (before.tolist(), after.tolist())
    for row, column in np.ndindex(3, 3):
        change = float(after[row, column]) - float(before[row, column])
        assert picture["change"][row][column] == pytest.approx(change, abs=1e-12)
        large = abs(change) >= picture["largest"] / 4
        assert picture["signs"][row][column] == (("+" if change > 0 else "−") if large else "")


def test_cells_without_room_carry_no_sign():
    for tokens, signs in ((MOST_SIGNED, {"", "+"}), (MOST_SIGNED + 1, {""})):
        picture = comparison_data(np.zeros((tokens, tokens)), np.eye(tokens), ["x"] * tokens, ["x"] * tokens, "")
        assert {sign for row in picture["signs"] for sign in row} == signs


def test_what_is_not_finite_is_said_and_hides_no_other_number():
    picture = comparison_data(np.array([[0.5, np.nan]]), np.array([[0.25, 0.5]]), ["a"], ["a", "b"], "")
    assert (picture["before"], picture["after"]) == ([[0.5, None]], [[0.25, 0.5]])
    assert (picture["change"], picture["largest"], picture["signs"]) == ([[-0.25, None]], 0.25, [["−", ""]])
    json.dumps(picture, allow_nan=False)


def test_the_scale_of_differences_has_the_background_in_its_middle():
    for theme in (LIGHT, DARK):
        stops = difference_scale(theme)
        assert [stop for stop, _ in stops] == sorted(-stop for stop, _ in stops)
        assert dict(stops)[0.0] == theme.background
        assert (stops[0][1], stops[-1][1]) == (theme.below[-1], theme.above[-1])


def test_the_scale_of_differences_reaches_as_far_below_0_as_above():
    before, after = np.array([[0.9, 0.1]]), np.array([[0.5, 0.5]])
    assert comparison_data(before, after, ["a"], ["a", "b"], "")["largest"] == pytest.approx(0.4)
    assert comparison_data(before, before, ["a"], ["a", "b"], "")["largest"] == 1


def test_of_a_long_text_the_first_tokens_are_drawn():
    many = ["x"] * (MOST_DRAWN + 5)
    numbers = np.arange(len(many) ** 2, dtype=float).reshape(len(many), -1)
    picture = comparison_data(numbers, numbers, many, many, "")
    assert np.array_equal(picture["after"], numbers[:MOST_DRAWN, :MOST_DRAWN])
    assert len(picture["queries"]) == len(picture["keys"]) == MOST_DRAWN


def test_a_picture_refuses_weights_that_do_not_fit_its_tokens():
    for shape in ((2, 3), (3, 2)):
        with pytest.raises(ValueError, match="wanted"):
            comparison_data(np.zeros(shape), np.zeros(shape), TOKENS, TOKENS, "")
    with pytest.raises(ValueError, match="each layer"):
        distance_chart(np.zeros((0,)))


def test_the_distances_are_drawn_layer_by_layer_and_one_that_is_not_finite_is_left_out():
    drawn = distance_chart(np.array([0.0, 0.5, np.inf])).to_dict()
    assert drawn["data"]["values"] == [
        {"layer": "1", "distance": 0.0},
        {"layer": "2", "distance": 0.5},
        {"layer": "3", "distance": None},
    ]
