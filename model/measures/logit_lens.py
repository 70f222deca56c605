"""What each layer would have said: the last norm and the model's head, applied to the stream before it is whole.

nostalgebraist 2020, "interpreting GPT: the logit lens". A depth is how many layers the stream has passed: at 0 it is
the embedding, and at the last what the model itself reads.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from model.output_heads import MeanPooling
from model.trace import StackTrace
from model.transformer import Transformer

AT_ONCE, PLACES = 64, 2  # positions whose vocabularies are held, and answers that are kept of each


@dataclass(frozen=True, kw_only=True)
class LayerPredictions:
    """The likeliest tokens at each depth, the likeliest first, and how each ranks one token of interest."""

    ids: Int[Tensor, "depth place"]
    probabilities: Float[Tensor, "depth place"]
    of_token: Float[Tensor, " depth"]  # the probability of the token of interest
    ranks: Int[Tensor, " depth"]  # its rank among all tokens, from 1


@dataclass(frozen=True, kw_only=True)
class LensPicture:
    """The likeliest answers at every depth and position, the likeliest first, two where there are as many.

    pooled: the same of the mean over the positions, where the model reads that; else None.
    """

    ids: Int[Tensor, "depth position place"]
    probabilities: Float[Tensor, "depth position place"]
    pooled: "LensPicture | None" = None


@torch.no_grad()
def lens_logits(model: Transformer, decoder: StackTrace, position: int = -1) -> Float[Tensor, "depth vocabulary"]:
    """The logits that the model would give if it ended at each depth; those of the last are its own.

    ``decoder`` is the trace of this model's decoder. Float32 on the CPU.
    """
    assert model.decoder is not None
    depths = torch.stack([stream[position] for stream in streams(decoder)])
    return model.predict(model.decoder.norm(depths.to(model.embedding.weight.device))).float().cpu()


def streams(stack: StackTrace) -> list[Float[Tensor, "position width"]]:
    """The stream at every depth: what enters the first block, then what leaves each."""
    return [stack.embedding.total, *(block.stream_out for block in stack.blocks)]


def has_lens(model: Transformer) -> bool:
    """Whether the model has a head that says something of its stream."""
    return model.decoder is not None or model.classifier is not None or model.word_head is not None


@torch.no_grad()
def lens_picture(model: Transformer, stack: StackTrace) -> LensPicture:
    """What the model would say at every depth and position of the stack that its head reads.

    A classifier that reads the mean over the positions is applied to each alone, and to their mean; one that reads the
    first token is applied to every token as if it were the first. ValueError where the model has no head.
    """
    if not has_lens(model):
        raise ValueError("this model has no head")
    module, device = model.decoder or model.encoder, model.embedding.weight.device
    assert module is not None
    states = [module.norm(stream.to(device)) for stream in streams(stack)]
    each = [likeliest_of(model, state) for state in states]
    pooled = None
    if isinstance(model.pooling, MeanPooling) and model.classifier is not None:
        means = [likeliest_of(model, state.mean(dim=0, keepdim=True)) for state in states]
        pooled = LensPicture(
            ids=torch.stack([ids for ids, _ in means]), probabilities=torch.stack([p for _, p in means])
        )
    return LensPicture(
        ids=torch.stack([ids for ids, _ in each]), probabilities=torch.stack([p for _, p in each]), pooled=pooled
    )


def likeliest_of(
    model: Transformer, state: Float[Tensor, "position width"]
) -> tuple[Int[Tensor, "position place"], Float[Tensor, "position place"]]:
    """The likeliest answers at every position, some positions at a time: a vocabulary is long."""
    said = (head_logits(model, part).double().softmax(dim=-1) for part in state.split(AT_ONCE))
    most = [part.topk(min(PLACES, part.shape[-1]), dim=-1) for part in said]
    return torch.cat([part.indices for part in most]).cpu(), torch.cat([part.values for part in most]).float().cpu()


def head_logits(model: Transformer, state: Float[Tensor, "position width"]) -> Float[Tensor, "position answer"]:
    """What the model's head says of each position by itself."""
    if model.classifier is not None:
        assert model.pooling is not None
        return model.classifier(model.pooling(state[:, None], None))
    return model.predict(state if model.word_head is None else model.word_head(state))


def ranks(logits: Float[Tensor, "depth vocabulary"], token_id: int) -> Int[Tensor, " depth"]:
    """The place of a token among all, from 1: how many are likelier, and one."""
    return (logits > logits[:, token_id, None]).sum(dim=-1) + 1


def layer_predictions(logits: Float[Tensor, "depth vocabulary"], token_id: int, places: int) -> LayerPredictions:
    """The softmax of every depth's logits: its ``places`` likeliest tokens, fewer in a smaller vocabulary, and one."""
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
