"""What the commands of this package share: their options, what they read, training to a checkpoint, their refusals."""

import argparse
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn

from model.checkpoint import Checkpoint, load_checkpoint
from model.config import Config
from model.errors import CheckpointError, InputError
from model.loading.checkpoint_files import TOKENIZER, save_checkpoint
from model.tokenizer import Tokenizer
from model.training import card, distributed, loop, optimisers
from model.transformer import Transformer

SNAPSHOTS = "snapshots"
Command = Callable[[argparse.Namespace], None]
Data = TypeVar("Data")


# Options


def parser_of(task: str, description: str) -> tuple[argparse.ArgumentParser, Callable[..., argparse.ArgumentParser]]:
    """The command line of a module, and what adds a command to it, whose help names every default."""
    parser = argparse.ArgumentParser(prog=f"python -m model.training.{task}", description=description)
    commands = parser.add_subparsers(dest="command", required=True)
    return parser, partial(commands.add_parser, formatter_class=argparse.ArgumentDefaultsHelpFormatter)


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
    parser.add_argument(
        "--snapshots", type=int, default=0, help="checkpoints of the way, on a geometric scale of steps, in snapshots/"
    )
    parser.add_argument("--precision", choices=("bfloat16", "float32"), default="bfloat16", help="of matrix products")
    parser.add_argument("--device", default="auto", help="auto, cuda, mps or cpu")


def evaluation_options(parser: argparse.ArgumentParser, bundled: str, data: str, *, several: bool = False) -> None:
    """The options of every command ``evaluate``."""
    parser.add_argument("--data", type=Path, nargs="+" if several else None, required=True, help=data)
    parser.add_argument("--checkpoint", default=bundled, help="a bundled checkpoint's name, or a folder")
    parser.add_argument("--device", default="auto", help="auto, cuda, mps or cpu")
    parser.add_argument("--card", type=Path, help="folder whose card.json takes the figures up")
    parser.add_argument("--first", type=int, help="evaluate only so many texts, from the start")


def schedule_options(parser: argparse.ArgumentParser, decay: str) -> None:
    """The options of a training whose end need not be known when it begins."""
    parser.add_argument("--decay", choices=tuple(loop.DECAYS), default=decay, help="of the rate, after the warm-up")
    parser.add_argument("--warm-up", type=int, default=400, help="first steps, in which the rate goes up")
    parser.add_argument(
        "--optimiser",
        choices=optimisers.NAMES,
        default="adamw",
        help="muon takes the matrices of the blocks, AdamW all other weights",
    )
    parser.add_argument("--cool-down", type=int, default=0, help="last steps, in which the rate goes down to zero")


def schedule(options: argparse.Namespace, **fixed: Any) -> loop.Schedule:
    """The schedule that the options describe; ``fixed`` are fields that the command has no option for."""
    names = {
        "steps",
        "warm_up",
        "decay",
        "cool_down",
        "weight_decay",
        "every",
        "seed",
        "optimiser",
        "snapshots",
    }
    given = {name: value for name, value in vars(options).items() if name in names}
    return loop.Schedule(peak_rate=options.rate, **given, **fixed)


def sizes(options: argparse.Namespace, vocabulary: int) -> dict[str, Any]:
    """The fields of a config that every command ``train`` has options for, and the tokenizer's number of pieces."""
    names = ("width", "heads", "layers", "hidden", "max_length", "dropout")
    return {"vocabulary": vocabulary} | {name: getattr(options, name) for name in names}


# What a command reads


def data_paths(options: argparse.Namespace) -> list[Path]:
    return options.data if isinstance(options.data, list) else [options.data]


def has_bundled_data(options: argparse.Namespace) -> bool:
    """Whether the data is the folder that a bundled checkpoint was trained on; files are somebody's own."""
    return data_paths(options)[0].is_dir()


def data_name(options: argparse.Namespace) -> str:
    return " and ".join(path.name for path in data_paths(options))


def prepared_data(options: argparse.Namespace, prepare: Callable[[Any, int, Path, Tokenizer | None], Data]) -> Data:
    """What ``prepare(data, vocabulary, folder, tokenizer)`` makes: by the first process, while others wait to read it.

    The tokenizer is that of the checkpoint to start from, whose weights know its ids alone; None: the data teaches one.
    """
    folder = options.prepared or options.out / "prepared"
    with distributed.leader_first():
        return prepare(options.data, options.vocabulary, folder, known_tokenizer(options.start, folder / TOKENIZER))


def known_tokenizer(start: Path | None, prepared: Path) -> Tokenizer | None:
    """The tokenizer of the checkpoint that training starts from, if it starts from one.

    InputError where the data was prepared with another.
    """
    if start is None or not (start / TOKENIZER).exists():
        return None
    text = (start / TOKENIZER).read_text(encoding="utf-8")
    if prepared.exists() and prepared.read_text(encoding="utf-8") != text:
        raise InputError("--prepared: found another tokenizer than the checkpoint of --start has; choose a new folder.")
    return Tokenizer.from_json(text)


def checkpoint_to_evaluate(options: argparse.Namespace, fits: Callable[[Config], bool], refusal: str) -> Checkpoint:
    """The checkpoint that the options name; InputError, "<name> <refusal>: …", where its config does not fit."""
    checkpoint = load_checkpoint(options.checkpoint, options.device)
    if not fits(checkpoint.config):
        raise InputError(f"{checkpoint.name} {refusal}: it is of architecture {checkpoint.config.architecture}.")
    return checkpoint


# Training to a checkpoint


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
    model = model.to(distributed.own_device(options.device))
    snapshot = snapshot_keeper(options, task)
    loop.train(model, task.learning, checkpoint_keeper(options, task), task.schedule, options.out, snapshot=snapshot)
    if distributed.leads():
        print(f"The checkpoint is in {options.out}: {', '.join(file.name for file in sorted(options.out.glob('*.*')))}")


def checkpoint_keeper(options: argparse.Namespace, task: Task) -> loop.Keep:
    """What writes a usable checkpoint each time that a run saves its state."""
    return lambda model, run: write_checkpoint(options, task, model, run, options.out)


def snapshot_keeper(options: argparse.Namespace, task: Task) -> loop.Keep:
    """What writes one for every snapshot: into ``snapshots/<step>``, where no list of checkpoints looks."""
    return lambda model, run: write_checkpoint(options, task, model, run, options.out / SNAPSHOTS / str(run.steps))


def write_checkpoint(
    options: argparse.Namespace, task: Task, model: nn.Module, run: loop.TrainingRun, folder: Path
) -> None:
    """Write a model of the task as it is after a run."""
    assert isinstance(model, Transformer)
    name = options.out.name if folder == options.out else f"{options.out.name}-{run.steps}"
    about = {"name": name, **task.about, "parameters": model.parameter_count()}
    training = card.training_fields(options, run, task.name)
    save_checkpoint(folder, model, task.tokenizer, about | {"training": training, "evaluations": []})


# Figures and refusals


def report(options: argparse.Namespace, task: str, figures: Iterable[dict[str, Any]], comparison: str = "") -> None:
    """Print figures as they come, and write them into a card where asked to."""
    printed = []
    for figure in figures:
        value = f"{figure['value']:.2f}" if figure["unit"] == "%" else f"{figure['value']:g}"
        signature = f" ({figure['signature']})" if "signature" in figure else ""
        what = " ".join(filter(None, (f"{figure['what']}:", value, figure["unit"])))
        print(f"{what} of {figure['examples']:,}{signature}", flush=True)
        printed.append(figure | {"command": card.command(task, "evaluate")})
    if options.card:
        card.add_figures(options.card, printed, comparison)


def run(options: argparse.Namespace, commands: dict[str, Command]) -> None:
    """Run the command, beside those that ``torchrun`` started; a refusal is one line."""
    try:
        with distributed.together(distributed.own_device(getattr(options, "device", "cpu"))):
            commands[options.command](options)
    except (InputError, CheckpointError) as error:
        raise SystemExit(str(error)) from None
    except ValueError as error:  # a size that the config refuses
        raise SystemExit(f"--{error}") from None
