"""What the page Explore is set to beside the explorer: the two statistics of heads that its chart is drawn from."""

from dataclasses import dataclass

from pages.parts.state.codec import PageState
from pages.parts.state.fields import address_field, one_of
from viz.charts.head_statistics import TITLES


@dataclass(frozen=True, kw_only=True)
class Axes:
    """The statistic across, and the one that is drawn up and as colour."""

    across: str = address_field("entropy", one_of(TITLES))
    up: str = address_field("distance", one_of(TITLES))


STATE = PageState(settings=Axes)
