"""What a training is asked for: a task, sizes, a seed. The same settings give the same history on one machine."""

import dataclasses
from dataclasses import dataclass
from typing import Any

import torch

from model.config import Config
from model.edits import NO_EDITS, Edits
from model.errors import InputError, printable
from model.tokenizer import check_text
from model.training.loop import Schedule
from model.training.watched import tasks
from model.training.watched.characters import commonest_characters, ids_of
from model.training.watched.tasks import OF_LETTERS, TEXT, Task

BOUNDS = {"layers": (1, 4), "heads": (1, 8), "width": (16, 128), "steps": (1, 10_000), "seed": (0, 999_999_999)}
CHOICES = {
    "task": tasks.NAMES,
    "positions": ("learned", "none"),
    "norm_order": ("pre", "post"),
    "mask": ("causal", "none"),
}
SHORTEST_TEXT, LONGEST_TEXT = 1_000, 100_000  # characters
MOST_CHARACTERS = 94  # that differ; rarer ones are unknown
RATE, RATE_WIDTH = 1e-2, 32  # the peak rate of a model of this width; wider ones have less


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """Task, model and length of a training. Raises InputError where a value is out of bounds.

    mask: "none" lets every position see all others, the answers that follow it among them, as no decoder may.
    text: what the task "text" learns from; other tasks have none.
    """

    task: str = "induction"
    layers: int = 2
    heads: int = 2
    width: int = 32
    positions: str = "learned"
    norm_order: str = "pre"
    mask: str = "causal"
    steps: int = 1000
    seed: int = 0
    text: str = ""

    def __post_init__(self) -> None:
        for name, (least, most) in BOUNDS.items():
            value = getattr(self, name)
            expect(type(value) is int and least <= value <= most, name, value, f"a whole number, {least} to {most:,}")
        for name, choices in CHOICES.items():
            expect(getattr(self, name) in choices, name, getattr(self, name), "one of " + ", ".join(choices))
        expect(self.width % self.heads == 0, "heads", self.heads, f"a divisor of width {self.width}")
        self._check_text()

    def _check_text(self) -> None:
        check_text(self.text)
        length, found = len(self.text), f"{len(self.text):,} characters"
        if self.task != TEXT:
            expect(length == 0, "text", found, f"none for the task {self.task}")
        else:
            right = SHORTEST_TEXT <= length <= LONGEST_TEXT
            expect(right, "text", found, f"{SHORTEST_TEXT:,} to {LONGEST_TEXT:,}")

    def task_to_learn(self) -> Task:
        """The task, with the text where it has one."""
        if self.task != TEXT:
            return OF_LETTERS[self.task]
        characters = commonest_characters(self.text, MOST_CHARACTERS)
        return tasks.of_text(characters, torch.tensor(ids_of(self.text, characters)))

    @property
    def edits(self) -> Edits:
        """What its passes are made with."""
        return NO_EDITS if self.mask == "causal" else Edits(unmasked=frozenset({"decoder"}))

    def config(self, task: Task) -> Config:
        """A decoder in the manner of GPT-2 (Radford et al. 2019), but tiny."""
        return Config(
            architecture="decoder",
            vocabulary=tasks.FIRST_ID + len(task.characters),
            width=self.width,
            heads=self.heads,
            layers=self.layers,
            hidden=2 * self.width,
            max_length=task.length,
            positions=self.positions,
            norm_order=self.norm_order,
            activation="gelu",
            scale_embeddings=False,
            tie_embeddings=False,
            dropout=0.0,
        )

    def schedule(self) -> Schedule:
        """Warm-up over a twentieth of the steps, then the way of a cosine down to zero."""
        peak = RATE * (RATE_WIDTH / self.width) ** 0.5
        return Schedule(steps=self.steps, peak_rate=peak, warm_up=max(1, self.steps // 20), seed=self.seed)

    def to_json(self) -> dict[str, Any]:
        """The fields as plain JSON values."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "RunSettings":
        """The settings that ``to_json`` wrote. Raises InputError for a field that is unknown, missing or wrong."""
        names = {field.name for field in dataclasses.fields(cls)}
        wrong = sorted(names ^ values.keys())
        expect(not wrong, ", ".join(wrong[:3]), "other fields", "those of a training")
        return cls(**values)


def expect(right: bool, field: str, value: object, expected: str) -> None:
    """InputError unless it is right."""
    if not right:
        raise InputError(f"{printable(field)}: found {printable(value)}, expected {expected}.")
