"""Sentences and words that people rated from -4, very bad, to 4, very good; near 0 are those that state no opinion.

From tweets, reviews of products and films, and leading articles: Hutto and Gilbert 2014, "VADER: A Parsimonious
Rule-based Model for Sentiment Analysis of Social Media Text". Their archive, hutto_ICWSM_2014.tar.gz, lies in the
source of the package vaderSentiment 0.5 (MIT licence); each line of its *_GroundTruth.txt is a number, the mean rating
of ten or twenty people, and the sentence. So does their list of words, vader_sentiment_lexicon.txt, whose lines begin
with a word and its mean rating.
"""

import html
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float32

from model.errors import InputError

SUFFIX = "_GroundTruth.txt"
SHARPNESS = 1.5  # log-odds of "positive" to one step of the rating


class Rated(NamedTuple):
    """A sentence or a word, and the mean of its ratings."""

    text: str
    rating: float


def rated_texts(files: Sequence[Path]) -> Iterator[Rated]:
    """What people rated, of archives of sentences and lists (.txt) of words. InputError as the functions below."""
    for file in files:
        yield from rated_words(file) if file.suffix == ".txt" else rated_sentences(file)


def rated_words(file: Path) -> Iterator[Rated]:
    """The words of a list; signs as ":-)" are left out. InputError naming the line that is not one of it."""
    try:
        content = file.read_bytes().decode("utf-8", "replace")  # some of its signs are in other encodings
    except OSError:
        raise InputError(f"{file.name}: this file cannot be read.") from None
    for number, line in enumerate(content.splitlines(), start=1):
        word, _, rest = line.partition("\t")
        try:
            rating = float(rest.partition("\t")[0])
        except ValueError:
            raise InputError(f"{file.name}: line {number}: expected a word and a rating, with a tab between.") from None
        if word.isalpha():
            yield Rated(word, rating)


def rated_sentences(archive: Path) -> Iterator[Rated]:
    """The sentences of an archive. Raises InputError naming the archive where it holds none, or a line of it."""
    try:
        with tarfile.open(archive) as files:
            members = sorted((member for member in files if member.name.endswith(SUFFIX)), key=lambda one: one.name)
            contents = [(member.name, files.extractfile(member)) for member in members if member.isfile()]
            texts = [(name, content.read().decode("utf-8", "replace")) for name, content in contents if content]
    except (OSError, tarfile.TarError, EOFError):
        raise InputError(f"{archive.name}: this is no archive of rated sentences.") from None
    if not texts:
        raise InputError(f"{archive.name}: found no file that ends in {SUFFIX}.")
    for name, text in texts:
        for number, line in enumerate(text.splitlines(), start=1):
            yield rated(line, f"{archive.name}: {name}: line {number}")


def rated(line: str, where: str) -> Rated:
    """The sentence of a line; InputError beginning with ``where`` where the line is not one."""
    parts = line.split("\t", 2)
    try:
        return Rated(html.unescape(" ".join(parts[2].split())), float(parts[1]))
    except (IndexError, ValueError):
        raise InputError(f"{where}: expected a number, a rating and a sentence, with tabs between.") from None


def rated_opinions(ratings: Sequence[float]) -> Float32[np.ndarray, "sentence label"]:
    """Ratings as the probabilities of "negative" and "positive": even odds at 0."""
    positive = 1 / (1 + np.exp(-SHARPNESS * np.array(ratings)))
    return np.stack([1 - positive, positive], axis=1).astype(np.float32)
