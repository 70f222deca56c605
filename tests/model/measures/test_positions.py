"""What is measured on position vectors, against the formula written out in float64 and numbers worked by hand."""

import math
from typing import Any

import numpy as np
import pytest
import torch

from model.measures.positions import schemes as measures
from tests import tiny


def by_the_paper(length: int, width: int) -> np.ndarray:
    """Section 3.5, number by number."""
    table = np.empty((length, width))
    for position in range(length):
        for column in range(width):
            angle = position / math.pow(10_000, (column - column % 2) / width)
            table[position, column] = math.cos(angle) if column % 2 else math.sin(angle)
    return table


@pytest.mark.parametrize(("length", "width"), [(1, 1), (100, 128), (9, 7)])
def test_the_table_is_the_papers_at_any_size(length, width):
    assert np.allclose(measures.sinusoidal_table(length, width), by_the_paper(length, width), rtol=0, atol=1e-12)


def test_products_are_sums_of_cosines_of_the_distance():
    """sin a sin b + cos a cos b = cos(a - b), for each of the 64 frequencies."""
    products = measures.products(measures.sinusoidal_table(40, 128))
    for query, key in [(0, 0), (3, 17), (39, 2)]:
        waves = [math.cos((query - key) / 10_000 ** (2 * pair / 128)) for pair in range(64)]
        assert products[query, key] == pytest.approx(math.fsum(waves), abs=1e-12)


def test_distance_alone_decides_products_of_the_formula_but_not_of_a_learned_table():
    formula = measures.by_distance(measures.products(measures.sinusoidal_table(60, 32)))
    learned = measures.by_distance(measures.products(tiny.normal(60, 32).double().numpy()))
    assert formula.spread < 1e-12
    assert learned.spread > 1


def test_diagonals_by_hand():
    diagonals = measures.by_distance(np.array([[1.0, 2.0, 3.0], [2.0, 5.0, 4.0], [3.0, 4.0, 6.0]]))
    assert [values.tolist() for values in diagonals] == [[4, 3, 3], [1, 2, 3], [6, 4, 3]]
    assert diagonals.spread == 5


def test_wavelengths_run_from_2_pi_towards_10000_times_2_pi():
    assert measures.wavelengths(4).tolist() == pytest.approx([2 * math.pi, 200 * math.pi])
    waves = measures.wavelengths(512)
    assert waves[0] == 2 * math.pi
    assert waves[-1] == pytest.approx(2 * math.pi * 10_000 ** (510 / 512))
    assert len(measures.wavelengths(7)) == 4, "the last sine of an odd width turns too"


def test_a_wave_begins_anew_after_its_wavelength():
    for pair, wave in enumerate(measures.wavelengths(8)):
        angle = wave / 10_000 ** (2 * pair / 8)
        assert (math.sin(angle), math.cos(angle)) == pytest.approx((0, 1), abs=1e-12)


def test_a_shift_by_hand():
    """Pair 0 turns by one radian a position."""
    rotation = measures.rotation_shift(4, 0, 2, 3)
    sine, cosine = math.sin(3), math.cos(3)
    assert rotation.matrix.tolist() == [[cosine, sine], [-sine, cosine]]
    assert rotation.before.tolist() == pytest.approx([math.sin(2), math.cos(2)])
    assert rotation.after.tolist() == pytest.approx([math.sin(5), math.cos(5)])
    assert rotation.rotated.tolist() == pytest.approx([math.sin(5), math.cos(5)])
    assert rotation.angle == pytest.approx(540 / math.pi)


@pytest.mark.parametrize(("width", "pair", "position", "shift"), [(128, 2, 3, 5), (7, 2, 999, 1000), (2, 0, 0, 0)])
def test_every_pair_of_every_position_is_rotated_to_where_the_table_has_it(width, pair, position, shift):
    rotation = measures.rotation_shift(width, pair, position, shift)
    assert rotation.difference < 1e-11
    assert rotation.largest < 1e-11
    assert rotation.positions == max(position + 1, 100)


def test_a_table_that_is_no_rotation_is_found_out():
    table = measures.sinusoidal_table(20, 8)
    table[11, 5] += 0.25
    assert measures.largest_shift_difference(table, 4) == pytest.approx(0.25)


def test_numbers_outside_those_known_by_hand():
    table = np.array([[0.0, 1.0], [1.0, 0.0], [1.005, -0.5], [2.0, 2.0]])
    assert measures.unseen(table, 2).tolist() == [0, 0, 0.5, 1]


# A checkpoint's own


@pytest.mark.parametrize("scheme", ["sinusoidal", "sinusoidal-halves", "learned", "counted"])
def test_a_checkpoints_own_table_is_what_a_trace_adds(scheme):
    checkpoint = tiny.checkpoint("encoder", positions=scheme, position_offset=2, pad_id=1)
    stack = checkpoint.trace_ids([5, 6, 7, 8, 9]).encoder
    table = measures.own_table(checkpoint.model.encoder, checkpoint.config, 5)
    assert table is not None
    assert np.array_equal(table, stack.embedding.position.double().numpy())


@pytest.mark.parametrize(("scheme", "rows"), [("learned", 32), ("sinusoidal", 50)])
def test_a_learned_table_ends_and_the_formula_does_not(scheme, rows):
    model = tiny.transformer("decoder", positions=scheme)
    table = measures.own_table(model.decoder, model.config, 50)
    assert table is not None
    assert len(table) == rows


@pytest.mark.parametrize("scheme", ["rotary", "relative", "alibi", "none"])
def test_schemes_that_add_no_vectors_have_no_table(scheme):
    model = tiny.transformer(positions=scheme)
    assert measures.own_table(model.encoder, model.config, 4) is None


@pytest.mark.parametrize("changes", [{}, {"segments": 2}, {"segments": 2, "embedding_norm": True}])
def test_the_parts_of_a_texts_vectors_sum_to_what_enters_the_first_layer(changes):
    stack = tiny.checkpoint("encoder", positions="learned", **changes).trace_ids([5, 6, 5]).encoder
    parts = measures.parts(stack.embedding)
    *added, total = parts.names.values()
    assert list(parts.names)[-1].startswith("sum")
    assert ("norm" in list(parts.names)[-1]) == ("embedding_norm" in changes)
    if "embedding_norm" not in changes:
        assert np.allclose(sum(added), total, atol=1e-6)
    assert np.array_equal(total, stack.blocks[0].stream_in.double().numpy())
    assert np.allclose(parts.placed, added[0] + added[1])


def test_a_token_that_stands_twice_is_told_apart_by_its_positions():
    assert measures.repeated_token(torch.tensor([4, 7, 9, 7, 4])) == (1, 3)
    assert measures.repeated_token(torch.tensor([4, 7, 9])) is None
    assert measures.apart(np.array([[1.0, 2.0], [0.0, 0.0], [4.0, 6.0]]), 0, 2) == 5


# Schemes side by side


def added(scheme: str, length: int = 12, head: int = 0, **options: Any) -> np.ndarray:
    return measures.scheme_part(scheme, length, head, **options).added


def test_sinusoids_add_their_scaled_products():
    table = by_the_paper(12, 512)
    assert np.allclose(added("sinusoidal"), table @ table.T / math.sqrt(512), atol=1e-5)


def test_a_rotation_adds_sums_of_cosines_of_the_distance():
    """(1, 1) · (1, 1) turned by a is 2 cos a; a head of 64 has 32 such pairs."""
    for query, key in [(0, 11), (5, 5), (9, 2)]:
        waves = [2 * math.cos((query - key) / 10_000 ** (pair / 32)) for pair in range(32)]
        assert added("rotary")[query, key] == pytest.approx((math.fsum(waves) - 64) / 8, abs=1e-5)


def test_alibi_adds_its_slope_times_the_distance():
    for head in range(8):
        assert added("alibi", head=head)[9, 2] == -7 / 2 ** (head + 1)


@pytest.mark.parametrize("causal", [False, True])
def test_a_relative_bias_adds_one_number_a_bucket(causal):
    bias, buckets = added("relative", 100, causal=causal), measures.buckets(100, causal=causal)
    seen = np.tri(100, dtype=bool) if causal else np.ones((100, 100), dtype=bool)
    for bucket in np.unique(buckets[seen]):
        assert np.unique(bias[seen & (buckets == bucket)]).size == 1
    assert buckets[9, 2] == 7
    assert buckets[2, 9] == (0 if causal else 23), "the upper half of 32 is for keys after the query"
    assert np.isnan(bias[~seen]).all()


@pytest.mark.parametrize("scheme", measures.SCHEMES)
def test_what_is_hidden_from_a_query_is_no_number_and_the_rest_stays(scheme):
    if scheme != "relative":  # its buckets are others
        assert np.array_equal(np.tril(added(scheme, causal=True)), np.tril(added(scheme)))
    assert np.isnan(added(scheme, causal=True)[np.triu_indices(12, 1)]).all()


def test_learned_numbers_without_a_checkpoint_are_the_same_each_time():
    for scheme in ("learned", "relative"):
        assert np.array_equal(added(scheme), added(scheme))


@pytest.mark.parametrize("scheme", measures.SCHEMES)
@pytest.mark.parametrize("architecture", ["encoder", "decoder"])
def test_a_checkpoints_own_scheme_is_shown_with_its_own_numbers(architecture, scheme):
    model = tiny.transformer(architecture, positions=scheme)
    stack = getattr(model, architecture)
    part = measures.scheme_part(scheme, 10, 3, causal=architecture == "decoder", of=(stack, model.config))
    assert part.own
    trace = getattr(model(tiny.ids(10)), architecture)
    bias, table = trace.blocks[0].self_attention.bias, trace.embedding.position
    seen = np.tri(10, dtype=bool) if architecture == "decoder" else np.ones((10, 10), dtype=bool)
    if bias is not None:
        assert np.allclose(part.added[seen], bias[3].detach().numpy()[seen])
    if table is not None:
        assert np.allclose(part.added[seen], (table @ table.T / 4).detach().numpy()[seen], atol=1e-5)
    others = [name for name in measures.SCHEMES if name != scheme]
    assert not any(measures.scheme_part(name, 4, 0, of=(stack, model.config)).own for name in others)


def test_the_file_of_a_table_holds_all_that_is_drawn_of_it():
    table = by_the_paper(20, 8)
    arrays = measures.of_table(table, 12)
    assert np.array_equal(arrays["table"], table)
    by_hand = [[math.fsum(table[query] * table[key]) for key in range(12)] for query in range(12)]
    assert np.allclose(arrays["products"], by_hand)
    means = [np.mean([by_hand[place][place + distance] for place in range(12 - distance)]) for distance in range(12)]
    assert np.allclose(arrays["products_by_distance"], means)
    assert arrays["wavelengths"] == pytest.approx([2 * math.pi * 10**pair for pair in range(4)])


@torch.no_grad()
@pytest.mark.parametrize("changes", [{"segments": 2}, {"positions": "rotary"}])
def test_the_file_of_vectors_holds_those_that_are_added_bit_for_bit(changes):
    embedding = tiny.transformer(**changes)(tiny.ids(6)).encoder.embedding
    vectors = measures.vectors(measures.parts(embedding))
    there = {name for name in ("token", "position", "segment", "total") if getattr(embedding, name) is not None}
    assert set(vectors) == there
    for name in there:
        assert np.array_equal(vectors[name], getattr(embedding, name).detach().numpy())
