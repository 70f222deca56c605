"""The history of a training: moments on one axis of steps, weights at some of them, and where it changed suddenly."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from model.checkpoint import Checkpoint
from model.training.watched.characters import character_tokenizer
from model.training.watched.learning_run import FRESH_BATCHES, SEQUENCES, Progress, Weights
from model.training.watched.moments import Moment
from model.training.watched.run_settings import RunSettings
from model.transformer import Transformer

LEAST_RISE, LEAST_SHARE = 0.25, 0.5  # of accuracy in a doubling of the steps, and of all that it rises: a sudden change
# "It was trained for …", by the names of the tasks.
LEARNED = {
    "copy": "writing letters again after the sign >",
    "reverse": "writing letters backwards after the sign >",
    "sort": "writing letters by the alphabet after the sign >",
    "induction": "saying which letter stood after the same letter the last time",
    "text": "continuing one text, character by character",
}


@dataclass(frozen=True, kw_only=True)
class SuddenChange:
    """Where accuracy rises the most within a doubling of the steps: from step / √2 to step · √2.

    before, after: the accuracy at both ends, 0 to 1.
    """

    step: int
    before: float
    after: float


@dataclass(frozen=True, kw_only=True, eq=False)
class History:
    """What a training went through until now. snapshots: the weights by the step, in half precision."""

    settings: RunSettings
    moments: tuple[Moment, ...]
    snapshots: dict[int, Weights]

    @property
    def steps(self) -> list[int]:
        """Those that a snapshot is kept of."""
        return sorted(self.snapshots)

    @property
    def last(self) -> Moment:
        """How far it is."""
        return self.moments[-1]

    def after(self, progress: Progress) -> "History":
        """The history with one more moment."""
        moment, weights = progress
        kept = self.snapshots if weights is None else self.snapshots | {moment.step: weights}
        return History(settings=self.settings, moments=(*self.moments, moment), snapshots=kept)

    def at(self, step: int) -> Moment:
        """The moment of a step that there is one of."""
        return next(moment for moment in self.moments if moment.step == step)

    def checkpoint(self, step: int) -> Checkpoint:
        """The model as it was after so many steps, one of ``steps``, on the CPU."""
        task = self.settings.task_to_learn()
        with torch.device("meta"):
            model = Transformer(self.settings.config(task))
        weights = {name: weight.float() for name, weight in self.snapshots[step].items()}
        model.load_state_dict(weights, assign=True)
        model.eval().requires_grad_(False)
        name = f"{self.settings.task}-{step}"
        return Checkpoint(name, model, character_tokenizer(task.characters), self.card(step), torch.device("cpu"))

    def card(self, step: int) -> dict[str, object]:
        """What the checkpoint of a step says of itself."""
        moment, settings = self.at(step), self.settings
        figure = {"what": "accuracy on fresh sequences", "value": round(100 * moment.accuracy, 2), "unit": "%"}
        return {
            "name": f"{settings.task}-{step}",
            "task": LEARNED[settings.task],
            "summary": f"A tiny decoder after {step:,} of {settings.steps:,} steps of its training.",
            "training": {key: value for key, value in settings.to_json().items() if key != "text"} | {"steps": step},
            "evaluations": [figure | {"examples": FRESH_BATCHES * SEQUENCES}],
            "limits": ["It knows single characters, and was trained for some seconds to be looked at."],
        }

    def sudden_change(self) -> SuddenChange | None:
        """The steepest rise of accuracy, where that is a sudden change; accuracy between moments is interpolated.

        In the logarithm of the steps, from the first step on.
        """
        steps = np.array([moment.step for moment in self.moments if moment.step > 0])
        accuracy = np.array([moment.accuracy for moment in self.moments if moment.step > 0])
        return steepest(steps, accuracy)


def steepest(steps: np.ndarray, accuracy: np.ndarray) -> SuddenChange | None:
    """The step about which accuracy rises the most within a doubling.

    None where that is by less than a quarter, or less than half of what it rises in all: a slow rise.
    """
    inside = [step for step in steps.tolist() if step**2 >= 2 and 2 * step**2 <= steps.max() ** 2]
    if not inside:
        return None
    before, after = (interpolated(steps, accuracy, [step * factor for step in inside]) for factor in (0.5**0.5, 2**0.5))
    best = int(np.argmax(after - before))
    if after[best] - before[best] < max(LEAST_RISE, LEAST_SHARE * float(np.ptp(accuracy))):
        return None
    return SuddenChange(step=inside[best], before=float(before[best]), after=float(after[best]))


def interpolated(steps: np.ndarray, values: np.ndarray, wanted: Sequence[float]) -> np.ndarray:
    """Values at other steps, linear in the logarithm of the step."""
    return np.interp([math.log(step) for step in wanted], np.log(steps), values)
