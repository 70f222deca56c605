"""Trains and evaluates translators, the bundled English to French one first.

    python -m model.training.translate train --data DIR --out runs/translate
    python -m model.training.translate evaluate --data DIR --checkpoint translate-en-fr

DIR holds Tatoeba's pairs as train.en-fr.tsv.gz, val.en-fr.tsv.gz and test.en-fr.tsv.gz. Instead of a folder,
``--data`` takes pairs of one's own: a file of tab-separated lines, or two files with a sentence a line.
"""

import argparse
from typing import Any

import numpy as np
from torch import nn

from model.config import Config
from model.errors import InputError
from model.tokenizer import END_ID, START_ID
from model.training import card, command_line, next_token
from model.training.data.id_rows import IdRows
from model.training.data.sentence_pairs import TATOEBA as FILES
from model.training.data.sentence_pairs import PairBatch, PairBatches, Parallel, prepare, read_pairs
from model.training.distributed import Share
from model.training.evaluation.translation_quality import figures, translator
from model.training.next_token import Predict, Predicted
from model.training.precision import device_of

DATA = "folder of Tatoeba, or one file of pairs, or two of sentences"
TATOEBA = {
    "name": "Tatoeba sentence pairs, English and French, as packaged by manythings.org/anki (2019-04-07)",
    "use": "163,026 pairs to train on, 1,144 to validate with, 1,218 to evaluate with; no English sentence is in two",
    "licence": "CC BY 2.0: www.manythings.org/anki and tatoeba.org",
    "source": "https://www.manythings.org/anki/",
}
BUNDLED = card.About(
    task="translation from English to French",
    summary="Translates everyday English sentences to French.",
    data=[TATOEBA],
    limits=[
        "Knows the short everyday sentences of Tatoeba, seven words long on average: news, poems and jargon are "
        "beyond it.",
        "Says tu or vous, il or elle as its data happened to: English seldom tells which.",
        "Reads and writes at most 512 tokens. Texts of several sentences are less well translated than one at a time.",
    ],
)


def build_config(options: argparse.Namespace, vocabulary: int) -> Config:
    """The paper's model with the sizes of the options."""
    return Config(
        architecture="encoder-decoder",
        **command_line.sizes(options, vocabulary),
        positions="sinusoidal",
        norm_order="post",
        activation="relu",
        start_id=START_ID,
        end_id=END_ID,
    )


def predictions(batches: PairBatches) -> Predict:
    """What a model says of the target's next tokens, given the source and the target up to there."""

    def predict(network: nn.Module, number: int, share: Share) -> Predicted:
        whole = batches.at(number)
        batch = PairBatch(*(share.of(part).to(device_of(network)) for part in whole))
        trace = network(batch.source, padding_mask=batch.padding_mask, target_ids=batch.target[:, :-1])
        return next_token.predicted(trace.logits, batch.target[:, 1:], whole.target[:, 1:], share)

    return predict


def batches_of(pairs: Parallel, options: argparse.Namespace) -> PairBatches:
    """Batches of the size that the options name."""
    return PairBatches(pairs=pairs, tokens=options.batch_tokens, longest=options.max_length - 1, seed=options.seed)


def train(options: argparse.Namespace) -> None:
    """The command ``train``: prepare, train, write the checkpoint."""
    tokenizer, *parts = command_line.prepared_data(options, prepare)
    training, held_out = (batches_of(pairs, options) for pairs in parts)
    config = build_config(options, tokenizer.size)
    learning = next_token.learning(
        predictions(training), predictions(held_out), held_out.steps, smoothing=options.smoothing,
        precision=options.precision,
    )  # fmt: skip
    task = command_line.Task(
        name="translate",
        config=config,
        tokenizer=tokenizer,
        size=f"{len(training.pairs.source):,} pairs, {training.steps:,} steps are a pass",
        about=about(options, config) | {"usual_length": usual_length(training.pairs.source)},
        learning=learning,
        schedule=command_line.schedule(options),
    )
    command_line.fit(options, task)


def usual_length(sources: IdRows) -> int:
    """How many tokens 19 of 20 source texts do not go beyond: of a longer one a model has learned little."""
    return int(np.quantile(sources.lengths(), 0.95, method="inverted_cdf"))


def about(options: argparse.Namespace, config: Config) -> dict[str, Any]:
    """What a card says of the checkpoint apart from its training."""
    name = command_line.data_name(options)
    own = card.about_own_data("translation", f"Translates what {name} has examples of.", name, "one sentence in 50")
    pieces = f"{config.vocabulary:,} byte pairs in one table for source, target and projection"
    return (BUNDLED if command_line.has_bundled_data(options) else own).fields(card.architecture(config, pieces))


def evaluate(options: argparse.Namespace) -> None:
    """The command ``evaluate``: print every figure, and write it into a card where asked to."""
    checkpoint = command_line.checkpoint_to_evaluate(
        options, lambda config: config.is_encoder_decoder, "does not translate"
    )
    bundled = command_line.has_bundled_data(options)
    pairs = list(read_pairs([options.data[0] / FILES.format(split="test")] if bundled else options.data))
    pairs = pairs[: options.first]
    if not pairs:
        raise InputError(f"{options.data[0].name}: found no pairs, expected one or more.")
    search = "greedy" if options.beam == 1 else f"beam {options.beam}"
    if not bundled:
        search += f", {options.data[0].name}"
    translate = translator(checkpoint.model, checkpoint.tokenizer, options.beam)
    command_line.report(options, "translate", figures(translate, checkpoint.tokenizer, pairs, search))


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser, add_command = command_line.parser_of("translate", "Train or evaluate a translator.")
    training = add_command("train")
    numbers: dict[str, int | float] = {"seed": 0, "steps": 6000, "every": 250}
    numbers |= {"vocabulary": 8000, "width": 256, "heads": 8, "layers": 3, "hidden": 1024, "max-length": 512}
    numbers |= {"batch-tokens": 3072, "rate": 1.4e-3, "smoothing": 0.1, "weight-decay": 0.0, "dropout": 0.1}
    command_line.training_options(training, numbers, DATA, several=True)
    command_line.schedule_options(training, "inverse-root")
    evaluation = add_command("evaluate")
    command_line.evaluation_options(evaluation, "translate-en-fr", DATA, several=True)
    evaluation.add_argument("--beam", type=int, default=4, help="translations followed at a time; 1: greedy")
    return parser.parse_args(arguments)


def main() -> None:
    command_line.run(parse(), {"train": train, "evaluate": evaluate})


if __name__ == "__main__":
    main()
