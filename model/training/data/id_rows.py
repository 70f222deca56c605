"""Texts as rows of ids: made once, kept on disk, put side by side."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Int, Int32, Int64
from safetensors.numpy import load_file, save_file
from torch import Tensor

from model.tokenizer import Tokenizer


@dataclass(frozen=True, kw_only=True)
class IdRows:
    """Texts as one long row of ids; text ``n`` is ``bounds[n]`` to ``bounds[n + 1]``."""

    ids: Int32[np.ndarray, "token"]
    bounds: Int64[np.ndarray, "text_and_1"]

    @classmethod
    def build(cls, tokenizer: Tokenizer, texts: list[str], at_once: int = 10_000) -> "IdRows":
        """The ids of texts, so many of which are encoded at once."""
        lengths, pieces = [0], [np.zeros(0, np.int32)]
        for start in range(0, len(texts), at_once):
            for ids in tokenizer.encode_many(texts[start : start + at_once]):
                lengths.append(len(ids))
                pieces.append(np.array(ids, np.int32))
        return cls(ids=np.concatenate(pieces), bounds=np.cumsum(lengths))

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def lengths(self) -> Int64[np.ndarray, "text"]:
        """Tokens of every text."""
        return np.diff(self.bounds)

    def row(self, number: int) -> Int32[np.ndarray, "token"]:
        """The ids of one text."""
        return self.ids[self.bounds[number] : self.bounds[number + 1]]


class PreparedRows(NamedTuple):
    """What training reads: rows by their names, to train on and to validate with."""

    tokenizer: Tokenizer
    training: dict[str, IdRows]
    validation: dict[str, IdRows]


def kept_in(folder: Path, make: Callable[[], PreparedRows]) -> PreparedRows:
    """What ``make`` makes, kept in a folder, and read from there if it has been made before."""
    training, validation = (folder / f"{name}.safetensors" for name in ("training", "validation"))
    tokenizer = folder / "tokenizer.json"
    if not training.exists():
        rows = make()
        folder.mkdir(parents=True, exist_ok=True)
        rows.tokenizer.save(tokenizer)
        save_rows(validation, rows.validation)
        save_rows(training, rows.training)  # the last, as the sign that all is there
    stored = Tokenizer.from_json(tokenizer.read_text(encoding="utf-8"))
    return PreparedRows(stored, load_rows(training), load_rows(validation))


def save_rows(path: Path, rows: dict[str, IdRows]) -> None:
    """Write rows by their names."""
    arrays = {f"{name}_{field}": array for name, one in rows.items() for field, array in vars(one).items()}
    save_file(arrays, path)


def load_rows(path: Path) -> dict[str, IdRows]:
    """Read what ``save_rows`` wrote."""
    arrays = load_file(path)
    names = {key.rsplit("_", 1)[0] for key in arrays}
    return {name: IdRows(ids=arrays[f"{name}_ids"], bounds=arrays[f"{name}_bounds"]) for name in names}


def padded(rows: list[np.ndarray]) -> tuple[Int[Tensor, "row position"], Bool[Tensor, "row position"]]:
    """Rows side by side, filled up with 0 at the end to the longest; and where they are real."""
    lengths = torch.tensor([len(row) for row in rows])
    ids = torch.zeros(len(rows), int(lengths.max()), dtype=torch.int64)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = torch.from_numpy(row.astype(np.int64))
    return ids, torch.arange(ids.shape[1])[None, :] < lengths[:, None]
