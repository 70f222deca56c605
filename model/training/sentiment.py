"""Trains and evaluates text classifiers, the bundled sentiment checkpoint first.

    python -m model.training.sentiment train --data DIR --out runs/sentiment
    python -m model.training.sentiment evaluate --data DIR --checkpoint sentiment

DIR holds the Large Movie Review Dataset as train.jsonl.gz, test.jsonl.gz and unsup.jsonl.xz. Instead of a folder,
``--data`` takes a file of one's own: a CSV with a header or JSON lines, with ``text`` and ``label``, any labels.
"""

import argparse
import contextlib
import json
import platform
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import tokenizers
import torch
from torch import Tensor
from torch.nn import functional as F

from model.checkpoint import load_checkpoint
from model.config import Config
from model.errors import CheckpointError, InputError
from model.storage import CARD, read_card, save_checkpoint
from model.training import loop
from model.training.batches import NEGATORS, Batch, Batches, Mixture
from model.training.data import Corpus, read_examples
from model.training.evaluation import figures, predict
from model.training.preparation import Prepared, prepare, reviews
from model.transformer import Transformer

UNKNOWN_ID = 1
NOTHING_TO_SPARE = 64  # tokens
REVIEWS = {
    "name": "Large Movie Review Dataset v1.0 (Maas et al., ACL 2011)",
    "use": "training reviews less one film in ten to train on, those to validate with; unlabelled reviews for the "
    "tokenizer and, labelled by a linear n-gram classifier of the training reviews, to train on; test reviews to "
    "evaluate with, nothing else",
    "licence": "not clear: the authors ask for a citation, the reviews are their writers' own; none is shipped",
    "source": "https://ai.stanford.edu/~amaas/data/sentiment/",
}
PATTERNS = {
    "name": "200,000 short opinions from patterns (model/training/phrases.py)",
    "use": "training, two in five of the examples of up to 32 tokens",
    "licence": "MIT, as this project",
    "source": "written for this project",
}
REVIEW_SUMMARY = "Says whether an English sentence or review speaks well or badly of something: positive or negative."
REVIEW_LIMITS = [
    "Knows English only, and mostly the words of film reviews; everything is read in lower case.",
    "Has two answers, negative and positive: a neutral sentence gets one of them all the same.",
    "Reads at most 512 tokens; an emoji or an unknown script is one unknown token to it.",
    "Trained on reviews, it is less sure of single sentences: see the figures for the first 32 and 128 tokens.",
    "Part of what it learned is the opinion of a linear n-gram classifier, mistakes included.",
]


def build_config(options: argparse.Namespace, prepared: Prepared) -> Config:
    """The classifier that the options describe."""
    return Config(
        architecture="encoder",
        vocabulary=prepared.tokenizer.size,
        width=options.width,
        heads=options.heads,
        layers=options.layers,
        hidden=options.hidden,
        max_length=options.max_length,
        norm_order="pre",
        activation="gelu",
        dropout=options.dropout,
        labels=prepared.labels,
    )


def mixture(options: argparse.Namespace, prepared: Prepared) -> Mixture:
    """Whole texts only, unless a teacher knows what a part of a text says."""
    if prepared.training.evidence is None:
        return Mixture(lengths=(options.max_length,), shares=(1.0,))
    shortest, short = options.short_shares
    shares = (shortest, short, 1 - shortest - short)
    return Mixture(lengths=(32, 128, options.max_length), shares=shares, phrase_share=0.4)


def precision(name: str) -> contextlib.AbstractContextManager[object]:
    """Matrix products in bfloat16, everything else in float32; or all in float32."""
    return torch.autocast("cpu", dtype=torch.bfloat16) if name == "bfloat16" else contextlib.nullcontext()


def batch_loss(model: Transformer, batch: Batch, options: argparse.Namespace) -> Tensor:
    """Cross-entropy against the targets, some tokens of longer texts replaced by the unknown one.

    Not of short ones: without its "not", a sentence says something else.
    """
    longer = batch.real.sum(dim=-1, keepdim=True) > NOTHING_TO_SPARE
    hidden = (torch.rand(batch.ids.shape) < options.token_dropout) & longer
    with precision(options.precision):
        trace = model(batch.ids.masked_fill(hidden, UNKNOWN_ID), real=batch.real)
    assert trace.logits is not None
    return F.cross_entropy(trace.logits.float(), batch.targets)


def losses(model: Transformer, prepared: Prepared, options: argparse.Namespace) -> Callable[[int], tuple[Tensor, int]]:
    """The loss of a step's batch, and how many examples that is."""
    batches = Batches(
        corpus=prepared.training,
        phrases=prepared.phrases,
        mixture=mixture(options, prepared),
        max_length=model.config.max_length,
        tokens=options.batch_tokens,
        pad_id=model.config.pad_id,
        seed=options.seed,
        negators=tuple(prepared.tokenizer.encode(word).ids[0] for word in NEGATORS),
    )

    def loss_of_step(step: int) -> tuple[Tensor, int]:
        model.train()
        batch = batches.at(step)
        return batch_loss(model, batch, options), len(batch.ids)

    return loss_of_step


def validation(model: Transformer, corpus: Corpus, options: argparse.Namespace) -> Callable[[], loop.Validation]:
    """Loss and accuracy on the first held-out texts."""
    count = options.validation_texts
    some = replace(corpus, text_bounds=corpus.text_bounds[: count + 1], targets=corpus.targets[:count])

    def validate() -> loop.Validation:
        with precision(options.precision):
            found = predict(model, some, model.config.max_length)
        right = found.argmax(axis=1) == some.targets.argmax(axis=1)
        return loop.Validation(float(-(found * some.targets).sum(axis=1).mean()), float(right.mean()))

    return validate


def train(options: argparse.Namespace) -> None:
    """The command ``train``: prepare, train, write the checkpoint."""
    prepared = prepare(options.data, options.vocabulary, options.prepared or options.out / "prepared")
    torch.manual_seed(options.seed)
    model = Transformer(build_config(options, prepared))
    if options.start:
        loop.load_weights(model, options.start)
    print(f"{model.parameter_count():,} parameters, {len(prepared.training):,} texts")
    schedule = loop.Schedule(
        steps=options.steps,
        peak_rate=options.rate,
        warm_up=options.steps // 20,
        every=options.every,
        weight_decay=options.weight_decay,
        seed=options.seed,
    )
    run = loop.train(
        model,
        losses(model, prepared, options),
        validation(model, prepared.validation, options),
        schedule,
        options.out,
    )
    save_checkpoint(options.out, model, prepared.tokenizer, make_card(options, model, run))
    print(f"The checkpoint is in {options.out}: {', '.join(file.name for file in sorted(options.out.glob('*.*')))}")


def make_card(options: argparse.Namespace, model: Transformer, run: loop.Run) -> dict[str, Any]:
    """What is known of a checkpoint before it is evaluated."""
    config, films = model.config, options.data.is_dir()
    own = {
        "name": options.data.name,
        "use": "training; one text in ten held out",
        "licence": "not stated",
        "source": "",
    }
    return {
        "name": options.out.name,
        "task": f"classification of English texts as {' or '.join(config.labels)}" if films else "text classification",
        "summary": REVIEW_SUMMARY
        if films
        else f"Chooses one of {len(config.labels)} labels for a text: {', '.join(config.labels)[:200]}.",
        "architecture": f"encoder, {config.layers} layers × {config.heads} heads, {config.width} wide, feed-forward "
        f"{config.hidden}, {config.norm_order}-norm, {config.positions} positions, {config.vocabulary:,} word pieces, "
        "mean over the tokens, linear classifier",
        "parameters": model.parameter_count(),
        "data": [REVIEWS, PATTERNS] if films else [own],
        "training": {
            "command": command("train", options),
            "seed": options.seed,
            "steps": options.steps,
            "examples": run.examples,
            "seconds": round(run.seconds),
            "machine": f"{platform.machine()}, {torch.get_num_threads()} threads, no GPU",
            "versions": {
                "python": platform.python_version(),
                "torch": str(torch.__version__),
                "tokenizers": tokenizers.__version__,
            },
            "notes": f"{beginning(options)}; matrix products in {options.precision}; weights stored in half precision.",
        },
        "evaluations": [],
        "limits": REVIEW_LIMITS if films else [],
    }


def beginning(options: argparse.Namespace) -> str:
    """What training began with; the command of the run before, if there was one."""
    if not options.start:
        return "Trained from random weights"
    before = read_card(options.start).get("training", {})
    first = f"{before.get('steps', '?')} steps in {before.get('seconds', '?')} s: {before.get('command', '?')}"
    return f"Trained from random weights in two runs; the first, {first}"


def command(name: str, options: argparse.Namespace) -> str:
    """The command line as it can be typed again, with DIR in place of the data's folder."""
    words, skip = [], False
    for word in sys.argv[2:]:
        words.append("DIR" if skip and Path(word).is_dir() else Path(word).name if skip else word)
        skip = word == "--data"
    return shlex.join(["python", "-m", "model.training.sentiment", name, *words])


def average(options: argparse.Namespace) -> None:
    """The command ``average``: one checkpoint whose weights are the mean of several runs' (Wortsman et al. 2022).

    It makes sense for runs that started from one another. InputError where they are not of one shape.
    """
    runs = [load_checkpoint(folder, "cpu") for folder in options.runs]
    if any(run.config != runs[0].config for run in runs):
        raise InputError("--runs: found checkpoints of different configs, expected one.")
    states = [run.model.state_dict() for run in runs]
    mean = {name: torch.stack([state[name] for state in states]).mean(dim=0) for name in states[0]}
    runs[0].model.load_state_dict(mean)
    card = dict(runs[-1].card) | {"name": options.out.name, "evaluations": []}
    save_checkpoint(options.out, runs[0].model, runs[0].tokenizer, card)


def evaluate(options: argparse.Namespace) -> None:
    """The command ``evaluate``: print every figure, and write it into a card where asked to."""
    checkpoint = load_checkpoint(options.checkpoint, options.device)
    films = options.data.is_dir()
    examples = list(reviews(options.data / "test.jsonl.gz") if films else read_examples(options.data))
    examples = examples[: options.first]
    unknown = sorted({str(found.label) for found in examples} - set(checkpoint.config.labels))
    if unknown:
        raise InputError(f"label: found {unknown[0]!r}, expected one of {', '.join(checkpoint.config.labels)}.")
    part = "all" if options.first is None else "the first"
    what = f"{part} {len(examples):,} {'test reviews' if films else 'texts'}"
    found = []
    for figure in figures(checkpoint.model, checkpoint.tokenizer, examples, what):
        print(f"{figure['what']}: {figure['value']:.2f} {figure['unit']} of {figure['examples']:,}", flush=True)
        found.append(figure | {"command": command("evaluate", options)})
        if options.comparison:
            break
    if options.card:
        add_to_card(options.card, found, options.comparison)


def add_to_card(folder: Path, found: list[dict[str, Any]], comparison: str) -> None:
    """Replace the figures of the same name in a card."""
    found = [figure | {"what": f"{comparison}: {figure['what']}"} if comparison else figure for figure in found]
    card, names = read_card(folder), {figure["what"] for figure in found}
    kept = [figure for figure in card.get("evaluations", []) if figure["what"] not in names]
    card["evaluations"] = kept + found
    (folder / CARD).write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m model.training.sentiment", description="Train or evaluate a text classifier."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    training = commands.add_parser("train", formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    training.add_argument("--data", type=Path, required=True, help="folder of the film reviews, or a CSV or JSONL file")
    training.add_argument("--out", type=Path, required=True, help="folder for the checkpoint, its curve and its state")
    training.add_argument("--prepared", type=Path, help="folder for tokenizer and corpus, shared by several runs")
    training.add_argument("--start", type=Path, help="folder of a run whose weights to start from, not random ones")
    training.add_argument(
        "--short-shares", type=float, nargs=2, default=(0.4, 0.3), metavar=("A", "B"),
        help="shares of all tokens that come in runs of sentences of up to 32 and 128 tokens (film reviews only)",
    )  # fmt: skip
    counts = {"seed": 0, "steps": 8000, "every": 500, "vocabulary": 16000, "width": 128, "heads": 8, "layers": 4}
    counts |= {"hidden": 512, "max-length": 512, "batch-tokens": 6144, "validation-texts": 1000}
    for name, value in counts.items():
        training.add_argument(f"--{name}", type=int, default=value, help=" ")
    rates = {"rate": 1e-3, "weight-decay": 0.05, "dropout": 0.1, "token-dropout": 0.1}
    for name, number in rates.items():
        training.add_argument(f"--{name}", type=float, default=number, help=" ")
    training.add_argument("--precision", choices=("bfloat16", "float32"), default="bfloat16", help="of matrix products")
    averaging = commands.add_parser("average", help="the mean of several runs' weights, as a checkpoint")
    averaging.add_argument(
        "--runs", type=Path, nargs="+", required=True, help="folders of runs, the last one's card stays"
    )
    averaging.add_argument("--out", type=Path, required=True, help="folder for the checkpoint")
    evaluation = commands.add_parser("evaluate", formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    evaluation.add_argument(
        "--data", type=Path, required=True, help="folder of the film reviews, or a CSV or JSONL file"
    )
    evaluation.add_argument("--checkpoint", default="sentiment", help="a bundled checkpoint's name, or a folder")
    evaluation.add_argument("--device", default="auto", help="auto, cuda, mps or cpu")
    evaluation.add_argument("--card", type=Path, help="folder whose card.json takes the figures up")
    evaluation.add_argument("--first", type=int, help="evaluate only so many texts, from the start")
    evaluation.add_argument("--comparison", default="", help="name of a run that is not the card's own; accuracy only")
    return parser.parse_args(arguments)


def main() -> None:
    """Run the command; a refusal is one line."""
    options = parse()
    try:
        {"train": train, "average": average, "evaluate": evaluate}[options.command](options)
    except (InputError, CheckpointError) as error:
        raise SystemExit(str(error)) from None
    except ValueError as error:  # a size that the config refuses
        raise SystemExit(f"--{error}") from None


if __name__ == "__main__":
    main()
