"""Two runs against each other: the measures against NumPy, the charts' numbers, and laws of the broken formula."""

import json
import math

import numpy as np
import pytest

from model import Edits, load_checkpoint
from model.measures import comparison
from viz.comparison import MOST_DRAWN, difference_chart, distance_chart, weights_chart
from viz.theme import DARK, LIGHT, difference_scale

TOKENS = ["a", "b", "a"]


def rows_of_weights(seed: int = 0, heads: int = 2, tokens: int = 3) -> np.ndarray:
    found = np.random.default_rng(seed).random((heads, tokens, tokens)).astype(np.float32)
    return found / found.sum(axis=-1, keepdims=True)


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


def test_tokens_are_matched_in_the_order_in_which_they_occur():
    assert comparison.matching([7, 5, 9, 7, 3], [7, 3, 9, 7, 5]) == [0, 4, 2, 3, 1]
    assert comparison.matching([1, 2], [1, 3]) is None


# Laws


def order_difference(edits: Edits) -> float:
    checkpoint = load_checkpoint("sentiment")
    first, second = (
        checkpoint.trace(text, edits=edits).encoder for text in ("The dog bit the man", "The man bit the dog")
    )
    assert first is not None
    assert second is not None
    order = comparison.matching(first.ids.tolist(), second.ids.tolist())
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


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_charts_hold_the_weights_and_their_signed_difference(theme):
    before, after = rows_of_weights(heads=1)[0], rows_of_weights(1, heads=1)[0]
    shown = cells(json.loads(weights_chart(before, TOKENS, TOKENS, theme=theme).to_json()))
    changes = cells(json.loads(difference_chart(before, after, TOKENS, TOKENS, theme=theme).to_json()))
    names = ["1 · a", "2 · b", "3 · a"]
    assert set(shown) == set(changes) == {(query, key) for query in names for key in names}
    for row, column in np.ndindex(3, 3):
        query, key = names[row], names[column]
        assert shown[query, key]["weight"] == before[row, column]
        change = changes[query, key]["change"]
        assert change == pytest.approx(float(after[row, column]) - float(before[row, column]), abs=1e-12)
        assert changes[query, key]["sign"] in ("", "+" if change > 0 else "−")


def test_the_scale_of_differences_has_the_background_in_its_middle():
    for theme in (LIGHT, DARK):
        stops = difference_scale(theme)
        assert [stop for stop, _ in stops] == sorted(-stop for stop, _ in stops)
        assert dict(stops)[0.0] == theme.background
        assert (stops[0][1], stops[-1][1]) == (theme.orange[-1], theme.weights[-1])


def test_the_scale_of_differences_reaches_as_far_below_0_as_above():
    before, after = np.array([[0.9, 0.1]]), np.array([[0.5, 0.5]])
    drawn = difference_chart(before, after, ["a"], ["a", "b"]).to_dict()
    domain = drawn["layer"][0]["encoding"]["color"]["scale"]["domain"]
    assert (domain[0], domain[-1]) == pytest.approx((-0.4, 0.4))


def test_of_a_long_text_the_first_tokens_are_drawn():
    many = ["x"] * (MOST_DRAWN + 5)
    drawn = cells(weights_chart(np.zeros((len(many), len(many))), many, many).to_dict())
    assert len(drawn) == MOST_DRAWN**2


def test_a_chart_refuses_weights_that_do_not_fit_its_tokens():
    with pytest.raises(ValueError, match="wanted"):
        weights_chart(np.zeros((2, 3)), TOKENS, TOKENS)
    with pytest.raises(ValueError, match="wanted"):
        difference_chart(np.zeros((3, 2)), np.zeros((3, 2)), TOKENS, TOKENS)
    with pytest.raises(ValueError, match="each layer"):
        distance_chart(np.zeros((0,)))


def test_the_distances_are_drawn_layer_by_layer_and_one_that_is_not_finite_is_left_out():
    drawn = distance_chart(np.array([0.0, 0.5, np.inf])).to_dict()
    assert drawn["data"]["values"] == [
        {"layer": "1", "distance": 0.0},
        {"layer": "2", "distance": 0.5},
        {"layer": "3", "distance": None},
    ]
