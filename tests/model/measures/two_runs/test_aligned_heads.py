"""The distance of two heads against loops written out, and its laws."""

import itertools
from typing import Any

import numpy as np
import pytest

from model import Edits, HeadSite, load_checkpoint
from model.measures.two_runs.aligned_heads import (
    AttentionPairing,
    aligned_rows,
    attention_layers,
    chance_distances,
    head_distances,
    nearest_heads,
)
from model.measures.two_runs.token_pairs import Pairing, piece_pairs, token_pairs

FILM, OTHER = "The film was slow, but I loved it.", "The new film was not slow, but we loved it."


def layers_and_pairing(first: str, second: str, name: str = "sentiment", attention: str = "encoder") -> Any:
    checkpoint = load_checkpoint(name)
    traces = [checkpoint.trace(text) for text in (first, second)]
    pairing = token_pairs(*(trace.text_stack for trace in traces))
    return *(attention_layers(trace, attention) for trace in traces), AttentionPairing(queries=pairing, keys=pairing)


def distance_by_loops(first: np.ndarray, second: np.ndarray, queries: Pairing, keys: Pairing) -> float:
    """Of two heads: what every aligned query gives to a key in the one and in the other, key by key."""
    total = 0.0
    for query, other_query in queries.pairs:
        moved = 0.0
        one, other = (
            [float(np.mean([weights[place, key] for place in unit])) for key in range(weights.shape[1])]
            for weights, unit in ((first, queries.first[query]), (second, queries.second[other_query]))
        )
        left = set(range(len(keys.second)))
        for unit, places in enumerate(keys.first):
            partner = dict(keys.pairs).get(unit)
            given = sum(other[place] for place in keys.second[partner]) if partner is not None else 0.0
            left -= {partner}
            moved += abs(sum(one[place] for place in places) - given)
        moved += sum(other[place] for unit in left for place in keys.second[unit])
        total += moved / 2
    return total / len(queries.pairs)


@pytest.mark.parametrize(("name", "attention"), [("sentiment", "encoder"), ("stories", "decoder")])
def test_every_head_is_as_far_apart_as_loops_over_its_weights_say(name, attention):
    first, second, pairing = layers_and_pairing(FILM, OTHER, name, attention)
    found = head_distances(first, second, pairing)
    for layer, head in np.ndindex(*found.shape):
        weights: Any = [np.asarray(each[layer].weights[head], np.float64) for each in (first, second)]
        expected = distance_by_loops(weights[0], weights[1], pairing.queries, pairing.keys)
        assert found[layer, head] == pytest.approx(expected, abs=1e-9)
    assert found.max() > 0.1


def test_heads_of_two_models_are_compared_on_whole_words():
    checkpoints = load_checkpoint("sentiment"), load_checkpoint("stories")
    traces: Any = [checkpoint.trace(FILM) for checkpoint in checkpoints]
    pairing = piece_pairs(traces[0].text_stack, traces[1].text_stack, [FILM])
    first, second = attention_layers(traces[0], "encoder"), attention_layers(traces[1], "decoder")
    both = AttentionPairing(queries=pairing, keys=pairing)
    found = nearest_heads(first, second, both)
    assert found.distances.shape == (4, 8)
    for layer, head in [(0, 0), (3, 3)]:
        weights = np.asarray(first[layer].weights[head], np.float64)
        every = {
            (at, other): distance_by_loops(weights, np.asarray(attention.weights[other], np.float64), pairing, pairing)
            for at, attention in enumerate(second)
            for other in range(len(attention.weights))
        }
        nearest = (int(found.layers[layer, head]), int(found.heads[layer, head]))
        assert every[nearest] == pytest.approx(min(every.values()), abs=1e-9)
        assert found.distances[layer, head] == pytest.approx(every[nearest], abs=1e-9)


def test_a_pass_beside_itself_is_at_no_distance():
    first, second, pairing = layers_and_pairing(FILM, FILM)
    assert head_distances(first, second, pairing).max() == 0
    nearest = nearest_heads(first, second, pairing)
    assert nearest.distances.max() == 0
    assert (nearest.layers[2, 5], nearest.heads[2, 5]) == (2, 5)


def test_the_distance_is_the_same_from_the_other_side_and_between_0_and_1():
    first, second, pairing = layers_and_pairing(FILM, OTHER)
    back = AttentionPairing(queries=pairing.queries.reversed(), keys=pairing.keys.reversed())
    found = head_distances(first, second, pairing)
    np.testing.assert_allclose(head_distances(second, first, back), found, atol=1e-12)
    assert found.min() >= 0
    assert found.max() <= 1


def test_aligned_rows_still_add_up_to_1_and_their_difference_to_0():
    first, second, pairing = layers_and_pairing(FILM, OTHER)
    one, other = aligned_rows(first[1].weights, second[1].weights, pairing)
    assert one.shape == (8, len(pairing.queries.pairs), len(pairing.keys.columns()))
    np.testing.assert_allclose(one.sum(-1), 1, atol=1e-5)
    np.testing.assert_allclose(other.sum(-1), 1, atol=1e-5)


def test_a_muted_head_changes_the_heads_of_later_layers_alone():
    checkpoint = load_checkpoint("sentiment")
    before = checkpoint.trace(FILM)
    after = checkpoint.trace(FILM, edits=Edits(muted=frozenset([HeadSite("encoder", 1, 2)])))
    pairing = token_pairs(before.text_stack, after.text_stack)
    layers: Any = [attention_layers(trace, "encoder") for trace in (before, after)]
    found = head_distances(layers[0], layers[1], AttentionPairing(queries=pairing, keys=pairing))
    assert found[:2].max() == 0
    assert found[2:].min() > 0


def test_other_heads_and_a_missing_attention_are_refused():
    first, second, pairing = layers_and_pairing(FILM, FILM)
    with pytest.raises(ValueError, match="heads of the layers"):
        head_distances(first, second[:2], pairing)
    with pytest.raises(ValueError, match="no cross attention"):
        attention_layers(load_checkpoint("sentiment").trace(FILM), "cross")


def test_by_chance_is_the_mean_over_the_orders_of_the_keys_that_are_looked_at():
    first = np.array([[[0.7, 0.3, 0.0], [0.2, 0.2, 0.6]]])
    second = np.array([[[0.9, 0.1, 0.0], [0.5, 0.3, 0.2]]])
    found = np.mean([chance_distances(first, second, seed) for seed in range(2000)])
    rows = [
        np.mean([np.abs(np.array(order) - row).sum() / 2 for order in orders])
        for row, orders in (
            (first[0, 0], [(0.9, 0.1, 0.0), (0.1, 0.9, 0.0)]),  # the third key is never looked at
            (first[0, 1], list(itertools.permutations((0.5, 0.3, 0.2)))),
        )
    ]
    assert found == pytest.approx(np.mean(rows), abs=0.01)
