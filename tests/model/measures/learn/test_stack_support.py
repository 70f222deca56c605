"""What residual connections and norms do for a stack, against NumPy and torch's own norms."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from model import Edits, load_checkpoint
from model.edits import SublayerSite
from model.measures.learn.stack_support import (
    fresh_spread,
    into_first_norm,
    norm_steps,
    range_left,
    range_of,
    spread_by_layer,
    step_of_ratio,
    token_spread,
)

TEXT = "The film was slow, but I loved it."
NORMS = [nn.LayerNorm(12), nn.RMSNorm(12, eps=1e-5)]


def seeded(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(3))


def test_two_opposite_vectors_are_all_spread_and_two_equal_ones_none():
    one = torch.tensor([3.0, 4.0])
    assert token_spread(torch.stack([one, -one])) == pytest.approx(1)
    assert token_spread(torch.stack([one, one])) == 0
    # [2, 0] and [0, 0]: the mean is [1, 0], each is 1 away from it, and together they are 2 long
    assert token_spread(torch.tensor([[2.0, 0.0], [0.0, 0.0]])) == pytest.approx(np.sqrt(2) / 2)


def test_the_spread_of_every_layer_is_numpys():
    stack: Any = load_checkpoint("sentiment", device="cpu").trace(TEXT).encoder
    streams = [stack.embedding.total, *(block.stream_out for block in stack.blocks)]
    for ours, stream in zip(spread_by_layer(stack), streams, strict=True):
        numbers = np.asarray(stream, np.float64)
        assert ours == pytest.approx(np.linalg.norm(numbers - numbers.mean(axis=0)) / np.linalg.norm(numbers))


def test_without_residuals_the_tokens_of_the_trained_model_become_one():
    checkpoint: Any = load_checkpoint("sentiment", device="cpu")
    sites = [SublayerSite("encoder", layer, kind) for layer in range(4) for kind in ("self", "feed-forward")]
    bare = spread_by_layer(checkpoint.trace(TEXT, edits=Edits(without_residual=frozenset(sites))).encoder)
    assert bare[-1] < 1e-5 < 0.1 < spread_by_layer(checkpoint.trace(TEXT).encoder)[-1]


def test_a_deep_fresh_stack_keeps_its_tokens_apart_by_its_residuals_alone():
    ids = list(range(10))
    kept, bare = fresh_spread(ids, residuals=True), fresh_spread(ids, residuals=False)
    assert len(kept) == len(bare) == 25
    assert kept[0] == bare[0]
    assert kept[-1] > 0.1
    assert bare[-1] < 1e-5


@pytest.mark.parametrize("norm", NORMS, ids=["layer", "rms"])
def test_the_last_step_of_a_norm_is_torchs(norm):
    with torch.no_grad():
        norm.weight.copy_(seeded(12))
        if isinstance(norm, nn.LayerNorm):
            norm.bias.copy_(seeded(12) * 2)
    vector = seeded(12) * 5 + 1
    steps = norm_steps(vector, norm)
    np.testing.assert_allclose(steps.result, norm(vector).detach().numpy(), rtol=1e-5, atol=1e-6)
    assert (steps.centred is None) == isinstance(norm, nn.RMSNorm)
    assert np.sqrt(np.mean(steps.scaled**2)) == pytest.approx(1, abs=1e-4)


def test_how_far_doubling_moves_the_result_is_what_the_norm_itself_says():
    norm, vector = nn.LayerNorm(12, eps=0.5), seeded(12)
    once, twice = norm(vector).detach(), norm(2 * vector).detach()
    expected = float((twice - once).norm() / once.norm())
    assert norm_steps(vector, norm).doubled == pytest.approx(expected, rel=1e-5)
    assert expected > 0.05  # by so large an epsilon alone


def test_what_the_first_norm_reads_gives_what_attention_reads():
    checkpoint: Any = load_checkpoint("sentiment", device="cpu")
    block = checkpoint.trace(TEXT).encoder.blocks[0]
    norm = checkpoint.model.encoder.blocks[0].self_residual.norm
    read = into_first_norm(block, checkpoint.config.norm_order)
    torch.testing.assert_close(norm(read).detach(), block.self_attention.input, rtol=1e-5, atol=1e-5)


def test_what_is_left_of_a_range_is_a_share_of_its_width():
    assert range_of([0.5, 0.1, 0.9]) == (0.1, 0.9)
    assert range_left((0.1, 0.9), (0.4, 0.6)) == pytest.approx(0.25)
    assert range_left((0.5, 0.5), (0.4, 0.6)) == 1
    assert [step_of_ratio(ratio) for ratio in (2.0, 0.8, 0.5, 0.2, 0.01)] == [0, 0, 1, 2, 3]
