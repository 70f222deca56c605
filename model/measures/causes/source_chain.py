"""A score followed back: the head that wrote most of it, what that head read, and why it looked there, step by step."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from model.checkpoint import Checkpoint
from model.edits import HeadSite
from model.measures.causes.flow import output_by_head
from model.measures.causes.score_sources import (
    ReadStream,
    ScoreSources,
    Shares,
    attention_of,
    key_shares,
    one_hot,
    read_streams,
    score_sources,
)
from model.measures.causes.stream_parts import Part
from model.scores import for_every_head
from model.trace import Trace

SIDES = ("query", "key")


@dataclass(frozen=True, kw_only=True)
class SourceStep:
    """One step back: the largest part of a score above the mean, and where the head that it comes from read it.

    site, query, key: whose score it is. score: above the mean of the keys that the query may see. weight: what the
    softmax makes of it. side: "query" or "key", whose stream the part stands in; value: what it is of the score, and
    opposed: the sum of that side's parts whose sign is not the score's. read: the position of which the part's head
    wrote most of it, and read_share: how much; None where the part is no head.
    """

    site: HeadSite
    query: int
    key: int
    score: float
    weight: float
    side: str
    part: Part
    value: float
    opposed: float
    read: int | None = None
    read_share: float | None = None

    @property
    def position(self) -> int:
        """Where the part was written."""
        return self.query if self.side == "query" else self.key

    @property
    def stack(self) -> str:
        """The stack that it was written in."""
        return "encoder" if self.side == "key" and self.site.attention == "cross" else self.site.stack

    @property
    def share(self) -> float:
        """The part's share of the score above the mean: more than 1 where others take away from it."""
        return self.value / self.score

    @property
    def opposed_share(self) -> float:
        """How much of the score above the mean the parts against it take away, which those for it have to make up."""
        return -self.opposed / self.score

    @property
    def head(self) -> HeadSite | None:
        """The head that wrote the part, where one did."""
        if self.part.layer is None or self.part.head is None:
            return None
        return HeadSite(self.stack, self.part.layer, self.part.head, self.part.kind)


def step_to(trace: Trace, sources: ScoreSources, side: str, part: Part) -> SourceStep:
    """The step from a score to a part of it."""
    site, query, key = sources.site, sources.query, sources.key
    weight, parts = float(attention_of(trace, site).weights[site.head, query, key]), sources.by(side)
    opposed = sum((value for value in parts.values() if value * sources.score < 0), 0.0)
    return SourceStep(
        site=site,
        query=query,
        key=key,
        score=sources.score,
        weight=weight,
        side=side,
        part=part,
        value=parts[part],
        opposed=opposed,
    )


@torch.no_grad()
def read_positions(
    checkpoint: Checkpoint, trace: Trace, sources: ScoreSources, side: str, part: Part
) -> Float[Tensor, " position"]:
    """A head's part of a score, by the positions whose values the head had moved to where the score reads it.

    A head adds Σ α · v · W_O over the positions that it read, so its part is such a sum, too. In a relative score every
    v · W_O of a key's part is taken less what the head's part is in the mean of the keys; the weights α sum to 1, and
    so the sum is still the part. ValueError where the part is no head of that side.
    """
    if part.head is None or part not in sources.by(side):
        raise ValueError(f"{part} is no head in the {side}'s stream")
    step = step_to(trace, sources, side, part)
    assert step.head is not None
    weights, moved = moved_to(checkpoint, trace, step.head, step.position)
    streams = dict(zip(SIDES, read_streams(checkpoint, trace, step.site), strict=True))
    vectors, other = streams[side].pieces(part, moved, step.position), opposite(trace, sources, side, streams)
    pieces = float(attention_of(trace, step.site).scale) * vectors @ other
    if side == "key" and sources.relative:
        pieces -= weights * (pieces.sum() - step.value)
    return pieces


def opposite(
    trace: Trace, sources: ScoreSources, side: str, streams: Mapping[str, ReadStream]
) -> Float[Tensor, " head_width"]:
    """What a part of one side is multiplied with: of a key's the query; of a query's the key, less the mean or not."""
    attention, site = attention_of(trace, sources.site), sources.site
    if side == "key":
        return streams["query"].by_part(one_hot(sources.query, attention.weights.shape[1]))[1].sum(dim=0)
    taken = key_shares(attention, site.head, sources.query, sources.key, relative=sources.relative)
    return streams["key"].by_part(taken)[1].sum(dim=0)


def moved_to(
    checkpoint: Checkpoint, trace: Trace, site: HeadSite, position: int
) -> tuple[Shares, Float[Tensor, "key width"]]:
    """The weights of a position's query, and what the head adds to its stream from each key: α · v · W_O."""
    attention = attention_of(trace, site)
    module = getattr(getattr(checkpoint.model, site.stack).blocks[site.layer], f"{site.attention}_attention")
    heads = len(attention.weights)
    value, weights = for_every_head(attention.value, heads)[site.head], attention.weights[site.head, position].double()
    moved = value.double() @ output_by_head(module, heads)[:, site.head].T
    return weights, weights[:, None] * moved


@torch.no_grad()
def followed_back(
    checkpoint: Checkpoint, trace: Trace, site: HeadSite, query: int, key: int, *, depth: int = 4
) -> tuple[SourceStep, ...]:
    """From a score to the head that wrote most of it, on to that head's own score, and so on: at most ``depth`` steps.

    Of each score, above the mean of the keys that the query may see, the largest part of the query's side and that of
    the key's are taken. Where one of them is a head, or both are, the larger of these is followed to the position of
    which the head read most of it; else the larger of the two is the last step. Without any step where the query
    sees a single key, whose score is the mean. trace, ValueError: see ``score_sources``.
    """
    steps = list[SourceStep]()
    while len(steps) < depth:
        sources = score_sources(checkpoint, trace, site, query, key, relative=True)
        if sources.score == 0:
            break
        steps.append(step := source_step(checkpoint, trace, sources))
        if step.head is None or step.read is None:
            break
        site, query, key = step.head, step.position, step.read
    return tuple(steps)


def source_step(checkpoint: Checkpoint, trace: Trace, sources: ScoreSources) -> SourceStep:
    """The largest part of a score above the mean, and where its head read it."""
    towards = 1 if sources.score > 0 else -1  # of a score below the mean, what takes away most
    candidates = []
    for side in SIDES:
        part, value = max(sources.by(side).items(), key=lambda item: towards * item[1])
        candidates.append((part.head is not None, towards * value, side, part))
    _, _, side, part = max(candidates)
    step = step_to(trace, sources, side, part)
    if step.head is None:
        return step
    pieces = read_positions(checkpoint, trace, sources, side, part)
    read = int((towards * pieces).argmax())
    return replace(step, read=read, read_share=float(pieces[read] / pieces.sum()))
