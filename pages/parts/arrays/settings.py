"""What the page Your arrays writes into the address beside the explorer's view."""

from dataclasses import dataclass

from pages.parts.state.codec import PageState
from pages.parts.state.fields import address_field, switch


@dataclass(frozen=True, kw_only=True)
class Arrays:
    """own: whether the view is of a visitor's file, which no address can carry."""

    own: bool = address_field(False, switch)


STATE = PageState(settings=Arrays, packed="arrays", follows=True, of_file=True)
