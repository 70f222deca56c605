"""What each layer would have said: the last norm and the projection to tokens, applied to every layer's stream.

nostalgebraist 2020, "interpreting GPT: the logit lens".
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from model.trace import StackTrace
from model.transformer import Transformer


@dataclass(frozen=True, kw_only=True)
class LayerPredictions:
    """The likeliest tokens after each layer, the likeliest first, and how each layer ranks one token of interest."""

    ids: Int[Tensor, "layer place"]
    probabilities: Float[Tensor, "layer place"]
    of_token: Float[Tensor, " layer"]  # the probability of the token of interest
    ranks: Int[Tensor, " layer"]  # its rank among all tokens, from 1


@torch.no_grad()
def lens_logits(model: Transformer, decoder: StackTrace, position: int = -1) -> Float[Tensor, "layer vocabulary"]:
    """The logits that the model would give if it ended after each layer; those of the last layer are its own.

    ``decoder`` is the trace of this model's decoder. Float32 on the CPU.
    """
    assert model.decoder is not None
    streams = torch.stack([block.stream_out[position] for block in decoder.blocks])
    device = model.embedding.weight.device
    return model.predict(model.decoder.norm(streams.to(device))).float().cpu()


def ranks(logits: Float[Tensor, "layer vocabulary"], token_id: int) -> Int[Tensor, "layer"]:
    """The place of a token among all, from 1: how many are likelier, and one."""
    return (logits > logits[:, token_id, None]).sum(dim=-1) + 1


def layer_predictions(logits: Float[Tensor, "layer vocabulary"], token_id: int, places: int) -> LayerPredictions:
    """The softmax of every layer's logits: its ``places`` likeliest tokens, fewer in a smaller vocabulary, and one."""
    probabilities = logits.softmax(dim=-1)
    best = probabilities.topk(min(places, probabilities.shape[-1]), dim=-1)
    return LayerPredictions(
        ids=best.indices,
        probabilities=best.values,
        of_token=probabilities[:, token_id],
        ranks=ranks(logits, token_id),
    )


def token_probabilities(
    logits: Float[Tensor, "position vocabulary"], ids: Int[Tensor, "position"], start: int
) -> Float[Tensor, "token"]:
    """What a decoder gave every token from position ``start`` on (1 or later), when it had read those before it."""
    probabilities = logits[start - 1 : len(ids) - 1].softmax(dim=-1)
    return probabilities.gather(-1, ids[start:, None])[:, 0]
