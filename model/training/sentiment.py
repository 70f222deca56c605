"""Trains and evaluates text classifiers, the bundled sentiment checkpoint first.

    python -m model.training.sentiment train --data DIR --out runs/sentiment
    python -m model.training.sentiment evaluate --data DIR --checkpoint sentiment

DIR holds the Large Movie Review Dataset as train.jsonl.gz, test.jsonl.gz and unsup.jsonl.xz. Instead of a folder,
``--data`` takes a file of one's own: a CSV with a header or JSON lines, with ``text`` and ``label``, any labels.
"""

import argparse
from collections.abc import Collection
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.checkpoint import load_checkpoint
from model.config import Config
from model.errors import InputError
from model.training import card, command_line, loop
from model.training.data.batches import NEGATORS, Batch, Batches, Mixture
from model.training.data.corpora import Corpus, read_examples
from model.training.data.preparation import REVIEW_LABELS, Prepared, prepare, reviews
from model.training.evaluation.classification import figures, predict
from model.training.precision import device_of, matrix_products

DATA = "folder of the film reviews, or a CSV or JSONL file"
UNKNOWN_ID = 1
NGRAMS = "ngrams"  # the labels of the linear classifier, as a part to train without
NOTHING_TO_SPARE = 64  # tokens
# Of the examples of up to 32 tokens: sentences put together, written whole, rated by people, labelled by a teacher.
KNOWN_SHARES = {"phrases": 0.25, "opinions": 0.35, "rated": 0.15}
SHARES_WITH_TEACHER = {"phrases": 0.1, "opinions": 0.25, "rated": 0.1, "taught": 0.5}
REVIEWS = {
    "name": "Large Movie Review Dataset v1.0 (Maas et al., ACL 2011)",
    "use": "training reviews less one film in ten to train on, those to validate with; unlabelled reviews for the "
    "tokenizer and, labelled by a linear n-gram classifier of the training reviews, to train on; test reviews to "
    "evaluate with, nothing else",
    "licence": "not clear: the authors ask for a citation, the reviews are their writers' own; none is shipped",
    "source": "https://ai.stanford.edu/~amaas/data/sentiment/",
}
OWN = {"licence": "MIT, as this project", "source": "written for this project"}
USE = "training, {:.0%} of the examples of up to 32 tokens"
KNOWN = {  # what a card says of each, but for its use
    "phrases": {"name": "200,000 short opinions from patterns (model/training/data/phrases.py)", **OWN},
    "opinions": {
        "name": "7,599 sentences with an opinion or without (model/training/data/lists/opinions.txt), one in ten of "
        "which is held out",
        **OWN,
    },
    "rated": {
        "name": "sentences and words that people rated, of vaderSentiment 0.5 (Hutto and Gilbert, ICWSM 2014)",
        "licence": "MIT",
        "source": "https://github.com/cjhutto/vaderSentiment",
    },
    "taught": {
        "name": "sentences and clauses of the unlabelled reviews, and English sentences of Tatoeba, labelled by small "
        "networks on the vectors of all-mpnet-base-v2 (model/training/sentence_teacher.py)",
        "licence": "Tatoeba: CC BY 2.0, from www.manythings.org/anki and tatoeba.org; all-mpnet-base-v2: Apache 2.0; "
        "the reviews are their writers' own; none is shipped",
        "source": "https://www.manythings.org/anki, https://huggingface.co/sentence-transformers/all-mpnet-base-v2",
    },
}
BUNDLED = card.About(
    task=f"classification of English texts as {' or '.join(REVIEW_LABELS)}",
    summary="Says whether an English sentence or review speaks well or badly of something: positive or negative.",
    data=[REVIEWS],
    limits=[
        "Knows English only, and mostly the words of film reviews; everything is read in lower case.",
        "Has two answers, negative and positive: a neutral sentence gets one of them all the same.",
        "Reads at most 512 tokens; an emoji or an unknown script is one unknown token to it.",
        "Trained on reviews, it is less sure of single sentences: see the figures for the first 32 and 128 tokens.",
        "Part of what it learned is the opinion of a linear n-gram classifier, mistakes included.",
    ],
)


def build_config(options: argparse.Namespace, prepared: Prepared) -> Config:
    """The classifier that the options describe."""
    return Config(
        architecture="encoder",
        **command_line.sizes(options, prepared.tokenizer.size),
        norm_order="pre",
        activation="gelu",
        labels=prepared.labels,
    )


def mixture(options: argparse.Namespace, prepared: Prepared) -> Mixture:
    """Whole texts only, unless there are sentences of known opinion."""
    if not prepared.known:
        return Mixture(lengths=(options.max_length,), shares=(1.0,))
    shortest, short = options.short_shares
    shares = (shortest, short, 1 - shortest - short)
    of = known_shares(taught="taught" in prepared.known)
    known = tuple(of[name] for name in prepared.known)
    return Mixture(lengths=(32, 128, options.max_length), shares=shares, known_shares=known)


def left_out(prepared: Prepared, parts: Collection[str]) -> Prepared:
    """What was prepared without some parts of it: to measure what they bring. InputError where one is not there."""
    training = prepared.training
    there = {*prepared.known, *([] if training.evidence is None else [NGRAMS])}
    for part in parts:
        if part not in there:
            raise InputError(f"--without: found {part!r}, expected one of {', '.join(sorted(there))}.")
    if NGRAMS in parts:
        # Reviews that people labelled come first. Without evidence, a run of sentences has its review's label.
        labelled = int((training.targets.max(axis=1) == 1).cumprod().sum())
        bounds, targets = training.text_bounds[: labelled + 1], training.targets[:labelled]
        training = replace(training, text_bounds=bounds, targets=targets, evidence=None)
    known = {name: corpus for name, corpus in prepared.known.items() if name not in parts}
    return replace(prepared, training=training, known=known)


def known_shares(*, taught: bool) -> dict[str, float]:
    """Those of the sentences of known opinion; taught: whether a teacher's are among them."""
    return SHARES_WITH_TEACHER if taught else KNOWN_SHARES


def batch_loss(network: nn.Module, batch: Batch, options: argparse.Namespace) -> Tensor:
    """Cross-entropy against the targets, some tokens of longer texts replaced by the unknown one.

    Not of short ones: without its "not", a sentence says something else.
    """
    device = device_of(network)
    longer = batch.padding_mask.sum(dim=-1, keepdim=True) > NOTHING_TO_SPARE
    hidden = (torch.rand(batch.ids.shape) < options.token_dropout) & longer
    with matrix_products(network, options.precision):
        trace = network(
            batch.ids.masked_fill(hidden, UNKNOWN_ID).to(device), padding_mask=batch.padding_mask.to(device)
        )
    return F.cross_entropy(trace.logits.float(), batch.targets.to(device))


def learning(config: Config, prepared: Prepared, options: argparse.Namespace) -> loop.Learning:
    """Learning to tell the labels, validated with the first held-out texts."""
    batches = Batches(
        corpus=prepared.training,
        known=tuple(prepared.known.values()),
        mixture=mixture(options, prepared),
        max_length=config.max_length,
        tokens=options.batch_tokens,
        pad_id=config.pad_id,
        seed=options.seed,
        negators=tuple(prepared.tokenizer.encode(word).ids[0] for word in NEGATORS),
    )

    def loss_of_step(network: nn.Module, step: int) -> loop.StepLoss:
        network.train()
        batch = batches.at(step)
        return loop.StepLoss(batch_loss(network, batch, options), len(batch.ids), int(batch.padding_mask.sum()))

    count, corpus = options.validation_texts, prepared.validation
    first_texts = replace(corpus, text_bounds=corpus.text_bounds[: count + 1], targets=corpus.targets[:count])

    def validate(model: nn.Module) -> loop.Validation:
        with matrix_products(model, options.precision):
            return measure(model, config, first_texts)

    return loop.Learning(loss_of_step, validate)


def measure(model: nn.Module, config: Config, corpus: Corpus) -> loop.Validation:
    """Loss and accuracy on texts."""
    log_probabilities = predict(model, corpus, config.max_length, config.pad_id)
    right = log_probabilities.argmax(axis=1) == corpus.targets.argmax(axis=1)
    return loop.Validation(float(-(log_probabilities * corpus.targets).sum(axis=1).mean()), float(right.mean()))


def train(options: argparse.Namespace) -> None:
    """The command ``train``: prepare, train, write the checkpoint."""
    prepare_all = partial(prepare, rated=options.rated, taught=options.taught)
    prepared = left_out(command_line.prepared_data(options, prepare_all), options.without)
    if options.warm_up is None:
        options.warm_up = options.steps // 20
    config = build_config(options, prepared)
    task = command_line.Task(
        name="sentiment",
        config=config,
        tokenizer=prepared.tokenizer,
        size=f"{len(prepared.training):,} texts",
        about=about(options, config),
        learning=learning(config, prepared, options),
        schedule=command_line.schedule(options),
    )
    command_line.fit(options, task)


def about(options: argparse.Namespace, config: Config) -> dict[str, Any]:
    """What a card says of the checkpoint apart from its training."""
    labels = ", ".join(config.labels)[:200]
    summary = f"Chooses one of {len(config.labels)} labels for a text: {labels}."
    own = card.about_own_data("text classification", summary, command_line.data_name(options), "one text in ten")
    pieces = f"{config.vocabulary:,} word pieces"
    architecture = card.architecture(config, pieces, "mean over the tokens", "linear classifier")
    there = {"phrases", "opinions", *(["rated"] if options.rated else []), *(["taught"] if options.taught else [])}
    there -= set(options.without)
    shares = {name: share for name, share in known_shares(taught=bool(options.taught)).items() if name in there}
    bundled = replace(
        BUNDLED, data=[REVIEWS, *(KNOWN[name] | {"use": USE.format(share)} for name, share in shares.items())]
    )
    return (bundled if command_line.has_bundled_data(options) else own).fields(architecture)


def evaluate(options: argparse.Namespace) -> None:
    """The command ``evaluate``: print every figure, and write it into a card where asked to."""
    checkpoint = load_checkpoint(options.checkpoint, options.device)
    films = command_line.has_bundled_data(options)
    examples = list(reviews(options.data / "test.jsonl.gz") if films else read_examples(options.data))
    examples = examples[: options.first]
    unknown = sorted({str(example.label) for example in examples} - set(checkpoint.config.labels))
    if unknown:
        raise InputError(f"label: found {unknown[0]!r}, expected one of {', '.join(checkpoint.config.labels)}.")
    part = "all" if options.first is None else "the first"
    what = f"{part} {len(examples):,} {'test reviews' if films else 'texts'}"
    rows = figures(checkpoint.model, checkpoint.tokenizer, examples, what)
    command_line.report(options, "sentiment", islice(rows, 1 if options.comparison else None), options.comparison)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser, add_command = command_line.parser_of("sentiment", "Train or evaluate a text classifier.")
    training = add_command("train")
    training.add_argument(
        "--short-shares", type=float, nargs=2, default=(0.4, 0.3), metavar=("A", "B"),
        help="shares of all tokens that come in runs of sentences of up to 32 and 128 tokens (film reviews only)",
    )  # fmt: skip
    training.add_argument(
        "--rated", type=Path, nargs="+", default=(), help="rated sentences and words (film reviews only): data/rated.py"
    )
    training.add_argument(
        "--taught", type=Path, nargs="+", default=(),
        help="sentences that a teacher labelled (film reviews only): sentence_teacher.py",
    )  # fmt: skip
    training.add_argument(
        "--without", nargs="+", default=(), metavar="PART",
        help=f"leave parts out, to measure what they bring: {', '.join([*KNOWN, NGRAMS])} (film reviews only)",
    )  # fmt: skip
    numbers: dict[str, int | float] = {"seed": 0, "steps": 8000, "every": 500, "vocabulary": 16000, "width": 128}
    numbers |= {"heads": 8, "layers": 4, "hidden": 512, "max-length": 512, "batch-tokens": 6144}
    numbers |= {"validation-texts": 1000, "rate": 1e-3, "weight-decay": 0.05, "dropout": 0.1, "token-dropout": 0.1}
    command_line.training_options(training, numbers, DATA)
    command_line.schedule_options(training, "cosine")
    training.set_defaults(warm_up=None)  # of the steps, a twentieth: trials are short
    evaluation = add_command("evaluate")
    command_line.evaluation_options(evaluation, "sentiment", DATA)
    evaluation.add_argument("--comparison", default="", help="name of a run that is not the card's own; accuracy only")
    return parser.parse_args(arguments)


def main() -> None:
    command_line.run(parse(), {"train": train, "evaluate": evaluate})


if __name__ == "__main__":
    main()
