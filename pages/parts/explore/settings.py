"""What the page Explore is set to beside the explorer: the two statistics of heads that its chart is drawn from."""

from dataclasses import dataclass

from pages.parts.state.codec import PageState
from pages.parts.state.fields import address_field, one_of
from viz.charts.head_statistics import TITLES
from viz.explorer.view import OVER_TEXTS
from viz.text.head_kind_tables import NAMES

TITLES_OVER_TEXTS = {f"{OVER_TEXTS}{kind}": f"{name}, many texts: score − null" for kind, (name, _) in NAMES.items()}
AXES = (*TITLES, *TITLES_OVER_TEXTS)  # whether a text and a model have it or not


@dataclass(frozen=True, kw_only=True)
class Axes:
    """The statistic across, and the one that is drawn up and as colour."""

    across: str = address_field("entropy", one_of(AXES))
    up: str = address_field("distance", one_of(AXES))


STATE = PageState(settings=Axes)
