"""Mistakes that published tutorials of the Transformer make, each ruled out.

Every test writes the mistake down, shows that its check would catch it, and that this model passes the check.
"""

import inspect
import math

import pytest
import torch
from torch.nn import functional as F

from model import Config
from model.attention import full_mask, restrict, scaled_dot_product_attention
from model.output_heads import masked_mean
from model.positions import BASE, sinusoids
from model.transformer import Transformer
from tests import tiny
from tests.tiny import normal


def slowest_turn(table: torch.Tensor) -> float:
    """By how much the angle of the last pair of columns grows from one position to the next."""
    turn = math.atan2(table[1, -2], table[1, -1]) - math.atan2(table[0, -2], table[0, -1])
    return turn % (2 * math.pi)


def test_the_sign_of_the_exponent_is_not_dropped():
    even = torch.arange(0, 128, 2, dtype=torch.float64)
    mistaken_frequency = BASE ** (even / 128)
    assert float(mistaken_frequency[-1]) == pytest.approx(8660, abs=1)
    mistaken = torch.stack([torch.zeros(64).double(), mistaken_frequency])
    mistaken_table = torch.stack([mistaken.sin(), mistaken.cos()], dim=-1).flatten(1)
    assert slowest_turn(mistaken_table) != pytest.approx(0.000115, abs=5e-7)
    assert slowest_turn(sinusoids(2, 128)) == pytest.approx(0.000115, abs=5e-7)


def positions_differ_along_the_sentence_only(position: torch.Tensor) -> bool:
    along_the_sentence = not torch.allclose(position[:, 0], position[:, 1])
    return along_the_sentence and torch.equal(position[0], position[1])


def test_positions_are_not_indexed_by_the_batch():
    tokens = torch.zeros(3, 6, 16)
    mistaken = sinusoids(3, 16).float()[:, None].expand_as(tokens)  # table[: x.size(0)], x being (batch, position, …)
    assert not positions_differ_along_the_sentence_only(mistaken)
    assert positions_differ_along_the_sentence_only(tiny.transformer()(tiny.ids(3, 6)).encoder.embedding.position)


def the_updates_add_up(block) -> bool:
    """The law of pre-norm: nothing stands on the residual path."""
    total = block.stream_in + block.self_attention.output + block.feed_forward.output
    return torch.allclose(block.stream_out, total, rtol=0, atol=1e-5)


def test_pre_norm_is_not_post_norm_under_another_name():
    mistaken = tiny.transformer(norm_order="post")(tiny.ids(6)).encoder
    ours = tiny.transformer(norm_order="pre")(tiny.ids(6)).encoder
    assert not any(map(the_updates_add_up, mistaken.blocks))
    assert all(map(the_updates_add_up, ours.blocks))


def test_a_mask_per_sentence_is_not_taken_for_a_mask_per_head():
    batch = heads = 3
    query, mask = normal(batch, heads, 5, 4), torch.rand(batch, 5, 5, generator=torch.Generator().manual_seed(0)) < 0.6
    mask = mask | torch.eye(5, dtype=torch.bool)
    scores = query @ query.mT / 2
    mistaken = scores.masked_fill(~mask, -math.inf).softmax(dim=-1)  # broadcasts, for batch and heads are equal
    right = scaled_dot_product_attention(query, query, query, mask[:, None], 0.5).weights
    assert mistaken.shape == right.shape
    assert not torch.allclose(mistaken, right)
    unchecked = inspect.unwrap(scaled_dot_product_attention)  # without the shape checks of this test run
    with pytest.raises(ValueError, match=r"^mask: found shape \(3, 5, 5\), expected \(query, key\) or 4 axes"):
        unchecked(query, query, query, mask, 0.5)


def test_padding_is_not_averaged_into_the_pooled_vector():
    model, padding_mask = tiny.transformer(labels=("no", "yes")), tiny.padding_mask(6, 2)
    batch, alone = model(tiny.ids(2, 6), padding_mask=padding_mask), model(tiny.ids(2, 6)[1, :2])
    mistaken = batch.encoder.final[1].mean(dim=0)
    assert not torch.allclose(mistaken, alone.pooled, rtol=0, atol=1e-5)
    assert torch.allclose(batch.pooled[1], alone.pooled, rtol=0, atol=1e-5)
    assert torch.equal(
        masked_mean(torch.tensor([[2.0], [4.0], [9.0]]), tiny.padding_mask(3, 2)[1]), torch.tensor([3.0])
    )


def test_a_row_that_sees_nothing_is_not_spread_evenly_over_what_it_must_not_see():
    query, mask = normal(1, 3, 4), full_mask(3, 3).clone()
    mask[1] = False
    mistaken = (query @ query.mT).masked_fill(~mask, -1e9).softmax(dim=-1)
    assert mistaken[0, 1].tolist() == pytest.approx([1 / 3] * 3)
    assert scaled_dot_product_attention(query, query, query, mask, 1.0).weights[0, 1].tolist() == [0, 0, 0]


def test_a_width_that_the_heads_do_not_divide_is_refused():
    mistaken = normal(4, 10).reshape(-1, 4, 10 // 4)  # 4 tokens go in, 5 rows come out, and nothing complains
    assert len(mistaken) == 5
    with pytest.raises(ValueError, match="heads: found '4', expected a divisor of width 10"):
        tiny.config(width=10, heads=4)


def rows_sum_to_one(weights: torch.Tensor) -> bool:
    return torch.allclose(weights.sum(dim=-1), torch.ones(()), rtol=0, atol=1e-5)


def test_weights_are_not_returned_after_dropout():
    torch.manual_seed(0)
    weights = tiny.transformer(attention_dropout=0.5).train()(tiny.ids(6)).encoder.weights()
    assert not rows_sum_to_one(F.dropout(weights, 0.5))
    assert rows_sum_to_one(weights)


def count(config: Config) -> int:
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in Transformer(config).parameters())


def test_the_paper_configuration_shares_one_table():
    tied = Config.paper_base()
    mistaken = Config(
        **tied.to_json() | {"labels": (), "windowed_layers": (), "tie_embeddings": False, "share_embeddings": False}
    )
    assert count(tied) == 63_082_496
    assert (
        count(mistaken) == 63_082_496 + 2 * 37_000 * 512
    )  # 101 million: a table for the source, one for the target, …
    assert tied.tie_embeddings


def test_an_odd_width_does_not_break_the_sinusoids():
    table, angle = torch.zeros(4, 7), torch.arange(4.0)[:, None] * torch.arange(4.0)
    with pytest.raises(RuntimeError, match="must match the existing size"):
        table[:, 1::2] = angle.cos()  # the mistake: as many cosines as sines
    assert sinusoids(4, 7).shape == (4, 7)
    assert tiny.transformer(width=7, heads=1)(tiny.ids(4)).encoder.final.isfinite().all()


def test_a_mask_of_padding_spells_out_its_head_axis():
    mask = restrict(full_mask(1, 3), tiny.padding_mask(3, 2))
    assert mask.tolist() == [[[[True, True, True]]], [[[True, True, False]]]]
