"""What was recorded of an LSTM beside a Transformer: what they cost, and what they learn from the same reviews.

``python -m benchmarks.recurrent`` and ``python -m model.training.recurrent`` write the records.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from model.measures.learn.records import read
from model.measures.learn.recurrence.recurrent_cost import Cost

ALIKE = 0.005  # between two mean accuracies, to call them the same


@dataclass(frozen=True, kw_only=True)
class CostRecord:
    """Costs, and where and how they were measured. models: their parameters."""

    command: str
    machine: str
    models: Mapping[str, int]
    costs: tuple[Cost, ...]


@dataclass(frozen=True, kw_only=True)
class LengthShare:
    """The held-out reviews of some lengths, in tokens: how many there are, and how many are judged rightly."""

    shortest: int
    longest: int
    reviews: int
    right: int


@dataclass(frozen=True, kw_only=True)
class TrainedRun:
    """One model, trained with one seed. seconds: of its training. curve: validation accuracy by step."""

    model: str
    seed: int
    parameters: int
    seconds: int
    reviews: int
    right: int
    by_length: tuple[LengthShare, ...]
    curve: Mapping[int, float]

    @property
    def accuracy(self) -> float:
        return self.right / self.reviews


@dataclass(frozen=True, kw_only=True)
class TrainingRecord:
    """All runs. facts: the record's other fields, steps and sizes among them."""

    command: str
    machine: str
    runs: tuple[TrainedRun, ...]
    facts: Mapping[str, Any]

    def of(self, model: str) -> list[TrainedRun]:
        return [run for run in self.runs if run.model == model]

    def accuracy(self, model: str) -> float:
        """The mean over the seeds."""
        return mean([run.accuracy for run in self.of(model)])

    def accuracy_by_length(self, model: str) -> list[float]:
        """The mean over the seeds, of each part of the lengths."""
        rows = [[part.right / part.reviews for part in run.by_length] for run in self.of(model)]
        return [mean(column) for column in zip(*rows, strict=True)]

    def curve(self, model: str) -> dict[int, float]:
        """Validation accuracy by step: the mean over the seeds."""
        runs = self.of(model)
        return {step: mean([run.curve[step] for run in runs]) for step in runs[0].curve}

    def better(self) -> str | None:
        """The model that judges more reviews rightly; None where they are alike."""
        lstm, transformer = self.accuracy("lstm"), self.accuracy("transformer")
        if abs(lstm - transformer) < ALIKE:
            return None
        return "lstm" if lstm > transformer else "transformer"

    def longest_better(self) -> str:
        """The model that judges more of the longest reviews rightly."""
        return max(("lstm", "transformer"), key=lambda model: self.accuracy_by_length(model)[-1])


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


@cache
def cost_record() -> CostRecord:
    record = read("recurrent_cost")
    return CostRecord(
        command=record["command"],
        machine=record["machine"],
        models=record["models"],
        costs=tuple(Cost(**row) for row in record["rows"]),
    )


@cache
def training_record() -> TrainingRecord:
    record = read("recurrent_training")
    return TrainingRecord(
        command=record["command"],
        machine=record["machine"],
        runs=tuple(trained_run(run) for run in record["runs"]),
        facts={key: value for key, value in record.items() if key != "runs"},
    )


def trained_run(run: Mapping[str, Any]) -> TrainedRun:
    return TrainedRun(
        **{name: run[name] for name in ("model", "seed", "parameters", "seconds", "reviews", "right")},
        by_length=tuple(LengthShare(**part) for part in run["by_length"]),
        curve={row["step"]: row["validation_accuracy"] for row in run["curve"]},
    )
