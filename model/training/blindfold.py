"""Trains one tiny decoder of characters with its causal mask and one without, and records what each came to.

    python -m model.training.blindfold train --data stories.jsonl.gz --out runs/blindfold

``--data`` are texts of one's own: files of plain text, or CSV or JSONL files with a ``text`` a line. Both decoders
begin with the same weights and read the same batches. A window holds the character after each that is to predict, so
the one without a mask can see every answer. From time to time each continues a text, which it must do without.
"""

import argparse
import json
import platform
import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Int32
from torch import nn
from torch.nn import functional as F

from model.config import Config
from model.edits import Edits
from model.measures.learn import records
from model.measures.learn.records import RECORDS
from model.training import card, command_line, loop, next_token
from model.training.data.books import Book, Windows, split
from model.training.distributed import Share
from model.training.next_token import Predict, Predicted
from model.transformer import Transformer

RUNS = {"masked": Edits(), "unmasked": Edits(unmasked=frozenset({"decoder"}))}
RESULT = "result.json"
LOSSES = ("training_loss", "validation_loss")
NUMBERS = {"seed": 0, "steps": 2000, "every": 100, "characters": 60, "width": 64, "heads": 4, "layers": 2}
NUMBERS |= {"hidden": 256, "context": 64, "batch_tokens": 2048, "written": 160}
RATES = {"rate": 3e-3, "weight_decay": 0.05, "dropout": 0.0}
PROMPT = "Once upon a time"
VALIDATED = 8  # batches
PREFIXES, PREFIX = 256, 32  # held-out beginnings, and the characters of each
WORD = re.compile(r"[a-z]+")


class Characters:
    """The commonest characters of a text as ids from 1 on, 0 being padding; the others are left out."""

    def __init__(self, text: str, count: int) -> None:
        self.known = "".join(sorted(character for character, _ in Counter(text).most_common(count)))
        self.ids = {character: number for number, character in enumerate(self.known, start=1)}

    @property
    def size(self) -> int:
        """Ids, padding included."""
        return len(self.known) + 1

    def encode(self, text: str) -> Int32[np.ndarray, "character"]:
        return np.array([self.ids[character] for character in text if character in self.ids], np.int32)

    def decode(self, ids: list[int]) -> str:
        return "".join(self.known[number - 1] for number in ids if number)


def joined(stories: list[Book]) -> str:
    return "\n\n".join(story.text for story in stories)


def build_config(options: argparse.Namespace, characters: Characters) -> Config:
    """A decoder in the manner of GPT-2 (Radford et al. 2019), but tiny."""
    return Config(
        architecture="decoder",
        vocabulary=characters.size,
        **{name: getattr(options, name) for name in ("width", "heads", "layers", "hidden", "dropout")},
        max_length=options.context + 1,
        positions="learned",
        norm_order="pre",
        activation="gelu",
        scale_embeddings=False,
    )


def predictions(windows: Windows, edits: Edits) -> Predict:
    """What a model says of the next character of every one in a window but the last: the answer is in the window."""

    def predict(network: nn.Module, number: int, share: Share) -> Predicted:
        batch = windows.at(number)
        logits = network(batch, edits=edits).logits[:, :-1]
        return next_token.predicted(logits, batch[:, 1:], batch[:, 1:], share)

    return predict


@torch.inference_mode()
def continuation_of(model: Transformer, characters: Characters, edits: Edits, count: int) -> str:
    """The prompt's continuation, the likeliest character each time; what comes next is not there to be seen."""
    ids = characters.encode(PROMPT).tolist()
    begun = len(ids)
    while len(ids) < begun + count:
        logits = model(torch.tensor([ids[1 - model.config.max_length :]]), edits=edits).logits[0, -1]
        ids.append(1 + int(logits[1:].argmax()))  # padding is no character
    return characters.decode(ids[begun:])


@torch.inference_mode()
def prefix_loss(model: Transformer, ids: Int32[np.ndarray, "character"], edits: Edits) -> float:
    """Nats for the character after each of some beginnings, which end before it."""
    starts = np.linspace(0, len(ids) - PREFIX - 1, PREFIXES).astype(np.int64)
    rows = torch.from_numpy(ids[starts[:, None] + np.arange(PREFIX + 1)].astype(np.int64))
    return float(F.cross_entropy(model(rows[:, :-1], edits=edits).logits[:, -1], rows[:, -1]))


def word_pairs(text: str) -> Iterator[tuple[str, str]]:
    """Neighbouring words in lower case."""
    return pairwise(WORD.findall(text.lower()))


def known_pairs(text: str, training_pairs: set[tuple[str, str]]) -> dict[str, int]:
    """How many pairs of neighbouring words a written text has, and how many of them the training text has.

    The last word may be cut off, so its pair is left out.
    """
    pairs = list(word_pairs(text))[:-1]
    return {"pairs": len(pairs), "known": sum(pair in training_pairs for pair in pairs)}


def one_run(name: str, stories: tuple[list[Book], list[Book]], options: argparse.Namespace, folder: Path) -> Any:
    """Train one decoder, or go on with it: its curve, and what it wrote at each of the curve's steps."""
    texts, edits = [joined(part) for part in stories], RUNS[name]
    characters = Characters(texts[0], options.characters)
    training, held_out = (
        Windows(characters.encode(text), options.context, options.batch_tokens, options.seed) for text in texts
    )
    torch.manual_seed(options.seed)
    model = Transformer(build_config(options, characters))
    predicts = predictions(training, edits), predictions(held_out, edits)
    learning = next_token.learning(*predicts, min(VALIDATED, held_out.steps), smoothing=0.0, precision="float32")
    keep = partial(keep_text, characters, held_out.ids, edits, options.written, folder)
    schedule = command_line.schedule(options, warm_up=options.steps // 20)
    loop.train(model, learning, keep, schedule, folder)
    return result(name, model, set(word_pairs(texts[0])), folder)


def keep_text(
    characters: Characters, held_out: Int32[np.ndarray, "character"], edits: Edits, count: int, folder: Path,
    model: nn.Module, run: loop.TrainingRun,
) -> None:  # fmt: skip
    """Write down what a model writes after so many steps, and its loss where it cannot look ahead."""
    assert isinstance(model, Transformer)
    model.eval()
    text, loss = continuation_of(model, characters, edits, count), prefix_loss(model, held_out, edits)
    values = {"step": run.steps, "prefix_loss": round(loss, 5), "text": text, "seconds": round(run.seconds)}
    records.write(folder / f"written-{run.steps}.json", values)


def result(name: str, model: Transformer, training_pairs: set[tuple[str, str]], folder: Path) -> dict[str, Any]:
    """What one run came to."""
    rows = []
    for row in loop.curve_rows(folder / loop.CURVE):
        values = json.loads((folder / f"written-{int(row['step'])}.json").read_text(encoding="utf-8"))
        rows.append(values | known_pairs(values["text"], training_pairs) | {name: row[name] for name in LOSSES})
    seconds = rows[-1]["seconds"]
    return {"name": name, "parameters": model.parameter_count(), "seconds": seconds, "curve": rows}


def train(options: argparse.Namespace) -> None:
    """The command ``train``: both runs, as far as they have no result yet; then the record of both."""
    stories, results = split(options.data), []
    for name in RUNS:
        folder = options.out / name
        if not (folder / RESULT).exists():
            records.write(folder / RESULT, one_run(name, stories, options, folder))
        results.append(json.loads((folder / RESULT).read_text(encoding="utf-8")))
        print(f"{name}: {PROMPT}{results[-1]['curve'][-1]['text']}", flush=True)
    records.write(options.record, record(options, stories, results))


def record(
    options: argparse.Namespace, stories: tuple[list[Book], list[Book]], results: list[dict[str, Any]]
) -> dict[str, Any]:
    """Everything about both runs that the app shows."""
    return {
        "command": card.command("blindfold", "train"),
        "machine": card.machine(torch.device("cpu")),
        "versions": {"python": platform.python_version(), "torch": str(torch.__version__)},
        "data": command_line.data_name(options),
        "stories": len(stories[0]),
        **{name: getattr(options, name) for name in (*NUMBERS, *RATES)},
        "prompt": PROMPT,
        "prefix": PREFIX,
        "prefixes": PREFIXES,
        "runs": results,
    }


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser, add_command = command_line.parser_of("blindfold", "Train a decoder with and without its causal mask.")
    training = add_command("train")
    training.add_argument("--data", type=Path, nargs="+", required=True, help="files of text")
    training.add_argument("--out", type=Path, required=True, help="folder for the states and results of the runs")
    training.add_argument("--record", type=Path, default=RECORDS / "blindfold.json", help="file to write")
    for name, value in (NUMBERS | RATES).items():
        training.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value, help=" ")
    return parser.parse_args(arguments)


def main() -> None:
    command_line.run(parse(), {"train": train})


if __name__ == "__main__":
    main()
