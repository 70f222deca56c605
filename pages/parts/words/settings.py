"""Which word of the field the page Words begins with, and what its list is narrowed to."""

from dataclasses import dataclass

from pages.parts.state.codec import PageState
from pages.parts.state.fields import address_field, one_of, text_up_to
from viz.text.glossary import TERMS

LONGEST_FILTER = 60  # characters


@dataclass(frozen=True, kw_only=True)
class WordsSettings:
    """term: the key of a term, which then stands above all others; "": none does.

    filter: what the words that are listed contain.
    """

    term: str = address_field("", one_of(("", *TERMS)))
    filter: str = address_field("", text_up_to(LONGEST_FILTER))


STATE = PageState(settings=WordsSettings, follows=True)
