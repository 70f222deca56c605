"""What the page Break the formula shows: an experiment or a subject, and how that is set."""

from dataclasses import dataclass

from pages.parts.ablations.subjects import ALL
from pages.parts.state.codec import PageState
from pages.parts.state.fields import address_field, one_of, text_up_to
from pages.parts.state.selection import LONGEST_TEXT


@dataclass(frozen=True, kw_only=True)
class AblationSettings:
    """What is taken out or measured; "": the part that matters most in the text, which no address names.

    setting: of that alone, as the part that shows it writes it.
    """

    experiment: str = address_field("", one_of(ALL))
    setting: str = address_field("", text_up_to(LONGEST_TEXT), reset_by={"experiment"})


STATE = PageState(settings=AblationSettings)
