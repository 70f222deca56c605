"""The gradient that reaches each token, beside a recurrence written out in NumPy and differences by hand."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from model.config import Config
from model.measures.learn.recurrence.gradient_reach import (
    PROBES,
    fresh_lstm,
    fresh_transformer,
    gradient_reach,
    lstm_norms,
    norms,
    probes,
    transformer_norms,
)

WIDTH, LENGTH = 4, 6


def tiny(**fields) -> Config:
    sizes: dict[str, Any] = {
        "architecture": "encoder",
        "vocabulary": 9,
        "width": WIDTH,
        "heads": 2,
        "layers": 1,
        "hidden": 8,
    }
    return Config(**sizes | {"max_length": 64, "norm_order": "pre"} | fields)


def vectors(length: int = LENGTH) -> torch.Tensor:
    return torch.randn(length, WIDTH, generator=torch.Generator().manual_seed(3))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gradients_by_hand(lstm: nn.LSTM, x: np.ndarray, probe: np.ndarray) -> np.ndarray:
    """Backpropagation through time of probe · h, written out: Hochreiter and Schmidhuber's cell as PyTorch has it."""
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    w, u, b, c = (getattr(lstm, name).detach().double().numpy() for name in names)
    h, cell, tape = np.zeros(WIDTH), np.zeros(WIDTH), []
    for row in x:
        i, f, g, o = np.split(w @ row + b + u @ h + c, 4)
        i, f, g, o, before = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o), cell
        cell = f * cell + i * g
        h = o * np.tanh(cell)
        tape.append((i, f, g, o, before, cell))
    dh, dcell, rows = probe, np.zeros(WIDTH), []
    for i, f, g, o, before, cell in reversed(tape):
        do, dcell = dh * np.tanh(cell), dcell + dh * o * (1 - np.tanh(cell) ** 2)
        gates = [dcell * g * i * (1 - i), dcell * before * f * (1 - f), dcell * i * (1 - g**2), do * o * (1 - o)]
        dz = np.concatenate(gates)
        rows.append(w.T @ dz)
        dh, dcell = u.T @ dz, dcell * f
    return np.array(rows[::-1])


def test_the_gradients_of_an_lstm_are_those_of_the_recurrence_written_out():
    lstm, x = fresh_lstm(WIDTH, 0.5, seed=1), vectors()
    rows = [gradients_by_hand(lstm, x.double().numpy(), probe.double().numpy()) for probe in probes(WIDTH)]
    by_hand = np.sqrt(np.square(rows).sum(axis=2).sum(axis=0) / (PROBES * WIDTH))
    assert lstm_norms(lstm, x) == pytest.approx(by_hand.tolist(), rel=1e-6)


def test_the_gradients_of_a_transformer_are_differences_of_its_last_state():
    x = vectors()
    model = fresh_transformer(tiny(), x, seed=2).double()
    expected, step = np.zeros(LENGTH), 1e-6
    with torch.no_grad():
        for row in range(LENGTH):
            for column in range(WIDTH):
                ends = []
                for sign in (1, -1):
                    model.embedding.weight[row, column] += sign * step
                    ends.append(model(torch.arange(LENGTH)).encoder.final[-1])
                    model.embedding.weight[row, column] -= sign * step
                slope = (ends[0] - ends[1]) / (2 * step) / WIDTH**0.5  # the table is multiplied by √width
                expected[row] += sum(float(probe.double() @ slope) ** 2 for probe in probes(WIDTH))
    by_differences = np.sqrt(expected / (PROBES * WIDTH))
    assert transformer_norms(model, LENGTH) == pytest.approx(by_differences.tolist(), rel=1e-4)


def test_the_estimate_is_near_the_norm_of_the_jacobian():
    matrix = torch.randn(64, 64, generator=torch.Generator().manual_seed(0))
    read = torch.zeros(1, 64, requires_grad=True)
    assert norms((matrix @ read.T)[:, 0], read)[0] == pytest.approx(float(matrix.norm()) / 8, rel=0.1)


def test_an_lstm_that_forgets_nothing_hands_its_gradient_on():
    x = vectors(40)
    usual, open_gate = (gradient_reach(tiny(), x, forget_bias=bias) for bias in (0.0, 8.0))
    assert usual.first_to_last < 1e-6
    assert open_gate.first_to_last > 0.1
    assert usual.transformer == open_gate.transformer


def test_the_reach_of_a_long_text_is_small_and_no_zero():
    reach = gradient_reach(tiny(max_length=600), vectors(512))
    assert 0 < reach.first_to_last < 1e-60
    assert reach.transformer_first_to_last > 1e-3


def test_the_random_numbers_of_others_stay_as_they_were():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    gradient_reach(tiny(), vectors())
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize(
    "fields",
    [{"architecture": "decoder", "start_id": 7, "end_id": 8}, {"positions": "learned", "scale_embeddings": False}],
)
def test_any_stack_of_one_kind_is_measured(fields):
    reach = gradient_reach(tiny(**fields), vectors(3))
    assert len(reach.lstm) == len(reach.transformer) == 3
    assert min(reach.transformer) > 0
