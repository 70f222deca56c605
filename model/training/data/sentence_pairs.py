"""Sentences in two languages: read, turned into ids, and dealt out in batches of like length."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int, Int64
from torch import Tensor

from model.errors import InputError
from model.tokenizer import START_ID, Tokenizer
from model.training.data.corpora import lines, split_groups
from model.training.data.id_rows import IdRows, PreparedRows, kept_in, padded
from model.training.data.list_files import read_lists, words

TATOEBA = "{split}.en-fr.tsv.gz"
# So that a text of several sentences is translated to its end, some pairs are joined to longer ones (Kondo et al. 2021,
# "Sentence Concatenation Approach to Data Augmentation for Neural Machine Translation"): this many of their sum, of
# from two to so many sentences each.
JOINED_SHARE, MOST_JOINED = 0.05, 16
CASUAL_SHARE = 0.04  # of the pairs come once more, as people type who are in a hurry
# One in twelve pairs is about Tom, few are about anybody else, and few have a year: a model that has seen no other name
# spells a new one wrong. So some pairs come once more with others.
NAMED = {"Tom": "he", "Mary": "she"}  # whom other names of a list stand for
RENAMED_SHARE = 0.05  # of all pairs, drawn from those in which a name stands on both sides
# Of Tatoeba's 163,026 pairs twelve have "How are you" with nothing after it: too few to learn what people say when they
# meet. So some pairs greet, put together from those of greetings.txt.
GREETED_SHARE, GREETING_FIRST = 0.02, 0.75  # of all pairs; of these, with a greeting before what is said
MARKS = ((", ", ", "), ("! ", " ! "), (". ", ". "), (" ", ", "))  # between both, as they are typed, and in French
YEAR = re.compile(r"\b(1[0-9]|20)[0-9]{2}\b")
YEARS, REDATED = (1000, 2100), 8  # the first and the end; pairs that one with a year gives


class Pair(NamedTuple):
    """A sentence and its translation."""

    source: str
    target: str


def read_pairs(paths: list[Path]) -> Iterator[Pair]:
    """The pairs of one file of tab-separated lines, or of two files with a sentence a line.

    More than two columns are allowed; the first two count. Raises InputError naming the file, and the line where one
    is at fault.
    """
    if len(paths) > 2:
        raise InputError(f"--data: found {len(paths)} files, expected one of pairs or two of sentences.")
    rows = (line.split("\t") for line in lines(paths[0])) if len(paths) == 1 else zip_lines(*paths)
    for number, row in enumerate(rows, start=1):
        sentences = [clean(part) for part in row[:2]]
        if len(sentences) < 2 or not all(sentences):
            raise InputError(f"{paths[0].name}: line {number}: expected two sentences, neither of them empty.")
        yield Pair(*sentences)


def zip_lines(source: Path, target: Path) -> Iterator[list[str]]:
    """The lines of two files side by side. Raises InputError where one file is longer."""
    for row in zip_longest(lines(source), lines(target)):
        if None in row:
            raise InputError(f"{source.name} and {target.name}: found different numbers of lines.")
        yield list(row)


def clean(text: str) -> str:
    """The text with single blanks and nothing else between its words."""
    return " ".join(text.encode("utf-8", "replace").decode().split())


def casual(source: str) -> str:
    """A sentence as it is typed in a hurry: in lower case, without what ends it."""
    return re.sub(r"\s*[.!?]+$", "", source.lower())


def augmented(pairs: list[Pair], seed: int = 0) -> list[Pair]:
    """The pairs, and some of them casually typed, and some of them joined to longer texts."""
    rng = np.random.default_rng(seed)
    again = rng.integers(len(pairs), size=int(CASUAL_SHARE * len(pairs))).tolist()
    typed = [Pair(casual(pairs[number].source) or pairs[number].source, pairs[number].target) for number in again]
    joined = []
    for count in rng.integers(2, MOST_JOINED + 1, size=int(JOINED_SHARE * len(pairs))).tolist():
        some = [pairs[number] for number in rng.integers(len(pairs), size=count).tolist()]
        joined.append(Pair(" ".join(pair.source for pair in some), " ".join(pair.target for pair in some)))
    greeted = greetings(int(GREETED_SHARE * len(pairs)), rng)
    return [*pairs, *typed, *joined, *renamed(pairs, rng), *redated(pairs, rng), *greeted]


def greetings(count: int, rng: np.random.Generator) -> Iterator[Pair]:
    """What people say when they meet, most of it behind a greeting of the same register; none to evaluate with."""
    evaluated = {words(text) for texts in read_lists("translations").values() for text in texts}
    for _ in range(count):
        pair = greeting(rng)
        if words(pair.source) not in evaluated:
            yield pair


def greeting(rng: np.random.Generator) -> Pair:
    """One of them."""
    lists, register = read_lists("greetings"), rng.choice(("formal", "casual"))
    sentence = drawn(lists[f"said, {register}"], rng)
    if rng.random() >= GREETING_FIRST:
        return sentence
    first, marks = drawn(lists[f"greetings, {register}"], rng), MARKS[rng.integers(len(MARKS))]
    return Pair(*(behind(*one) for one in zip(first, sentence, marks, strict=True)))


def drawn(entries: Sequence[str], rng: np.random.Generator) -> Pair:
    """A pair of a list, "Hello, {name} = Bonjour, {name}", with somebody's name in it."""
    name = str(rng.choice(read_lists("names")[rng.choice(tuple(NAMED.values()))]))
    source, target = str(rng.choice(entries)).replace("{name}", name).split(" = ")
    return Pair(source, target)


def behind(first: str, then: str, mark: str) -> str:
    """One after the other, with a mark between."""
    small = mark in (", ", " ") and not then.startswith("I'")
    return first + mark + (then[0].lower() + then[1:] if small else then)


def renamed(pairs: list[Pair], rng: np.random.Generator) -> Iterator[Pair]:
    """Pairs about somebody, with other names, the same on both sides."""
    names = read_lists("names")
    told = [(pair, name) for pair in pairs for name in NAMED if all(word_in(name, text) for text in pair)]
    for number in rng.integers(len(told), size=int(RENAMED_SHARE * len(pairs)) if told else 0).tolist():
        pair, name = told[number]
        other = str(rng.choice(names[NAMED[name]]))
        yield Pair(*(re.sub(rf"\b{name}\b", other, text) for text in pair))


def word_in(word: str, text: str) -> bool:
    """Whether a text has a word."""
    return re.search(rf"\b{word}\b", text) is not None


def redated(pairs: list[Pair], rng: np.random.Generator) -> Iterator[Pair]:
    """Pairs with a year, with other years, the same on both sides."""
    for pair in pairs:
        years = {found[0] for found in YEAR.finditer(pair.source)}
        if len(years) == 1 and years == {found[0] for found in YEAR.finditer(pair.target)}:
            for year in rng.integers(*YEARS, size=REDATED).tolist():
                yield Pair(*(YEAR.sub(str(year), text) for text in pair))


@dataclass(frozen=True, kw_only=True)
class Parallel:
    """Texts and their translations, both as ids with the end token."""

    source: IdRows
    target: IdRows


def parallel(tokenizer: Tokenizer, pairs: list[Pair]) -> dict[str, IdRows]:
    """The ids of both sides of pairs."""
    return {side: IdRows.build(tokenizer, [getattr(pair, side) for pair in pairs]) for side in Pair._fields}


def prepare(
    data: list[Path], vocabulary: int, folder: Path, tokenizer: Tokenizer | None = None
) -> tuple[Tokenizer, Parallel, Parallel]:
    """Tokenizer, and pairs to train on and to validate with; kept in ``folder``, and read from there if they are.

    Without a tokenizer the pairs teach one.
    """

    def make() -> PreparedRows:
        kept, out = split(data)
        texts = (text for pair in kept for text in pair)
        its = tokenizer or Tokenizer.train_byte_pairs(texts, vocabulary, ended=True)
        return PreparedRows(its, parallel(its, augmented(kept)), parallel(its, out))

    rows = kept_in(folder, make)
    return rows.tokenizer, Parallel(**rows.training), Parallel(**rows.validation)


def split(data: list[Path]) -> tuple[list[Pair], list[Pair]]:
    """Pairs to train on and to validate with: as a folder has them split, else one source sentence in 50 held out."""
    if data[0].is_dir():
        training, validation = (list(read_pairs([data[0] / TATOEBA.format(split=part)])) for part in ("train", "val"))
        return training, validation
    pairs = list(read_pairs(data))
    kept, out = split_groups(pairs, lambda pair: pair.source, 50)
    if not kept or not out:
        raise InputError(f"{data[0].name}: found {len(pairs)} pairs, too few to hold some out; 500 is a start.")
    return kept, out


class PairBatch(NamedTuple):
    """Padded ids of both sides, and where the source's are real; no target position sees the padding after it.

    A target goes from the start token to the end token.
    """

    source: Int[Tensor, "pair position"]
    padding_mask: Bool[Tensor, "pair position"]
    target: Int[Tensor, "pair target_and_1"]


@dataclass(frozen=True, kw_only=True, eq=False)
class PairBatches:
    """An endless, reproducible row of batches, pass after pass over all pairs, each pass in an order of its own.

    ``at(step)`` depends on nothing but the step and the seed. A batch has pairs of like length, as many as keep the
    longer side, padding included, to ``tokens``. Texts are cut to ``longest``.
    """

    pairs: Parallel
    tokens: int
    longest: int
    seed: int

    def at(self, step: int) -> PairBatch:
        """The batch of one step."""
        orders = order_of_pass(self, step // self.steps)
        return self.batch(orders[step % self.steps])

    @property
    def steps(self) -> int:
        """Steps of a pass: the same for all, for lengths alone decide where a batch ends."""
        return len(order_of_pass(self, 0))

    def batch(self, chosen: Int64[np.ndarray, "pair"]) -> PairBatch:
        """Some pairs side by side."""
        source = [self.pairs.source.row(number)[: self.longest] for number in chosen.tolist()]
        start = np.array([START_ID], np.int32)
        target = [np.concatenate([start, self.pairs.target.row(number)[: self.longest]]) for number in chosen.tolist()]
        return PairBatch(*padded(source), padded(target)[0])

    def lengths(self) -> Int64[np.ndarray, "side pair"]:
        """Tokens of both sides of every pair, without the start token."""
        return np.stack([rows.lengths() for rows in (self.pairs.source, self.pairs.target)]).clip(max=self.longest)


@lru_cache(maxsize=4)
def order_of_pass(batches: PairBatches, number: int) -> list[Int64[np.ndarray, "pair"]]:
    """Which pairs every batch of a pass has: neighbours in order of length, the batches shuffled."""
    rng = np.random.default_rng((batches.seed, number))
    source, target = batches.lengths()
    shuffled = rng.permutation(len(source))
    order = shuffled[np.lexsort((source[shuffled], target[shuffled]))]
    longer, cuts, longest, start = np.maximum(source, target)[order].tolist(), [], 0, 0
    for position, length in enumerate(longer):
        longest = max(longest, length)
        if position > start and longest * (position + 1 - start) > batches.tokens:
            cuts.append(position)
            longest, start = length, position
    batches_in_order = np.split(order, cuts)
    return [batches_in_order[place] for place in rng.permutation(len(batches_in_order)).tolist()]
