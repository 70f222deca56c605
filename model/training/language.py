"""Trains and evaluates language models, the bundled one of children's books first.

    python -m model.training.language train --data DIR --out runs/stories
    python -m model.training.language evaluate --data DIR --checkpoint stories

DIR holds the books as train.jsonl.xz and val.jsonl.xz. Instead of a folder, ``--data`` takes texts of one's own: files
of plain text, or CSV or JSONL files with a ``text`` and perhaps a ``title`` a line.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import nn

from model.config import Config
from model.tokenizer import END_ID
from model.training import card, command_line, next_token, repetition
from model.training.data.books import BOOKS as FILES
from model.training.data.books import Windows, prepare, read_books, split
from model.training.distributed import Share
from model.training.evaluation.language_modelling import figures
from model.training.next_token import Predict, Predicted
from model.training.precision import device_of

DATA = "folder of the books, or files of text"
BOOKS = {
    "name": "125 children's books of Project Gutenberg (Andersen, Grimm, Lang, Potter, Carroll, Baum, Nesbit …)",
    "use": "one book in 20 to validate with, the others to train on; 7 more books to evaluate with",
    "licence": "public domain in the USA",
    "source": "https://www.gutenberg.org/",
}
BUNDLED = card.About(
    task="continuing English texts",
    summary="Continues a text in the manner of old children's books.",
    data=[BOOKS],
    limits=[
        "Knows the English of children's books from before 1930, attitudes of that time included.",
        "Writes sentences, not stories: it has no plan, and forgets what is more than {context} tokens back.",
    ],
)


def build_config(options: argparse.Namespace, vocabulary: int) -> Config:
    """A decoder in the manner of GPT-2 (Radford et al. 2019) with the sizes of the options."""
    return Config(
        architecture="decoder",
        **command_line.sizes(options, vocabulary),
        positions="learned",
        norm_order="pre",
        activation="gelu",
        scale_embeddings=False,
        end_id=END_ID,
    )


def predictions(windows: Windows) -> Predict:
    """What a model says of every next token of a window."""

    def predict(network: nn.Module, number: int, share: Share) -> Predicted:
        whole = windows.at(number)
        batch = share.of(whole).to(device_of(network))
        return next_token.predicted(network(batch[:, :-1]).logits, batch[:, 1:], whole[:, 1:], share)

    return predict


def train(options: argparse.Namespace) -> None:
    """The command ``train``: prepare, train, write the checkpoint."""
    tokenizer, *parts = command_line.prepared_data(options, prepare)
    sizes = options.max_length, options.batch_tokens, options.seed
    training, held_out = Windows(parts[0].ids, *sizes, options.repeats), Windows(parts[1].ids, *sizes)
    config = build_config(options, tokenizer.size)
    validated = min(held_out.steps, max(1, options.validation_tokens // options.batch_tokens))
    learning = next_token.learning(
        predictions(training), predictions(held_out), validated, smoothing=0.0, precision=options.precision
    )
    if options.own_text:
        learning = repetition.with_own_text(learning, training, options.own_text, options.precision)
    task = command_line.Task(
        name="language",
        config=config,
        tokenizer=tokenizer,
        size=f"{len(training.ids):,} tokens, {training.steps:,} steps are a pass",
        about=about(options, config),
        learning=learning,
        schedule=command_line.schedule(options),
    )
    command_line.fit(options, task)


def about(options: argparse.Namespace, config: Config) -> dict[str, Any]:
    """What a card says of the checkpoint apart from its training."""
    name = command_line.data_name(options)
    own = card.about_own_data("continuing texts", f"Continues a text in the manner of {name}.", name, "a part of it")
    pieces = f"{config.vocabulary:,} byte pairs in one table for input and projection"
    architecture = card.architecture(config, f"{config.max_length} tokens of context", pieces)
    bundled = replace(BUNDLED, limits=[limit.format(context=config.max_length) for limit in BUNDLED.limits])
    return (bundled if command_line.has_bundled_data(options) else own).fields(architecture)


def evaluate(options: argparse.Namespace) -> None:
    """The command ``evaluate``: print every figure, and write it into a card where asked to."""
    checkpoint = command_line.checkpoint_to_evaluate(
        options, lambda config: not config.has_encoder, "continues no text"
    )
    bundled = command_line.has_bundled_data(options)
    books = list(read_books([options.data[0] / FILES.format(split="val")] if bundled else options.data))
    training = options.data if bundled else options.training
    counted = split(training)[0] if training else []
    rows = figures(checkpoint.model, checkpoint.tokenizer, books[: options.first], counted)
    command_line.report(options, "language", rows)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser, add_command = command_line.parser_of("language", "Train or evaluate a language model.")
    training = add_command("train")
    numbers: dict[str, int | float] = {"seed": 0, "steps": 6000, "every": 250}
    numbers |= {"vocabulary": 8000, "width": 256, "heads": 8, "layers": 6, "hidden": 1024, "max-length": 256}
    numbers |= {"batch-tokens": 4096, "validation-tokens": 65536, "rate": 1.5e-3, "weight-decay": 0.05, "dropout": 0.0}
    command_line.training_options(training, numbers, DATA, several=True)
    training.add_argument("--repeats", type=float, default=0.0, help="share of windows in which a span comes again")
    training.add_argument(
        "--own-text", type=float, default=0.0, help="share of steps that make unlikely what the model itself repeats"
    )
    command_line.schedule_options(training, "cosine")
    evaluation = add_command("evaluate")
    command_line.evaluation_options(evaluation, "stories", DATA, several=True)
    evaluation.add_argument("--training", type=Path, nargs="+", help="what it was trained on, if that is no folder")
    return parser.parse_args(arguments)


def main() -> None:
    command_line.run(parse(), {"train": train, "evaluate": evaluate})


if __name__ == "__main__":
    main()
