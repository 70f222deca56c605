"""How often each head gives the right answer to questions of one sort, beside a fixed rule and a null.

The best head and the best rule are chosen on other examples than those that the figures are of, so that the best of
many is not better by choice alone. The null is the best head, chosen and measured the same way, where the answers are
those of other questions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Int

LEAST_QUESTIONS = 30  # to choose on, and to report: of fewer a share says little


@dataclass(frozen=True, kw_only=True, eq=False)
class Hits:
    """Counts of right answers to so many questions. ``permuted``: where the answers are those of other questions."""

    questions: int
    heads: Int[np.ndarray, "direction layer head"]
    permuted: Int[np.ndarray, "direction layer head"]
    rules: Int[np.ndarray, " rule"]

    def __add__(self, other: "Hits") -> "Hits":
        """Of the questions of both."""
        return Hits(**{field.name: getattr(self, field.name) + getattr(other, field.name) for field in fields(self)})


HitsByName = dict[str, Hits]


@dataclass(frozen=True, kw_only=True)
class GoldScore:
    """The best head for one sort of question, in one direction of looking.

    accuracy, null, baseline: shares of ``questions``, 0 to 1. rule: what the baseline does, as "offset -1".
    """

    name: str
    direction: str
    questions: int
    layer: int
    head: int
    accuracy: float
    null: float
    rule: str
    baseline: float

    @property
    def beats_rule(self) -> bool:
        """Whether the head is more often right than the rule by more than two standard errors of the difference.

        The error is the largest that these shares allow: that of answers which are never right together (McNemar 1947,
        "Note on the sampling error of the difference between correlated proportions"). It is never too small.
        """
        difference = self.accuracy - self.baseline
        variance = (self.accuracy + self.baseline - difference**2) / max(1, self.questions)
        return difference > 2 * variance**0.5


def added_hits(one: Mapping[str, Hits], other: Mapping[str, Hits]) -> HitsByName:
    """The counts of both."""
    return {
        name: one[name] + other[name] if name in one and name in other else ({**one, **other})[name]
        for name in sorted({*one, *other})
    }


def gold_scores(
    chosen_by: Mapping[str, Hits], reported: Mapping[str, Hits], directions: Sequence[str], rules: Sequence[str]
) -> tuple[GoldScore, ...]:
    """Every sort of which there are enough questions, the most frequent first, in every direction."""
    frequent = [
        name for name in reported if min(questions(chosen_by, name), questions(reported, name)) >= LEAST_QUESTIONS
    ]
    return tuple(
        gold_score(name, chosen_by[name], reported[name], (number, direction), rules)
        for name in sorted(frequent, key=lambda name: -reported[name].questions)
        for number, direction in enumerate(directions)
    )


def questions(hits: Mapping[str, Hits], name: str) -> int:
    """How many questions of a sort there are."""
    return hits[name].questions if name in hits else 0


def gold_score(
    name: str, chosen_by: Hits, reported: Hits, direction: tuple[int, str], rules: Sequence[str]
) -> GoldScore:
    """What the head and the rule that are best on some questions do on others; of equals the first."""
    number, direction_name = direction
    layer, head = best_place(chosen_by.heads[number])
    rule = int(chosen_by.rules.argmax())
    return GoldScore(
        name=name,
        direction=direction_name,
        questions=reported.questions,
        layer=layer,
        head=head,
        accuracy=int(reported.heads[number, layer, head]) / reported.questions,
        null=int(reported.permuted[(number, *best_place(chosen_by.permuted[number]))]) / reported.questions,
        rule=rules[rule],
        baseline=int(reported.rules[rule]) / reported.questions,
    )


def best_place(hits: Int[np.ndarray, "layer head"]) -> tuple[int, int]:
    """The layer and head with the most hits."""
    layer, head = np.unravel_index(hits.argmax(), hits.shape)
    return int(layer), int(head)
