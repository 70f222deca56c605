"""What the division by √d_k does, measured against torch's own attention and against NumPy."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from model import Edits, load_checkpoint
from model.measures.learn.heads.score_scale import (
    Sharpness,
    divides,
    heads_of,
    most_changed,
    sharpness,
    sharpness_by_head,
    untrained_stack,
    without_division,
    without_scale,
)
from tests import tiny

TEXT = "The film was slow, but I loved it."


@pytest.fixture(scope="module")
def stack() -> Any:
    return load_checkpoint("sentiment").trace(TEXT).encoder


@pytest.mark.parametrize("changes", [{}, {"positions": "alibi"}, {"score_cap": 2.0}], ids=["plain", "bias", "cap"])
def test_without_the_division_a_head_is_what_numpy_says(changes):
    trace = tiny.checkpoint("decoder", **changes).trace_ids([4, 9, 31, 17, 50])
    head = heads_of(trace.decoder)[1][2]
    scores = head.query.astype(np.float64) @ head.key.T + (0 if head.bias is None else head.bias)
    scores = scores if head.cap is None else head.cap * np.tanh(scores / head.cap)
    exponentials = np.exp(scores) * head.mask
    weights = exponentials / exponentials.sum(axis=1, keepdims=True)
    assert np.allclose(without_scale(head).weights, weights, atol=1e-6)
    assert np.allclose(without_scale(head).context, weights @ head.value, atol=1e-6)


def test_without_the_division_a_head_is_what_torch_says(stack):
    attention = stack.blocks[3].self_attention
    ours = np.stack([without_scale(head).context for head in heads_of(stack)[3]])
    theirs = F.scaled_dot_product_attention(attention.query, attention.key, attention.value, scale=1.0)
    assert np.allclose(ours, theirs.numpy(), atol=1e-5)


def test_sharpness_is_the_mean_of_the_rows_largest_weights(stack):
    attention = stack.blocks[1].self_attention
    products = (attention.query[4] @ attention.key[4].T).double().numpy()
    measured = sharpness(heads_of(stack)[1][4])
    for scale, value in ((0.25, measured.divided), (1.0, measured.undivided)):
        rows = np.exp(products * scale) / np.exp(products * scale).sum(axis=1, keepdims=True)
        assert value == pytest.approx(rows.max(axis=1).mean(), abs=1e-6)
    assert measured.deviation == pytest.approx(np.sqrt(((products - products.mean()) ** 2).mean()), rel=1e-6)


def test_the_head_that_changes_most_is_found():
    rows = [
        [Sharpness(divided=0.5, undivided=each, deviation=1.0) for each in layer] for layer in ((0.6, 0.9), (0.7, 0.5))
    ]
    assert most_changed(rows) == (0, 1)


def test_the_answer_without_the_division_is_that_of_the_edited_pass():
    checkpoint = load_checkpoint("sentiment")
    for text in (TEXT, "The dog bit the man."):
        result = without_division(checkpoint, checkpoint.trace(text))
        before, after = checkpoint.classify(text), checkpoint.classify(text, Edits(scale=1.0))
        top = max(before, key=before.__getitem__)
        assert (result.probability, result.after) == pytest.approx((before[top], after[top]), abs=1e-6)
        assert (result.other is None) == (top == max(after, key=after.__getitem__))


def test_another_answer_is_named_with_its_probability():
    for seed in range(40):
        checkpoint = tiny.checkpoint("encoder", seed=seed, labels=("no", "yes", "maybe"), score_scale=0.01)
        trace = checkpoint.trace_ids([4, 9, 31, 17, 50])
        result = without_division(checkpoint, trace)
        logits = checkpoint.trace_ids([4, 9, 31, 17, 50], edits=Edits(scale=1.0)).logits.double().softmax(dim=-1)
        if int(logits.argmax()) != int(trace.logits.argmax()):
            assert result.other == int(logits.argmax())
            assert result.other_probability == pytest.approx(float(logits.max()), abs=1e-6)
            return
    pytest.fail("no seed whose answer changes")


def test_an_untrained_model_is_always_the_same_and_its_products_spread_by_the_root_of_d_k(stack):
    checkpoint = load_checkpoint("sentiment")
    state = torch.random.get_rng_state()
    first, second = (untrained_stack(checkpoint.config, stack.ids.tolist()) for _ in range(2))
    assert torch.equal(state, torch.random.get_rng_state())
    assert torch.equal(first.final, second.final)
    spread = np.array([[each.deviation for each in layer] for layer in sharpness_by_head(first)])
    assert abs(spread.mean() - 4) < 0.6
    assert not torch.allclose(first.final, stack.final)


def test_only_models_that_divide_are_asked():
    assert divides(tiny.config())
    assert not divides(tiny.config(score_scale=1.0))
    assert not divides(tiny.config(score_scale_by_layer=True))
    assert not divides(tiny.config(width=2048, vocabulary=50_000))
