"""How a translation is produced and looked at, as it stands in the address."""

import re
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

SENTENCES = (
    "The animal didn't cross the street because it was too tired.",
    "The dog bit the man.",
    "I would have gone with you if you had asked me.",
    "She gave her brother the book that he wanted.",
    "How long have you been waiting here?",
)
METHODS = {"greedy": "Greedy", "beam": "Beam search", "sample": "Sampled"}
WIDEST, MOST_K, LARGEST_SEED = 8, 1000, 999_999
HOTTEST, LARGEST_PENALTY = 5.0, 5.0
SETTINGS = {
    "greedy": (),
    "beam": ("width", "length_penalty"),
    "sample": ("temperature", "top_k", "top_p", "seed"),
}


@dataclass(frozen=True, kw_only=True)
class Options:
    """Everything but source and target that the page Translate can be set to; what counts, counts from 0.

    reading: which heads are looked at, "" for all of all layers, "1" for all of a layer, "1.3" for one.
    opened: the page has chosen cross-attention once, and leaves the choice to the visitor from then on.
    """

    method: str = "greedy"
    width: int = 4
    length_penalty: float = 0.6
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0
    choice: int = 0  # which of the translations that a beam search ends with
    step: int = 0  # which token of the target is being produced
    reading: str = ""
    moment: str = "produced"  # whether an alignment is of the rows that produce a word, or of those that read it
    opened: bool = False

    def settings(self) -> dict[str, Any]:
        """What decoding is asked for."""
        return {"method": self.method} | {name: getattr(self, name) for name in SETTINGS[self.method]}

    def place(self) -> tuple[int, ...]:
        """The reading as layer and head, as far as it names them."""
        return tuple(int(part) for part in self.reading.split(".") if part)

    def to_text(self) -> str:
        """ "method.beam~width.8": what differs from the default; nothing in it needs escaping in an address."""
        named = ((field.name, getattr(self, field.name), field.default) for field in fields(self))
        return "~".join(f"{name}.{written(found)}" for name, found, plain in named if found != plain)


def written(found: object) -> str:
    """One value as it is read again."""
    return (
        f"{found:.4f}".rstrip("0").rstrip(".")
        if isinstance(found, float)
        else str(int(found))
        if isinstance(found, bool)
        else str(found)
    )


def options_of(text: str) -> Options:
    """What ``to_text`` wrote. ValueError for anything else."""
    found: dict[str, Any] = {}
    for part in filter(None, text.split("~")):
        name, _, value = part.partition(".")
        if name in found or name not in READ:
            raise ValueError(f"{name}: found twice, or unknown")
        found[name] = READ[name](value)
    return Options(**found)


def from_the_start(text: str) -> str:
    """The same options for another source: the best translation, and the first step of it."""
    return replace(options_of(text), choice=0, step=0).to_text()


def whole(least: int, most: int) -> Callable[[str], int]:
    """What reads a whole number from ``least`` to ``most``."""

    def read(text: str) -> int:
        if not re.fullmatch("[0-9]{1,6}", text) or not least <= int(text) <= most:
            raise ValueError(f"wanted a whole number from {least} to {most}")
        return int(text)

    return read


def decimal(most: float) -> Callable[[str], float]:
    """What reads a decimal from 0 to ``most``."""

    def read(text: str) -> float:
        if not re.fullmatch(r"[0-9]{1,2}(\.[0-9]{1,4})?", text) or float(text) > most:
            raise ValueError(f"wanted a decimal from 0 to {most}")
        return float(text)

    return read


def matching(pattern: str) -> Callable[[str], str]:
    """What reads a word of this form."""

    def read(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(f"wanted {pattern}")
        return text

    return read


READ: dict[str, Callable[[str], Any]] = {
    "method": matching("|".join(METHODS)),
    "width": whole(1, WIDEST),
    "length_penalty": decimal(LARGEST_PENALTY),
    "temperature": decimal(HOTTEST),
    "top_k": whole(0, MOST_K),
    "top_p": decimal(1.0),
    "seed": whole(0, LARGEST_SEED),
    "choice": whole(0, WIDEST - 1),
    "step": whole(0, 9999),
    "reading": matching("[0-9]{1,4}([.][0-9]{1,4})?"),
    "moment": matching("produced|read"),
    "opened": lambda text: bool(whole(0, 1)(text)),
}
