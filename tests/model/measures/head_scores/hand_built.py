"""A decoder whose weights are written by hand, so that it is known what its heads do.

Its stream has three parts: which token this is, where it stands, and which token stands before it, each one-hot. In
layer 0 head 0 looks at the previous position and writes its token into the third part, and head 1 looks at the first
position; in layer 1 head 0 looks for a position before which the query's own token stands: the induction circuit of
Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits". Layer 1 head 1 looks nowhere in particular.
"""

from typing import Any

import torch

from model import Checkpoint
from model.transformer import Transformer
from tests import tiny

TOKENS, PLACES = 80, 64
WIDTH = 2 * TOKENS + PLACES
TOKEN, PLACE, PREVIOUS = slice(0, TOKENS), slice(TOKENS, TOKENS + PLACES), slice(TOKENS + PLACES, WIDTH)
SURE = 20.0  # the score of the key that a head is to look at; others get 0
PREVIOUS_HEAD, FIRST_HEAD, INDUCTION_HEAD, IDLE_HEAD = (0, 0), (0, 1), (1, 0), (1, 1)


def checkpoint() -> Any:
    """The model with the tiny tokenizer."""
    model = without_effect(tiny.transformer("decoder", **sizes()))
    with torch.no_grad():
        model.embedding.weight[:, TOKEN] = torch.eye(TOKENS)
        model.decoder.positions.table.weight[:, PLACE] = torch.eye(PLACES)
        for layer, ones in enumerate((2, 3)):
            undo_norm(model.decoder.blocks[layer].self_residual.norm, ones)
        first, second = (block.self_attention for block in model.decoder.blocks)
        look(first, 0, torch.eye(PLACES).roll(-1, dims=0), PLACE, PLACE)
        first.query.weight[0, PLACE.start] = SURE  # the first position has none before it, and looks at itself
        move(first, 0, TOKEN, PREVIOUS)
        look(first, 1, torch.eye(PLACES)[:1].repeat(PLACES, 1).T, PLACE, PLACE)
        look(second, 0, torch.eye(TOKENS), TOKEN, PREVIOUS)
    return Checkpoint("hand-built", model, tiny.tokenizer(), {}, torch.device("cpu"))


def sizes() -> dict[str, Any]:
    """The fields of its config that differ from the tiny ones."""
    heads = {"heads": 2, "head_size": TOKENS, "score_scale": 1.0, "layers": 2, "hidden": 1}
    stream = {"width": WIDTH, "max_length": PLACES, "positions": "learned", "scale_embeddings": False}
    return heads | stream | {"norm_order": "pre"}


def without_effect(model: Transformer) -> Any:
    """The model with all weights 0."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    return model


def undo_norm(norm: Any, ones: int) -> None:
    """Make a norm give back a stream of so many ones among zeros: its mean and deviation are known."""
    mean = ones / WIDTH
    norm.weight.fill_((mean * (1 - mean) + norm.eps) ** 0.5)
    norm.bias.fill_(mean)


def look(attention: Any, head: int, wanted: torch.Tensor, reads: slice, at: slice) -> None:
    """Where a query's part ``reads`` is one-hot at j, keys whose part ``at`` is column j of ``wanted`` score SURE."""
    rows = slice(head * TOKENS, head * TOKENS + len(wanted))
    attention.query.weight[rows, reads] = SURE * wanted
    attention.key.weight[rows, at] = torch.eye(len(wanted))


def move(attention: Any, head: int, part: slice, into: slice) -> None:
    """Write what the head sees of one part of the stream into another part."""
    rows = slice(head * TOKENS, (head + 1) * TOKENS)
    attention.value.weight[rows, part] = torch.eye(TOKENS)
    attention.output.weight[into, rows] = torch.eye(TOKENS)
