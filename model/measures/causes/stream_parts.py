"""What a stream is the sum of where it is read: the embedding, and what every head, bias and feed-forward layer added.

A norm divides a position's stream by one number; with that number frozen at what it is in the pass, norms are linear
too, and so is the way of any part to where the stream is read (Elhage et al. 2021, "A Mathematical Framework for
Transformer Circuits"). In a post-norm model every norm on the way is frozen, and their biases are parts of their own.

What a norm does besides dividing is the same at every position. So positions can be mixed first, each divided by all
that it will be divided by, and a mixture of many positions costs no more than one position.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model.attention import MultiHeadAttention
from model.measures.causes.flow import output_by_head
from model.trace import AttentionTrace, StackTrace
from model.transformer import Stack

Stream = Float[Tensor, "position width"]
Vectors = Float[Tensor, "part row width"]
Mix = Float[Tensor, "row position"]  # how much of every position's vector a row takes


@dataclass(frozen=True, order=True)
class Part:
    """Something that is added to the stream, or to a score. layer, head: None where it has none.

    kind: "token", "position" or "segment" of the embedding; "self" or "cross", a head; "self bias", "cross bias", of
    an output projection; "feed-forward"; "norm bias"; "head bias", of the projection to the answers; "projection bias",
    of the projection to queries or keys; "score bias", which a position scheme adds to a score.
    """

    kind: str
    layer: int | None = None
    head: int | None = None


@dataclass(frozen=True)
class Added:
    """What joins a stream: a vector for each part and position; of heads their contexts, which ``heads`` projects."""

    parts: tuple[Part, ...]
    vectors: Float[Tensor, "part position inner"]
    heads: MultiHeadAttention | None = None

    def mixed(self, mix: Mix) -> Vectors:
        """The parts in mixtures of positions."""
        rows = torch.einsum("rp,spi->sri", mix, self.vectors)
        if self.heads is None:
            return rows
        return torch.einsum("sri,wsi->srw", rows, output_by_head(self.heads, len(rows)))

    def onward(self, part: Part, vectors: Float[Tensor, "any width"], position: int) -> Float[Tensor, "any width"]:
        """Vectors that are pieces of a part, as they join the stream."""
        return vectors


@dataclass(frozen=True)
class FrozenNorm:
    """A norm on the way of a stream, with what it divides each position by."""

    norm: nn.Module
    divisor: Float[Tensor, "position 1"]


class FrozenStream:
    """A stream that grows by parts and passes norms; all in float64, on the CPU."""

    def __init__(self) -> None:
        self.steps: list[Added | FrozenNorm | FrozenStream] = []
        self.total: Any = 0.0  # the stream so far

    @property
    def parts(self) -> tuple[Part, ...]:
        """What has joined it, in order; the biases of several norms are as many parts of one name."""
        return tuple(part for step in self.steps for part in parts_of(step))

    def add(self, added: Sequence["Added | FrozenStream"], total: Stream) -> None:
        """What joins the stream, and the sum of it."""
        self.steps += added
        self.total = self.total + total.double()

    def pass_norm(self, norm: nn.Module) -> None:
        """Every part through a norm of the stream."""
        if isinstance(norm, nn.Identity):
            return
        self.steps.append(FrozenNorm(norm, divisor(norm, self.total)))
        bias = bias_of(norm)
        self.total = undivided(norm, self.total) / divisor(norm, self.total) + (0.0 if bias is None else bias)

    def mixed(self, mix: Mix) -> Vectors:
        """The parts, in the order of ``parts``, in mixtures of positions; they sum to the mixed stream."""
        mixes = []
        for step in reversed(self.steps):
            mixes.append(mix)
            mix = mix / step.divisor.T if isinstance(step, FrozenNorm) else mix
        vectors = mix.new_zeros(0, len(mix), self.total.shape[-1])
        for step, mix in zip(self.steps, reversed(mixes), strict=True):
            if isinstance(step, FrozenNorm):
                vectors, bias = undivided(step.norm, vectors), bias_of(step.norm)
                new = [] if bias is None else [(mix.sum(dim=1, keepdim=True) * bias)[None]]
            else:
                new = [step.mixed(mix)]
            vectors = torch.cat([vectors, *new])
        return vectors

    def onward(self, part: Part, vectors: Float[Tensor, "any width"], position: int) -> Float[Tensor, "any width"]:
        """Vectors that are pieces of a part at a position, as they arrive where the stream is read."""
        place = next(place for place, step in enumerate(self.steps) if part in parts_of(step))
        first = self.steps[place]
        assert not isinstance(first, FrozenNorm)
        vectors = first.onward(part, vectors, position)
        for step in self.steps[place + 1 :]:
            if isinstance(step, FrozenNorm):
                vectors = undivided(step.norm, vectors) / step.divisor[position]
        return vectors


def parts_of(step: Added | FrozenNorm | FrozenStream) -> tuple[Part, ...]:
    """What a step adds to the stream: of a norm its bias."""
    if isinstance(step, FrozenNorm):
        return () if bias_of(step.norm) is None else (Part("norm bias"),)
    return step.parts


def divisor(norm: nn.Module, stream: Float[Tensor, "*row width"]) -> Float[Tensor, "*row 1"]:
    """What a norm divides each row by."""
    assert isinstance(norm, nn.LayerNorm | nn.RMSNorm)
    eps = torch.finfo(torch.float32).eps if norm.eps is None else norm.eps
    return (centred(norm, stream).square().mean(dim=-1, keepdim=True) + eps).sqrt()


def undivided(norm: nn.Module, vectors: Float[Tensor, "*row width"]) -> Float[Tensor, "*row width"]:
    """All else that a norm does, but for its bias."""
    assert isinstance(norm, nn.LayerNorm | nn.RMSNorm)
    return centred(norm, vectors) * norm.weight.detach().double().cpu()


def undivided_back(norm: nn.Module, rows: Float[Tensor, "*row width"]) -> Float[Tensor, "*row width"]:
    """The rows that read a stream before ``undivided`` as the given ones do after it: its transpose."""
    assert isinstance(norm, nn.LayerNorm | nn.RMSNorm)
    return centred(norm, rows * norm.weight.detach().double().cpu())


def centred(norm: nn.Module, vectors: Float[Tensor, "*row width"]) -> Float[Tensor, "*row width"]:
    """Without their mean, where the norm takes that off."""
    return vectors - vectors.mean(dim=-1, keepdim=True) if isinstance(norm, nn.LayerNorm) else vectors


def bias_of(norm: nn.Module) -> Float[Tensor, "width"] | None:
    """What a norm adds, where it adds anything."""
    bias = getattr(norm, "bias", None)
    return None if bias is None else bias.detach().double().cpu()


def frozen_stream(stack: Stack, trace: StackTrace, order: str, before: tuple[int, str] | None = None) -> FrozenStream:
    """The stream where it is read: by an attention, ``before`` (layer, "self" or "cross"), or after the whole stack.

    trace: of a pass without edits. order: the model's order of norms.
    """
    stream = embedded(stack, trace)
    for layer, kind, traced, module, residual in sublayers(stack, trace):
        if (layer, kind) == before:
            stream.pass_norm(nn.Identity() if order == "post" else residual.norm)
            return stream
        update = FrozenStream()
        update.add(list(added(traced, module, layer, kind)), traced.output)
        update.pass_norm(getattr(residual, "norm_after", nn.Identity()))
        stream.add([update], update.total)
        stream.pass_norm(residual.norm if order == "post" else nn.Identity())
    stream.pass_norm(stack.norm)
    return stream


def embedded(stack: Stack, trace: StackTrace) -> FrozenStream:
    """What the embedding is the sum of, normed where it is."""
    embedding, stream = trace.embedding, FrozenStream()
    every = {"token": embedding.token, "position": embedding.position, "segment": embedding.segment}
    for kind, one in every.items():
        if one is not None:
            vectors = one.double().expand(len(trace.ids), -1)
            stream.add([Added((Part(kind),), vectors[None])], vectors)
    stream.pass_norm(stack.norm_embedding)
    return stream


def sublayers(stack: Stack, trace: StackTrace) -> Iterator[tuple[int, str, Any, Any, Any]]:
    """Layer, kind, trace, module and residual connection of each sublayer, in the order in which they act."""
    for layer, (module, traced) in enumerate(zip(stack.blocks, trace.blocks, strict=True)):
        block: Any = module
        yield layer, "self", traced.self_attention, block.self_attention, block.self_residual
        if traced.cross_attention is not None:
            yield layer, "cross", traced.cross_attention, block.cross_attention, block.cross_residual
        yield layer, "feed-forward", traced.feed_forward, block.feed_forward, block.feed_forward_residual


def added(traced: Any, module: Any, layer: int, kind: str) -> Iterator[Added]:
    """What a sublayer adds: of an attention each head and the bias, of a feed-forward layer all at once."""
    if not isinstance(traced, AttentionTrace):
        yield Added((Part(kind, layer),), traced.output.double()[None])
        return
    heads = tuple(Part(kind, layer, head) for head in range(len(traced.context)))
    yield Added(heads, traced.context.double(), module)
    if module.output.bias is not None:
        bias = module.output.bias.detach().double().cpu().expand_as(traced.output)
        yield Added((Part(f"{kind} bias", layer),), bias[None])


def by_part(
    parts: Sequence[Part], vectors: Float[Tensor, "part *row width"]
) -> tuple[tuple[Part, ...], Float[Tensor, "distinct *row width"]]:
    """Every part once, in the order of their first appearance, and the sum of the vectors that have its name."""
    places = {part: place for place, part in enumerate(dict.fromkeys(parts))}
    index = torch.tensor([places[part] for part in parts])
    return tuple(places), vectors.new_zeros(len(places), *vectors.shape[1:]).index_add(0, index, vectors)
