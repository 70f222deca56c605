"""A text in a padded batch, with its mask and without: what leaks from padding into the text's own numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from model.trace import StackTrace, Trace
from model.transformer import Transformer


@dataclass(frozen=True, kw_only=True)
class PaddedPasses:
    """One text of so many tokens: alone, then padded at the end with and without the mask for padding."""

    length: int
    alone: StackTrace  # (position, …)
    masked: StackTrace  # (position and padding, …)
    unmasked: StackTrace
    logits: tuple[Tensor | None, Tensor | None, Tensor | None]  # of the three, where the model has a classifier


def padded_passes(model: Transformer, ids: Sequence[int], count: int) -> PaddedPasses:
    """The three passes, through the encoder where there is one; ``count`` padding tokens are added at the end.

    ValueError where text and padding are more than the model's positions.
    """
    length, config = len(ids), model.config
    if count < 1 or length + count > config.max_length:
        raise ValueError(f"{length} tokens and {count} of padding, wanted 1 or more, {config.max_length} in all")
    device = model.embedding.weight.device
    text = torch.tensor(list(ids), device=device)
    both = torch.cat([text, text.new_full((count,), config.pad_id)])[None]
    padding_mask = (torch.arange(length + count, device=device) < length)[None]
    with torch.no_grad():
        passes = [read(model, text, None), read(model, both, padding_mask), read(model, both, None)]
    stacks = [trace.text_stack for trace in passes]
    logits = [None if trace.pooled is None else trace.logits for trace in passes]
    return PaddedPasses(
        length=length, alone=stacks[0], masked=stacks[1], unmasked=stacks[2], logits=(logits[0], logits[1], logits[2])
    )


def read(model: Transformer, ids: Tensor, padding_mask: Tensor | None) -> Trace:
    """One pass; of an encoder–decoder, its encoder's."""
    if model.config.is_encoder_decoder:
        return Trace(encoder=model.encode(ids, padding_mask), decoder=None, pooled=None, logits=None)
    return model(ids, padding_mask=padding_mask, logits=bool(model.config.labels))


def weight_on_padding(stack: StackTrace, length: int) -> Float[np.ndarray, " layer"]:
    """Of every layer, the share of the text's weights that goes to padding: the mean over heads and real queries."""
    layers = (np.asarray(block.self_attention.weights[0].cpu(), np.float64) for block in stack.blocks)
    return np.array([weights[:, :length, length:].sum(axis=-1).mean() for weights in layers])


def largest_leak(alone: StackTrace, other: StackTrace) -> float:
    """The largest difference of any coordinate of the text's last vectors from those that it has alone."""
    first = alone.final.double()
    return float((other.final[0, : len(first)].double() - first).abs().max())


def label_probabilities(passes: PaddedPasses) -> list[list[float]] | None:
    """The softmax of the logits of the three passes, in float64; None where the model has no classifier."""
    logits = [one for one in passes.logits if one is not None]
    if len(logits) < len(passes.logits):
        return None
    return [one.double().softmax(dim=-1).flatten().tolist() for one in logits]
