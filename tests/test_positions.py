"""Position vectors: the formula of the paper, recomputed number by number."""

import math

import pytest
import torch

from model.positions import LearnedPositions, Positions, SinusoidalPositions, sinusoids
from tests import tiny


def added(scheme: type[Positions], tokens: torch.Tensor):
    """What a scheme adds to such token vectors."""
    positions = scheme(tiny.config(width=tokens.shape[-1], heads=1, max_length=8))
    return positions, positions(torch.zeros(tokens.shape[:-1], dtype=torch.long), tokens)


def by_the_paper(position: int, column: int, width: int) -> float:
    """Section 3.5, in plain Python: sine in the even columns, cosine of the same angle in the odd ones."""
    angle = position / math.pow(10_000, (column - column % 2) / width)
    return math.cos(angle) if column % 2 else math.sin(angle)


@pytest.mark.parametrize("width", [1, 2, 3, 7, 16, 127, 128])
def test_sinusoids_are_those_of_the_paper_at_even_and_odd_widths(width):
    expected = [[by_the_paper(position, column, width) for column in range(width)] for position in range(12)]
    assert torch.allclose(sinusoids(12, width), torch.tensor(expected, dtype=torch.float64), rtol=0, atol=1e-12)


def test_sinusoids_stay_exact_at_five_thousand_positions():
    _, vectors = added(SinusoidalPositions, torch.zeros(5000, 6))
    expected = [[by_the_paper(position, column, 6) for column in range(6)] for position in range(4990, 5000)]
    assert vectors.shape == (5000, 6)
    assert vectors.dtype == torch.float32
    assert torch.allclose(vectors[4990:], torch.tensor(expected), rtol=0, atol=1e-7)


def test_the_first_row_may_be_that_of_a_later_position():
    assert torch.equal(sinusoids(3, 8, offset=4), sinusoids(7, 8)[4:])


def test_the_last_frequency_at_width_128_is_about_a_ten_thousandth():
    row = sinusoids(2, 128)[1]
    assert math.atan2(row[126], row[127]) == pytest.approx(0.000115, abs=5e-7)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_position_vectors_come_in_the_precision_of_the_tokens(dtype):
    _, vectors = added(SinusoidalPositions, torch.zeros(2, 5, 6, dtype=dtype))
    assert vectors.dtype == dtype
    assert torch.equal(vectors, sinusoids(5, 6).to(dtype))


def test_learned_positions_are_the_first_rows_of_their_table():
    positions, vectors = added(LearnedPositions, torch.zeros(2, 5, 6))
    assert torch.equal(vectors, positions.table.weight[:5])


def test_learned_positions_beyond_the_table_are_refused_plainly():
    with pytest.raises(ValueError, match=r"^9 positions asked for, 8 learned$"):
        added(LearnedPositions, torch.zeros(9, 6))


def test_no_positions_add_nothing():
    assert added(Positions, torch.zeros(5, 6))[1] is None


def test_writing_to_a_trace_leaves_the_learned_table_alone():
    with torch.no_grad():
        positions, vectors = added(LearnedPositions, torch.zeros(3, 6))
        before = positions.table.weight.clone()
        vectors.zero_()
    assert torch.equal(positions.table.weight, before)
