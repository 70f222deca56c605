"""Where attention carries a token to: rolled out over the layers, and weighted by the size of what is moved.

A weight says how much of a value vector is taken, not how large that vector is, nor what earlier layers had mixed into
it. Rollout follows the mixing (Abnar and Zuidema 2020, "Quantifying Attention Flow in Transformers", section 3); the
norms follow the size (Kobayashi et al. 2020, "Attention is Not Only a Weight", section 3).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from model.attention import MultiHeadAttention
from model.checkpoint import Checkpoint
from model.edits.sites import SublayerSite
from model.measures.causes.resumed_pass import attention_at, attention_sites
from model.scores import for_every_head
from model.trace import AttentionTrace, StackTrace, Trace
from model.transformer import Transformer

Matrix = Float[Tensor, "query key"]
AT_ONCE = 1 << 23  # numbers of what is moved that are held at a time


@dataclass(frozen=True, kw_only=True, eq=False)
class Mixing:
    """What one attention makes of its queries: ``kept`` of their own, and ``taken`` of each key.

    cross: whether the keys are positions of the encoder.
    """

    kept: Float[Tensor, " query"]
    taken: Matrix
    cross: bool = False


def rolled_out(
    start: Float[Tensor, "position token"],
    layers: Sequence[Sequence[Mixing]],
    memory: Float[Tensor, "memory token"] | None = None,
) -> Float[Tensor, "layer position token"]:
    """By layer, how much of every token stands at each position after the mixings of that layer and of those before.

    start: the same before the first layer. memory: the same of the encoder's positions, for cross-attention.
    """
    state, states = start, []
    for layer in layers:
        for mixing in layer:
            looked_at = memory if mixing.cross else state
            assert looked_at is not None
            state = mixing.kept[:, None] * state + mixing.taken @ looked_at
        states.append(state)
    return torch.stack(states)


def averaged(attention: AttentionTrace, *, residual: bool = True, cross: bool = False) -> Mixing:
    """The mean over the heads, with the residual connection as one half where ``residual`` says so."""
    weights = attention.weights.double().mean(dim=0)
    share = 0.5 if residual else 0.0
    return Mixing(kept=torch.full_like(weights[:, 0], share), taken=(1 - share) * weights, cross=cross)


def attention_rollout(stack: StackTrace, *, residual: bool = True) -> Float[Tensor, "layer query key"]:
    """By layer, how much of every key's token stands in a query's stream after it, if attention mixed all there is.

    The mean over the heads of a layer, with the residual connection as one half where ``residual`` says so, times the
    product of the layers before it. Rows sum to 1 (to less where a query may see nothing).
    """
    layers = [[averaged(block.self_attention, residual=residual)] for block in stack.blocks]
    return rolled_out(torch.eye(len(stack.ids), dtype=torch.float64), layers).float()


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


def value_weighted_attention(
    checkpoint: Checkpoint, trace: Trace
) -> Mapping[SublayerSite, Float[Tensor, "head query key"]]:
    """``moved_norms`` of every attention of a pass of this checkpoint."""
    return {
        site: moved_norms(attention_module(checkpoint.model, site), attention_at(trace, site))
        for site in attention_sites(trace)
    }


def attention_module(model: Transformer, site: SublayerSite) -> MultiHeadAttention:
    """The module of an attention."""
    module: MultiHeadAttention = getattr(getattr(model, site.stack).blocks[site.layer], f"{site.sublayer}_attention")
    return module


@torch.no_grad()
def added_lengths(module: MultiHeadAttention, attention: AttentionTrace) -> Float[Tensor, " head"]:
    """The length (L2) of what each head adds to a query's stream, ‖context · W_O‖, the mean over queries.

    The bias of the projection, which belongs to no head, is left out; 0 for a muted head.
    """
    context = attention.context.double()
    added = torch.einsum("hqd,whd->hqw", context, output_by_head(module, len(context)))
    return added.norm(dim=-1).mean(dim=-1).float()


def layer_norms(
    module: MultiHeadAttention,
    attention: AttentionTrace,
    stream: Float[Tensor, "position width"] | None = None,
    gain: Float[Tensor, "query width"] | None = None,
) -> Matrix:
    """The length of what all heads of a layer together add to a query's stream from each key.

    Heads may add up, or cancel each other out: this is no sum of lengths. stream: that into which it is added, which
    then counts as coming from the query itself. gain: what it is multiplied by before it is added.
    """
    vectors, weights = moved_vectors(module, attention), attention.weights.double()
    few = max(1, AT_ONCE // vectors[0].numel())
    lengths = []
    for start in range(0, weights.shape[1], few):
        moved = torch.einsum("hqk,hkw->qkw", weights[:, start : start + few], vectors)
        if gain is not None:
            moved *= gain[start : start + few, None]
        if stream is not None:
            rows = torch.arange(len(moved))
            moved[rows, start + rows] += stream[start : start + few].double()
        lengths.append(moved.norm(dim=-1))
    return torch.cat(lengths).float()
