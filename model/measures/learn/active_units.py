"""Which units of a feed-forward layer are active for a token, and which words make a unit active.

A unit is one of the numbers of the layer's inner width. It is active where x W₁ + b₁ is above 0. ReLU gives exactly 0
to the others; GELU and SiLU let a small negative number through. In a gated layer the same number decides: it is what
the activation reads, before the product with x V.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from model.block import Block
from model.edits import NO_EDITS
from model.feed_forward import FeedForward, GatedFeedForward
from model.trace import FeedForwardTrace
from model.transformer import Stack, Transformer

AT_ONCE = 256  # words in one batch
SEED = 0


@dataclass(frozen=True, kw_only=True)
class WakingWords:
    """Words, each read alone as a text of one token, and what they make of the units of a layer.

    strongest: of each unit, the places of the words that give it its largest values, the largest first.
    share: of each unit, of all the words how many make it active.
    """

    strongest: Int[Tensor, "rank hidden"]
    values: Float[Tensor, "rank hidden"]
    share: Float[Tensor, " hidden"]

    def of(self, unit: int) -> tuple[list[int], list[float]]:
        """The places of the words that make a unit most active, and its values for them; none that do not."""
        values = [value for value in self.values[:, unit].tolist() if value > 0]
        return self.strongest[: len(values), unit].tolist(), values


@dataclass(frozen=True, kw_only=True)
class ActiveUnits:
    """What the units of a layer are for the tokens of a text.

    values: activation(x W₁ + b₁). random_share: of the units of a layer of random weights, how many are active on the
    same input. change: how far the output of each token moves if all units that are not active gave exactly 0, as a
    share of its length; None where they do.
    """

    values: Float[Tensor, "position hidden"]
    random_share: float
    change: Float[Tensor, " position"] | None

    @property
    def active(self) -> Bool[Tensor, "position hidden"]:
        """The units above 0; ReLU, GELU and SiLU are above 0 exactly where what they read is."""
        return self.values > 0

    @property
    def counts(self) -> list[int]:
        """How many units each token makes active."""
        return self.active.sum(dim=-1).tolist()

    @property
    def share(self) -> float:
        """The share of active units over all tokens."""
        return float(self.active.float().mean())


def active_units_of(model: Transformer, trace: FeedForwardTrace, place: int = 0) -> ActiveUnits:
    """The units of a layer of the stack that reads the text, from its trace. place: of the layer, from 0."""
    layer = block_of(text_stack(model), place).feed_forward
    values = activations(layer, trace)
    exact = model.config.activation == "relu"
    return ActiveUnits(
        values=values,
        random_share=active_at_random(trace.input, values.shape[-1]),
        change=None if exact else change_without_silent(layer, trace, values > 0),
    )


def activations(layer: FeedForward, trace: FeedForwardTrace) -> Float[Tensor, "*batch position hidden"]:
    """activation(x W₁ + b₁): in a layer without a gate, what the trace calls hidden."""
    if not isinstance(layer, GatedFeedForward):
        return trace.hidden
    with torch.no_grad():
        reads = trace.input.to(layer.inner.weight.device)
        return layer.activation(layer.inner(reads)).float().cpu()


def change_without_silent(
    layer: FeedForward, trace: FeedForwardTrace, active: Bool[Tensor, "position hidden"]
) -> Float[Tensor, " position"]:
    """How far the output moves without the units that are not active, as a share of its length."""
    with torch.no_grad():
        hidden = trace.hidden.where(active, 0)
        output = layer.outer(hidden.to(layer.outer.weight.device)).float().cpu()
    return (output - trace.output).norm(dim=-1) / trace.output.norm(dim=-1).clamp(min=1e-12)


def active_at_random(reads: Float[Tensor, "position width"], hidden: int) -> float:
    """The share of active units in a layer of normal weights without biases, over the same input."""
    weights = torch.randn(hidden, reads.shape[-1], generator=torch.Generator().manual_seed(SEED))
    return float((reads @ weights.T > 0).float().mean())


def longest_token(tokens: Sequence[str], special: Sequence[bool]) -> int:
    """The position of the token with the most letters and digits, the last of several; the model's own do not count."""
    places = [place for place, added in enumerate(special) if not added] or list(range(len(tokens)))
    return max(places, key=lambda place: (sum(map(str.isalnum, tokens[place])), place))


def most_particular(activations: Float[Tensor, "position hidden"], position: int, count: int) -> list[int]:
    """The active units that a token makes larger than the text's other tokens do on average, the farthest first."""
    own = activations[position]
    others = torch.cat([activations[:position], activations[position + 1 :]])
    lead = own - others.mean(dim=0) if len(others) else own
    order = lead.where(own > 0, -torch.inf).argsort(descending=True, stable=True).tolist()
    return [unit for unit in order if own[unit] > 0][:count]


def waking_words(model: Transformer, ids: Sequence[int], rank: int, layer: int = 0) -> WakingWords:
    """The words, by their ids, that give each unit of a layer its largest values, each read alone."""
    stack = text_stack(model)
    values = torch.cat(
        [units_at(model, stack, ids[start : start + AT_ONCE], layer) for start in range(0, len(ids), AT_ONCE)]
    )
    strongest = values.topk(min(rank, len(ids)), dim=0)
    share = (values > 0).float().mean(dim=0)
    return WakingWords(strongest=strongest.indices, values=strongest.values, share=share)


def text_stack(model: Transformer) -> Stack:
    """The stack that reads the text: the encoder where there is one."""
    stack = model.encoder or model.decoder
    assert stack is not None
    return stack


def block_of(stack: Stack, layer: int) -> Block:
    """A layer of a stack."""
    return cast(Block, stack.blocks[layer])


def units_at(model: Transformer, stack: Stack, ids: Sequence[int], layer: int) -> Float[Tensor, "word hidden"]:
    """What a layer's units become for texts of one token each; the layers above are not run."""
    with torch.no_grad():
        column = torch.tensor(ids, device=model.embedding.weight.device)[:, None]
        tokens = model.vectors(column, model.embedding)
        interventions = stack.interventions(NO_EDITS, tokens, 1)
        embedding = stack.embed(column, tokens, None, interventions)
        wide, in_window = stack.masks_and_biases(
            tokens, torch.ones(1, 1, dtype=torch.bool, device=column.device), None, interventions
        )
        x = embedding.total
        for place in range(layer + 1):
            seen, block = in_window if place in stack.windowed else wide, block_of(stack, place)
            trace = block(x, seen, None, None, interventions.layers[place], None)
            x = trace.stream_out
        return activations(block.feed_forward, trace.feed_forward)[:, 0].float().cpu()
