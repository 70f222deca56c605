"""Heads that look alike, against SciPy's divergence and loops."""

from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from model import load_checkpoint
from model.measures.two_runs.aligned_heads import AttentionPairing, attention_layers
from model.measures.two_runs.similar_heads import TextOfTwo, alike_heads, chance_similarity, divergence, similarities
from model.measures.two_runs.token_pairs import token_pairs

TEXTS = ("The film was slow, but I loved it.", "Nobody who saw it was bored.")


def of_one_model(layer: int, head: int) -> list[TextOfTwo]:
    checkpoint, found = load_checkpoint("sentiment"), []
    for text in TEXTS:
        trace: Any = checkpoint.trace(text)
        pairing = token_pairs(trace.encoder, trace.encoder)
        second = [each.weights for each in attention_layers(trace, "encoder")]
        both = AttentionPairing(queries=pairing, keys=pairing)
        found.append(TextOfTwo(first=second[layer][[head]], second=second, pairing=both))
    return found


def test_the_divergence_is_0_of_equal_rows_and_1_of_rows_that_share_nothing():
    rows = np.array([[0.25, 0.75, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5]])
    assert divergence(rows, rows).tolist() == [0, 0]
    assert divergence(rows, rows[::-1]).tolist() == pytest.approx([1, 1])


def test_similarities_are_those_that_another_library_gives_row_by_row():
    texts = of_one_model(1, 2)
    found = similarities(texts)
    for layer, head in [(0, 0), (1, 3), (3, 7)]:
        rows = [
            1 - jensenshannon(one, other, base=2) ** 2
            for text in texts
            for one, other in zip(
                text.first[0].double().numpy(), text.second[layer][head].double().numpy(), strict=True
            )
        ]
        assert found[layer, head] == pytest.approx(np.mean(rows), abs=1e-6)
    assert found[1, 2] == pytest.approx(1)
    assert found.min() >= 0


def test_the_most_similar_heads_come_first_and_the_head_itself_is_none_of_them():
    texts = of_one_model(1, 2)
    alike, mean = alike_heads(texts, 5, (1, 2))
    found = similarities(texts)
    found[1, 2] = np.nan
    assert [each.similarity for each in alike] == sorted(found[~np.isnan(found)], reverse=True)[:5]
    assert mean == pytest.approx(np.nanmean(found))


def test_chance_is_below_the_similarity_of_a_head_with_itself_and_is_the_same_each_time():
    texts = of_one_model(1, 2)
    assert chance_similarity(texts, 1, 2) == chance_similarity(texts, 1, 2) < 1


def test_heads_are_as_similar_from_either_side():
    assert similarities(of_one_model(1, 2))[3, 4] == pytest.approx(similarities(of_one_model(3, 4))[1, 2])
