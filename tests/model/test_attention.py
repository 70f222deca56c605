"""Laws of attention, and its equality with torch's own."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from model.attention import (
    MaskAndBias,
    MultiHeadAttention,
    causal_mask,
    full_mask,
    masked_softmax,
    restrict,
    scaled_dot_product_attention,
    window_mask,
)
from model.edits.interventions import AttentionInterventions, zero_ablate
from tests import tiny
from tests.tiny import normal, randomised

SEEDS = st.integers(0, 2**31)
SIZES = st.integers(1, 9)
TOLERANCES = {torch.float32: 2e-6, torch.float64: 1e-12}


def random_mask(*shape: int, seed: int, allowed: float = 0.6) -> torch.Tensor:
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed)) < allowed


def attend(query, key, value, mask):
    return scaled_dot_product_attention(query, key, value, mask, query.shape[-1] ** -0.5)


@pytest.mark.parametrize("dtype", TOLERANCES)
@settings(max_examples=200)
@given(batch=st.lists(st.integers(1, 3), max_size=2), sizes=st.tuples(*[SIZES] * 5), one_head=st.booleans(), seed=SEEDS)
def test_attention_equals_the_fused_kernel_for_any_shape_and_mask(dtype, batch, sizes, one_head, seed):
    head, queries, keys, head_width, value_width = sizes
    query = normal(*batch, head, queries, head_width, seed=seed, dtype=dtype)
    key = normal(*batch, head, keys, head_width, seed=seed + 1, dtype=dtype)
    value = normal(*batch, head, keys, value_width, seed=seed + 2, dtype=dtype)
    mask = random_mask(*batch, 1 if one_head else head, queries, keys, seed=seed)
    ours, sees = attend(query, key, value, mask).context, mask.any(dim=-1)[..., None].expand(*batch, head, queries, 1)
    reference = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    reference = torch.where(sees, reference, torch.zeros_like(reference))
    largest = max(1.0, float(reference.abs().max()))
    assert float((ours - reference).abs().max()) <= TOLERANCES[dtype] * largest


@given(sizes=st.tuples(SIZES, SIZES, SIZES), seed=SEEDS)
def test_rows_sum_to_one_or_to_zero_and_masked_cells_are_exactly_zero(sizes, seed):
    scores, mask = 3 * normal(*sizes, seed=seed), random_mask(*sizes, seed=seed)
    weights = masked_softmax(scores.masked_fill(~mask, -math.inf), mask)
    assert torch.allclose(weights.sum(dim=-1), mask.any(dim=-1).float(), atol=1e-5)
    assert (weights[~mask] == 0).all()
    assert (weights >= 0).all()


def test_a_row_that_sees_nothing_has_no_weights_no_context_and_finite_gradients():
    query, key, value = (normal(2, 3, 4, seed=seed).requires_grad_() for seed in range(3))
    mask = full_mask(3, 3).clone()
    mask[1] = False
    steps = attend(query, key, value, mask)
    (steps.context.square().sum() + steps.weights.square().sum()).backward()
    assert (steps.weights[:, 1] == 0).all()
    assert (steps.context[:, 1] == 0).all()
    assert (steps.context[:, 0] != 0).all()
    assert all(leaf.grad is not None and leaf.grad.isfinite().all() for leaf in (query, key, value))


def test_gradients_equal_those_of_the_fused_kernel():
    query, key, value = leaves = [normal(2, 5, 4, seed=seed).double().requires_grad_() for seed in range(3)]
    ours = torch.autograd.grad(attend(query, key, value, causal_mask(5)).context.square().sum(), leaves)
    fused = F.scaled_dot_product_attention(query, key, value, is_causal=True)
    for mine, theirs in zip(ours, torch.autograd.grad(fused.square().sum(), leaves), strict=True):
        assert torch.allclose(mine, theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("size", [1e4, -1e4])
def test_scores_of_ten_thousand_stay_finite(size):
    query = torch.tensor([[[abs(size)], [1.0]]]).requires_grad_()
    key = torch.tensor([[[math.copysign(1, size)], [0.0]]])
    steps = scaled_dot_product_attention(query, key, key, full_mask(2, 2), 1.0)
    steps.context.sum().backward()
    assert steps.scores[0, 0, 0] == size
    assert all(step.isfinite().all() for step in steps)
    assert query.grad is not None
    assert query.grad.isfinite().all()
    assert steps.weights.sum(dim=-1).tolist() == [[1.0, 1.0]]


@given(shift=st.integers(-1000, 1000), seed=SEEDS)
def test_shifting_all_scores_of_a_row_changes_nothing(shift, seed):
    mask = random_mask(2, 4, 5, seed=seed)
    scores = (normal(2, 4, 5, seed=seed) * 64).round() / 64  # sums with whole numbers are exact
    shifted = (scores + shift).masked_fill(~mask, -math.inf)
    assert torch.allclose(
        masked_softmax(shifted, mask), masked_softmax(scores.masked_fill(~mask, -math.inf), mask), atol=1e-6
    )


def test_two_tokens_worked_by_hand():
    query = torch.tensor([[[0.0], [2 * math.log(3)]]])  # one head, one number a token
    key, value = torch.tensor([[[0.0], [1.0]]]), torch.tensor([[[1.0], [5.0]]])
    steps = scaled_dot_product_attention(query, key, value, full_mask(2, 2), 0.5)
    assert torch.allclose(steps.products, torch.tensor([[[0, 0], [0, 2 * math.log(3)]]]))
    assert torch.allclose(steps.scores, torch.tensor([[[0, 0], [0, math.log(3)]]]))
    assert torch.allclose(steps.weights, torch.tensor([[[1 / 2, 1 / 2], [1 / 4, 3 / 4]]]))  # e^ln 3 = 3 to e^0 = 1
    assert torch.allclose(steps.context, torch.tensor([[[3.0], [4.0]]]))  # (1 + 5)/2 and (1 + 3·5)/4


def test_the_named_steps_follow_from_one_another():
    attention, x = randomised(MultiHeadAttention(tiny.config())), normal(5, 16)
    trace = attention(x, x, MaskAndBias(mask=causal_mask(5)))
    assert trace.scale == 1 / math.sqrt(4)
    assert torch.equal(trace.products, trace.query @ trace.key.mT)
    assert torch.equal(trace.scores[:, trace.mask], (trace.products * trace.scale)[:, trace.mask])
    assert (trace.scores[:, ~trace.mask] == -math.inf).all()
    assert torch.equal(trace.weights, trace.scores.softmax(dim=-1))
    assert torch.equal(trace.context, trace.weights @ trace.value)
    joined = torch.cat(list(trace.context), dim=-1)
    assert torch.allclose(trace.output, attention.output(joined), atol=1e-6)


def test_each_head_reads_its_own_slice_of_the_projections():
    attention, x = randomised(MultiHeadAttention(tiny.config())), normal(5, 16)
    trace = attention(x, x, MaskAndBias(mask=full_mask(5, 5)))
    for head in range(4):
        rows = slice(4 * head, 4 * head + 4)
        assert torch.allclose(trace.key[head], x @ attention.key.weight[rows].T + attention.key.bias[rows], atol=1e-6)


@pytest.mark.parametrize("heads", [1, 2, 8])
def test_weights_and_output_equal_those_of_torch_multihead_attention(heads):
    ours, theirs = (
        randomised(MultiHeadAttention(tiny.config(heads=heads))),
        nn.MultiheadAttention(16, heads, batch_first=True),
    )
    tiny.copy_attention(theirs, ours)
    x, memory, padding_mask = normal(2, 5, 16), normal(2, 7, 16, seed=1), tiny.padding_mask(7, 3)
    trace = ours(x, memory, MaskAndBias(mask=restrict(full_mask(5, 7), padding_mask)))
    output, weights = theirs(x, memory, memory, key_padding_mask=~padding_mask, average_attn_weights=False)
    assert torch.allclose(trace.weights, weights, atol=1e-6)
    assert torch.allclose(trace.output, output, atol=1e-5)


def test_permuting_the_heads_permutes_the_maps_and_nothing_else():
    ours, x = randomised(MultiHeadAttention(tiny.config())), normal(5, 16)
    before, order = ours(x, x, MaskAndBias(mask=causal_mask(5))), [2, 0, 3, 1]
    with torch.no_grad():
        for part in (ours.query, ours.key, ours.value):
            part.weight.copy_(part.weight.unflatten(0, (4, 4))[order].flatten(0, 1))
            part.bias.copy_(part.bias.unflatten(0, (4, 4))[order].flatten())
        ours.output.weight.copy_(ours.output.weight.unflatten(1, (4, 4))[:, order].flatten(1))
    after = ours(x, x, MaskAndBias(mask=causal_mask(5)))
    assert torch.allclose(after.weights, before.weights[order], atol=1e-6)
    assert torch.allclose(after.output, before.output, atol=1e-5)


def test_muted_heads_lose_their_context_and_only_that():
    context = normal(2, 4, 3, 5)
    muted = zero_ablate(context, torch.tensor([False, True, False, True])[:, None, None])
    assert (muted[:, [1, 3]] == 0).all()
    assert torch.equal(muted[:, [0, 2]], context[:, [0, 2]])
    assert torch.equal(zero_ablate(context, None), context)


def test_an_all_muted_attention_adds_the_bias_of_its_projection_alone():
    attention, x = randomised(MultiHeadAttention(tiny.config())), normal(5, 16)
    trace = attention(
        x, x, MaskAndBias(mask=full_mask(5, 5)), AttentionInterventions(zero_ablated=full_mask(4, 1)[..., None])
    )
    assert torch.equal(trace.output, attention.output.bias.expand(5, 16))
    assert torch.equal(trace.weights, attention(x, x, MaskAndBias(mask=full_mask(5, 5))).weights)


def test_dropout_acts_on_the_context_and_the_weights_are_those_before_it():
    torch.manual_seed(0)
    query, key, value = (normal(2, 6, 4, seed=seed) for seed in range(3))
    dropped = scaled_dot_product_attention(query, key, value, full_mask(6, 6), 0.5, nn.Dropout(0.5))
    plain = scaled_dot_product_attention(query, key, value, full_mask(6, 6), 0.5)
    assert torch.equal(dropped.weights, plain.weights)
    assert not torch.allclose(dropped.context, plain.context)


def test_dropped_weights_are_what_is_multiplied_with_the_values():
    query, key, value = normal(1, 3, 4), normal(1, 3, 4, seed=1), torch.eye(3)[None]
    torch.manual_seed(0)
    steps = scaled_dot_product_attention(query, key, value, full_mask(3, 3), 0.5, nn.Dropout(0.5))
    torch.manual_seed(0)
    assert torch.equal(steps.context, F.dropout(steps.weights, 0.5))


def test_the_causal_mask_lets_a_query_see_itself_and_what_came_before():
    assert causal_mask(3).tolist() == [[True, False, False], [True, True, False], [True, True, True]]


def test_a_window_lets_a_query_see_itself_and_so_many_before_it_that_they_fill_the_window():
    narrow = (causal_mask(4) & window_mask(4, 2)).tolist()
    assert narrow == [
        [True, False, False, False],
        [True, True, False, False],
        [False, True, True, False],
        [False, False, True, True],
    ]
    assert torch.equal(causal_mask(4) & window_mask(4, 1), torch.eye(4, dtype=torch.bool))
    assert torch.equal(causal_mask(4) & window_mask(4, 4), causal_mask(4))


def test_neighbouring_query_heads_share_keys_and_values():
    grouped = randomised(MultiHeadAttention(tiny.config(kv_heads=2)))
    single, x = randomised(MultiHeadAttention(tiny.config())), normal(5, 16)
    with torch.no_grad():
        for part in ("query", "output"):
            getattr(single, part).load_state_dict(getattr(grouped, part).state_dict())
        for part in ("key", "value"):
            for ours, theirs in zip(
                getattr(single, part).parameters(), getattr(grouped, part).parameters(), strict=True
            ):
                heads = theirs.unflatten(0, (2, 4))
                ours.copy_(torch.stack([heads[0], heads[0], heads[1], heads[1]]).flatten(0, 1))
    ours, theirs = grouped(x, x, MaskAndBias(mask=causal_mask(5))), single(x, x, MaskAndBias(mask=causal_mask(5)))
    assert ours.key.shape == (2, 5, 4)
    assert torch.allclose(ours.weights, theirs.weights, atol=1e-6)
    assert torch.allclose(ours.output, theirs.output, atol=1e-5)


def test_a_cap_bounds_the_scores_and_leaves_small_ones_nearly_alone():
    query, key = normal(1, 6, 4), normal(1, 6, 4, seed=1)
    wild = scaled_dot_product_attention(50 * query, key, key, full_mask(6, 6), 1.0, cap=3.0).scores
    calm = scaled_dot_product_attention(query / 50, key, key, full_mask(6, 6), 1.0, cap=3.0)
    assert wild.abs().max() <= 3
    assert torch.allclose(calm.scores, calm.products, atol=1e-3)


def test_normed_queries_and_keys_have_the_same_length_in_every_head():
    attention, x = MultiHeadAttention(tiny.config(query_key_norm=True)), normal(5, 16)
    trace = attention(x, x, MaskAndBias(mask=full_mask(5, 5)))
    for projected in (trace.query, trace.key):
        assert torch.allclose(projected.square().mean(dim=-1), torch.ones(4, 5), atol=1e-3)
