"""The matrices of one head against the formula written out in NumPy, for every way that a model can attend."""

from typing import Any

import numpy as np
import pytest

from model import load_checkpoint
from model.measures.whole_head import WholeHead, whole_head
from tests import tiny
from tests.first_example import FOUND, LOVED

WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "encoder": ("encoder", {}),
    "causal": ("decoder", {}),
    "grouped": ("decoder", {"kv_heads": 2}),
    "rotary": ("decoder", {"positions": "rotary"}),
    "alibi": ("decoder", {"positions": "alibi"}),
    "relative": ("encoder", {"positions": "relative"}),
    "capped": ("decoder", {"score_cap": 3.0}),
    "unscaled": ("encoder", {"score_scale": 1.0}),
}


def attention_of(architecture: str, kind: str = "self", **changes: Any) -> Any:
    """The second layer's attention on eight tokens."""
    checkpoint = tiny.checkpoint(architecture, **changes)
    targets = [2, 7, 11] if architecture == "encoder-decoder" else None
    trace = checkpoint.trace_ids([4, 9, 31, 4, 17, 50, 9, 3], targets)
    stack = trace.decoder if kind == "cross" or trace.encoder is None else trace.encoder
    return getattr(stack.blocks[1], f"{kind}_attention")


def by_hand(head: WholeHead) -> dict[str, np.ndarray]:
    """softmax(mask(cap(q kᵀ · scale + bias))) v in float64."""
    query, key, value = (each.astype(np.float64) for each in (head.query, head.key, head.value))
    products = np.einsum("qd,kd->qk", query, key)
    scores = products * head.scale + (0 if head.bias is None else head.bias)
    scores = scores if head.cap is None else head.cap * np.tanh(scores / head.cap)
    exponentials = np.exp(scores) * head.mask
    weights = exponentials / exponentials.sum(axis=1, keepdims=True)
    return {"products": products, "scores": np.where(head.mask, scores, -np.inf), "weights": weights} | {
        "context": weights @ value
    }


@pytest.mark.parametrize("way", WAYS)
def test_the_matrices_are_those_of_the_formula(way):
    architecture, changes = WAYS[way]
    attention = attention_of(architecture, **changes)
    for number in range(4):
        head = whole_head(attention, number)
        for name, expected in by_hand(head).items():
            assert np.allclose(getattr(head, name), expected, atol=2e-5), name
        assert np.array_equal(head.weights, attention.weights[number].numpy())
        assert np.array_equal(head.context, attention.context[number].numpy())


def test_a_query_head_has_the_keys_and_values_of_its_group():
    attention = attention_of("decoder", kv_heads=2)
    for number, group in enumerate((0, 0, 1, 1)):
        assert np.array_equal(whole_head(attention, number).key, attention.key[group].numpy())
        assert np.array_equal(whole_head(attention, number).value, attention.value[group].numpy())


def test_cross_attention_has_queries_of_one_text_and_keys_of_another():
    head = whole_head(attention_of("encoder-decoder", "cross"), 3)
    assert head.weights.shape == (3, 8)
    assert np.allclose(head.weights, by_hand(head)["weights"], atol=1e-6)


def test_what_a_model_lacks_is_none_and_has_no_place_in_a_file():
    plain, biased = whole_head(attention_of("encoder"), 0), whole_head(attention_of("decoder", positions="alibi"), 0)
    assert (plain.bias, plain.cap) == (None, None)
    assert "bias" not in plain.arrays()
    assert biased.arrays()["bias"].shape == (8, 8)


def test_a_head_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="head 4, wanted 0 to 3"):
        whole_head(attention_of("encoder"), 4)


def test_the_head_of_the_app_gives_all_to_loved():
    encoder: Any = load_checkpoint("sentiment").trace("The film was slow, but I loved it.").encoder
    layer, number = FOUND
    head = whole_head(encoder.blocks[layer].self_attention, number)
    assert head.weights.mean(axis=0)[LOVED] > 0.9
    assert np.allclose(head.context, head.weights @ head.value, atol=1e-5)
