"""What a model's answer owes to its heads: each muted alone, and all of them, the least important first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from model.checkpoint import Checkpoint
from model.edits import Edits, HeadSite
from model.measures.outcome import Outcome, answers_otherwise, outcome_of, outcome_value, rows_of
from model.trace import Trace

LONGEST = 64  # tokens; the passes over a longer text, two for each head, would keep a reader waiting
NUMBERS = 8_000_000  # of a batch of traces at a time: 32 MB
KEPT = (
    6  # (head, query, key) numbers that a layer's trace holds: products, scores, weights, and what they are made from
)
LEAST_LEAD = 0.02  # over the second answer: with less, any small change decides which of the two wins
POINTS = 0.05  # the change of a probability within which an answer counts as the same


@dataclass(frozen=True, kw_only=True, eq=False)
class HeadEffects:
    """The probability of the model's answer with heads muted.

    sites: all heads of self-attention, layer by layer. plain: the probability with none muted; lead: by how much it
    exceeds that of the second answer. alone: with this head muted.
    order: the places in ``sites`` by |alone − plain|, the least first; of equals the first layer and head.
    muted: the probability with the first 0, 1, … of that order muted. stays: whether it is then still the likeliest.
    """

    outcome: Outcome
    sites: tuple[HeadSite, ...]
    plain: float
    lead: float
    alone: Float[np.ndarray, " head"]
    order: Int[np.ndarray, " head"]
    muted: Float[np.ndarray, " count"]
    stays: Bool[np.ndarray, " count"]

    @property
    def clear(self) -> bool:
        """Whether the model prefers its answer by more than a hair."""
        return self.lead >= LEAST_LEAD

    @property
    def most(self) -> int:
        """The place of the head whose muting changes the probability most."""
        return int(self.order[-1])

    @property
    def spare(self) -> int:
        """How many heads can be muted, in that order, one after the other, before another answer is the likeliest."""
        return first_false(self.stays) - 1

    @property
    def spare_within_points(self) -> int:
        """The same before the probability has moved by more than five points as well."""
        return first_false(self.stays & (np.abs(self.muted - self.plain) <= POINTS)) - 1

    @property
    def by_layer(self) -> Float[np.ndarray, "layer head"]:
        """|alone − plain| of every head."""
        return np.abs(self.alone - self.plain).reshape(self.sites[-1].layer + 1, -1)


def first_false(values: Bool[np.ndarray, " place"]) -> int:
    """The place of the first False; the length where there is none."""
    return int(np.append(values, False).argmin())


def head_effects(checkpoint: Checkpoint, trace: Trace) -> HeadEffects:
    """The effects of a text's heads on what the model says of it.

    The order is by the effect of each head alone (Michel, Levy and Neubig 2019, "Are Sixteen Heads Really Better than
    One?", section 3.2), which need not be the order in which most can go. ValueError for a model of two stacks, and for
    a trace that predicts nothing.
    """
    outcome = outcome_of(checkpoint, trace)
    if outcome.kind not in ("label", "next", "masked"):
        raise ValueError(f"outcome {outcome.kind!r}, wanted one answer of a model of one stack")
    sites = head_sites(checkpoint, trace)
    alone, _ = outcomes_under(checkpoint, trace, outcome, [muting_edits([site]) for site in sites])
    plain = outcome_value(outcome, trace, trace)
    order = np.argsort(np.abs(alone - plain), kind="stable")
    counts = range(len(sites) + 1)
    prefixes = [muting_edits([sites[place] for place in order[:count]]) for count in counts]
    muted, stays = outcomes_under(checkpoint, trace, outcome, prefixes)
    return HeadEffects(
        outcome=outcome,
        sites=sites,
        plain=plain,
        lead=lead_of(outcome, trace),
        alone=alone,
        order=order,
        muted=muted,
        stays=stays,
    )


def lead_of(outcome: Outcome, trace: Trace) -> float:
    """By how much the likeliest answer is likelier than the second; 1 where there is no second."""
    logits = rows_of(trace)
    assert logits is not None
    two = logits[outcome.rows[0]].double().softmax(dim=-1).topk(min(2, logits.shape[-1])).values
    return float(two[0] - two[1]) if len(two) == 2 else 1.0


def head_sites(checkpoint: Checkpoint, trace: Trace) -> tuple[HeadSite, ...]:
    """Every head of the one stack that a trace has."""
    stack = "encoder" if trace.encoder is not None else "decoder"
    config = checkpoint.config
    return tuple(HeadSite(stack, layer, head) for layer in range(config.layers) for head in range(config.heads))


def muting_edits(sites: Sequence[HeadSite]) -> Edits:
    """These heads muted, and nothing else changed."""
    return Edits(muted=frozenset(sites))


def outcomes_under(
    checkpoint: Checkpoint, trace: Trace, outcome: Outcome, edits: Sequence[Edits]
) -> tuple[Float[np.ndarray, " edit"], Bool[np.ndarray, " edit"]]:
    """The outcome's probability in passes over the same tokens with these edits; and whether its answer stays."""
    passes = [replace(trace, logits=logits) for logits in logits_under(checkpoint, trace, edits)]
    values = [outcome_value(outcome, trace, after) for after in passes]
    return np.array(values), np.array([not answers_otherwise(outcome, after) for after in passes])


def logits_under(checkpoint: Checkpoint, trace: Trace, edits: Sequence[Edits]) -> Iterator[Tensor]:
    """The logits of the same tokens with each of these edits: as many in one batch as memory allows."""
    stack, device = trace.output_stack, checkpoint.device
    ids = stack.ids.to(device)
    two = checkpoint.config.segments > 1 and stack.segments is not None
    segments = torch.tensor(stack.segments, device=device) if two else None
    most = batch_size(checkpoint, len(ids))
    for start in range(0, len(edits), most):
        rows = edits[start : start + most]
        many = {"segments": None if segments is None else segments.expand(len(rows), -1), "edits": list(rows)}
        with torch.no_grad():
            logits = checkpoint.model(ids.expand(len(rows), -1), **many).logits
        yield from logits.float().cpu()


def batch_size(checkpoint: Checkpoint, tokens: int) -> int:
    """How many passes over so many tokens are made at a time, by the numbers that their traces hold."""
    config = checkpoint.config
    attention = config.layers * config.heads * tokens**2 * KEPT
    return max(1, NUMBERS // (attention + tokens * (config.vocabulary + config.layers * config.width * KEPT)))


def shares_of_heads(heads: int) -> list[range]:
    """Numbers of heads to guess among: none, one or two, up to a quarter, up to half, more. Empty ones are left out."""
    ends = sorted({0, min(2, heads), heads // 4, heads // 2, heads})
    starts = [0, *(end + 1 for end in ends)]
    return [range(start, end + 1) for start, end in zip(starts, ends, strict=False)]
