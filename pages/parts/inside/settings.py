"""Where the page Inside a head stands: a step of the computation, and how much is said of it."""

from dataclasses import dataclass

from pages.parts.state.codec import PageState
from pages.parts.state.fields import OF_CHECKPOINT, declared, one_of, switch
from viz.walkthrough.steps import TITLES as STEPS

DEPTHS = ("idea", "numbers")


@dataclass(frozen=True, kw_only=True)
class Walk:
    """One step of the way to a weight, and whether it is shown as an idea or in all numbers.

    opening: whether, as long as no place is chosen, the weight is that of the head that does most with the text; else
    it is that of the first head.
    """

    step: str = declared(next(iter(STEPS)), one_of(STEPS))
    depth: str = declared(DEPTHS[0], one_of(DEPTHS))
    opening: bool = declared(True, switch, reset_by=OF_CHECKPOINT)


STATE = PageState(settings=Walk)
