"""A history as two files in a folder: its settings and moments as JSON, its weights as one safetensors file.

Reading is strict and bounded: the JSON first, then the header of the weights against the model that the settings ask
for, then the numbers. Every refusal is a CheckpointError of one line.
"""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from model.errors import CheckpointError, InputError
from model.loading.bounded_files import LARGEST_JSON, read_bytes, refuse, regular_file, strict_json
from model.loading.checkpoint_files import save_checkpoint
from model.loading.headers import Stored, read_header
from model.training.watched.history import History
from model.training.watched.learning_run import MOST_BYTES, Weights
from model.training.watched.moments import Moment
from model.training.watched.run_settings import RunSettings
from model.transformer import Transformer

MOMENTS, SNAPSHOTS = "history.json", "snapshots.safetensors"
LARGEST_SNAPSHOTS = MOST_BYTES + (1 << 20)  # with their header


def write_history(folder: Path, history: History) -> None:
    """Write both files."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {
        f"{step}/{name}": weight for step, weights in history.snapshots.items() for name, weight in weights.items()
    }
    save_file(tensors, folder / SNAPSHOTS)
    rows = ",\n  ".join(json.dumps(moment.to_json()) for moment in history.moments)  # a line each
    settings = json.dumps(history.settings.to_json(), ensure_ascii=False)
    text = f'{{\n "settings": {settings},\n "moments": [\n  {rows}\n ]\n}}\n'
    (folder / MOMENTS).write_text(text, encoding="utf-8")


def read_history(folder: Path) -> History:
    """What ``write_history`` wrote."""
    settings, moments = read_moments(strict_json(read_bytes(folder, MOMENTS, LARGEST_JSON), MOMENTS))
    steps = [moment.step for moment in moments if moment.scores is not None]
    return History(settings=settings, moments=moments, snapshots=read_snapshots(folder, settings, steps))


def read_moments(values: dict[str, Any]) -> tuple[RunSettings, tuple[Moment, ...]]:
    """Settings and moments, their steps in order."""
    try:
        settings = RunSettings.from_json(values["settings"])
        moments = tuple(map(Moment.from_json, values["moments"]))
    except InputError as error:
        raise CheckpointError(f"{MOMENTS}: settings: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError):
        refuse(MOMENTS, "moments", "something else", "the settings and moments of a training")
    steps = [moment.step for moment in moments]
    if not steps or steps != sorted(set(steps)) or steps[-1] > settings.steps:
        refuse(MOMENTS, "step", "others", f"rising ones up to {settings.steps:,}")
    heads = (settings.layers, settings.heads)
    if any(each.scores.shape != heads for moment in moments for each in (moment.scores or {}).values()):
        refuse(MOMENTS, "scores", "those of other heads", f"(layer, head) {heads}")
    return settings, moments


def read_snapshots(folder: Path, settings: RunSettings, steps: list[int]) -> dict[int, Weights]:
    """The weights of these steps."""
    path = regular_file(folder, SNAPSHOTS, LARGEST_SNAPSHOTS)
    check_header(settings, steps, read_header(path))
    try:
        tensors = load_file(path)
    except (SafetensorError, OSError, ValueError):
        refuse(SNAPSHOTS, "file", "something that safetensors refuses", "a safetensors file")
    for name, tensor in tensors.items():
        if not tensor.isfinite().all():
            refuse(SNAPSHOTS, name, "a number that is not finite", "finite ones")
    names = {name.partition("/")[2] for name in tensors}
    return {step: {name: tensors[f"{step}/{name}"] for name in names} for step in steps}


def check_header(settings: RunSettings, steps: list[int], stored: dict[str, Stored]) -> None:
    """Refuse a file that holds others than the weights of the model of the settings, for every step."""
    with torch.device("meta"):
        model = Transformer(settings.config(settings.task_to_learn()))
    shapes = {f"{step}/{name}": tuple(each.shape) for step in steps for name, each in model.named_parameters()}
    for name in sorted(shapes.keys() ^ stored.keys()):
        refuse(SNAPSHOTS, name, *("nothing", "a tensor") if name in shapes else ("a tensor", "nothing"))
    for name, shape in shapes.items():
        if stored[name].shape != shape or stored[name].dtype != "F16":
            refuse(SNAPSHOTS, name, f"{stored[name].dtype} {stored[name].shape}", f"F16 {shape}")


def save_snapshot(folder: Path, history: History, step: int) -> None:
    """Write the model as it was after so many steps as a checkpoint that ``load_checkpoint`` reads."""
    checkpoint = history.checkpoint(step)
    save_checkpoint(folder, checkpoint.model, checkpoint.tokenizer, checkpoint.card)
