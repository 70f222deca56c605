"""What stands of each token where the answer is read, against sums over all positions written out here."""

from typing import Any

import numpy as np
import pytest
import torch

from model import load_checkpoint
from model.edits.sites import SublayerSite
from model.measures.causes.flow import moved_vectors
from model.measures.causes.gradients import weight_gradients
from model.measures.causes.token_shares import attention_shares, gradient_shares, moved_shares
from tests import tiny
from tests.folders import KINDS, make_folders

ANSWERING = [kind for kind in [*KINDS, "own"] if kind != "bert-bare"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {folder.name: folder for folder in make_folders(tmp_path_factory.mktemp("checkpoints"))}


def traced(checkpoint: Any) -> Any:
    return checkpoint.trace(tiny.TEXT, target="a cat" if checkpoint.config.is_encoder_decoder else None)


def after(matrix: np.ndarray, state: np.ndarray) -> np.ndarray:
    """Σ over positions of matrix(query, position) · state(position, token), one number at a time."""
    out = np.zeros((len(matrix), state.shape[1]))
    for query in range(len(matrix)):
        for token in range(state.shape[1]):
            out[query, token] = sum(matrix[query, at] * state[at, token] for at in range(len(state)))
    return out


def mean_weights(attention: Any) -> np.ndarray:
    return attention.weights.numpy().astype(float).mean(axis=0)


def test_rollout_of_an_encoder_is_read_where_its_answer_is():
    checkpoint = tiny.checkpoint("encoder", labels=("no", "yes"))
    trace = traced(checkpoint)
    eye = np.eye(len(trace.encoder.ids))
    state = eye
    for layer, block in enumerate(trace.encoder.blocks):
        state = after((mean_weights(block.self_attention) + eye) / 2, state)
        found = attention_shares(checkpoint, trace)[layer].numpy()
        np.testing.assert_allclose(found, state.mean(axis=0), atol=1e-6)  # its pooling is a mean


def test_rollout_through_cross_attention_takes_the_source_from_the_encoder():
    checkpoint = tiny.checkpoint("encoder-decoder")
    trace = traced(checkpoint)
    source, target = np.eye(len(trace.encoder.ids)), np.eye(len(trace.decoder.ids))
    memory = source
    for block in trace.encoder.blocks:
        memory = after((mean_weights(block.self_attention) + source) / 2, memory)
    state = np.zeros((len(target), len(source)))
    for layer, block in enumerate(trace.decoder.blocks):
        state = after((mean_weights(block.self_attention) + target) / 2, state)
        state = 0.5 * state + 0.5 * after(mean_weights(block.cross_attention), memory)
        read = state.mean(axis=0)  # the answer is every token of the target and the one that follows
        np.testing.assert_allclose(attention_shares(checkpoint, trace)[layer].numpy(), read / read.sum(), atol=1e-6)


def test_without_the_residual_connection_weights_alone_are_multiplied():
    checkpoint = tiny.checkpoint("decoder")
    trace = traced(checkpoint)
    first, second = (mean_weights(block.self_attention) for block in trace.decoder.blocks)
    found = attention_shares(checkpoint, trace, residual=False).numpy()
    np.testing.assert_allclose(found[1], after(second, first)[-1], atol=1e-6)


@pytest.mark.parametrize("order", ["pre", "post"])
def test_lengths_are_of_what_each_key_adds_beside_the_stream(order):
    checkpoint = tiny.checkpoint("encoder-decoder", norm_order=order)
    trace, model = traced(checkpoint), checkpoint.model

    def lengths(module: Any, attention: Any, stream: Any) -> np.ndarray:
        vectors = moved_vectors(module, attention)
        out = np.zeros(attention.weights.shape[1:])
        for query, key in np.ndindex(*out.shape):
            moved = sum(float(attention.weights[head, query, key]) * vectors[head, key] for head in range(4))
            own = stream[query].double() if stream is not None and query == key else torch.zeros(16)
            out[query, key] = float((moved + own).norm())
        return out

    source = len(trace.encoder.ids)
    memory = np.eye(source)
    for module, block in zip(model.encoder.blocks, trace.encoder.blocks, strict=True):
        sizes = lengths(module.self_attention, block.self_attention, block.stream_in)
        memory = after(sizes / sizes.sum(axis=1, keepdims=True), memory)
    state = np.zeros((len(trace.decoder.ids), source))
    for module, block in zip(model.decoder.blocks, trace.decoder.blocks, strict=True):
        sizes = lengths(module.self_attention, block.self_attention, block.stream_in)
        state = after(sizes / sizes.sum(axis=1, keepdims=True), state)
        between = block.stream_in + block.self_attention.output
        if order == "post":
            between = module.self_residual.norm(between).detach()
        crossed = lengths(module.cross_attention, block.cross_attention, None)
        total = between.double().norm(dim=-1).numpy() + crossed.sum(axis=1)
        state = state * (1 - crossed.sum(axis=1) / total)[:, None] + after(crossed / total[:, None], memory)
    read = state.mean(axis=0)
    np.testing.assert_allclose(moved_shares(checkpoint, trace)[-1].numpy(), read / read.sum(), atol=1e-5)


def test_gradients_count_where_weight_times_gradient_is_positive():
    checkpoint = tiny.checkpoint("decoder")
    trace = traced(checkpoint)
    gradients = weight_gradients(checkpoint, trace)
    eye = np.eye(len(trace.decoder.ids))
    state = eye
    for layer, block in enumerate(trace.decoder.blocks):
        gradient = gradients[SublayerSite("decoder", layer, "self")].numpy()
        relevance = np.maximum(block.self_attention.weights.numpy() * gradient, 0).astype(float).mean(axis=0)
        state = state + after(relevance, state)
    read = (state - eye)[-1]
    np.testing.assert_allclose(gradient_shares(checkpoint, trace)[-1].numpy(), read / read.sum(), atol=1e-5)


@pytest.mark.parametrize("kind", ANSWERING)
def test_shares_of_every_family_sum_to_one_in_every_layer(kind, folders, monkeypatch):
    monkeypatch.setattr("model.tokenizer.MASKS", ("bit",))  # this vocabulary has no mask of its own
    checkpoint = load_checkpoint(folders[kind], device="cpu")
    trace = traced(checkpoint)
    for measure in (attention_shares, moved_shares, gradient_shares):
        shares = measure(checkpoint, trace)
        assert shares.shape == (len(trace.output_stack.blocks), len(trace.text_stack.ids))
        assert bool((shares >= 0).all())
        torch.testing.assert_close(shares.sum(dim=-1), torch.ones(len(shares)), atol=1e-5, rtol=0)
