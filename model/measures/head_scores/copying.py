"""Copying heads, by their weights alone: whether what a head writes of a token raises that token most.

The OV circuit of Elhage et al. 2021 ("A Mathematical Framework for Transformer Circuits"): a token's vector as the head
would read it, through its value and output projections, to the logits. The score is the share of tokens whose own logit
the head raises the most of all, as the copy score of Wang et al. 2022 ("Interpretability in the Wild", section 3.3),
which counts the first five, does for sampled texts. Null: 1 / tokens, the expected share when each token's result is
compared with a token drawn at random. What earlier layers add to the vectors is left out, and so are biases, which are
the same whatever the head looks at.
"""

from collections.abc import Sequence
from typing import Any, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from model.attention import MultiHeadAttention
from model.block import Block
from model.measures.head_kinds import Scores
from model.norms import PreNorm
from model.transformer import Transformer


@torch.no_grad()
def copying_scores(model: Transformer, ids: Sequence[int]) -> tuple[Scores, Scores]:
    """Score and null of every head of a decoder without a memory, over the tokens of these ids: (layer, head)."""
    assert model.decoder is not None
    chosen = torch.tensor(list(ids))
    vectors = model.vectors(chosen, model.embedding)
    rows = [copied_share(model, cast(Block, block), vectors, chosen) for block in model.decoder.blocks]
    scores = torch.stack(rows).double()
    return scores.numpy(), torch.full_like(scores, 1 / len(chosen)).numpy()


def copied_share(
    model: Transformer, block: Block, vectors: Float[Tensor, "token width"], ids: Int[Tensor, " token"]
) -> Float[Tensor, " head"]:
    """The share of tokens whose own logit each head of a block raises the most."""
    residual = block.self_residual
    read = residual.norm(vectors) if isinstance(residual, PreNorm) else vectors
    logits = written_logits(model, written_by_head(block.self_attention, read))[..., ids]
    return (logits.argmax(dim=-1) == torch.arange(len(ids))).float().mean(dim=-1)


def written_by_head(
    attention: MultiHeadAttention, read: Float[Tensor, "token width"]
) -> Float[Tensor, "head token width"]:
    """What each head adds to the stream where it attends to one token alone."""
    values = F.linear(read, attention.value.weight).unflatten(-1, (attention.kv_heads, -1)).movedim(-2, 0)
    values = values.repeat_interleave(attention.heads // attention.kv_heads, dim=0)
    outputs = attention.output.weight.unflatten(-1, (attention.heads, -1)).movedim(1, 0)  # (head, width, head_width)
    return values @ outputs.mT


def written_logits(
    model: Transformer, written: Float[Tensor, "head token width"]
) -> Float[Tensor, "head token vocabulary"]:
    """What that adds to the logits: the last norm takes the mean off and multiplies, and its divisor orders nothing."""
    norm: Any = model.decoder.norm if model.decoder is not None else nn.Identity()
    if isinstance(norm, nn.LayerNorm):
        written = written - written.mean(dim=-1, keepdim=True)
    if not isinstance(norm, nn.Identity):
        written = written * norm.weight
    table = model.embedding if model.projection is None else model.projection
    return written @ table.weight.T
