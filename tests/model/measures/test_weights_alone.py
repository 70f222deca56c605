"""The nulls of weights alone: every way to permute a small attention, counted; and a head that does nothing is none."""

from itertools import permutations, product

import numpy as np
import pytest

from model import load_checkpoint
from model.loading.attention_arrays import attention_of
from model.measures.head_kinds import finding
from model.measures.weights_alone import measure_alone, random_orders, sides_of_stored
from tests.model.loading.test_attention_arrays import random_weights

TOKENS = ["a", "b", "c"]


def measured(weights, tokens, keys=None):
    (stored,) = attention_of(weights, tokens, keys).attentions.values()
    return measure_alone(stored.weights, sides_of_stored(stored))


def every_permutation(weights):
    """The (query, key) weights of one head with each row permuted in every way."""
    rows = [[np.array(order) for order in permutations(row)] for row in weights]
    for chosen in product(*rows):
        yield np.stack(chosen)


@pytest.mark.parametrize("seed", range(3))
def test_the_null_of_a_word_is_the_mean_of_what_the_largest_key_gets_over_all_permutations(seed):
    weights = random_weights(1, 1, 3, 3, seed=seed)
    largest = [each.mean(axis=0).max() for each in every_permutation(weights[0, 0])]
    null = measured(weights, TOKENS).nulls["points_at"]
    assert len(largest) == 216
    assert null[0, 0] == pytest.approx(np.mean(largest), abs=4 * np.std(largest) / np.sqrt(64))
    assert null[0, 0] > weights.mean() + 0.02, "a maximum is above the mean by chance"


def test_the_null_of_given_cells_is_exact():
    weights = random_weights(1, 1, 3, 3)
    by_hand = {
        "previous_token": [(each[1, 0] + each[2, 1]) / 2 for each in every_permutation(weights[0, 0])],
        "next_token": [(each[0, 1] + each[1, 2]) / 2 for each in every_permutation(weights[0, 0])],
    }
    result = measured(weights, TOKENS)
    for kind, values in by_hand.items():
        assert result.nulls[kind][0, 0] == pytest.approx(np.mean(values))
        assert result.errors[kind][0, 0] == pytest.approx(np.std(values)), "no permutation lies three of them out"


def test_keys_that_are_not_seen_keep_their_places():
    seen = np.tril(np.ones((6, 6), bool))
    seen[:, 0] = False
    orders = random_orders(seen, np.random.default_rng(0))
    for row, order in zip(seen, orders, strict=True):
        assert sorted(order) == list(range(6))
        assert np.array_equal(order[~row], np.flatnonzero(~row))


def test_a_head_that_looks_at_one_word_is_found_with_its_share():
    weights = np.stack([random_weights(3, 12, 12, seed=layer) * 0.02 + 0.98 / 12 for layer in range(2)])
    weights[1, 2] = 0.1 / 11
    weights[1, 2, :, 7] = 0.9
    best = finding(measured(weights.astype(np.float32), [f"w{place}" for place in range(12)]))
    assert best is not None
    assert (best.kind, best.layer, best.head, best.key) == ("points_at", 1, 2, 7)
    assert best.score == pytest.approx(0.9)
    assert best.null < 0.4


SHARP = np.eye(24, dtype=np.float32)[np.random.default_rng(0).integers(0, 24, size=(4, 4, 24))]


def test_a_previous_token_head_is_found_among_sharp_heads_that_look_anywhere():
    weights = SHARP.copy()
    weights[2, 1] = np.eye(24, k=-1)
    weights[2, 1, 0, 0] = 1
    best = finding(measured(weights, [f"w{place}" for place in range(24)]))
    assert best is not None
    assert (best.kind, best.layer, best.head) == ("previous_token", 2, 1)


def test_of_many_files_of_heads_that_look_anywhere_hardly_any_has_a_finding():
    """Of 16 heads and seven kinds one lies three deviations out in every second file; named it is in one of 65."""
    tokens, rng = ["a", ",", "b", "a", *(f"w{place}" for place in range(8))], np.random.default_rng(1)
    files = [np.eye(12, dtype=np.float32)[rng.integers(0, 12, size=(4, 4, 12))] for _ in range(40)]
    findings = [each for weights in files if (each := finding(measured(weights, tokens))) is not None]
    assert len(findings) <= 3


def test_between_two_texts_neighbours_are_no_kind():
    result = measured(random_weights(1, 2, 4, 6), [*TOKENS, "d"], ["x"] * 6)
    assert result.scores["previous_token"].max() == result.scores["same_word"].max() == 0


def test_of_a_trained_model_it_finds_what_shuffled_texts_find():
    """The worked example: two independent nulls agree on the head and its word."""
    trace = load_checkpoint("sentiment").trace("The film was slow, but I loved it.")
    assert trace.encoder is not None
    best = finding(measured(trace.encoder.weights(), trace.encoder.names()))
    assert best is not None
    assert (best.kind, trace.encoder.names()[best.key or 0]) == ("points_at", "loved")
