"""A few coordinates of a text's position vectors, as lines over its positions."""

import altair as alt
import numpy as np
from jaxtyping import Float

from viz.charts.lines import line_chart
from viz.theme import LIGHT, Theme

SHOWN = 4


def position_waves(vectors: Float[np.ndarray, "position width"], *, theme: Theme = LIGHT) -> alt.LayerChart:
    """Lines of four coordinates, evenly chosen from the fast ones to the slow ones; both count from 1."""
    width = vectors.shape[1]
    chosen = [round(part * (width // 2) / SHOWN) for part in range(SHOWN)]
    places = [str(place + 1) for place in range(len(vectors))]
    lines = {f"coordinate {coordinate + 1}": vectors[:, coordinate] for coordinate in dict.fromkeys(chosen)}
    return line_chart(places, lines, ("position", "added"), theme=theme)
