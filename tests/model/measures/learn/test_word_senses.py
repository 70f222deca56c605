"""Senses sorted by their vectors, against plain loops, and chance against shuffled senses."""

import itertools
import math

import numpy as np
import pytest

from model.measures.learn.word_senses import (
    as_good_divisions,
    nearest_sentences,
    nearest_to,
    right_by_chance,
    sorted_senses,
)

SENSES = (0, 0, 0, 0, 1, 1, 1, 1)


@pytest.fixture(scope="module")
def vectors() -> np.ndarray:
    return np.random.default_rng(2).standard_normal((8, 5, 6))


def cosine(a, b) -> float:
    dot = math.fsum(x * y for x, y in zip(a, b, strict=True))
    return dot / math.sqrt(math.fsum(x * x for x in a) * math.fsum(y * y for y in b))


def test_the_nearest_sentence_is_that_of_plain_loops(vectors):
    senses = sorted_senses(vectors, SENSES)
    for sentence, step in itertools.product(range(8), range(5)):
        others = [other for other in range(8) if other != sentence]
        best = max(others, key=lambda other: cosine(vectors[sentence, step], vectors[other, step]))
        assert senses.nearest[sentence, step] == best
        assert senses.own_sense[sentence, step] == (SENSES[best] == SENSES[sentence])
    assert senses.counts == tuple(int(sum(senses.own_sense[:, step])) for step in range(5))


def test_the_mean_cosine_is_over_every_two(vectors):
    for step, mean in enumerate(sorted_senses(vectors, SENSES).mean_cosines):
        pairs = [cosine(a[step], b[step]) for a, b in itertools.combinations(vectors, 2)]
        assert mean == pytest.approx(np.mean(pairs))


def test_one_more_sentence_is_placed_without_moving_the_others(vectors):
    one, rest = vectors[3], np.delete(vectors, 3, axis=0)
    nearest = nearest_sentences(vectors)[3]
    assert nearest_to(one, rest).tolist() == [place - (place > 3) for place in nearest]


def test_the_first_layer_that_sorts_all_is_no_start():
    apart = np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]])
    mixed = apart[[0, 2, 1, 3]]
    for steps, layer in [((apart, mixed, apart), 2), ((apart, mixed), None), ((mixed, apart, apart), 1)]:
        assert sorted_senses(np.stack(steps, axis=1), (0, 0, 1, 1)).first_sorted_layer == layer


def test_chance_is_the_mean_over_shuffled_senses(vectors):
    nearest = nearest_sentences(vectors)[:, 0]
    shuffles = [senses for senses in itertools.product((0, 1), repeat=8) if sum(senses) == 4]
    right = [sum(senses[place] == senses[at] for at, place in enumerate(nearest)) for senses in shuffles]
    assert right_by_chance(SENSES) == pytest.approx(np.mean(right)) == pytest.approx(8 * 3 / 7)
    own = sum(SENSES[place] == SENSES[at] for at, place in enumerate(nearest))
    as_good = sum(count >= own for count in right)
    assert as_good_divisions(nearest, SENSES) == (as_good // 2, len(shuffles) // 2)


def test_only_halves_are_divided():
    with pytest.raises(ValueError, match="half of the sentences"):
        as_good_divisions(np.zeros(3, dtype=int), (0, 0, 1))
