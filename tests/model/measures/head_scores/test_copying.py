"""Copying heads: every head's logits written out by hand, and a model made so that one head copies."""

import numpy as np
import pytest
import torch

from model.measures.head_scores.copying import copying_scores
from tests import tiny

IDS = range(5, 40)


def layer_norm(x: np.ndarray, norm) -> np.ndarray:
    x = x - x.mean()
    return x / np.sqrt(x.var() + norm.eps) * norm.weight.detach().numpy() + norm.bias.detach().numpy()


def raised_most(model, layer: int, head: int, token: int) -> int:
    """The id whose logit a head raises most where it attends to a token, of those that are compared."""
    block, width = model.decoder.blocks[layer], model.config.head_width
    of_head = slice(head * width, (head + 1) * width)
    vector = model.embedding.weight[token].detach().numpy().astype(np.float64)
    if model.config.scale_embeddings:
        vector = vector * np.sqrt(model.config.width)
    read = layer_norm(vector, block.self_residual.norm) if model.config.norm_order == "pre" else vector
    attention = block.self_attention
    value = attention.value.weight[of_head].detach().numpy() @ read
    written = attention.output.weight[:, of_head].detach().numpy() @ value
    if model.config.norm_order == "pre":
        written = (written - written.mean()) * model.decoder.norm.weight.detach().numpy()
    table = (model.projection or model.embedding).weight.detach().numpy()
    return max(IDS, key=lambda number: table[number] @ written)


@pytest.mark.parametrize("changes", [{"norm_order": "pre"}, {"norm_order": "post"}, {"tie_embeddings": False}])
def test_a_head_copies_the_tokens_whose_own_logit_it_raises_most(changes):
    model = tiny.transformer("decoder", **changes)
    scores, nulls = copying_scores(model, IDS)
    for layer, head in np.ndindex(2, 4):
        copied = sum(raised_most(model, layer, head, token) == token for token in IDS)
        assert scores[layer, head] == pytest.approx(copied / len(IDS))
    assert np.all(nulls == 1 / len(IDS))


def test_a_head_that_passes_its_token_on_copies_all_and_one_that_turns_it_round_none():
    model = tiny.transformer("decoder", heads=2, width=16, norm_order="pre", norm="rms")
    attention = model.decoder.blocks[0].self_attention
    with torch.no_grad():
        attention.value.weight.copy_(torch.cat([torch.eye(16)[:8], torch.eye(16)[:8]]))
        attention.output.weight.copy_(torch.cat([torch.eye(16)[:, :8], -torch.eye(16)[:, :8]], dim=1))
        model.embedding.weight[:, 8:] = 0.0
        model.embedding.weight.copy_(torch.nn.functional.normalize(model.embedding.weight, dim=1))
        for norm in (model.decoder.blocks[0].self_residual.norm, model.decoder.norm):
            norm.weight.fill_(1.0)
    scores, _ = copying_scores(model, IDS)
    assert scores[0].tolist() == [1.0, 0.0]
