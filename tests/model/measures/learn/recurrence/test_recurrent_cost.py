"""The LSTM beside the Transformer: its pass by hand, its parameters counted, memory and time of worked cases."""

import numpy as np
import pytest
import torch

from model.config import Config
from model.measures.learn.recurrence.recurrent_classifier import RecurrentClassifier, state_width
from model.measures.learn.recurrence.recurrent_cost import (
    MODELS,
    Cost,
    costs,
    described_models,
    faster_from,
    measured_models,
    passes,
    peak_bytes,
    waits,
)


def tiny() -> Config:
    return Config(
        architecture="encoder", vocabulary=12, width=4, heads=2, layers=1, hidden=8, max_length=16, dropout=0.0,
        labels=("no", "yes"),
    )  # fmt: skip


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def test_the_classifier_is_a_recurrence_and_the_mean_of_its_states():
    torch.manual_seed(0)
    model = RecurrentClassifier(tiny(), 3)
    weights = {name: value.detach().double().numpy() for name, value in model.named_parameters()}
    h, cell, states = np.zeros(3), np.zeros(3), []
    for token in (5, 2, 9):
        x = weights["embedding.weight"][token] * 2  # √width
        gates = weights["lstm.weight_ih_l0"] @ x + weights["lstm.weight_hh_l0"] @ h
        i, f, g, o = np.split(gates + weights["lstm.bias_ih_l0"] + weights["lstm.bias_hh_l0"], 4)
        cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(cell)
        states.append(h)
    by_hand = weights["classifier.weight"] @ np.mean(states, axis=0) + weights["classifier.bias"]
    logits = model(torch.tensor([[5, 2, 9]]), padding_mask=torch.ones(1, 3, dtype=torch.bool)).logits
    assert logits[0].tolist() == pytest.approx(by_hand.tolist(), abs=1e-6)


def test_padding_changes_nothing_of_a_verdict():
    model = RecurrentClassifier(tiny(), 3).eval()
    ids, mask = torch.tensor([[5, 2, 0, 0], [1, 2, 3, 4]]), torch.tensor([[True, True, False, False], [True] * 4])
    alone = model(ids[:1, :2], padding_mask=mask[:1, :2]).logits
    assert torch.allclose(model(ids, padding_mask=mask).logits[:1], alone, atol=1e-6)


def test_the_state_is_as_wide_as_the_parameters_allow():
    def parameters(state: int) -> int:  # embedding, four gates with two biases each, classifier
        return 12 * 4 + 4 * state * (4 + state + 2) + 2 * state + 2

    parameter_budget = 700
    width = state_width(tiny(), parameter_budget)
    assert width == min(range(1, 40), key=lambda state: abs(parameters(state) - parameter_budget))


def test_all_that_is_measured_has_about_as_many_parameters():
    counts = described_models()
    assert set(counts) == set(MODELS)
    assert max(counts.values()) < 1.01 * min(counts.values())
    assert counts["transformer"] == counts["fused"]


def test_memory_is_what_is_held_at_one_time():
    def call() -> object:
        first = torch.ones(1000)
        second = first + 1  # 8,000 bytes are held here
        del first
        third = second.view(10, 100)  # a view is no memory of its own
        return third * 2

    assert peak_bytes(call) == 8000


def test_weights_and_what_was_there_before_do_not_count():
    given = torch.ones(5000)
    assert peak_bytes(lambda: given.view(50, 100).T) == 0
    assert peak_bytes(lambda: given.add_(1)) == 0


def test_the_memory_of_an_lstm_grows_with_the_length_and_of_a_transformer_with_its_square():
    bytes_of = {name: [forward_bytes(model, n) for n in (64, 128, 256)] for name, model in measured_models().items()}
    first, second = np.diff(bytes_of["lstm"])
    assert second == pytest.approx(2 * first, rel=0.01)
    first, second = np.diff(bytes_of["transformer"])
    assert second > 3 * first
    assert bytes_of["transformer"][-1] > 2 * 4 * 256 * 256 * 4  # the weights of two layers of four heads in float32


def forward_bytes(model, tokens: int) -> int:
    return peak_bytes(passes(model, torch.zeros(1, tokens, dtype=torch.int64))[0])


def test_a_training_step_leaves_a_gradient_at_every_parameter():
    for model in measured_models().values():
        passes(model, torch.zeros(1, 5, dtype=torch.int64))[1]()
        assert all(parameter.grad is not None for parameter in model.parameters())


def test_every_model_is_measured_at_every_length():
    rows = list(costs((2, 4), rounds=1))
    assert [(row.tokens, row.model) for row in rows] == [(n, name) for n in (2, 4) for name in MODELS]
    assert all(min(row.forward_ms, row.training_ms, row.forward_bytes, row.training_bytes) > 0 for row in rows)


@pytest.mark.parametrize(
    ("times", "start"), [([2.0, 2.0, 2.0], None), ([2.0, 0.5, 0.5], 32), ([0.5, 2.0, 0.5], 64), ([0.5] * 3, 16)]
)
def test_a_model_is_faster_from_where_it_stays_so(times, start):
    rows = [cost("lstm", n, 1.0) for n in (16, 32, 64)]
    rows += [cost("transformer", n, ms) for n, ms in zip((16, 32, 64), times, strict=True)]
    assert faster_from(rows, "transformer") == start


def cost(model: str, tokens: int, forward_ms: float) -> Cost:
    return Cost(
        model=model, tokens=tokens, forward_ms=forward_ms, training_ms=1.0, forward_bytes=1, training_bytes=1,
        waits=waits(model, tokens),
    )  # fmt: skip


def test_an_lstm_waits_for_every_token_and_attention_for_one_step():
    assert (waits("lstm", 1024), waits("transformer", 1024), waits("fused", 1024)) == (1024, 1, 1)
