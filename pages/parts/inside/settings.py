"""Where the page Inside a head stands: the whole head or a step of the computation, and how much is said of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from pages.parts.state.codec import PageState
from pages.parts.state.fields import OF_CHECKPOINT, address_field, one_of, switch
from viz.walkthrough.step_sentences import TITLES as STEPS

WHOLE = "whole"  # the head as matrices, before the first step
VIEWS = (WHOLE, *STEPS)
DEPTHS = ("idea", "numbers")


@dataclass(frozen=True, kw_only=True)
class WalkSettings:
    """The whole head or one step of the way to a weight, and whether it is shown as an idea or in all numbers.

    opening: whether, as long as no place is chosen, the weight is that of the head that does most with the text; else
    it is that of the first head.
    """

    step: str = address_field(WHOLE, one_of(VIEWS))
    depth: str = address_field(DEPTHS[0], one_of(DEPTHS))
    opening: bool = address_field(True, switch, reset_by=OF_CHECKPOINT)


def of_older_address(address: Mapping[str, str]) -> Mapping[str, str]:
    """An address that names the first head, as the app no longer writes one: that head is wanted, not the found one."""
    places = {address[name] for name in ("layer", "head") if name in address}
    return {**address, "opening": "0"} if places == {"0"} and "opening" not in address else address


STATE = PageState(settings=WalkSettings, older=of_older_address)
