"""How much of each token of the text stands where the answer is read, as three ways of following attention have it.

- Attention rolled out: Abnar and Zuidema 2020, "Quantifying Attention Flow in Transformers", section 3.
- The lengths of what attention moves, beside the residual stream that it is added to, rolled out: Kobayashi et al.
  2021, "Incorporating Residual and Normalization Layers into Analysis of Masked Language Models"; norms are left out.
- Attention times the gradient of the answer's logit, where positive, added up over the layers: Chefer et al. 2021,
  "Generic Attention-model Explainability for Interpreting Bi-Modal and Encoder-Decoder Transformers", equations 5, 6.

A decoder beside an encoder mixes what cross-attention takes from the text into its own stream: Ferrando et al. 2022,
"Towards Opening the Black Box of Neural Machine Translation", section 3; what comes from its own tokens is left out of
the shares at the end.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model.checkpoint import Checkpoint
from model.edits.sites import SublayerSite
from model.measures.causes.flow import Mixing, averaged, layer_norms, rolled_out
from model.measures.causes.gradients import weight_gradients
from model.measures.causes.stream_parts import divisor
from model.measures.outcome import outcome_of
from model.norms import PostNorm
from model.output_heads import FirstPooling
from model.trace import AttentionTrace, BlockTrace, Trace

Shares = Float[Tensor, "layer token"]
Layers = Sequence[Sequence[Mixing]]


def attention_shares(checkpoint: Checkpoint, trace: Trace, *, residual: bool = True) -> Shares:
    """After each layer, by the mean of the heads' weights; a layer's shares sum to 1.

    residual: whether the residual connection counts as one half. trace: of this checkpoint, without edits, as in all
    of this module.
    """

    def mixings(name: str) -> Layers:
        return [
            [averaged(attention, residual=residual, cross=kind == "cross") for kind, attention in attentions(block)]
            for block in getattr(trace, name).blocks
        ]

    return shares(checkpoint, trace, token_states(trace, mixings))


def moved_shares(checkpoint: Checkpoint, trace: Trace) -> Shares:
    """After each layer, by the lengths of what attention adds and of what it is added to; they sum to 1."""

    def mixings(name: str) -> Layers:
        blocks = getattr(checkpoint.model, name).blocks
        return [
            [moved(module, block, kind) for kind, _ in attentions(block)]
            for module, block in zip(blocks, getattr(trace, name).blocks, strict=True)
        ]

    return shares(checkpoint, trace, token_states(trace, mixings))


def gradient_shares(checkpoint: Checkpoint, trace: Trace) -> Shares:
    """After each layer, by weight × gradient where that is positive; they sum to 1, or are 0 where nothing is positive.

    What a position has of its own token from the beginning is left out. ValueError where the model gives no answer.
    """
    gradients = weight_gradients(checkpoint, trace)

    def mixings(name: str) -> Layers:
        return [
            [
                weighted(attention, gradients[SublayerSite(name, layer, kind)], kind)
                for kind, attention in attentions(block)
            ]
            for layer, block in enumerate(getattr(trace, name).blocks)
        ]

    states = token_states(trace, mixings)
    alone = 0 if trace.encoder is not None and trace.decoder is not None else torch.eye(states.shape[1])
    return shares(checkpoint, trace, states - alone)


def attentions(block: BlockTrace) -> list[tuple[str, AttentionTrace]]:
    """The kinds of attention of a layer, in their order."""
    both = (("self", block.self_attention), ("cross", block.cross_attention))
    return [(kind, attention) for kind, attention in both if attention is not None]


def weighted(attention: AttentionTrace, gradient: Float[Tensor, "head query key"], kind: str) -> Mixing:
    """The mean over the heads of weight × gradient where that is positive, beside all that was there."""
    taken = (attention.weights * gradient).clamp(min=0).double().mean(dim=0)
    return Mixing(kept=torch.ones_like(taken[:, 0]), taken=taken, cross=kind == "cross")


@torch.no_grad()
def moved(module: Any, block: BlockTrace, kind: str) -> Mixing:
    """The lengths of what one attention adds from each key, and of the stream it is added to, as shares of all."""
    if kind == "self":
        gain = gain_after(module.self_residual, block.self_attention.output)
        lengths = layer_norms(module.self_attention, block.self_attention, block.stream_in, gain).double()
        return Mixing(kept=torch.zeros_like(lengths[:, 0]), taken=lengths / lengths.sum(dim=-1, keepdim=True))
    cross = block.cross_attention
    assert cross is not None
    post = isinstance(module.self_residual, PostNorm)
    stream = cross.input if post else block.stream_in + block.self_attention.output
    gain = gain_after(module.cross_residual, cross.output)
    lengths, own = layer_norms(module.cross_attention, cross, None, gain).double(), stream.norm(dim=-1).double()
    total = own + lengths.sum(dim=-1)
    return Mixing(kept=own / total, taken=lengths / total[:, None], cross=True)


def gain_after(residual: nn.Module, output: Float[Tensor, "query width"]) -> Float[Tensor, "query width"] | None:
    """What the norm of an update multiplies it by, where there is such a norm."""
    norm = getattr(residual, "norm_after", None)
    if norm is None:
        return None
    stream = output.double()
    gain: Tensor = norm.weight.detach().double().cpu() / divisor(norm, stream)
    return gain


def token_states(trace: Trace, mixings: Callable[[str], Layers]) -> Float[Tensor, "layer position token"]:
    """How much of each token of the text that was read stands at each position that the output is read from."""
    if trace.encoder is None:
        return rolled_out(identity(trace), mixings("decoder"))
    encoded = rolled_out(identity(trace), mixings("encoder"))
    if trace.decoder is None:
        return encoded
    source, target = len(trace.encoder.ids), len(trace.decoder.ids)
    start = torch.cat([torch.zeros(target, source), torch.eye(target)], dim=1).double()
    memory = torch.cat([encoded[-1], torch.zeros(source, target)], dim=1)
    return rolled_out(start, mixings("decoder"), memory)[..., :source]


def identity(trace: Trace) -> Float[Tensor, "position token"]:
    """Every position holds its own token."""
    return torch.eye(len(trace.text_stack.ids), dtype=torch.float64)


def shares(checkpoint: Checkpoint, trace: Trace, states: Float[Tensor, "layer position token"]) -> Shares:
    """What stands where the answer is read, all tokens together 1, or 0 where nothing does."""
    read = states[:, rows_read(checkpoint, trace)].mean(dim=1)
    return (read / read.sum(dim=-1, keepdim=True).clamp(min=torch.finfo(torch.float64).tiny)).float()


def rows_read(checkpoint: Checkpoint, trace: Trace) -> list[int]:
    """The positions of the output's stack that the answer is read from, all alike; all of them where there is none."""
    outcome, every = outcome_of(checkpoint, trace), list(range(len(trace.output_stack.ids)))
    if outcome.kind == "label":
        return [0] if isinstance(checkpoint.model.pooling, FirstPooling) else every
    return list(outcome.rows) or every
