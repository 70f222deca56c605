"""Trains an LSTM and a Transformer with as many parameters on the same film reviews, and records what they came to.

    python -m model.training.recurrent train --data DIR --out runs/recurrent

DIR holds the Large Movie Review Dataset as train.jsonl.gz; one film in ten is held out. For each seed both models get
the same batches, schedule and number of steps. Each run leaves its state and its result in a folder of ``--out``, so a
command that was stopped goes on where it was; once all runs are there, it writes ``--record``. No weights are kept.
"""

import argparse
import json
import platform
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import nn

from model.checkpoint import CHECKPOINTS
from model.config import Config
from model.measures.learn import records
from model.measures.learn.records import RECORDS
from model.measures.learn.recurrence.recurrent_classifier import RecurrentClassifier, state_width
from model.tokenizer import Tokenizer
from model.training import card, command_line, loop, sentiment
from model.training.data.corpora import split_groups
from model.training.data.preparation import HELD_OUT, REVIEW_LABELS, Prepared, label_corpus, reviews
from model.training.evaluation.classification import LENGTHS, predict
from model.training.precision import matrix_products
from model.transformer import Transformer

MODELS = ("lstm", "transformer")
RESULT = "result.json"
LOSSES = ("training_loss", "validation_loss", "validation_accuracy")
REVIEWS = "Large Movie Review Dataset v1.0 (Maas et al., ACL 2011): training reviews; one film in ten held out"
NUMBERS = {"steps": 700, "every": 70, "width": 64, "heads": 4, "layers": 2, "hidden": 256, "max_length": 512}
NUMBERS |= {"batch_tokens": 4096, "validation_texts": 500}
RATES = {"rate": 2e-3, "weight_decay": 0.05, "dropout": 0.1, "token_dropout": 0.1}


def prepare(data: Path) -> Prepared:
    """The labelled reviews as ids of the bundled tokenizer, which was not trained on those held out."""
    examples = list(reviews(data / "train.jsonl.gz"))
    kept, out = split_groups(examples, lambda example: example.group, HELD_OUT)
    tokenizer = Tokenizer.from_json((CHECKPOINTS / "sentiment" / "tokenizer.json").read_text(encoding="utf-8"))
    training, validation = (label_corpus(tokenizer, part, REVIEW_LABELS) for part in (kept, out))
    return Prepared(tokenizer=tokenizer, labels=REVIEW_LABELS, training=training, validation=validation, known={})


def models(config: Config) -> dict[str, nn.Module]:
    """Both models with fresh weights."""
    transformer = Transformer(config)
    state = state_width(config, transformer.parameter_count())
    return {"lstm": RecurrentClassifier(config, state), "transformer": transformer}


def size_facts(model: nn.Module) -> dict[str, Any]:
    """What the record says of a model's size."""
    count = sum(parameter.numel() for parameter in model.parameters())
    if isinstance(model, RecurrentClassifier):
        return {"parameters": count, "state": model.lstm.hidden_size}
    assert isinstance(model, Transformer)
    return {"parameters": count, "heads": model.config.heads, "layers": model.config.layers}


def by_length(correct: Bool[np.ndarray, "text"], lengths: Int[np.ndarray, "text"]) -> list[dict[str, int]]:
    """How many texts of each of LENGTHS there are, and how many are judged rightly; the last ends with the longest."""
    rows = []
    for shortest, longest in LENGTHS:
        part = (lengths >= shortest) & (lengths <= longest)
        limits = {"shortest": shortest, "longest": min(longest, int(lengths.max()))}
        rows.append(limits | {"reviews": int(part.sum()), "right": int(correct[part].sum())})
    return rows


def one_run(name: str, prepared: Prepared, options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Train one model with one seed, or go on with it, and measure it with all reviews that were held out."""
    config = sentiment.build_config(options, prepared)
    torch.manual_seed(options.seed)
    model, runs = models(config)[name], [loop.TrainingRun(0, 0, 0.0)]
    schedule = command_line.schedule(options, warm_up=options.steps // 20)
    learning = sentiment.learning(config, prepared, options)
    loop.train(model, learning, lambda _, run: runs.append(run), schedule, folder)
    corpus = prepared.validation
    with matrix_products(model, options.precision):
        correct = predict(model, corpus, config.max_length, config.pad_id).argmax(axis=1) == corpus.targets.argmax(
            axis=1
        )
    return {
        "model": name,
        "seed": options.seed,
        **size_facts(model),
        "examples": runs[-1].examples,
        "reviews": len(correct),
        "right": int(correct.sum()),
        "by_length": by_length(correct, corpus.text_lengths()),
        "curve": [
            {"step": int(row["step"]), **{name: row[name] for name in LOSSES}}
            for row in loop.curve_rows(folder / loop.CURVE)
        ],
    }


def train(options: argparse.Namespace) -> None:
    """The command ``train``: every run that has no result yet; then the record of all."""
    prepared, results = prepare(options.data), []
    for seed in options.seeds:
        for name in MODELS:
            folder = options.out / f"{name}-{seed}"
            if not (folder / RESULT).exists():
                own_options = argparse.Namespace(
                    **vars(options) | {"seed": seed, "precision": precision_of(name, options)}
                )
                records.write(folder / RESULT, one_run(name, prepared, own_options, folder))
            results.append(json.loads((folder / RESULT).read_text(encoding="utf-8")))
            print(f"{name}, seed {seed}: {results[-1]['right']:,} of {results[-1]['reviews']:,}", flush=True)
    records.write(options.record, record(options, prepared, results))


def precision_of(name: str, options: argparse.Namespace) -> str:
    """Of a model's matrix products; an LSTM adds rounding errors up from token to token, so it has float32."""
    return "float32" if name == "lstm" else str(options.precision)


def record(options: argparse.Namespace, prepared: Prepared, results: list[dict[str, Any]]) -> dict[str, Any]:
    """Everything about the runs that the app shows."""
    return {
        "command": card.command("recurrent", "train"),
        "machine": card.machine(torch.device("cpu")),
        "versions": {"python": platform.python_version(), "torch": str(torch.__version__)},
        "data": REVIEWS,
        "training_reviews": len(prepared.training),
        **{name: getattr(options, name) for name in (*NUMBERS, *RATES, "seeds", "precision")},
        "runs": results,
    }


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser, add_command = command_line.parser_of("recurrent", "Train an LSTM and a Transformer on film reviews.")
    training = add_command("train")
    training.add_argument("--data", type=Path, required=True, help="folder of the film reviews")
    training.add_argument("--out", type=Path, required=True, help="folder for the states and results of the runs")
    training.add_argument("--record", type=Path, default=RECORDS / "recurrent_training.json", help="file to write")
    training.add_argument("--seeds", type=int, nargs="+", default=(0, 1, 2), help="one run of each model for each")
    for name, value in (NUMBERS | RATES).items():
        training.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value, help=" ")
    training.add_argument(
        "--precision", choices=("bfloat16", "float32"), default="bfloat16", help="of the Transformer's products"
    )
    return parser.parse_args(arguments)


def main() -> None:
    command_line.run(parse(), {"train": train})


if __name__ == "__main__":
    main()
