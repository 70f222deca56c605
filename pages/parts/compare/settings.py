"""What the page Compare is set to: what stands beside the text, which tokens are partners, and what is patched."""

from dataclasses import dataclass

from pages.parts.state.codec import PageState
from pages.parts.state.fields import OF_TEXT, address_field, one_of, switch, text_up_to, whole_numbers
from pages.parts.state.selection import LONGEST_TEXT, an_available_checkpoint, typable

AGAINST = ("text", "model", "edits")
PARTNERS = ("same", "nearest")
PARTS = ("stream", "heads", "weights")
MOST_NUMBERS = 2048  # two for each pair of tokens
OF_PAIR = OF_TEXT | {"against", "other", "other_model"}


def other_text(text: str) -> str:
    """A second text as a browser can hold it."""
    return typable(text_up_to(LONGEST_TEXT)(text))


@dataclass(frozen=True, kw_only=True)
class CompareSettings:
    """What is compared.

    against: another text, another model, or the same with the edits that are kept. other: the text; "": one that the
    page chooses. other_model: its name; "": the first that is not the one on the screen.
    aligned: units that were made partners by hand, of the first and of the second in turn; (): as they were found.
    partner: of two models with the same number of heads, whether a head stands beside that at its place, or beside the
    most similar one. part: what is taken from the second pass, see ``patched_answers``. alike: whether the heads like
    the chosen one come first, as for whoever has asked for them on another page.
    """

    against: str = address_field(AGAINST[0], one_of(AGAINST))
    other: str = address_field("", other_text)
    other_model: str = address_field("", an_available_checkpoint)
    aligned: tuple[int, ...] = address_field((), whole_numbers(MOST_NUMBERS, 9999), reset_by=OF_PAIR)
    partner: str = address_field(PARTNERS[0], one_of(PARTNERS))
    part: str = address_field(PARTS[0], one_of(PARTS))
    alike: bool = address_field(False, switch)


STATE = PageState(settings=CompareSettings, follows=True)
