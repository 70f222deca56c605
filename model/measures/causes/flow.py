"""Where attention carries a token to: rolled out over the layers, and weighted by the size of what is moved.

A weight says how much of a value vector is taken, not how large that vector is, nor what earlier layers had mixed into
it. Rollout follows the mixing (Abnar and Zuidema 2020, "Quantifying Attention Flow in Transformers", section 3); the
norms follow the size (Kobayashi et al. 2020, "Attention is Not Only a Weight", section 3).
"""

import torch
from jaxtyping import Float
from torch import Tensor

from model.attention import MultiHeadAttention
from model.scores import for_every_head
from model.trace import AttentionTrace, StackTrace

Matrix = Float[Tensor, "query key"]


def attention_rollout(stack: StackTrace, *, residual: bool = True) -> Float[Tensor, "layer query key"]:
    """By layer, how much of every key's token stands in a query's stream after it, if attention mixed all there is.

    The mean over the heads of a layer, with the residual connection as one half where ``residual`` says so, times the
    product of the layers before it. Rows sum to 1 (to less where a query may see nothing).
    """
    rolled, product = [], torch.eye(len(stack.ids), dtype=torch.float64)
    for weights in stack.weights().double():
        mixed = weights.mean(dim=0)
        product = (0.5 * (mixed + torch.eye(len(mixed), dtype=torch.float64)) if residual else mixed) @ product
        rolled.append(product)
    return torch.stack(rolled).float()


@torch.no_grad()
def moved_vectors(module: MultiHeadAttention, attention: AttentionTrace) -> Float[Tensor, "head key width"]:
    """What each head would add to a query's stream for each key, if its weight were 1: the value, projected.

    The bias of the projection, which belongs to no key, is left out. Float64, on the CPU.
    """
    value = for_every_head(attention.value, attention.query.shape[-3]).double()
    return torch.einsum("hkd,whd->hkw", value, output_by_head(module, len(value)))


def output_by_head(module: MultiHeadAttention, heads: int) -> Float[Tensor, "width head head_width"]:
    """The output projection, cut into what it makes of each head; float64, on the CPU."""
    return module.output.weight.detach().double().cpu().unflatten(1, (heads, -1))


def moved_norms(module: MultiHeadAttention, attention: AttentionTrace) -> Float[Tensor, "head query key"]:
    """The length of what each head adds to a query's stream from each key: ‖α · v · W_O‖."""
    return (attention.weights.double() * moved_vectors(module, attention).norm(dim=-1)[:, None]).float()


def layer_norms(
    module: MultiHeadAttention,
    attention: AttentionTrace,
    stream: Float[Tensor, "position width"] | None = None,
) -> Matrix:
    """The length of what all heads of a layer together add to a query's stream from each key.

    Heads may add up, or cancel each other out: this is no sum of lengths. stream: that into which it is added, which
    then counts as coming from the query itself.
    """
    moved = torch.einsum("hqk,hkw->qkw", attention.weights.double(), moved_vectors(module, attention))
    if stream is not None:
        places = torch.arange(len(stream))
        moved[places, places] += stream.double()
    return moved.norm(dim=-1).float()
