"""How a translation is produced and looked at, as it stands in the address."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pages.parts.state.codec import PageState
from pages.parts.state.fields import (
    OF_CHECKPOINT,
    OF_TEXT,
    address_field,
    decimal,
    one_of,
    packed,
    unpacked,
    whole,
    word_like,
)

SENTENCES = (
    "The red house is big.",
    "The animal didn't cross the street because it was too tired.",
    "The dog bit the man.",
    "I would have gone with you if you had asked me.",
    "She gave her brother the book that he wanted.",
    "How long have you been waiting here?",
)
CHECKPOINT = "translate-en-fr"
METHODS = {"greedy": "Greedy", "beam": "Beam search", "sample": "Sampled"}
WIDEST, MOST_K, LARGEST_SEED = 8, 1000, 999_999
HOTTEST, LARGEST_PENALTY = 5.0, 5.0
MOMENTS = ("produced", "read")
ALL_HEADS = "all"  # as a reading
SETTINGS = {
    "greedy": (),
    "beam": ("width", "length_penalty"),
    "sample": ("temperature", "top_k", "top_p", "seed"),
}


@dataclass(frozen=True, kw_only=True)
class Options:
    """Everything but source and target that the page Translate can be set to; what counts, counts from 0.

    choice: which of the translations that a beam search ends with.
    step: which token of the target is being produced; None for the one most worth seeing.
    reading: which heads are looked at, "1" for all of a layer, "1.3" for one, "all"; "" for those measured to be best.
    moment: whether an alignment is of the rows that produce a word, or of those that read it.
    """

    method: str = address_field("greedy", one_of(METHODS))
    width: int = address_field(4, whole(1, WIDEST))
    length_penalty: float = address_field(0.6, decimal(0, LARGEST_PENALTY))
    temperature: float = address_field(1.0, decimal(0, HOTTEST))
    top_k: int = address_field(0, whole(0, MOST_K))
    top_p: float = address_field(1.0, decimal(0, 1))
    seed: int = address_field(0, whole(0, LARGEST_SEED))
    choice: int = address_field(0, whole(0, WIDEST - 1), reset_by=OF_TEXT)
    step: int | None = address_field(None, whole(0, 9999), reset_by=OF_TEXT)
    reading: str = address_field("", word_like("|all|[0-9]{1,4}([.][0-9]{1,4})?"), reset_by=OF_CHECKPOINT)
    moment: str = address_field(MOMENTS[0], one_of(MOMENTS))

    def settings(self) -> dict[str, Any]:
        """What decoding is asked for."""
        return {"method": self.method} | {name: getattr(self, name) for name in SETTINGS[self.method]}

    def place(self) -> tuple[int, ...]:
        """The reading as layer and head, as far as it names them."""
        return tuple(int(part) for part in self.reading.split(".") if part.isdigit())


def of_older_address(address: Mapping[str, str]) -> Mapping[str, str]:
    """An address of the time when the page noted in it that it had chosen cross-attention once.

    With that note, an address that named no attention meant the encoder's.
    """
    try:
        options = unpacked(address.get("translation", ""))
    except ValueError:
        return address
    if options.pop("opened", None) != "1":
        return address
    return {"attention": "encoder"} | dict(address) | {"translation": packed(options)}


STATE = PageState(
    settings=Options,
    packed="translation",
    opening={"text": SENTENCES[0], "checkpoint": CHECKPOINT, "attention": "cross"},
    architecture="encoder-decoder",
    older=of_older_address,
)
