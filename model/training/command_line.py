"""What the commands of this package have in common: options, the card, the refusals."""

import argparse
import contextlib
import json
import platform
import shlex
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tokenizers
import torch
from torch import nn

from model.config import Config
from model.errors import CheckpointError, InputError
from model.loading.checkpoint_files import CARD, read_card, save_checkpoint
from model.tokenizer import Tokenizer
from model.training import distributed, loop
from model.transformer import Transformer

Command = Callable[[argparse.Namespace], None]


def precision(name: str, device: torch.device) -> contextlib.AbstractContextManager[object]:
    """Matrix products in bfloat16, everything else in float32; or all in float32."""
    return torch.autocast(device.type, dtype=torch.bfloat16) if name == "bfloat16" else contextlib.nullcontext()


def training_options(
    parser: argparse.ArgumentParser, numbers: dict[str, int | float], data: str, *, several: bool = False
) -> None:
    """The options of every command ``train``, and the numbers with their defaults; ``several`` files of data or one."""
    parser.add_argument("--data", type=Path, nargs="+" if several else None, required=True, help=data)
    parser.add_argument("--out", type=Path, required=True, help="folder for the checkpoint, its curve and its state")
    parser.add_argument("--prepared", type=Path, help="folder for tokenizer and corpus, shared by several runs")
    parser.add_argument("--start", type=Path, help="folder of a run whose weights to start from, not random ones")
    for name, value in numbers.items():
        parser.add_argument(f"--{name}", type=type(value), default=value, help=" ")
    parser.add_argument("--precision", choices=("bfloat16", "float32"), default="bfloat16", help="of matrix products")
    parser.add_argument("--device", default="auto", help="auto, cuda, mps or cpu")


def evaluation_options(parser: argparse.ArgumentParser, bundled: str, data: str, *, several: bool = False) -> None:
    """The options of every command ``evaluate``."""
    parser.add_argument("--data", type=Path, nargs="+" if several else None, required=True, help=data)
    parser.add_argument("--checkpoint", default=bundled, help="a bundled checkpoint's name, or a folder")
    parser.add_argument("--device", default="auto", help="auto, cuda, mps or cpu")
    parser.add_argument("--card", type=Path, help="folder whose card.json takes the figures up")
    parser.add_argument("--first", type=int, help="evaluate only so many texts, from the start")


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is to be trained, on what."""

    name: str  # of the module in this package
    config: Config
    tokenizer: Tokenizer
    size: str  # of the data, for people
    about: dict[str, Any]  # of the card
    learning: loop.Learning
    schedule: loop.Schedule


def schedule_options(parser: argparse.ArgumentParser, decay: str) -> None:
    """The options of a training whose end need not be known when it begins."""
    parser.add_argument("--decay", choices=tuple(loop.DECAYS), default=decay, help="of the rate, after the warm-up")
    parser.add_argument("--warm-up", type=int, default=400, help="first steps, in which the rate goes up")
    parser.add_argument("--cool-down", type=int, default=0, help="last steps, in which the rate goes down to zero")
    parser.add_argument("--averaged", type=int, default=1, help="saved states whose mean is the checkpoint")


def schedule(options: argparse.Namespace) -> loop.Schedule:
    """The schedule that the options describe."""
    return loop.Schedule(
        steps=options.steps,
        peak_rate=options.rate,
        warm_up=options.warm_up,
        decay=options.decay,
        cool_down=options.cool_down,
        every=options.every,
        averaged=options.averaged,
        weight_decay=options.weight_decay,
        seed=options.seed,
    )


def fit(options: argparse.Namespace, task: Task) -> None:
    """Train the model of a task from random weights, or from those of another run, and write its checkpoint.

    ``--start`` stands for the weights alone: the schedule begins anew.
    """
    torch.manual_seed(options.seed)
    model = Transformer(task.config)
    if options.start:
        loop.load_weights(model, options.start)
    if distributed.leads():
        print(f"{model.parameter_count():,} parameters, {task.size}")
    loop.train(
        model.to(distributed.own_device(options.device)), task.learning, keeping(options, task), task.schedule,
        options.out,
    )  # fmt: skip
    if distributed.leads():
        print(f"The checkpoint is in {options.out}: {', '.join(file.name for file in sorted(options.out.glob('*.*')))}")


def keeping(options: argparse.Namespace, task: Task) -> Callable[[nn.Module, loop.TrainingRun], None]:
    """What writes a usable checkpoint each time that a run saves its state."""

    def keep(model: nn.Module, run: loop.TrainingRun) -> None:
        assert isinstance(model, Transformer)
        about = {"name": options.out.name, **task.about, "parameters": model.parameter_count()}
        card = about | {"training": training_card(options, run, task.name), "evaluations": []}
        save_checkpoint(options.out, model, task.tokenizer, card)

    return keep


def training_card(options: argparse.Namespace, run: loop.TrainingRun, task: str) -> dict[str, Any]:
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
    several = f", {count} processes" if count > 1 else ""
    return f"{platform.machine()}, {torch.get_num_threads()} threads, {gpu}{several}"


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


def report(options: argparse.Namespace, task: str, found: Iterable[dict[str, Any]], comparison: str = "") -> None:
    """Print figures as they come, and write them into a card where asked to."""
    figures = []
    for figure in found:
        value = f"{figure['value']:.2f}" if figure["unit"] == "%" else f"{figure['value']:g}"
        signature = f" ({figure['signature']})" if "signature" in figure else ""
        what = " ".join(filter(None, (f"{figure['what']}:", value, figure["unit"])))
        print(f"{what} of {figure['examples']:,}{signature}", flush=True)
        figures.append(figure | {"command": command(task, "evaluate")})
    if options.card:
        add_to_card(options.card, figures, comparison)


def add_to_card(folder: Path, found: list[dict[str, Any]], comparison: str) -> None:
    """Replace the figures of the same name in a card."""
    found = [figure | {"what": f"{comparison}: {figure['what']}"} if comparison else figure for figure in found]
    card, names = read_card(folder), {figure["what"] for figure in found}
    kept = [figure for figure in card.get("evaluations", []) if figure["what"] not in names]
    card["evaluations"] = kept + found
    (folder / CARD).write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def run(options: argparse.Namespace, commands: dict[str, Command]) -> None:
    """Run the command, beside those that ``torchrun`` started; a refusal is one line."""
    try:
        with distributed.together(distributed.own_device(getattr(options, "device", "cpu"))):
            commands[options.command](options)
    except (InputError, CheckpointError) as error:
        raise SystemExit(str(error)) from None
    except ValueError as error:  # a size that the config refuses
        raise SystemExit(f"--{error}") from None
