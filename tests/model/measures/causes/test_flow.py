"""Rollout and the lengths of what is moved, against sums written out here."""

import numpy as np
import pytest
import torch

from model import load_checkpoint
from model.measures.causes.flow import attention_rollout, layer_norms, moved_norms, moved_vectors
from tests import tiny
from tests.folders import KINDS, make_folders


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {folder.name: folder for folder in make_folders(tmp_path_factory.mktemp("checkpoints"))}


@pytest.mark.parametrize("residual", [True, False])
@pytest.mark.parametrize("architecture", ["encoder", "decoder"])
def test_rollout_is_the_sum_over_all_paths(architecture, residual):
    trace = tiny.checkpoint(architecture).trace(tiny.TEXT)
    stack = trace.text_stack
    rolled = attention_rollout(stack, residual=residual).numpy()
    first, second = (
        (layer.numpy().astype(float).mean(axis=0) + residual * np.eye(len(stack.ids))) / (1 + residual)
        for layer in stack.weights()
    )
    for query in range(len(stack.ids)):
        for key in range(len(stack.ids)):
            paths = sum(second[query, over] * first[over, key] for over in range(len(stack.ids)))
            assert rolled[1, query, key] == pytest.approx(paths, abs=1e-6)
    np.testing.assert_allclose(rolled[0], first, atol=1e-6)
    np.testing.assert_allclose(rolled.sum(axis=-1), 1, atol=1e-6)


@pytest.mark.parametrize("kind", [*KINDS, "own"])
def test_what_is_moved_sums_to_the_output_of_the_attention(kind, folders):
    checkpoint = load_checkpoint(folders[kind], device="cpu")
    trace = checkpoint.trace(tiny.TEXT, target="a cat" if checkpoint.config.is_encoder_decoder else None)
    for name in ("encoder", "decoder"):
        stack, modules = getattr(trace, name), getattr(checkpoint.model, name)
        for block, module in zip(
            () if stack is None else stack.blocks, () if stack is None else modules.blocks, strict=True
        ):
            for attention, layer in (
                (block.self_attention, module.self_attention),
                (block.cross_attention, module.cross_attention),
            ):
                if attention is None:
                    continue
                weights = attention.weights.double()
                every = weights[..., None] * moved_vectors(layer, attention)[:, None]  # (head, query, key, width)
                bias = 0 if layer.output.bias is None else layer.output.bias.detach().double()
                summed = every.sum(dim=(0, 2)) + bias
                torch.testing.assert_close(summed.float(), attention.output, atol=1e-4, rtol=1e-4)
                torch.testing.assert_close(moved_norms(layer, attention), every.norm(dim=-1).float())
                torch.testing.assert_close(layer_norms(layer, attention), every.sum(dim=0).norm(dim=-1).float())


def test_the_stream_counts_as_coming_from_the_query_itself():
    checkpoint = tiny.checkpoint("decoder")
    block = checkpoint.trace(tiny.TEXT).decoder.blocks[1]
    module = checkpoint.model.decoder.blocks[1].self_attention
    lengths = layer_norms(module, block.self_attention, block.stream_in)
    value, query = moved_vectors(module, block.self_attention), 3
    moved = sum(block.self_attention.weights[head, query, query].double() * value[head, query] for head in range(4))
    assert float(lengths[query, query]) == pytest.approx(float((moved + block.stream_in[query]).norm()), abs=1e-5)
    without = layer_norms(module, block.self_attention)
    assert torch.equal(lengths[3, :3], without[3, :3])
