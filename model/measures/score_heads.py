"""Scores every head of a checkpoint over a set of texts and on gold data, and keeps the scores beside the checkpoint.

    python -m model.measures.score_heads CHECKPOINT --data DIR [--sentences N] [--genre NAME]
    python -m model.measures.score_heads CHECKPOINT --texts FILE

DIR holds the treebank UD English EWT (``en_ewt-ud-train.conllu``, ``en_ewt-ud-dev.conllu``, packed or not, in any
folder) and, where coreference is to be scored, ``coref/*.jsonl``. FILE has one text a line. Kinds of heads are measured
on FILE, without it on sentences of the treebank, of one genre alone where it is named ("reviews"); syntax and
coreference of models with an encoder. The result is ``head_scores.json`` in the checkpoint's folder, of texts of your
own ``head_scores-NAME.json``. Ctrl-C keeps what is measured so far. Several processes share the work:
``torchrun --nproc-per-node 2 -m model.measures.score_heads …``.
"""

import argparse
import shlex
import sys
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import torch
from torch import distributed as dist

from model.checkpoint import load_checkpoint, local_folder
from model.errors import CheckpointError, InputError, printable
from model.measures.head_scores import coreference, syntax
from model.measures.head_scores.gold_hits import GoldScore, gold_scores
from model.measures.head_scores.interruption import interruptible
from model.measures.head_scores.measurement import (
    Measurement,
    Worker,
    file_name,
    gold_measurement,
    sentences_of,
    treebank_file,
)
from model.measures.head_scores.score_file import (
    FILE,
    LONGEST_TEXT,
    HeadScores,
    file_of_texts,
    kind_table,
    write_head_scores,
)
from model.training import distributed
from model.training.data.corpora import lines

SENTENCES = 500
ASKED = {"syntax": syntax, "coreference": coreference}  # each with its DIRECTIONS and RULES


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """The options. SystemExit where neither data nor texts are given."""
    parser = argparse.ArgumentParser(prog="python -m model.measures.score_heads", description=__doc__.split("\n")[0])
    parser.add_argument("checkpoint", help="a bundled checkpoint's name, a folder, or the id of a model of the hub")
    parser.add_argument("--data", type=Path, help="folder of the treebank and the coreference sets")
    parser.add_argument("--texts", type=Path, help="file of texts of your own, one a line")
    parser.add_argument("--sentences", type=int, default=SENTENCES, help="at most so many examples of each data set")
    parser.add_argument(
        "--genre", default="", help="measure kinds on this genre of the treebank alone: reviews, email …"
    )
    parser.add_argument("--out", type=Path, help="file for the scores, in place of one beside the checkpoint")
    parser.add_argument("--device", default="auto", help="auto, cuda, mps or cpu")
    options = parser.parse_args(arguments)
    if options.data is None and options.texts is None:
        parser.error("give --data or --texts, or both")
    if options.sentences < 1:
        parser.error("--sentences: expected 1 or more")
    return options


def numbered_texts(options: argparse.Namespace) -> Iterator[tuple[int, str]]:
    """The texts for kinds of heads with their numbers, from 0; blank lines count and are passed over."""
    if options.texts is not None:
        return ((number, line) for number, line in enumerate(lines(options.texts)) if line.strip())
    sentences = sentences_of(options.data, "dev", options.sentences, options.genre)
    return enumerate(sentence.text for sentence in sentences)


def texts_measured(options: argparse.Namespace) -> str:
    """What the texts for kinds of heads are called: a file's name, and the genre where one is asked for."""
    if options.texts is not None:
        return file_name(options.texts)
    file = file_name(treebank_file(options.data, "dev"))
    return f"{file}, {options.genre}" if options.genre else file


def measure(options: argparse.Namespace, worker: Worker) -> Measurement:
    """This process's share of everything that the options ask for."""
    total = worker.kinds(f"{texts_measured(options)}, kinds", numbered_texts(options))
    if options.data is not None and worker.checkpoint.config.has_encoder:
        total += gold_measurement(worker, options.data, options.sentences)
    return total


def gathered(own: Measurement) -> Measurement:
    """What all processes measured, in the first; in the others nothing."""
    if not dist.is_initialized():
        return own
    parts: list[Measurement | None] = [None] * dist.get_world_size()
    dist.gather_object(own, parts if distributed.leads() else None)
    return sum((part for part in parts if part is not None), Measurement())


def head_scores(options: argparse.Namespace, measured: Measurement) -> HeadScores:
    """The scores, with the beginnings of the texts in which examples stand."""
    kinds = {
        attention: {kind: kind_table(sums) for kind, sums in by_kind.items()}
        for attention, by_kind in measured.kinds.items()
    }
    named = {each.text for tables in kinds.values() for table in tables.values() for each in table.examples}
    last = max(named, default=-1)
    up_to_last = takewhile(lambda numbered: numbered[0] <= last, numbered_texts(options))
    return HeadScores(
        command=command_of(options),
        counts=measured.counts,
        stopped=measured.stopped,
        kinds=kinds,
        texts={number: text[:LONGEST_TEXT] for number, text in up_to_last if number in named},
        **{asked: scores_of(measured, asked) for asked in ASKED},
    )


def scores_of(measured: Measurement, asked: str) -> tuple[GoldScore, ...]:
    """The scores on one sort of gold data."""
    chosen_by, reported = (measured.hits.get((asked, half), {}) for half in ("choice", "report"))
    return gold_scores(chosen_by, reported, ASKED[asked].DIRECTIONS, ASKED[asked].RULES)


def command_of(options: argparse.Namespace) -> str:
    """The command as it can be typed again, without this machine's folders."""
    name = options.checkpoint if local_folder(options.checkpoint) is None else Path(options.checkpoint).name
    words = ["python", "-m", "model.measures.score_heads", name]
    words += [] if options.data is None else ["--data", "DIR"]
    words += [] if options.texts is None else ["--texts", options.texts.name]
    words += ["--genre", options.genre] if options.genre else []
    return shlex.join(words + ([] if options.sentences == SENTENCES else ["--sentences", str(options.sentences)]))


def place(options: argparse.Namespace) -> Path:
    """Where the scores are kept. InputError for a model of the hub, which has no folder of its own to write to."""
    if options.out is not None:
        return options.out
    folder = local_folder(options.checkpoint)
    if folder is None:
        raise InputError(f"{printable(options.checkpoint)} is no folder here: say with --out where to keep its scores.")
    return folder / (FILE if options.texts is None else file_of_texts(options.texts))


def summary(scores: HeadScores) -> Iterator[str]:
    """A line each: how many heads lie above the null of a kind, and the best heads for relations and pronouns."""
    for attention, tables in scores.kinds.items():
        for kind, table in tables.items():
            layer, head = divmod(int((table.scores - table.nulls).argmax()), table.scores.shape[1])
            score, null = table.scores[layer, head], table.nulls[layer, head]
            above = f"{int(table.exceeding.sum())} of {table.scores.size} heads above their null"
            yield f"{attention}, {kind}: {above}; layer {layer + 1} head {head + 1} {score:.2f}, null {null:.2f}"
    for one in (*scores.syntax, *scores.coreference):
        best = f"layer {one.layer + 1} head {one.head + 1} {100 * one.accuracy:.1f} %, null {100 * one.null:.1f} %"
        yield f"{one.name}, {one.direction}: {best}, {one.rule} {100 * one.baseline:.1f} % of {one.questions:,}"


def score(options: argparse.Namespace) -> None:
    """Measure, and write what was measured."""
    path, share = place(options), distributed.share()
    checkpoint = load_checkpoint(options.checkpoint, str(distributed.own_device(options.device)))
    with interruptible(twice_ends=share.world == 1) as stopped:
        measured = gathered(measure(options, Worker(checkpoint=checkpoint, share=share, stopped=stopped)))
    if not distributed.leads():
        return
    if not measured.kinds and not measured.hits:
        raise InputError("Nothing was measured, and no file was written.")
    scores = head_scores(options, measured)
    write_head_scores(path, scores)
    print("\n".join(summary(scores)))
    print(f"{path.name} is written{', of what was measured before you stopped it' if scores.stopped else ''}.")


def main() -> None:
    """The command; a refusal is one line."""
    options = parse()
    try:
        with distributed.together(torch.device("cpu")):
            score(options)
    except (InputError, CheckpointError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
