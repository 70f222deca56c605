"""What the page Write holds: the tokens written so far, the step that is looked at, and how the next is chosen."""

from dataclasses import dataclass

from pages.parts.state.codec import PageState
from pages.parts.state.fields import OF_TEXT, address_field, decimal, one_of, whole, whole_numbers

BEGINNINGS = (
    "Once upon a time there was a little girl who",
    "The king called his three sons and said,",
    "In the middle of the forest stood a",
    "“Where have you been?” asked the",
    "The wolf knocked at the door, and the little pig",
    "The princess had a golden ball. One day the golden",
)
EXAMPLE = BEGINNINGS[0]
CHECKPOINT = "stories"
MOST_WRITTEN, LARGEST_ID = 512, 999_999
METHODS = ("sample", "greedy")
HOTTEST, MOST_LEFT, HARDEST, LARGEST_SEED, MOST_AT_ONCE = 2.0, 1000, 2.0, 999_999, 200


@dataclass(frozen=True, kw_only=True)
class Continuation:
    """Every field is a plain value; the names are those of an address.

    written: ids.
    at: how many of them the model has read at the step that is looked at; None: all.
    penalty: for repetition. tokens: that a run writes.
    """

    written: tuple[int, ...] = address_field((), whole_numbers(MOST_WRITTEN, LARGEST_ID), reset_by=OF_TEXT)
    at: int | None = address_field(None, whole(0, MOST_WRITTEN), reset_by=OF_TEXT)
    method: str = address_field(METHODS[0], one_of(METHODS))
    penalty: float = address_field(1.0, decimal(1, HARDEST))
    temperature: float = address_field(0.8, decimal(0, HOTTEST))
    top_k: int = address_field(40, whole(0, MOST_LEFT))
    top_p: float = address_field(0.9, decimal(0, 1))
    seed: int = address_field(0, whole(0, LARGEST_SEED))
    tokens: int = address_field(20, whole(1, MOST_AT_ONCE))


NOTHING_WRITTEN = {"written": (), "at": None}
STATE = PageState(settings=Continuation, opening={"text": EXAMPLE, "checkpoint": CHECKPOINT}, architecture="decoder")
