"""What each head, layer and embedding adds directly to the answer's logit: parts that sum to it.

The stream that the model's head reads is a sum: the embedding, and what every head, every bias and every feed-forward
layer added. A norm divides all of it by one number a position; with that number frozen at what it is in the pass, norms
are linear too, and so is the way from any part to the logit: direct logit attribution, after Elhage et al. 2021, "A
Mathematical Framework for Transformer Circuits". In a post-norm model every later norm is frozen, and their biases are
parts of their own. A part's way through later heads and layers is theirs: see ``ablation``.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from model.checkpoint import Checkpoint
from model.measures.causes.flow import head_outputs
from model.measures.outcome import Outcome, outcome_of
from model.output_heads import MeanPooling
from model.trace import AttentionTrace, BlockTrace, StackTrace, Trace
from model.transformer import Stack, Transformer

Vector = Float[Tensor, "position width"]


@dataclass(frozen=True, order=True)
class Part:
    """Something that is added to the stream. layer, head: None where it has none.

    kind: "token", "position" or "segment" of the embedding; "self" or "cross", a head; "self bias", "cross bias", of
    an output projection; "feed-forward"; "norm bias"; "head bias", of the projection to the answers.
    """

    kind: str
    layer: int | None = None
    head: int | None = None


@torch.no_grad()
def logit_parts(checkpoint: Checkpoint, trace: Trace) -> dict[Part, float]:
    """What every part adds to the answer's logit, of several answers to their mean; they sum to it, before a cap.

    trace: of this checkpoint, without edits. ValueError where the way from the stream to the answer is not linear (a
    head with an activation in it), or where there is no answer.
    """
    model, outcome = checkpoint.model, outcome_of(checkpoint, trace)
    if outcome.kind == "stream":
        raise ValueError(f"{checkpoint.label} gives no answer for this text")
    if model.word_head is not None or (outcome.kind == "label" and not isinstance(model.pooling, MeanPooling)):
        raise ValueError(f"{checkpoint.label} answers by a layer with an activation, which no sum passes through")
    stack = model.decoder if model.decoder is not None else model.encoder
    assert stack is not None
    read, constant = reading_of(model, outcome)
    parts = dict[Part, Vector]()
    for part, vector in stream_parts(stack, trace.output_stack, model.config.norm_order):
        parts[part] = parts[part] + vector if part in parts else vector
    logits = {part: float((read(vector)).mean()) for part, vector in parts.items()}
    return logits | ({Part("head bias"): float(constant)} if constant else {})


def reading_of(model: Transformer, outcome: Outcome) -> tuple[Callable[[Vector], Tensor], float]:
    """How much of each answer a vector of the final state is, and what the bias adds on average."""
    answers = list(outcome.answers)
    if outcome.kind == "label":
        assert model.classifier is not None
        row = model.classifier.weight[answers].double().cpu()
        return lambda vector: vector.mean(dim=-2) @ row.T, float(model.classifier.bias[answers].mean())
    table = model.projection or model.target_embedding or model.embedding
    rows = table.weight[answers].double().cpu() * model.config.output_scale
    bias = 0.0 if model.vocabulary_bias is None else float(model.vocabulary_bias[answers].mean())
    return lambda vector: (vector[list(outcome.rows)] * rows).sum(dim=-1), bias


def stream_parts(stack: Stack, trace: StackTrace, order: str) -> Iterator[tuple[Part, Vector]]:
    """The parts of a stack's final state, each as it arrives there; their sum is that state."""
    frozen = FrozenNorms()
    frozen.add(embedded(trace))
    if not isinstance(stack.norm_embedding, nn.Identity):
        frozen.pass_through(stack.norm_embedding, frozen.total())
    for layer, block in enumerate(stack.blocks):
        for traced, module, residual, kind in sublayers(block, trace.blocks[layer]):
            added = list(parts_of(traced, module, layer, kind))
            after = getattr(residual, "norm_after", None)
            if order == "both" and after is not None:
                added = list(through(after, sum_of([vector for _, vector in added]), added))
            frozen.add(added)
            if order == "post":
                frozen.pass_through(residual.norm, frozen.total())
    if not isinstance(stack.norm, nn.Identity):
        frozen.pass_through(stack.norm, frozen.total())
    yield from frozen.parts


class FrozenNorms:
    """The parts of a stream on its way, and the norms that it passes."""

    def __init__(self) -> None:
        self.parts: list[tuple[Part, Vector]] = []

    def add(self, parts: list[tuple[Part, Vector]]) -> None:
        """What joins the stream."""
        self.parts += parts

    def total(self) -> Vector:
        """The stream."""
        return sum_of([vector for _, vector in self.parts])

    def pass_through(self, norm: nn.Module, stream: Vector) -> None:
        """Every part through a norm of the stream."""
        self.parts = list(through(norm, stream, self.parts))


def through(norm: nn.Module, stream: Vector, parts: list[tuple[Part, Vector]]) -> Iterator[tuple[Part, Vector]]:
    """Parts of a stream after its norm, which divides by what it divides the stream by; and the norm's bias."""
    assert isinstance(norm, nn.LayerNorm | nn.RMSNorm)
    centred = isinstance(norm, nn.LayerNorm)
    mean = stream.mean(dim=-1, keepdim=True) if centred else 0
    eps = torch.finfo(torch.float32).eps if norm.eps is None else norm.eps
    deviation = ((stream - mean).square().mean(dim=-1, keepdim=True) + eps).sqrt()
    weight = norm.weight.double().cpu()
    for part, vector in parts:
        moved = vector - vector.mean(dim=-1, keepdim=True) if centred else vector
        yield part, moved / deviation * weight
    if isinstance(norm, nn.LayerNorm) and norm.bias is not None:
        yield Part("norm bias"), norm.bias.double().cpu().expand_as(stream)


def embedded(trace: StackTrace) -> list[tuple[Part, Vector]]:
    """What the embedding is the sum of."""
    embedding, length = trace.embedding, len(trace.ids)
    every = {"token": embedding.token, "position": embedding.position, "segment": embedding.segment}
    return [(Part(kind), one.double().expand(length, -1)) for kind, one in every.items() if one is not None]


def sublayers(block: Any, trace: BlockTrace) -> Iterator[tuple[Any, Any, Any, str]]:
    """Each sublayer's trace, module and residual connection, in the order in which they act."""
    yield trace.self_attention, block.self_attention, block.self_residual, "self"
    if trace.cross_attention is not None:
        yield trace.cross_attention, block.cross_attention, block.cross_residual, "cross"
    yield trace.feed_forward, block.feed_forward, block.feed_forward_residual, "feed-forward"


def parts_of(traced: Any, module: Any, layer: int, kind: str) -> Iterator[tuple[Part, Vector]]:
    """What a sublayer adds: of an attention each head and the bias, of a feed-forward layer all at once."""
    if not isinstance(traced, AttentionTrace):
        yield Part(kind, layer), traced.output.double()
        return
    for head, vector in enumerate(head_outputs(module, traced)):
        yield Part(kind, layer, head), vector
    if module.output.bias is not None:
        yield Part(f"{kind} bias", layer), module.output.bias.double().cpu().expand_as(vector)


def sum_of(vectors: list[Vector]) -> Vector:
    """The sum of some vectors."""
    return torch.stack(vectors).sum(dim=0)
