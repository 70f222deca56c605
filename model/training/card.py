"""What a checkpoint's card says: what the model is, what it was trained on and how, and what was measured of it."""

import argparse
import json
import platform
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tokenizers
import torch

from model.config import Config
from model.loading.checkpoint_files import CARD, read_card
from model.training import distributed, loop


@dataclass(frozen=True, kw_only=True)
class About:
    """What a card says of a checkpoint apart from its sizes, its training and its figures."""

    task: str
    summary: str
    data: list[dict[str, str]]  # name, use, licence and source of each
    limits: list[str]

    def fields(self, architecture: str) -> dict[str, Any]:
        """The fields of a card, in its order."""
        return {
            "task": self.task,
            "summary": self.summary,
            "architecture": architecture,
            "data": self.data,
            "limits": self.limits,
        }


def about_own_data(task: str, summary: str, name: str, held_out: str) -> About:
    """For a model that somebody trains on files of their own, of which nothing but the name is known."""
    data = {"name": name, "use": f"training; {held_out} held out", "licence": "not stated", "source": ""}
    return About(task=task, summary=summary, data=[data], limits=[])


def architecture(config: Config, *more: str) -> str:
    """The sizes and parts of a model in one line; ``more`` is what its kind of model has to add."""
    layers = " + ".join([str(config.layers)] * len(config.stacks))
    parts = (
        f"{layers} layers × {config.heads} heads",
        f"{config.width} wide",
        f"feed-forward {config.hidden}",
        f"{config.norm_order}-norm",
        f"{config.positions} positions",
    )
    return ", ".join((config.architecture, *parts, *more))


def training_fields(options: argparse.Namespace, run: loop.TrainingRun, task: str) -> dict[str, Any]:
    """What a card says of how a checkpoint came about."""
    return {
        "command": command(task, "train"),
        "seed": options.seed,
        "steps": run.steps,
        "examples": run.examples,
        "seconds": round(run.seconds),
        "machine": machine(distributed.own_device(options.device)),
        "versions": {
            "python": platform.python_version(),
            "torch": str(torch.__version__),
            "tokenizers": tokenizers.__version__,
        },
        "notes": f"{beginning(options)}; matrix products in {options.precision}; weights stored in half precision.",
    }


def machine(device: torch.device) -> str:
    """What was computed on."""
    count = distributed.share().world
    gpu = torch.cuda.get_device_name(device) if device.type == "cuda" else "no GPU"
    processes = f", {count} processes" if count > 1 else ""
    threads = "1 thread" if torch.get_num_threads() == 1 else f"{torch.get_num_threads()} threads"
    return f"{platform.machine()}, {threads}, {gpu}{processes}"


def beginning(options: argparse.Namespace) -> str:
    """What training began with; the command of the run before, if there was one."""
    if not options.start:
        return "Trained from random weights"
    before = read_card(options.start).get("training", {})
    first = f"{before.get('steps', '?')} steps in {before.get('seconds', '?')} s: {before.get('command', '?')}"
    return f"Trained from random weights in two runs; the first, {first}"


def command(task: str, name: str) -> str:
    """The command line as it can be typed again, with DIR in place of the data's folder."""
    words, skip = [], False
    for word in sys.argv[2:]:
        skip = word == "--data" or (skip and not word.startswith("--"))
        data = skip and word != "--data"
        words.append("DIR" if data and Path(word).is_dir() else Path(word).name if data else word)
    return shlex.join(["python", "-m", f"model.training.{task}", name, *words])


def add_figures(folder: Path, figures: list[dict[str, Any]], comparison: str) -> None:
    """Write figures into the card of a folder, in place of those of the same name.

    ``comparison`` names the run that they are of, if it is not the card's own.
    """
    if comparison:
        figures = [figure | {"what": f"{comparison}: {figure['what']}"} for figure in figures]
    card, names = read_card(folder), {figure["what"] for figure in figures}
    others = [figure for figure in card.get("evaluations", []) if figure["what"] not in names]
    card["evaluations"] = others + figures
    (folder / CARD).write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
