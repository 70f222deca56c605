"""What stands in the place of a muted head on the page Heads that matter."""

from dataclasses import dataclass

from pages.parts.state.codec import PageState
from pages.parts.state.fields import address_field, one_of

BASELINES = ("zero", "mean", "reference")


@dataclass(frozen=True, kw_only=True)
class HeadsSettings:
    """baseline: what replaces the context of a head, see ``head_ablation``."""

    baseline: str = address_field(BASELINES[0], one_of(BASELINES))


STATE = PageState(settings=HeadsSettings, follows=True)
