"""Position vectors as hands of clocks: a shift rotates all hands of a clock by the angle that the formula gives."""

import math
from itertools import pairwise

import numpy as np
import pytest

from model import Edits, load_checkpoint
from model.edits import Shift
from model.measures.learn.order.position_hands import SHIFTS, clock_pairs, hand_angles, possible_shifts, turns
from tests import tiny

WIDTH = 128


def formula(positions: range, width: int) -> np.ndarray:
    """Section 3.5 of the paper, number by number."""
    return np.array(
        [
            [
                (math.cos if dimension % 2 else math.sin)(place / 10000 ** ((dimension - dimension % 2) / width))
                for dimension in range(width)
            ]
            for place in positions
        ]
    )


@pytest.mark.parametrize("shift", [1, 100, 1000])
def test_a_shift_rotates_every_hand_of_a_clock_by_one_angle(shift):
    pairs = clock_pairs(WIDTH)
    before, after = (hand_angles(formula(range(k, k + 6), WIDTH), pairs) for k in (0, shift))
    turned = (after - before) % 360
    for clock, pair in enumerate(pairs):
        angle = math.degrees(shift / 10000 ** (2 * pair / WIDTH)) % 360
        apart = np.abs((turned[clock] - angle + 180) % 360 - 180)
        assert apart.max() < 1e-6


def test_the_hands_are_those_of_the_pass():
    edits = Edits(shifted=frozenset({Shift("encoder", 1000)}))
    stack = load_checkpoint("sentiment").trace("The film was slow.", edits=edits).text_stack
    vectors = np.asarray(stack.embedding.position)
    pairs = clock_pairs(WIDTH)
    expected = hand_angles(formula(range(1000, 1000 + len(vectors)), WIDTH), pairs)
    assert np.abs((hand_angles(vectors, pairs) - expected + 180) % 360 - 180).max() < 0.1


def test_a_hand_points_up_at_sine_0_and_to_the_right_at_sine_1():
    assert hand_angles(np.array([[0.0, 1.0], [1.0, 0.0], [0.0, -1.0], [-1.0, 0.0]]), [0]).tolist() == [
        [0, 90, 180, 270]
    ]


def test_clocks_turn_slower_from_one_to_the_next():
    every = turns(WIDTH, clock_pairs(WIDTH))
    assert every[0] == pytest.approx(2 * math.pi)
    assert all(3.5 < later / before < 4.6 for before, later in pairwise(every))
    assert clock_pairs(2) == [0]


def test_learned_positions_end_and_sinusoids_do_not():
    assert possible_shifts(tiny.config(), 10) == SHIFTS
    assert possible_shifts(tiny.config(positions="learned"), 10) == (0, 1, 2, 3, 5, 10, 20)
    assert possible_shifts(tiny.config(positions="learned"), 32) == (0,)
    assert possible_shifts(tiny.config(positions="none"), 10) == ()
