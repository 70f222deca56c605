"""Labelled texts from files, and the corpus of token ids that training draws its batches from."""

import csv
import gzip
import hashlib
import io
import json
import lzma
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Float32, Int32, Int64

from model.errors import InputError
from model.tokenizer import Tokenizer

SENTENCE = re.compile(r"[^.!?\n]+[.!?]*\s*|[.!?]+\s*")
MISREAD = re.compile("[\x80-\x9f]")

Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True)
class Example:
    """One text of a data set."""

    text: str
    label: str | None
    group: str  # examples of one group stay on one side of the validation split


def open_text(path: Path) -> io.TextIOWrapper:
    """A text file, unpacked where its name ends in .gz or .xz."""
    opener = {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, io.open)
    return opener(path, "rt", encoding="utf-8", newline="")  # type: ignore[operator]


def lines(path: Path) -> Iterator[str]:
    """The lines of a text file without what ends them; not ``splitlines``, which ends them at other signs too.

    Raises InputError naming the file where it cannot be read.
    """
    if not path.is_file():
        raise InputError(f"{path.name}: there is no such file.")
    try:
        with open_text(path) as file:
            for line in file:
                yield line.rstrip("\r\n")
    except (OSError, EOFError, lzma.LZMAError, UnicodeDecodeError):
        raise InputError(f"{path.name}: this is no text in UTF-8, or it is packed and damaged.") from None


def read_examples(path: Path, *, labelled: bool = True, group: str = "group") -> Iterator[Example]:
    """The examples of a CSV file with a header, or of a file of JSON lines: fields ``text`` and ``label``.

    An optional field, ``group``, keeps related texts together. Raises InputError naming the file and the line.
    """
    kind = next((suffix for suffix in reversed(path.suffixes) if suffix not in (".gz", ".xz")), "")
    readers = {".csv": csv_rows, ".jsonl": json_rows, ".json": json_rows}
    if kind not in readers:
        raise InputError(f"{path.name}: found a name ending in {kind!r}, expected .csv or .jsonl (packed or not).")
    if not path.is_file():
        raise InputError(f"{path.name}: there is no such file.")
    with open_text(path) as file:
        for line, row in readers[kind](file, path.name):
            yield example(row, f"{path.name}: line {line}", labelled, group)


def csv_rows(file: Iterable[str], name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a CSV file with the line that each ends on."""
    reader = csv.DictReader(file, strict=True)
    try:
        for row in reader:
            yield reader.line_num, row
    except csv.Error as error:
        raise InputError(f"{name}: line {reader.line_num}: {error}.") from None


def json_rows(file: Iterable[str], name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file of JSON lines with their line numbers."""
    for line, text in enumerate(file, start=1):
        if not text.strip():
            continue
        try:
            row = json.loads(text)
        except (ValueError, RecursionError):
            raise InputError(f"{name}: line {line}: this is not one JSON value.") from None
        if not isinstance(row, dict):
            raise InputError(f"{name}: line {line}: found a {type(row).__name__}, expected an object.")
        yield line, row


def example(row: dict[str, Any], where: str, labelled: bool, group: str) -> Example:
    """A checked example; InputError beginning with ``where`` if a field is missing or of the wrong kind."""
    text, label = row.get("text"), row.get("label")
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{where}: the field text is missing or empty.")
    if labelled and (label is None or isinstance(label, float | list | dict) or not str(label).strip()):
        raise InputError(f"{where}: the field label is missing, empty or no name.")
    text = text.encode("utf-8", "replace").decode()
    return Example(text=text, label=str(label) if labelled else None, group=str(row.get(group, text)))


def held_out(group: str, parts: int) -> bool:
    """Whether a group belongs to the one part in ``parts`` kept for validation; depends on its name alone."""
    return int(hashlib.sha256(group.encode("utf-8", "replace")).hexdigest(), 16) % parts == 0


def split_groups(items: list[Item], group: Callable[[Item], str], parts: int) -> tuple[list[Item], list[Item]]:
    """The items to train on, and those of the one part in ``parts`` that is held out, each group on one side."""
    kept = [item for item in items if not held_out(group(item), parts)]
    return kept, [item for item in items if held_out(group(item), parts)]


def sentences(text: str) -> list[str]:
    """The text cut after every full stop, exclamation mark, question mark and line end."""
    return [part for part in SENTENCE.findall(text) if part.strip()] or [text]


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """Texts as one long row of ids, cut into sentences, which are cut into texts; and what is to be predicted.

    A text is ``text_bounds[t]`` to ``text_bounds[t + 1]`` among the sentences, a sentence ``bounds[s]`` to
    ``bounds[s + 1]`` among the ids.
    """

    ids: Int32[np.ndarray, "token"]
    bounds: Int64[np.ndarray, "sentence_and_1"]
    text_bounds: Int64[np.ndarray, "text_and_1"]
    targets: Float32[np.ndarray, "text label"]  # probabilities
    evidence: Float32[np.ndarray, "sentence label"] | None = None  # a teacher's log-odds for each sentence alone

    @classmethod
    def build(
        cls,
        tokenizer: Tokenizer,
        texts: Iterable[list[str]],
        targets: Float32[np.ndarray, "text label"],
        evidence: Float32[np.ndarray, "sentence label"] | None = None,
    ) -> "Corpus":
        """The corpus of texts given as lists of sentences."""
        counts, lengths, pieces = [0], [0], [np.zeros(0, np.int32)]
        for text in texts:
            encoded = tokenizer.encode_many(text)
            counts.append(len(encoded))
            lengths.extend(map(len, encoded))
            pieces.append(np.fromiter((number for ids in encoded for number in ids), np.int32))
        return cls(
            ids=np.concatenate(pieces),
            bounds=np.cumsum(lengths),
            text_bounds=np.cumsum(counts),
            targets=targets,
            evidence=evidence,
        )

    def __len__(self) -> int:
        return len(self.text_bounds) - 1

    def text_lengths(self) -> Int64[np.ndarray, "text"]:
        """Tokens of every text."""
        return np.diff(self.bounds[self.text_bounds])

    def crop(self, first: int, last: int) -> Int32[np.ndarray, "token"]:
        """The ids of sentences ``first`` to ``last`` (not included), counted through the whole corpus."""
        return self.ids[self.bounds[first] : self.bounds[last]]

    def whole(self, text: int) -> Int32[np.ndarray, "token"]:
        """All ids of a text."""
        return self.crop(int(self.text_bounds[text]), int(self.text_bounds[text + 1]))
