"""A vector on its way through a norm: one row of cells for each step."""

from collections.abc import Mapping

import altair as alt
import numpy as np
from jaxtyping import Float

from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.theme import FONT_SIZE, LIGHT, Theme
from viz.tokens import counted

ROW, AROUND = 48, 60  # pixels


def norm_rows(steps: Mapping[str, Float[np.ndarray, " width"]], *, theme: Theme = LIGHT) -> alt.LayerChart:
    """A row of coloured cells for each step, blue above 0 and orange below, all by one scale; numbers on pointing.

    steps: by the names of the rows, in their order. ValueError where they have different widths.
    """
    if len({len(step) for step in steps.values()}) != 1:
        raise ValueError(f"steps of widths {[len(step) for step in steps.values()]}, wanted one width")
    most = max(float(np.abs(step).max()) for step in steps.values()) or 1.0
    rows = [
        {"name": name, "coordinate": counted(place), "place": place, "number": float(number)}
        for name, step in steps.items()
        for place, number in enumerate(step)
    ]
    stops = theme.differences
    scale = alt.Scale(domain=[most * (2 * stop - 1) for stop, _ in stops], range=[colour for _, colour in stops])
    names = list(steps)
    base = alt.Chart(data_of(rows)).encode(
        x=alt.X("place:O", title="coordinate", axis=alt.Axis(labels=False, ticks=False)),
        y=alt.Y("name:N", sort=names, title=None, axis=alt.Axis(labelLimit=230, ticks=False, labelFontSize=FONT_SIZE)),
    )
    cells = base.mark_rect().encode(
        color=alt.Color("number:Q", scale=scale, legend=alt.Legend(title=None, orient="bottom", gradientLength=160)),
        tooltip=["name:N", "coordinate:N", alt.Tooltip("number:Q", format=".6g")],
    )
    height = AROUND + ROW * len(names)
    return with_page_style(alt.LayerChart(layer=[cells]).properties(width="container", height=height), theme)
