"""Measures how well a translator's cross-attention aligns words, against alignments that people made.

    python -m model.training.alignment evaluate --data DIR

DIR holds files of JSON lines, NAME_en-fr.dev.jsonl (or .jsonl.gz), with the fields ``src`` and ``tgt`` (words),
``sure`` and ``possible`` (pairs of a source and a target word, from 0). Instead of a folder, ``--data`` takes one
such file. The model reads the gold target (teacher forcing). Every second sentence of a file serves to choose the best
head, and all figures are of the others.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from model.checkpoint import Checkpoint
from model.errors import InputError
from model.measures.alignment import (
    MOMENTS,
    Counts,
    Links,
    Reading,
    counts,
    diagonal,
    mean_of_reading,
    produced_words,
    readings,
    strongest_links,
    word_weights,
    words_of,
)
from model.training import command_line
from model.training.data.corpora import lines

FILES = "*_en-fr.dev.jsonl*"
NO_SPACE_BEFORE, NO_SPACE_AFTER = tuple(".,)]}%…-'’"), tuple("([{-'’")
MOMENT_NAMES = {"produced": "while a word is produced", "read": "while a word is read"}

Places = dict[tuple[str, Reading], Counts]  # by moment and reading


@dataclass(frozen=True, kw_only=True)
class AlignedPair:
    """A sentence, its translation, and the links between their words."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    sure: Links
    possible: Links


def read_aligned(path: Path) -> Iterator[AlignedPair]:
    """The sentences of a file. Raises InputError naming the file and the line."""
    for number, line in enumerate(lines(path), start=1):
        try:
            row = json.loads(line)
            words = {"source": tuple(map(str, row["src"])), "target": tuple(map(str, row["tgt"]))}
            links = {
                name: frozenset((int(one), int(other)) for one, other in row[name]) for name in ("sure", "possible")
            }
        except (KeyError, TypeError, ValueError):
            raise InputError(f"{path.name}: line {number} holds no aligned sentence.") from None
        yield AlignedPair(**words, **links)  # type: ignore[arg-type]


def joined_words(words: tuple[str, ...]) -> tuple[str, list[tuple[int, int]]]:
    """Words as a text, with the characters of each: as the model is used to read it, "didn't." and not "didn 't ."."""
    text, spans = "", list[tuple[int, int]]()
    for word in words:
        close = not text or text.endswith(NO_SPACE_AFTER) or word.startswith(NO_SPACE_BEFORE)
        text += "" if close else " "
        spans.append((len(text), len(text) + len(word)))
        text += word
    return text, spans


def found_links(checkpoint: Checkpoint, pair: AlignedPair) -> dict[tuple[str, Reading], Links]:
    """The alignment that every moment and every reading gives."""
    (source, sources), (target, targets) = joined_words(pair.source), joined_words(pair.target)
    trace = checkpoint.trace(source, target=target, logits=False)
    assert trace.encoder is not None
    assert trace.decoder is not None
    keys, queries = words_of(trace.encoder, sources), words_of(trace.decoder, targets)
    weights = trace.decoder.cross_weights().numpy()
    sizes = len(pair.target), len(pair.source)
    links = {}
    for moment, words in {"produced": produced_words(queries), "read": queries}.items():
        of_words = word_weights(weights, words, keys, sizes).astype(np.float32)
        for reading in readings(*weights.shape[:2]):
            links[moment, reading] = strongest_links(mean_of_reading(of_words, reading))
    return links


def reading_counts(checkpoint: Checkpoint, pairs: list[AlignedPair]) -> Places:
    """What the error rates of all readings come from."""
    totals: Places = defaultdict(Counts)
    for pair in tqdm(pairs, desc="aligning", leave=False):
        for place, links in found_links(checkpoint, pair).items():
            totals[place] += counts(links, pair.sure, pair.possible)
    return totals


def figures(checkpoint: Checkpoint, pairs: list[AlignedPair], name: str) -> Iterator[dict[str, Any]]:
    """Every figure as it stands in a card, but for the command."""
    chosen_by, judged = reading_counts(checkpoint, pairs[0::2]), pairs[1::2]
    totals = reading_counts(checkpoint, judged)
    guess = sum((counts(diagonal(len(p.target), len(p.source)), p.sure, p.possible) for p in judged), Counts())
    yield figure(f"{name}, the diagonal", guess, judged)
    for moment in MOMENTS:
        heads = [place for place in totals if place[0] == moment and len(place[1]) == 2]
        best = min(heads, key=lambda place: chosen_by[place].error_rate)
        for what, (_, reading) in {"best head, chosen on other sentences: ": best, "": (moment, ())}.items():
            yield figure(
                f"{name}, {what}{reading_name(reading)}, {MOMENT_NAMES[moment]}", totals[moment, reading], judged
            )
        for place in [place for place in totals if place[0] == moment and len(place[1]) == 1]:
            yield figure(f"{name}, {reading_name(place[1])}, {MOMENT_NAMES[moment]}", totals[place], judged)


def reading_name(reading: Reading) -> str:
    """A reading in words; layers and heads are counted from 1."""
    if len(reading) == 2:
        return f"layer {reading[0] + 1} head {reading[1] + 1}"
    return f"mean of layer {reading[0] + 1}" if reading else "mean of all heads"


def figure(what: str, total: Counts, judged: list[AlignedPair]) -> dict[str, Any]:
    value = round(100 * total.error_rate, 2)
    return {"what": f"alignment error rate, {what}", "value": value, "unit": "%", "examples": len(judged)}


def evaluate(options: argparse.Namespace) -> None:
    """The command ``evaluate``: print every figure, and write it into a card where asked to."""
    checkpoint = command_line.checkpoint_to_evaluate(
        options, lambda config: config.is_encoder_decoder, "has no cross-attention"
    )
    files = sorted(options.data.glob(FILES)) if options.data.is_dir() else [options.data]
    if not files:
        raise InputError(f"{options.data.name}: found no file {FILES}.")
    sets = {file.name.split("_en-fr")[0]: list(read_aligned(file))[: options.first] for file in files}
    for name, pairs in sets.items():
        if len(pairs) < 2:
            raise InputError(f"{name}: found {len(pairs)} sentences, expected two or more.")
    command_line.report(
        options, "alignment", (row for name, pairs in sets.items() for row in figures(checkpoint, pairs, name))
    )


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser, add_command = command_line.parser_of("alignment", "Measure the alignments that a translator's heads give.")
    evaluation = add_command("evaluate")
    command_line.evaluation_options(evaluation, "translate-en-fr", "folder of gold alignments, or one file of them")
    return parser.parse_args(arguments)


def main() -> None:
    command_line.run(parse(), {"evaluate": evaluate})


if __name__ == "__main__":
    main()
