"""Position vectors: the formula of the paper, recomputed number by number."""

import math
from typing import Any

import pytest
import torch

from model.positions import (
    LearnedPositions,
    LinearBiasPositions,
    Positions,
    RotaryPositions,
    SinusoidalPositions,
    linear_slopes,
    sinusoids,
)
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


def rotary(**changes: Any) -> RotaryPositions:
    """Heads of 8 coordinates."""
    return RotaryPositions(tiny.config(width=16, heads=2, positions="rotary", **changes))


def turned(x: torch.Tensor, *, windowed: bool = False, **changes: Any) -> torch.Tensor:
    """The same vector at every position, each turned as its position is."""
    return rotary(**changes).rotate(torch.zeros(20, 16), windowed=windowed)(x.expand(1, 20, 8))[0]


def test_a_rotation_leaves_products_that_depend_on_the_distance_alone():
    products = turned(tiny.normal(8)) @ turned(tiny.normal(8, seed=1)).T
    for distance in range(-19, 20):
        diagonal = products.diagonal(distance)
        assert torch.allclose(diagonal, diagonal[:1].expand_as(diagonal), atol=1e-5)
    assert products[0].unique().numel() == 20


def test_a_rotation_by_hand_turns_a_coordinate_with_the_one_half_a_head_away():
    one = torch.zeros(8)
    one[1] = 1.0
    angle = 3 * 10_000 ** (-2 / 8)  # of pair 1 of 4, at position 3
    expected = torch.zeros(8)
    expected[1], expected[5] = math.cos(angle), math.sin(angle)
    assert torch.allclose(turned(one)[3], expected, atol=1e-7)
    assert torch.equal(turned(one)[0], one)


def test_coordinates_beyond_the_rotated_part_of_a_head_stay():
    x = tiny.normal(8)
    partly = turned(x, rotary_width=4)
    assert torch.equal(partly[:, 4:], x[4:].expand(20, 4))
    assert not torch.allclose(partly[1:, :4], x[:4].expand(19, 4), atol=1e-2)


def test_linear_scaling_makes_positions_fractions():
    x = tiny.normal(8)
    assert torch.allclose(turned(x, rotary_scaling="linear", rotary_factor=4.0)[::4], turned(x)[:5], atol=1e-6)


def test_llama_s_scaling_keeps_fast_rotations_slows_slow_ones_and_blends_those_between():
    frequencies = rotary(
        rotary_base=10_000.0, rotary_scaling="llama3", rotary_factor=8.0, rotary_original_length=100
    ).frequencies(windowed=False)
    between = 0.1 * 100 / (2 * math.pi)  # turns of pair 1 in the original length, of 1 to 4
    blend = (between - 1) / 3
    assert frequencies.tolist() == pytest.approx([1, 0.1 * (blend + (1 - blend) / 8), 0.01 / 8, 0.001 / 8])


def test_windowed_layers_may_turn_by_a_base_of_their_own_which_is_not_scaled():
    x, scaled = tiny.normal(8), {"rotary_scaling": "linear", "rotary_factor": 4.0}
    assert torch.equal(
        turned(x, windowed=True, rotary_window_base=50.0, **scaled), turned(x, windowed=False, rotary_base=50.0)
    )
    assert torch.equal(turned(x, windowed=True, **scaled), turned(x, windowed=False, **scaled))


def test_the_slopes_of_8_and_16_heads_are_those_of_the_paper():
    assert linear_slopes(8) == [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]
    assert linear_slopes(16) == pytest.approx([0.5 ** (0.5 * place) for place in range(1, 17)], rel=1e-15)
    assert linear_slopes(1) == [1 / 256]


def test_the_slopes_of_12_heads_are_those_of_8_and_every_other_one_of_16():
    """``get_slopes(12)`` of the authors' source gives these."""
    assert linear_slopes(12)[:8] == linear_slopes(8)
    assert linear_slopes(12)[8:] == pytest.approx([0.5**0.5, 0.5**1.5, 0.5**2.5, 0.5**3.5], rel=1e-15)


def test_a_linear_bias_by_hand():
    bias = LinearBiasPositions(tiny.config(heads=8)).bias(torch.zeros(2, 4, 16))
    by_hand = [[0, -1, -2, -3], [-1, 0, -1, -2], [-2, -1, 0, -1], [-3, -2, -1, 0]]
    for head in range(8):
        assert torch.equal(bias[head], torch.tensor(by_hand) * 0.5 ** (head + 1))


@pytest.mark.parametrize("architecture", tiny.ARCHITECTURES)
def test_attention_adds_the_linear_bias_to_its_scores(architecture):
    model = tiny.transformer(architecture, positions="alibi")
    given = {"target_ids": tiny.ids(6)} if architecture == "encoder-decoder" else {}
    trace = model(tiny.ids(6), **given)
    for stack in (trace.encoder, trace.decoder):
        for attention in [block.self_attention for block in stack.blocks] if stack else []:
            for head, query, key in [(0, 5, 0), (1, 3, 2), (3, 4, 4), (2, 5, 1)]:
                expected = attention.products[head, query, key] / 2 - 4.0 ** -(head + 1) * (query - key)
                assert attention.scores[head, query, key].item() == pytest.approx(expected.item(), abs=1e-6)
        assert stack is None or stack.embedding.position is None


def test_a_linear_bias_adds_no_parameters():
    assert not list(LinearBiasPositions(tiny.config()).parameters())
    assert not LinearBiasPositions(tiny.config()).state_dict()
