"""What the page Heads that matter compares, and what stands in the place of a muted head."""

from dataclasses import dataclass

from pages.parts.state.codec import PageState
from pages.parts.state.fields import OF_TEXT, address_field, index, one_of

BASELINES = ("zero", "mean", "reference")
UNITS = ("points", "nats")
SUMS = ("usual", "logit", "lead")


@dataclass(frozen=True, kw_only=True)
class HeadsSettings:
    """baseline: what replaces the context of a head, see ``head_ablation``. unit: of its effect.

    summed: what the waterfall sums to, the answer's logit or its lead over the runner-up; "usual": the lead where there
    are two classes, else the logit. lens_first: the first position of the logit lens on the screen.
    """

    baseline: str = address_field(BASELINES[0], one_of(BASELINES))
    unit: str = address_field(UNITS[0], one_of(UNITS))
    summed: str = address_field(SUMS[0], one_of(SUMS))
    lens_first: int = address_field(0, index, reset_by=OF_TEXT | {"target"})


STATE = PageState(settings=HeadsSettings, follows=True)
