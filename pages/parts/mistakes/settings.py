"""Which mistake the page Mistakes shows."""

from dataclasses import dataclass

from model.measures.learn.mistakes.catalogue import MISTAKES
from pages.parts.state.codec import PageState
from pages.parts.state.fields import address_field, one_of


@dataclass(frozen=True, kw_only=True)
class MistakesSettings:
    """mistake: by its name in the catalogue; "": the one that changes the answer most, which no address names."""

    mistake: str = address_field("", one_of(("", *MISTAKES)))


STATE = PageState(settings=MistakesSettings, follows=True)
