"""A classifier's pass with parts that can be exchanged for the wrong ones: the trained weights of an encoder."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from model.block import Block
from model.config import Config
from model.measures.learn.mistakes import forms as of
from model.transformer import Transformer


@dataclass(frozen=True, kw_only=True)
class Forms:
    """The parts of a pass at which tutorials go wrong; each in its right form."""

    table: Callable[[int, int], Tensor] = of.sinusoids_as_in_the_paper
    positions: Callable[[Tensor, Tensor], Tensor] = of.positions_along_the_sentence
    split: Callable[[Tensor, int], Tensor] = of.split_by_transpose
    mask: Callable[[Tensor, Tensor], Tensor] = of.mask_by_sentence
    join: Callable[[Tensor], Tensor] = of.join_by_transpose
    residual: Callable[[Tensor, Callable[[Tensor], Tensor], Any], Tensor] = of.pre_norm
    pool: Callable[[Tensor, Tensor], Tensor] = of.mean_of_tokens


RIGHT = Forms()


@dataclass(frozen=True, kw_only=True)
class ClassifierPass:
    """streams: what enters the first block, then what leaves each; probabilities: the softmax of the logits."""

    streams: tuple[Float[Tensor, "batch position width"], ...]
    probabilities: Float[Tensor, "batch label"]


def can_read(config: Config) -> bool:
    """Whether the pass below computes what a model of this config does: of ours, ``sentiment``."""
    supported = {
        "architecture": "encoder",
        "positions": "sinusoidal",
        "norm_order": "pre",
        "pooling": "mean",
        "segments": 0,
        "embedding_norm": False,
        "query_key_norm": False,
        "score_scale": None,
        "score_scale_by_layer": False,
        "score_cap": None,
        "windowed_layers": (),
        "kv_heads": None,
    }
    fits = all(getattr(config, name) == value for name, value in supported.items())
    return fits and bool(config.labels) and config.width % (2 * config.heads) == 0 and config.head_size is None


@torch.no_grad()
def read(
    model: Transformer,
    ids: Int[Tensor, "batch position"],
    padding_mask: Bool[Tensor, "batch position"] | None = None,
    forms: Forms = RIGHT,
) -> ClassifierPass:
    """The pass of a model that ``can_read`` allows, without dropout. ``padding_mask`` is True at real tokens."""
    assert model.encoder is not None
    assert model.classifier is not None
    padding_mask = torch.ones_like(ids, dtype=torch.bool) if padding_mask is None else padding_mask
    tokens = model.vectors(ids, model.embedding)
    table = forms.table(max(ids.shape), model.config.width).to(tokens.dtype).to(tokens.device)
    streams = [forms.positions(tokens, table)]
    mask = padding_mask[:, None].expand(-1, ids.shape[1], -1)
    for block in model.encoder.blocks:
        streams.append(through(cast(Block, block), streams[-1], mask, forms))
    pooled = forms.pool(model.encoder.norm(streams[-1]), padding_mask)
    return ClassifierPass(streams=tuple(streams), probabilities=model.classifier(pooled).softmax(dim=-1))


def through(
    block: Block, x: Float[Tensor, "batch position width"], mask: Bool[Tensor, "batch query key"], forms: Forms
) -> Float[Tensor, "batch position width"]:
    """The stream after one block."""
    attention = block.self_attention

    def attend(x: Tensor) -> Tensor:
        query, key, value = (
            forms.split(part(x), attention.heads) for part in (attention.query, attention.key, attention.value)
        )
        weights = forms.mask(query @ key.mT * attention.scale, mask)
        return attention.output(forms.join(weights @ value))

    x = forms.residual(x, attend, block.self_residual.norm)
    return forms.residual(x, lambda x: block.feed_forward(x).output, block.feed_forward_residual.norm)


def batch_of(
    texts: Sequence[Int[Tensor, " _"]], pad_id: int, length: int
) -> tuple[Int[Tensor, "batch position"], Bool[Tensor, "batch position"]]:
    """Texts padded at the end to one length, and where they are no padding."""
    ids = texts[0].new_full((len(texts), length), pad_id)
    for row, text in enumerate(texts):
        ids[row, : len(text)] = text
    lengths = torch.tensor([len(text) for text in texts], device=ids.device)
    return ids, torch.arange(length, device=ids.device) < lengths[:, None]
