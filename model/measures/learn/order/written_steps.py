"""A translation as it is written, token by token: what could have stood at each step, and what follows if it does."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from model.checkpoint import Checkpoint

CANDIDATES = 5
LONGEST_OUTPUT = 128  # tokens


@dataclass(frozen=True, kw_only=True)
class NextToken:
    """A token that may come next, and the probability that the model gives it."""

    token_id: int
    token: str
    probability: float


@dataclass(frozen=True, kw_only=True)
class WrittenSteps:
    """Greedy decoding of a text.

    forced: how many tokens at the beginning were given to the decoder; ``ids`` has them, ``steps`` begins after them.
    steps: for each token that it wrote, the likeliest ones at that step, the first of which it took.
    end_id: the token that ends a text; None where there is none.
    """

    text: str
    ids: tuple[int, ...]
    forced: int
    steps: tuple[tuple[NextToken, ...], ...]
    end_id: int | None

    def forceable(self) -> list[int]:
        """The steps at which both the likeliest and the second candidate go on writing."""
        return [
            place
            for place, candidates in enumerate(self.steps)
            if len(candidates) > 1 and self.end_id not in [each.token_id for each in candidates[:2]]
        ]

    def closest(self) -> int | None:
        """The one of these steps at which the second candidate comes nearest to the first; of equals the earliest."""
        return min(self.forceable(), key=self.lead, default=None)

    def lead(self, step: int) -> float:
        """By how much the probability of the first candidate exceeds that of the second."""
        first, second = self.steps[step][:2]
        return first.probability - second.probability


def written_steps(checkpoint: Checkpoint, text: str, forced: Sequence[int] = ()) -> WrittenSteps:
    """What the decoder writes, after these ids that it is made to begin with. InputError for a text without a token."""
    generation = checkpoint.generate(text, LONGEST_OUTPUT, written=tuple(forced))
    ids = (*forced, *generation.token_ids)
    every = [step.alternatives(CANDIDATES) for step in generation.steps]
    names = iter(checkpoint.tokenizer.pieces([token_id for step in every for token_id, _ in step]))
    steps = tuple(
        tuple(NextToken(token_id=token_id, token=next(names), probability=chance) for token_id, chance in step)
        for step in every
    )
    text = checkpoint.tokenizer.decode(ids)
    return WrittenSteps(text=text, ids=ids, forced=len(forced), steps=steps, end_id=checkpoint.config.end_id)


def with_second(checkpoint: Checkpoint, text: str, written: WrittenSteps, step: int) -> WrittenSteps:
    """What the decoder writes where it is made to take the second candidate at one step of ``written``."""
    return written_steps(checkpoint, text, (*written.ids[:step], written.steps[step][1].token_id))


class PartingStep(NamedTuple):
    """The first step at which two translations differ, and the probabilities of both tokens in both.

    before, after: of (the first translation's token, the second's), in the first translation and in the second. Up to
    that step the decoder had read the same.
    """

    step: int
    tokens: tuple[str, str]
    before: tuple[float, float]
    after: tuple[float, float]


def parting_step(
    checkpoint: Checkpoint, texts: tuple[str, str], written: tuple[WrittenSteps, WrittenSteps]
) -> PartingStep | None:
    """Where the translations of two texts part; None where they are the same."""
    ids = [each.ids for each in written]
    step = next((place for place, (one, other) in enumerate(zip(*ids, strict=False)) if one != other), None)
    if step is None:
        return None
    taken = [each[step] for each in ids]
    before, after = (
        checkpoint.generate(text, 1, written=ids[0][:step]).steps[0].before[taken].tolist() for text in texts
    )
    one, other = checkpoint.tokenizer.pieces(taken)
    return PartingStep(step, (one, other), tuple(before), tuple(after))
