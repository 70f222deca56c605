"""Which word of the field the page Words begins with."""

from dataclasses import dataclass

from pages.parts.state.codec import PageState
from pages.parts.state.fields import declared, one_of
from viz.text.glossary import TERMS


@dataclass(frozen=True, kw_only=True)
class Words:
    """term: the key of a term, which then stands above all others; "": none does."""

    term: str = declared("", one_of(("", *TERMS)))


STATE = PageState(settings=Words, follows=True)
