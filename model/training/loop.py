"""The training loop: progress, learning curve, and a state on disk from which a killed run goes on unchanged."""

import csv
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from tqdm import tqdm

from model.errors import InputError
from model.weights import WEIGHTS

STATE, CURVE = "state.safetensors", "curve.csv"
COLUMNS = ("step", "examples", "training_loss", "validation_loss", "validation_accuracy", "learning_rate")


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """How long to train and how fast: linear warm-up, then a cosine down to zero."""

    steps: int
    peak_rate: float
    warm_up: int
    weight_decay: float = 0.01
    every: int = 500  # steps from one validation, and one saved state, to the next
    seed: int = 0

    def rate(self, step: int) -> float:
        """The learning rate of a step, counted from 0."""
        if step < self.warm_up:
            return self.peak_rate * (step + 1) / self.warm_up
        done = (step - self.warm_up) / max(1, self.steps - self.warm_up)
        return self.peak_rate * 0.5 * (1 + math.cos(math.pi * done))


@dataclass(frozen=True)
class Run:
    """What a training came to, over all its sittings."""

    examples: int
    seconds: float


@dataclass(frozen=True)
class Validation:
    """What a validation found."""

    loss: float
    accuracy: float


def train(
    model: nn.Module,
    loss_of_step: Callable[[int], tuple[Tensor, int]],
    validate: Callable[[], Validation],
    schedule: Schedule,
    folder: Path,
) -> Run:
    """Train ``model`` in place, leaving the curve and the state in ``folder``.

    ``loss_of_step(step)`` gives the loss of a step's batch and its number of examples; it must depend on nothing but
    the step, the model and torch's random state, which is set afresh from the seed and the step: so a run that was
    killed and started again does what it would have done. Raises InputError where the state is of another model.
    """
    folder.mkdir(parents=True, exist_ok=True)
    optimiser = torch.optim.AdamW(parameter_groups(model, schedule.weight_decay), betas=(0.9, 0.98))
    start, examples, seconds = resume(model, optimiser, folder / STATE)
    began = time.monotonic() - seconds
    curve = Curve(folder / CURVE, start)
    running: list[float] = []
    with tqdm(range(start, schedule.steps), initial=start, total=schedule.steps, unit="step") as progress:
        for step in progress:
            torch.manual_seed(schedule.seed * 1_000_003 + step)
            loss, count = loss_of_step(step)
            update(model, optimiser, loss, schedule.rate(step))
            examples += count
            running.append(loss.item())
            progress.set_postfix(loss=f"{sum(running[-50:]) / len(running[-50:]):.3f}", refresh=False)
            if (step + 1) % schedule.every == 0 or step + 1 == schedule.steps:
                found = validate()
                curve.add(step + 1, examples, sum(running) / len(running), found, schedule.rate(step))
                running.clear()
                tqdm.write(f"step {step + 1}: validation loss {found.loss:.4f}, accuracy {found.accuracy:.4f}")
                seconds = time.monotonic() - began
                save(model, optimiser, (step + 1, examples, seconds), folder / STATE)
    return Run(examples, seconds)


def parameter_groups(model: nn.Module, weight_decay: float) -> list[dict[str, object]]:
    """Matrices decay; biases and norms do not."""
    matrices = [p for p in model.parameters() if p.ndim > 1]
    vectors = [p for p in model.parameters() if p.ndim <= 1]
    return [{"params": matrices, "weight_decay": weight_decay}, {"params": vectors, "weight_decay": 0.0}]


def update(model: nn.Module, optimiser: torch.optim.Optimizer, loss: Tensor, rate: float) -> None:
    """One step of the optimiser, the gradient's norm cut at 1."""
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimiser.step()


class Curve:
    """``curve.csv``, cut back to the step from which training goes on."""

    def __init__(self, path: Path, start: int) -> None:
        self.path = path
        kept = []
        if path.exists() and start:
            with path.open(newline="", encoding="utf-8") as file:
                kept = [row for row in csv.DictReader(file) if int(row["step"]) <= start]
        self._write(kept, "w")

    def add(self, step: int, examples: int, training_loss: float, found: Validation, rate: float) -> None:
        """Append one row."""
        values = (step, examples, f"{training_loss:.5f}", f"{found.loss:.5f}", f"{found.accuracy:.5f}", f"{rate:.3g}")
        self._write([dict(zip(COLUMNS, values, strict=True))], "a")

    def _write(self, rows: list[dict[str, object]] | list[dict[str, str]], mode: str) -> None:
        with self.path.open(mode, newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS)
            if mode == "w":
                writer.writeheader()
            writer.writerows(rows)


def save(model: nn.Module, optimiser: torch.optim.Optimizer, progress: tuple[int, int, float], path: Path) -> None:
    """Write weights, optimiser state and progress (steps, examples, seconds), all at once or not at all."""
    tensors = {}
    for name, parameter in model.named_parameters():
        tensors[f"weight/{name}"] = parameter.detach()
        for part in ("exp_avg", "exp_avg_sq"):
            tensors[f"{part}/{name}"] = optimiser.state[parameter][part]
    unfinished = path.with_suffix(".part")
    save_file(tensors | {"progress": torch.tensor(progress, dtype=torch.float64)}, unfinished)
    unfinished.replace(path)


def load_weights(model: nn.Module, folder: Path) -> None:
    """Copy the weights of a run or of a finished checkpoint into the model. Raises InputError where they do not fit."""
    file = STATE if (folder / STATE).exists() else WEIGHTS
    if not (folder / file).exists():
        raise InputError(f"--start: there is neither {STATE} nor {WEIGHTS} in that folder.")
    prefix = "weight/" if file == WEIGHTS else ""
    copy_weights(model, {prefix + name: tensor for name, tensor in load_file(folder / file).items()}, file)


def copy_weights(model: nn.Module, tensors: dict[str, Tensor], file: str) -> None:
    """Copy the weights of a state into the model."""
    for name, parameter in model.named_parameters():
        stored = tensors.get(f"weight/{name}")
        if stored is None or stored.shape != parameter.shape:
            raise InputError(f"{file}: this is the state of another model ({name} differs); choose another folder.")
        with torch.no_grad():
            parameter.copy_(stored)


def resume(model: nn.Module, optimiser: torch.optim.Optimizer, path: Path) -> tuple[int, int, float]:
    """Load what ``save`` wrote, if it is there; the steps, examples and seconds so far."""
    if not path.exists():
        return 0, 0, 0.0
    tensors = load_file(path)
    step, examples, seconds = tensors["progress"].tolist()
    copy_weights(model, tensors, path.name)
    for name, parameter in model.named_parameters():
        moments = {part: tensors[f"{part}/{name}"] for part in ("exp_avg", "exp_avg_sq")}
        optimiser.state[parameter] = {"step": torch.tensor(float(step)), **moments}
    return int(step), int(examples), seconds
