"""What the chart of all heads can be drawn from: statistics of the text, and kinds of heads over many texts."""

from collections.abc import Mapping

import numpy as np

from pages.parts.explore.explorer_panel import ShownAttention, statistics_of
from pages.parts.explore.head_measures import over_many_texts
from pages.parts.explore.settings import TITLES_OVER_TEXTS
from viz.charts.head_statistics import TITLES

CHART_TITLES = TITLES | TITLES_OVER_TEXTS


def chart_statistics(attention: ShownAttention) -> dict[str, np.ndarray]:
    """A number for every head by the names of ``CHART_TITLES``, as far as there are such of text and model."""
    return statistics_of(attention) | {measure.name: measure.values for measure in over_many_texts(attention)}


def others_drawn(statistics: Mapping[str, np.ndarray]) -> bytes:
    """What tells apart what text and model do not decide: a file of scores may be written anew."""
    return b"".join(values.tobytes() for name, values in statistics.items() if name in TITLES_OVER_TEXTS)
