"""The units of a feed-forward layer, against NumPy, torch's own modules and whole passes of one token."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from model import load_checkpoint
from model.measures.learn.active_units import (
    active_units_of,
    longest_token,
    most_particular,
    text_stack,
    waking_words,
)
from tests import tiny

KINDS: list[dict[str, Any]] = [
    {"activation": "relu"},
    {"activation": "gelu"},
    {"activation": "gelu-tanh"},
    {"activation": "silu", "gated": True},
    {"activation": "gelu", "gated": True, "norm": "rms", "positions": "rotary"},
]
CURVES = {"relu": nn.ReLU(), "gelu": nn.GELU(), "gelu-tanh": nn.GELU(approximate="tanh"), "silu": nn.SiLU()}


def layer_and_trace(architecture: str = "encoder", **kind: Any) -> tuple[Any, Any, Any]:
    checkpoint = tiny.checkpoint(architecture, **kind)
    trace = checkpoint.trace(tiny.TEXT).text_stack.blocks[0].feed_forward
    return checkpoint.model, text_stack(checkpoint.model).blocks[0].feed_forward, trace


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("architecture", ["encoder", "decoder"])
def test_a_unit_is_active_where_its_product_is_above_0(architecture, kind):
    model, layer, trace = layer_and_trace(architecture, **kind)
    units = active_units_of(model, trace)
    products = trace.input.numpy() @ layer.inner.weight.detach().numpy().T + layer.inner.bias.detach().numpy()
    assert (units.active.numpy() == (products > 0)).all()
    assert units.counts == (products > 0).sum(axis=1).tolist()
    assert units.share == pytest.approx((products > 0).mean())
    torch.testing.assert_close(units.values, CURVES[kind["activation"]](torch.tensor(products)))
    assert 0 < units.share < 1


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_without_the_silent_units_the_output_moves_as_in_numpy(kind):
    model, layer, trace = layer_and_trace(**kind)
    units = active_units_of(model, trace)
    if kind["activation"] == "relu":
        assert units.change is None
        assert (trace.hidden[~units.active] == 0).all()
        return
    hidden = np.where(units.active.numpy(), trace.hidden.numpy(), 0)
    output = hidden @ layer.outer.weight.detach().numpy().T + layer.outer.bias.detach().numpy()
    moved = np.linalg.norm(output - trace.output.numpy(), axis=1) / np.linalg.norm(trace.output.numpy(), axis=1)
    assert units.change is not None
    np.testing.assert_allclose(units.change.numpy(), moved, rtol=1e-4)
    assert moved.min() > 0


def test_a_random_layer_has_about_half_of_its_units_active():
    checkpoint = load_checkpoint("translate-en-fr")
    trace = checkpoint.trace("The red house is big.", target="Oui.").text_stack.blocks[0].feed_forward
    units = active_units_of(checkpoint.model, trace)
    assert units.random_share == pytest.approx(0.5, abs=0.05)
    assert units.share < 0.1


@pytest.mark.parametrize(
    ("architecture", "kind"), [("encoder", KINDS[0]), ("decoder", KINDS[3]), ("encoder-decoder", {})]
)
@pytest.mark.parametrize("layer", [0, 1])
def test_waking_words_are_those_of_one_pass_a_word(architecture, kind, layer, monkeypatch):
    monkeypatch.setattr("model.measures.learn.active_units.AT_ONCE", 4)
    checkpoint = tiny.checkpoint(architecture, **kind)
    ids = [5, 30, 12, 44, 61, 7]
    target = [2] if architecture == "encoder-decoder" else None
    traces = [checkpoint.trace_ids([each], target).text_stack.blocks[layer].feed_forward for each in ids]
    values = np.stack([active_units_of(checkpoint.model, trace, layer).values[0].numpy() for trace in traces])
    waking = waking_words(checkpoint.model, ids, 3, layer)
    for unit in range(values.shape[1]):
        best = np.argsort(-values[:, unit], kind="stable")[:3]
        active = [place for place in best.tolist() if values[place, unit] > 0]
        places, numbers = waking.of(unit)
        assert numbers == pytest.approx(values[active, unit].tolist(), rel=1e-4, abs=1e-6)
        assert values[places, unit].tolist() == pytest.approx(numbers, rel=1e-4, abs=1e-6)
        assert float(waking.share[unit]) == pytest.approx((values[:, unit] > 0).mean())


def test_the_particular_units_of_a_token_lead_the_others():
    values = torch.tensor([[3.0, 1.0, 0.5, -0.1], [3.0, 0.0, 2.0, -0.2], [3.0, 0.0, 0.0, -0.3]])
    assert most_particular(values, 0, 4) == [1, 0, 2]
    assert most_particular(values, 1, 1) == [2]
    assert most_particular(values[:1], 0, 2) == [0, 1]


def test_the_longest_token_is_none_of_the_models_own():
    assert longest_token(["[START]", "the", " loved", ",", " films"], [True, False, False, False, False]) == 4
    assert longest_token(["!", "?"], [False, False]) == 1
    assert longest_token(["[END]"], [True]) == 0
