"""What the experiments measure, each against a computation of its own: torch's layers, NumPy, plain loops."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from model import InputError, load_checkpoint
from model.attention import causal_mask
from model.measures.experiments import (
    attention_by_hand,
    gradient_depth,
    head_count,
    padding,
    score_spread,
    word_in_contexts,
)
from model.measures.experiments.gradient_depth import Fresh
from tests import tiny

IDS = [7, 3, 9, 7, 1, 4, 3, 8]
RENUMBERED = [0, 1, 2, 0, 3, 4, 1, 5]


# Gradients of fresh stacks


def torch_gradients(fresh: Fresh) -> list[float]:
    """The same stack made of torch's own layers, and each layer's gradient by torch's own code."""
    model: Any = gradient_depth.fresh_model(fresh, 6)
    layers = [tiny.torch_layer(block, model.config) for block in model.decoder.blocks]
    assert all(isinstance(layer, nn.TransformerEncoderLayer) for layer in layers)
    x = model.vectors(torch.tensor(RENUMBERED[:-1]), model.embedding)
    x = (x + sinusoids(7, gradient_depth.WIDTH))[None].detach()
    for layer in layers:
        x = layer(x, src_mask=~causal_mask(7)) if fresh.residuals else chain(layer, x, fresh.norm_order)
    logits = model.decoder.norm(x[0]) @ model.embedding.weight.detach().T
    F.cross_entropy(logits, torch.tensor(RENUMBERED[1:])).backward()
    return [math.sqrt(sum(float(p.grad.double().square().sum()) for p in layer.parameters())) for layer in layers]


def chain(layer: Any, x: torch.Tensor, order: str) -> torch.Tensor:
    """The sublayers of torch's layer without anything to go around them."""
    for norm, part in ((layer.norm1, layer._sa_block), (layer.norm2, layer._ff_block)):
        seen = norm(x) if order == "pre" else x
        output = part(seen, ~causal_mask(7), None) if part == layer._sa_block else part(seen)
        x = output if order == "pre" else norm(output)
    return x


def sinusoids(length: int, width: int) -> torch.Tensor:
    """Section 3.5 of the paper, number by number."""
    angles = [[place / 10_000 ** (2 * (at // 2) / width) for at in range(width)] for place in range(length)]
    return torch.tensor([[(math.cos if at % 2 else math.sin)(row[at]) for at in range(width)] for row in angles])


@pytest.mark.parametrize("order", gradient_depth.ORDERS)
@pytest.mark.parametrize("residuals", [True, False])
@pytest.mark.parametrize("layers", [2, 7])
def test_gradients_of_a_fresh_stack_are_those_of_torchs_own_layers(order, residuals, layers):
    fresh = Fresh(norm_order=order, layers=layers, residuals=residuals)
    assert gradient_depth.gradient_norms(IDS, fresh) == pytest.approx(torch_gradients(fresh), rel=1e-4)


def test_in_deep_stacks_the_last_gradient_of_pre_norm_shrinks_and_that_of_post_norm_hardly():
    def shrunk(order: str) -> float:
        ends = [
            [
                gradient_depth.gradient_norms(IDS, Fresh(norm_order=order, layers=layers, seed=seed))[-1]
                for seed in range(4)
            ]
            for layers in (2, 16)
        ]
        return float(np.mean(ends[1]) / np.mean(ends[0]))

    assert shrunk("pre") == pytest.approx(math.sqrt(2 / 16), rel=0.35)
    assert shrunk("post") > 0.7


def test_a_fresh_stack_leaves_the_seed_of_the_visitor_alone():
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    gradient_depth.gradient_norms(IDS, Fresh(norm_order="pre", layers=1))
    assert torch.rand(1) == expected


@pytest.mark.parametrize(
    ("ids", "layers", "order"), [([1], 2, "pre"), (IDS, 0, "pre"), (IDS, 25, "pre"), (IDS, 2, "x")]
)
def test_a_stack_without_layers_or_text_has_no_gradient(ids, layers, order):
    with pytest.raises(ValueError, match="wanted"):
        gradient_depth.gradient_norms(ids, Fresh(norm_order=order, layers=layers))


# The spread of q·k


@pytest.mark.parametrize("width", score_spread.WIDTHS)
def test_the_spread_is_that_of_numpy_and_close_to_the_theory(width):
    query, key = (side.double().numpy() for side in score_spread.samples(width))
    products = np.einsum("nqd,nkd->nqk", query, key)
    spread = score_spread.spread_of_products(width)
    assert spread.deviation == pytest.approx(products.std(), rel=1e-5)
    assert spread.deviation == pytest.approx(score_spread.expected_deviation(width), rel=0.05)
    assert spread.scaled_deviation == pytest.approx(products.std() / math.sqrt(width), rel=1e-5)
    for scores, entropy, largest in (
        (products, spread.entropy, spread.largest),
        (products / math.sqrt(width), spread.scaled_entropy, spread.scaled_largest),
    ):
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = powers / powers.sum(axis=-1, keepdims=True)
        bits = -np.where(weights > 0, weights * np.log2(np.maximum(weights, 1e-300)), 0).sum(axis=-1)
        assert entropy == pytest.approx(bits.mean(), abs=1e-4)
        assert largest == pytest.approx(weights.max(axis=-1).mean(), abs=1e-5)


def test_the_spread_in_a_trace_is_that_of_numpy():
    attention = tiny.checkpoint().trace(tiny.TEXT).encoder.blocks[1].self_attention
    query, key, weights = (each.double().numpy() for each in (attention.query, attention.key, attention.weights))
    products = query @ key.swapaxes(-1, -2)
    spread = score_spread.spread_in_trace(attention)
    assert spread.head_width == query.shape[-1]
    assert spread.deviation == pytest.approx(products.std(), rel=1e-5)
    assert spread.scaled_deviation == pytest.approx(products.std() / math.sqrt(query.shape[-1]), rel=1e-5)
    assert spread.largest == pytest.approx(weights.max(axis=-1).mean(), rel=1e-6)


def test_samples_are_the_same_ones_every_time_and_others_with_another_seed():
    assert torch.equal(score_spread.samples(4)[0], score_spread.samples(4)[0])
    assert not torch.equal(score_spread.samples(4)[0], score_spread.samples(4, seed=1)[0])


# One word in two texts


def test_words_are_shared_whatever_their_case_and_their_neighbours():
    assert word_in_contexts.shared_words("The bank, it's THE bank.", "It's a Bank_x of the") == ["the", "bank", "it's"]
    assert word_in_contexts.shared_words("…", "the") == []


def test_the_places_of_a_word_are_all_its_pieces_where_it_first_occurs():
    trace: Any = tiny.checkpoint("encoder").trace("the dogma saw the dogma")
    places = word_in_contexts.places_of("dogma", "the dogma saw the dogma", trace.encoder)
    pieces = [trace.encoder.spans[place] for place in places]
    assert (pieces[0][0], pieces[-1][1]) == (4, 9)
    assert places == list(range(places[0], places[-1] + 1))
    assert word_in_contexts.places_of("cat", "the dogma", trace.encoder) == []


def test_two_vectors_are_apart_by_hand():
    apart = word_in_contexts.apart(np.array([[3.0, 4.0], [1.0, 0.0]]), np.array([[3.0, 4.0], [0.0, 1.0]]))
    assert apart.distances == pytest.approx([0, math.sqrt(2)])
    assert apart.cosines == pytest.approx([1, 0])


def test_a_word_starts_as_one_row_of_the_table_in_every_text():
    checkpoint = load_checkpoint("sentiment")
    texts = ("They sat on the bank of the river.", "She put all her money in the bank.")
    vectors, table = [], checkpoint.model.embedding.weight.detach().double().numpy()
    for text in texts:
        stack: Any = checkpoint.trace(text).encoder
        (place,) = word_in_contexts.places_of("bank", text, stack)
        vectors.append(word_in_contexts.vectors_of(stack, [place]))
        row = table[stack.ids[place]] * math.sqrt(checkpoint.config.width)
        assert vectors[-1][0] == pytest.approx(row, rel=1e-5)
        assert vectors[-1][-1] == pytest.approx(stack.blocks[-1].stream_out[place].double().numpy())
    assert word_in_contexts.apart(*vectors).distances[0] == 0


# Padding


def test_padding_without_its_mask_is_a_longer_text_and_with_it_is_none():
    checkpoint = load_checkpoint("sentiment")
    ids = checkpoint.tokenizer.encode("The acting is not bad at all.").ids
    passes = padding.padded_passes(checkpoint.model, ids, 5)
    longer: Any = checkpoint.trace_ids([*ids, *[checkpoint.config.pad_id] * 5])
    alone: Any = checkpoint.trace_ids(ids)
    assert torch.allclose(passes.unmasked.final[0], longer.encoder.final, atol=1e-5)
    assert torch.allclose(passes.alone.final, alone.encoder.final, atol=1e-5)
    assert padding.largest_leak(passes.alone, passes.masked) <= 1e-5
    moved = (longer.encoder.final[: len(ids)] - alone.encoder.final).abs().max()
    assert padding.largest_leak(passes.alone, passes.unmasked) == pytest.approx(float(moved), rel=1e-4)
    assert padding.weight_on_padding(passes.masked, passes.length).tolist() == [0] * 4
    on_padding = [
        float(b.self_attention.weights[:, : len(ids), len(ids) :].sum(-1).mean()) for b in longer.encoder.blocks
    ]
    assert padding.weight_on_padding(passes.unmasked, passes.length) == pytest.approx(on_padding, abs=1e-5)
    assert passes.logits[2] is not None
    assert torch.allclose(passes.logits[2][0], longer.logits, atol=1e-4)
    probabilities = padding.label_probabilities(passes)
    assert probabilities is not None
    for shares, trace in zip((probabilities[0], probabilities[2]), (alone, longer), strict=True):
        assert shares == pytest.approx(list(checkpoint.probabilities(trace).values()), abs=1e-5)


@pytest.mark.parametrize("architecture", ["decoder", "encoder-decoder"])
def test_a_causal_mask_hides_padding_at_the_end_and_an_encoder_without_one_does_not(architecture):
    passes = padding.padded_passes(tiny.transformer(architecture), IDS, 4)
    leak = padding.largest_leak(passes.alone, passes.unmasked)
    assert (leak <= 1e-5) == (architecture == "decoder")
    assert padding.largest_leak(passes.alone, passes.masked) <= 1e-5
    assert passes.logits == (None, None, None)
    assert padding.label_probabilities(passes) is None


def test_padding_has_to_fit_the_model():
    with pytest.raises(ValueError, match="wanted"):
        padding.padded_passes(tiny.transformer(), IDS, 25)


# One head against many


@pytest.mark.parametrize("heads", [1, 2, 4])
def test_the_same_weights_as_other_heads_are_slices_of_the_same_projections(heads):
    model = tiny.transformer("encoder")
    other, ids = head_count.with_heads(model, heads), tiny.ids(6)
    with torch.no_grad():
        trace: Any = other(ids)
        seen = trace.encoder.blocks[0].self_attention
        query, key = (
            (seen.input @ side.weight.T + side.bias).double().numpy()
            for side in (model.encoder.blocks[0].self_attention.query, model.encoder.blocks[0].self_attention.key)
        )
    size = 16 // heads
    for head in range(heads):
        part = slice(head * size, (head + 1) * size)
        scores = query[:, part] @ key[:, part].T / math.sqrt(size)
        powers = np.exp(scores)
        assert np.allclose(seen.weights[head], powers / powers.sum(axis=-1, keepdims=True), atol=1e-5)


def test_as_its_own_number_of_heads_a_model_says_the_same():
    model = tiny.transformer("encoder-decoder")
    ids = tiny.ids(5)
    with torch.no_grad():
        same = head_count.with_heads(model, 4)(ids, target_ids=ids).logits
        assert torch.equal(same, model(ids, target_ids=ids).logits)


def test_one_heads_products_are_the_sum_of_all_heads_products():
    model, ids = tiny.transformer("encoder"), tiny.ids(6)
    with torch.no_grad():
        many: Any = model(ids).encoder.blocks[0].self_attention.products
        one: Any = head_count.with_heads(model, 1)(ids).encoder.blocks[0].self_attention.products
    assert torch.allclose(one[0], many.sum(dim=0), atol=1e-4)


@pytest.mark.parametrize("changes", [{"positions": "rotary"}, {"positions": "relative"}, {"kv_heads": 2}])
def test_parts_that_are_bound_to_heads_are_refused(changes):
    with pytest.raises(InputError, match="heads"):
        head_count.with_heads(tiny.transformer("decoder", **changes), 1)
    with pytest.raises(InputError, match="one of"):
        head_count.with_heads(tiny.transformer(), 3)


def test_favourites_are_counted_by_hand():
    weights = np.array([[[0.9, 0.1], [0.2, 0.8]], [[0.6, 0.4], [0.7, 0.3]]])
    assert head_count.favourites(weights) == 1.5
    assert head_count.favourites(weights[:1]) == 1


# By hand


def test_the_steps_by_hand_are_those_of_plain_loops():
    draw = np.random.default_rng(0).normal
    query, key, value = draw(size=(3, 2)), draw(size=(3, 2)), draw(size=(3, 2))
    mask = np.array([[True, False, False], [True, True, False], [False, False, False]])
    steps = attention_by_hand.steps_of(query, key, value, mask)
    for q in range(3):
        products = [sum(query[q][d] * key[k][d] for d in range(2)) for k in range(3)]
        scaled = [product / math.sqrt(2) for product in products]
        powers = [math.exp(score) if mask[q][k] else 0.0 for k, score in enumerate(scaled)]
        weights = [power / sum(powers) if sum(powers) else 0.0 for power in powers]
        context = [sum(weights[k] * value[k][d] for k in range(3)) for d in range(2)]
        assert steps.products[q] == pytest.approx(products, abs=1e-12)
        assert steps.scaled[q] == pytest.approx(scaled, abs=1e-12)
        assert steps.masked[q] == pytest.approx([s if mask[q][k] else -math.inf for k, s in enumerate(scaled)])
        assert steps.weights[q] == pytest.approx(weights, abs=1e-12)
        assert steps.context[q] == pytest.approx(context, abs=1e-12)
