"""The cut into heads: what torch's own view and transpose do, and whose numbers stand where without the transpose."""

import numpy as np
import pytest
import torch

from model.attention import join, split
from model.measures.learn.heads.head_cut import (
    counts_to_guess,
    cut_into_heads,
    joined_queries,
    origins,
    tokens_read,
    viewed_as_heads,
)
from tests import tiny


def queries(heads: int, positions: int, head_width: int = 3) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(heads, positions, head_width))


@pytest.mark.parametrize(("heads", "positions"), [(2, 3), (8, 10), (4, 1), (1, 5)])
def test_the_cuts_are_those_of_torch(heads, positions):
    query = queries(heads, positions)
    rows = joined_queries(query)
    np.testing.assert_array_equal(rows, join(torch.from_numpy(query)).numpy())
    np.testing.assert_array_equal(cut_into_heads(rows, heads), split(torch.from_numpy(rows), heads).numpy())
    np.testing.assert_array_equal(
        viewed_as_heads(rows, heads), torch.from_numpy(rows).view(heads, positions, -1).numpy()
    )


def test_with_the_transpose_every_cell_holds_its_own():
    query = queries(4, 5)
    origin = origins(cut_into_heads(joined_queries(query), 4), query)
    np.testing.assert_array_equal(origin, np.moveaxis(np.indices((4, 5)), 0, -1))


@pytest.mark.parametrize(("heads", "positions"), [(2, 3), (8, 10), (8, 8), (8, 33)])
def test_without_it_the_heads_of_a_token_stand_side_by_side(heads, positions):
    query = queries(heads, positions)
    origin = origins(viewed_as_heads(joined_queries(query), heads), query)
    for head, position in np.ndindex(heads, positions):
        flat = head * positions + position
        assert origin[head, position].tolist() == [flat % heads, flat // heads]
    assert len(tokens_read(origin)) == -(-positions // heads)


def test_two_heads_of_three_tokens_by_hand():
    query = np.array([[[1.0], [2.0], [3.0]], [[10.0], [20.0], [30.0]]])
    assert viewed_as_heads(joined_queries(query), 2)[..., 0].tolist() == [[1, 10, 2], [20, 3, 30]]
    assert origins(viewed_as_heads(joined_queries(query), 2), query)[1, 0].tolist() == [1, 1]


def test_a_models_queries_are_found_again():
    trace = tiny.checkpoint("encoder").trace(tiny.TEXT)
    query = trace.encoder.blocks[0].self_attention.query.numpy()
    assert tokens_read(origins(viewed_as_heads(joined_queries(query), 4), query)) == list(
        range(-(-query.shape[1] // 4))
    )


def test_the_right_count_is_among_those_to_guess():
    assert counts_to_guess(10, 2, 8) == [1, 2, 5, 8, 10]
    assert counts_to_guess(2, 1, 8) == [1, 2]
    assert all(len(counts_to_guess(n, -(-n // 8), 8)) in range(2, 7) for n in range(2, 513))
