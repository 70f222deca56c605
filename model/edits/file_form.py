"""Edits in a small file of JSON, with the texts and the checkpoint that they belong to."""

import json
from dataclasses import asdict, dataclass
from typing import Any

from model.edits.values import Edits
from model.errors import CheckpointError, InputError, printable
from model.loading.bounded_files import strict_json

KIND = "headlight edit 1"
LARGEST_FILE = 2_000_000  # bytes
LONGEST = {"checkpoint": 300, "text": 2000, "pair": 2000, "target": 2000, "edits": 1_000_000}  # characters
NAME = "The file"


@dataclass(frozen=True, kw_only=True)
class EditFile:
    """What a file says: all texts as they were typed, edits as ``Edits.to_text`` writes them."""

    checkpoint: str
    text: str
    pair: str = ""
    target: str = ""
    edits: str = ""

    def to_bytes(self) -> bytes:
        """The file: ASCII, one field a line."""
        return (json.dumps({"kind": KIND, **asdict(self)}, indent=1) + "\n").encode("ascii")

    @classmethod
    def from_bytes(cls, content: bytes) -> "EditFile":
        """What ``to_bytes`` wrote. InputError, in one sentence, for anything else."""
        if len(content) > LARGEST_FILE:
            raise InputError(
                f"{NAME} has {len(content)} bytes, expected at most {LARGEST_FILE}: no saved edit is so large."
            )
        try:
            values = strict_json(content, NAME)
        except CheckpointError:
            raise InputError(f"{NAME} is no edit saved by this page: it is not valid JSON.") from None
        if values.pop("kind", None) != KIND:
            raise InputError(f"{NAME} is no edit saved by this page: “kind” is not “{KIND}”.")
        if set(values) != set(LONGEST):
            names = ", ".join(LONGEST)
            raise InputError(f"{NAME} is no edit saved by this page: expected the fields {names} and no others.")
        for name, longest in LONGEST.items():
            check_text(name, values[name], longest)
        Edits.from_text(values["edits"])
        return cls(**values)


def check_text(name: str, value: Any, longest: int) -> None:
    """InputError unless it is a text of at most so many characters."""
    if not isinstance(value, str):
        raise InputError(f"{NAME}: {name}: found {printable(type(value).__name__)}, expected a text.")
    if len(value) > longest:
        raise InputError(f"{NAME}: {name}: found {len(value)} characters, expected at most {longest}.")
