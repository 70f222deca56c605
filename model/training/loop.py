"""The training loop: progress, learning curve, and a state on disk from which a killed run goes on unchanged."""

import csv
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from tqdm import tqdm

from model.errors import InputError
from model.loading.headers import WEIGHTS
from model.training import distributed, optimisers
from model.training.optimisers import Optimiser

STATE, CURVE = "state.safetensors", "curve.csv"
WEIGHT = "weight/"  # begins the name of a weight in a state, beside those of the optimiser's tensors
COLUMNS = ("step", "examples", "training_loss", "validation_loss", "validation_accuracy", "learning_rate")


def cosine(step: int, warm_up: int, steps: int) -> float:
    """From 1 at the end of the warm-up down to 0 at the last step: Loshchilov and Hutter 2017, equation 5."""
    return 0.5 * (1 + math.cos(math.pi * (step - warm_up) / max(1, steps - warm_up)))


def inverse_root(step: int, warm_up: int, steps: int) -> float:
    """One over the root of the step: "Attention Is All You Need", equation 3, as a share of its peak."""
    return math.sqrt(max(1, warm_up) / (step + 1))


def constant(step: int, warm_up: int, steps: int) -> float:
    """The peak itself: only the cool-down ends it."""
    return 1.0


DECAYS = {"cosine": cosine, "inverse-root": inverse_root, "constant": constant}


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """How long to train and how fast: linear warm-up, one of DECAYS, and perhaps a linear way down to zero at the end.

    That end is worth as much as a decay planned from the start (Hägele et al. 2024, "Scaling Laws and Compute-Optimal
    Training Beyond Fixed Training Durations"): a run can go on until one has to stop, and then be brought to it.
    """

    steps: int
    peak_rate: float
    warm_up: int
    decay: str = "cosine"
    cool_down: int = 0  # the last steps, in which the rate goes down to zero
    optimiser: str = "adamw"  # or "muon"
    weight_decay: float = 0.01
    every: int = 500  # steps from one validation, and one saved state, to the next
    snapshots: int = 0  # how often the weights are kept on the way, on a geometric scale of steps
    seed: int = 0

    def rate(self, step: int) -> float:
        """The learning rate of a step, counted from 0."""
        if step < self.warm_up:
            return self.peak_rate * (step + 1) / self.warm_up
        share = min(1.0, (self.steps - step) / max(1, self.cool_down))
        return share * self.peak_rate * DECAYS[self.decay](step, self.warm_up, self.steps)

    def snapshot_steps(self) -> set[int]:
        """The steps after which the weights are kept: evenly on a logarithmic axis, the first and the last among them.

        At most ``snapshots``, which are 2 or more where there are any.
        """
        parts = self.snapshots - 1
        return {round((1 + self.steps) ** (part / parts)) - 1 for part in range(parts + 1)} if parts > 0 else set()


class StepLoss(NamedTuple):
    """The mean loss of a step's batch, and how much that was.

    Where several processes train, each has a loss of its own, and it is their mean that is the batch's.
    """

    loss: Tensor
    examples: int
    tokens: int


@dataclass(frozen=True)
class TrainingRun:
    """What a training came to so far, over all its sittings."""

    steps: int
    examples: int
    seconds: float


@dataclass(frozen=True)
class Validation:
    """Means over the texts or tokens that were validated with."""

    loss: float
    accuracy: float


class Learning(NamedTuple):
    """What a model is to learn, and how well it has.

    ``loss_of_step(model, step)`` must depend on nothing but the step, the model (or what runs it on several processes)
    and torch's random state, which is set afresh from the seed and the step: so a run that was killed and started
    again does what it would have done.
    """

    loss_of_step: Callable[[nn.Module, int], StepLoss]
    validate: Callable[[nn.Module], Validation]


Keep = Callable[[nn.Module, TrainingRun], None]


def train(
    model: nn.Module,
    learning: Learning,
    keep: Keep,
    schedule: Schedule,
    folder: Path,
    *,
    snapshot: Keep = lambda model, run: None,
) -> None:
    """Train ``model`` in place, leaving the curve and the state in ``folder``.

    ``keep(model, run)`` is called with every state that is saved.
    ``snapshot(model, run)`` is called after the schedule's snapshot steps, with the weights as they are then.
    Raises InputError where the state is of another model.
    """
    folder.mkdir(parents=True, exist_ok=True)
    optimiser = optimiser_of(model, schedule)
    run = resume(model, optimiser, folder / STATE)
    network, first = distributed.spread(model), distributed.leads()
    record = ProgressRecord(run, schedule, folder) if first else None
    kept = schedule.snapshot_steps()
    if record is not None and run.steps == 0 in kept:
        snapshot(model, run)
    steps = range(run.steps, schedule.steps)
    with tqdm(steps, initial=run.steps, total=schedule.steps, unit="step", disable=not first) as progress:
        for step in progress:
            loss, own_part = take(step, network, optimiser, learning, schedule)
            if record is None:  # the first process validates and writes for all
                continue
            progress.set_postfix_str(record.took(loss, own_part), refresh=False)
            if step + 1 in kept:
                snapshot(model, record.until(step + 1))
            if (step + 1) % schedule.every == 0 or step + 1 == schedule.steps:
                run = record.validated(step + 1, learning.validate(model))
                keep(model, run)
                save(model, optimiser, run, folder / STATE)


def take(
    step: int, network: nn.Module, optimiser: Optimiser, learning: Learning, schedule: Schedule
) -> tuple[float, StepLoss]:
    """Take a step: the loss of its batch, over all processes, and what this process had of it."""
    torch.manual_seed((schedule.seed + 7919 * distributed.share().rank) * 1_000_003 + step)
    own_part = learning.loss_of_step(network, step)
    update(network, optimiser, own_part.loss, schedule.rate(step))
    return distributed.mean(own_part.loss), own_part


class ProgressRecord:
    """What a running training has to say of itself: its progress, its curve, and the weights that it had of late."""

    def __init__(self, run: TrainingRun, schedule: Schedule, folder: Path) -> None:
        self.examples, self.began = run.examples, time.monotonic() - run.seconds
        self.schedule, self.curve = schedule, Curve(folder / CURVE, run.steps)
        self.losses: list[float] = []
        self.tokens, self.here = 0, time.monotonic()

    def took(self, loss: float, batch: StepLoss) -> str:
        """Take a step down; the end of the progress line."""
        self.examples += batch.examples
        self.tokens += batch.tokens
        self.losses.append(loss)
        late = self.losses[-50:]
        return f"loss={sum(late) / len(late):.3f}, {self.tokens / (time.monotonic() - self.here):,.0f} tokens/s"

    def validated(self, steps: int, validation: Validation) -> TrainingRun:
        """Take a validation down: a row of the curve, and a line."""
        rate = self.schedule.rate(steps - 1)
        self.curve.add(steps, self.examples, sum(self.losses) / len(self.losses), validation, rate)
        self.losses.clear()
        tqdm.write(f"step {steps}: validation loss {validation.loss:.4f}, accuracy {validation.accuracy:.4f}")
        return self.until(steps)

    def until(self, steps: int) -> TrainingRun:
        """What the training has come to after so many steps."""
        return TrainingRun(steps, self.examples, time.monotonic() - self.began)


def optimiser_of(model: nn.Module, schedule: Schedule) -> Optimiser:
    """What takes the steps of a schedule."""
    return optimisers.optimiser_of(model, schedule.optimiser, schedule.weight_decay)


def update(network: nn.Module, optimiser: Optimiser, loss: Tensor, rate: float) -> None:
    """One step of the optimiser."""
    network.zero_grad()
    loss.backward()
    optimiser.step(rate)


class Curve:
    """``curve.csv``, cut back to the step from which training goes on."""

    def __init__(self, path: Path, start: int) -> None:
        self.path = path
        earlier_rows = []
        if path.exists() and start:
            with path.open(newline="", encoding="utf-8") as file:
                earlier_rows = [row for row in csv.DictReader(file) if int(row["step"]) <= start]
        self._write(earlier_rows, "w")

    def add(self, step: int, examples: int, training_loss: float, validation: Validation, rate: float) -> None:
        losses = (f"{training_loss:.5f}", f"{validation.loss:.5f}", f"{validation.accuracy:.5f}")
        self._write([dict(zip(COLUMNS, (step, examples, *losses, f"{rate:.3g}"), strict=True))], "a")

    def _write(self, rows: list[dict[str, object]] | list[dict[str, str]], mode: str) -> None:
        with self.path.open(mode, newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS)
            if mode == "w":
                writer.writeheader()
            writer.writerows(rows)


def curve_rows(path: Path) -> list[dict[str, float]]:
    """The rows of a ``curve.csv``."""
    with path.open(newline="", encoding="utf-8") as file:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]


def save(model: nn.Module, optimiser: Optimiser, run: TrainingRun, path: Path) -> None:
    """Write weights, optimiser state and progress, all at once or not at all."""
    weights = {WEIGHT + name: parameter.detach() for name, parameter in model.named_parameters()}
    tensors = weights | dict(optimiser.moments())
    progress = torch.tensor([run.steps, run.examples, run.seconds], dtype=torch.float64)
    unfinished = path.with_suffix(".part")
    save_file(tensors | {"progress": progress}, unfinished)
    unfinished.replace(path)


def load_weights(model: nn.Module, folder: Path) -> None:
    """Copy the weights of a run or of a finished checkpoint into the model. Raises InputError where they do not fit."""
    file = STATE if (folder / STATE).exists() else WEIGHTS
    if not (folder / file).exists():
        raise InputError(f"--start: there is neither {STATE} nor {WEIGHTS} in that folder.")
    tensors = load_file(folder / file)
    copy_weights(model, weights_of(tensors) if file == STATE else tensors, file)


def weights_of(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """The weights among the tensors that ``save`` wrote, by the names that the model has for them."""
    return {name.removeprefix(WEIGHT): tensor for name, tensor in state.items() if name.startswith(WEIGHT)}


def copy_weights(model: nn.Module, weights: dict[str, Tensor], file: str) -> None:
    """Copy weights into the model. Raises InputError, naming the file that they are of, where they do not fit."""
    for name, parameter in model.named_parameters():
        stored = weights.get(name)
        if stored is None or stored.shape != parameter.shape:
            raise InputError(f"{file}: this is the state of another model ({name} differs); choose another folder.")
        with torch.no_grad():
            parameter.copy_(stored)


def resume(model: nn.Module, optimiser: Optimiser, path: Path) -> TrainingRun:
    """Load what ``save`` wrote, if it is there, and how far that was."""
    if not path.exists():
        return TrainingRun(0, 0, 0.0)
    tensors = load_file(path)
    step, examples, seconds = tensors["progress"].tolist()
    copy_weights(model, weights_of(tensors), path.name)
    optimiser.set_moments(tensors, int(step))
    return TrainingRun(int(step), int(examples), seconds)
