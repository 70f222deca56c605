"""What the division by √d_k does to a trained head, to one that nobody trained, and to what a model says."""

from dataclasses import dataclass, replace

import numpy as np
import torch

from model.attention import masked_softmax
from model.checkpoint import Checkpoint
from model.config import Config
from model.edits import Edits
from model.measures.comparison import mean_largest
from model.measures.experiments.score_spread import deviation
from model.measures.outcome import Outcome, answers_otherwise, outcome_of, outcome_value, rows_of
from model.measures.whole_head import WholeHead, whole_heads
from model.scores import masked_scores
from model.trace import StackTrace, Trace
from model.tracing.forward_pass import forward_pass
from model.transformer import Transformer

SEED = 0
UNDIVIDED = Edits(scale=1.0)
LARGEST_ANEW = 30_000_000  # numbers of a model that is made anew while somebody waits


@dataclass(frozen=True, kw_only=True)
class Sharpness:
    """The mean of every row's largest weight, with the division and without it, and how widely the products spread.

    deviation: the standard deviation of q·k over all queries and keys, those that the mask hides among them.
    """

    divided: float
    undivided: float
    deviation: float


@dataclass(frozen=True, kw_only=True)
class WithoutDivision:
    """What a model says of a text with the division, and in a pass in which every attention leaves it out.

    probability, after: of the answer that is the most probable with the division. other, other_probability: the
    answer without it, where that is another, and what it has there.
    """

    outcome: Outcome
    probability: float
    after: float
    other: int | None
    other_probability: float


def divides(config: Config) -> bool:
    """Whether the scale is the paper's 1/√d_k, and the model small enough to be made anew."""
    parameters = config.width * (config.vocabulary + 12 * config.width * config.layers)
    return config.score_scale is None and not config.score_scale_by_layer and parameters <= LARGEST_ANEW


def without_scale(head: WholeHead) -> WholeHead:
    """The same head with its products as they are: scale 1 in place of 1/√d_k, from the products on."""
    products, mask = torch.from_numpy(head.products)[None], torch.from_numpy(head.mask)
    bias = None if head.bias is None else torch.from_numpy(head.bias)[None]
    scores = masked_scores(products, mask, 1.0, bias, head.cap)
    weights = masked_softmax(scores, mask)[0].numpy()
    return replace(head, scale=1.0, scores=scores[0].numpy(), weights=weights, context=weights @ head.value)


def sharpness_by_head(stack: StackTrace) -> list[list[Sharpness]]:
    """Of every head of every layer's self-attention."""
    return [[sharpness(head) for head in layer] for layer in heads_of(stack)]


def sharpness(head: WholeHead) -> Sharpness:
    """How sharp the rows of one head are."""
    return Sharpness(
        divided=mean_largest(head.weights[None]),
        undivided=mean_largest(without_scale(head).weights[None]),
        deviation=deviation(head.products),
    )


def heads_of(stack: StackTrace) -> list[list[WholeHead]]:
    """Every head of every layer's self-attention."""
    return [whole_heads(block.self_attention) for block in stack.blocks]


def most_changed(sharp: list[list[Sharpness]]) -> tuple[int, int]:
    """The layer and head whose rows' largest weight grows most without the division; of equals the first."""
    growth = np.array([[each.undivided - each.divided for each in layer] for layer in sharp])
    layer, head = np.unravel_index(int(growth.argmax()), growth.shape)
    return int(layer), int(head)


def mean_sharpness(sharp: list[list[Sharpness]]) -> Sharpness:
    """The mean of all heads; of the deviations, which are of one head each, too."""
    every = [each for layer in sharp for each in layer]
    means = {name: float(np.mean([getattr(each, name) for each in every])) for name in vars(every[0])}
    return Sharpness(**means)


def without_division(checkpoint: Checkpoint, before: Trace) -> WithoutDivision:
    """A second pass over the same tokens, with scale 1 in every attention of every layer."""
    after, outcome = checkpoint.trace_again(before, UNDIVIDED), outcome_of(checkpoint, before)
    logits = rows_of(after)
    other = int(logits[outcome.rows[0]].argmax()) if logits is not None and answers_otherwise(outcome, after) else None
    others = replace(outcome, answers=() if other is None else (other,))
    return WithoutDivision(
        outcome=outcome,
        probability=outcome_value(outcome, before, before),
        after=outcome_value(outcome, before, after),
        other=other,
        other_probability=0.0 if other is None else outcome_value(others, before, after),
    )


def untrained_stack(config: Config, ids: list[int]) -> StackTrace:
    """The first stack of a model of the same sizes with fresh random weights, always the same, over the same tokens."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        model = Transformer(config).eval()
    return forward_pass(model, ids, logits=False, name="the untrained model").text_stack
