"""The recorded training of a tiny decoder with its causal mask and without: ``python -m model.training.blindfold``."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from model.measures.learn.records import read

MASKED, UNMASKED = "masked", "unmasked"
NOTHING = 1.25  # times a loss that another may be, to be about the same
ENGLISH = 0.5  # of the pairs of neighbouring words that a text has, that its training text has to have too


@dataclass(frozen=True, kw_only=True)
class Moment:
    """A run after some steps. Losses are nats a character.

    training_loss: the mean since the moment before. validation_loss: of held-out text, read whole. prefix_loss: of the
    character after held-out beginnings, which the model cannot see. pairs, known: the pairs of neighbouring words in
    ``text``, and how many of them the training text has.
    """

    step: int
    training_loss: float
    validation_loss: float
    prefix_loss: float
    text: str
    pairs: int
    known: int

    @property
    def writes_english(self) -> bool:
        """Whether it writes words that may follow one another."""
        return self.known >= ENGLISH * self.pairs > 0


@dataclass(frozen=True, kw_only=True)
class BlindfoldRecord:
    """Both runs. facts: the record's other fields, sizes and rates among them."""

    command: str
    machine: str
    prompt: str
    parameters: int
    seconds: int  # of both
    runs: Mapping[str, tuple[Moment, ...]]
    facts: Mapping[str, Any]

    def at(self, name: str, place: int) -> Moment:
        return self.runs[name][place]

    @property
    def steps(self) -> tuple[int, ...]:
        return tuple(moment.step for moment in self.runs[MASKED])

    @property
    def chance(self) -> float:
        """The loss of a guess at random."""
        return math.log(self.facts["characters"])

    def lower(self) -> str | None:
        """The run whose training loss ends lower; None where they end about the same."""
        ends = {name: moments[-1].training_loss for name, moments in self.runs.items()}
        low, high = sorted(ends, key=ends.__getitem__)
        return low if ends[high] > NOTHING * ends[low] else None

    def writers(self) -> frozenset[str]:
        """The runs that write English at their end."""
        return frozenset(name for name, moments in self.runs.items() if moments[-1].writes_english)


@cache
def blindfold_record() -> BlindfoldRecord:
    record = read("blindfold")
    runs = {run["name"]: run for run in record["runs"]}
    names = {field.name for field in fields(Moment)}
    return BlindfoldRecord(
        command=record["command"],
        machine=record["machine"],
        prompt=record["prompt"],
        parameters=runs[MASKED]["parameters"],
        seconds=sum(run["seconds"] for run in runs.values()),
        runs={
            name: tuple(Moment(**{key: row[key] for key in names}) for row in run["curve"])
            for name, run in runs.items()
        },
        facts={key: value for key, value in record.items() if key != "runs"},
    )
