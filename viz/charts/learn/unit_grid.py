"""The units of a feed-forward layer as a grid, those that are active lit."""

from typing import Any

import altair as alt
import numpy as np
from jaxtyping import Float

from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.theme import LIGHT, Theme

CELL, LEGEND = 15, 58  # pixels high
MOST_UNITS = 4096  # that are drawn
WIDE = 64  # units side by side, from twice as many on


def columns_of(units: int) -> int:
    """How many units stand side by side."""
    return WIDE if units > 16 * WIDE // 2 else WIDE // 2


def unit_grid(
    values: Float[np.ndarray, " hidden"] | None, units: int, *, marked: int | None = None, theme: Theme = LIGHT
) -> alt.LayerChart:
    """A cell for each unit, row by row, coloured by its value where it is above 0; the first 4,096 of more.

    values: None before they may be seen. marked: a unit in a frame. ValueError for values of another number of units.
    """
    if values is not None and len(values) != units:
        raise ValueError(f"{len(values)} values came for {units} units")
    across, drawn = columns_of(units), min(units, MOST_UNITS)
    numbers = [None] * drawn if values is None else values[:drawn].tolist()
    rows = [
        {
            "unit": unit + 1,
            "column": unit % across,
            "row": unit // across,
            "value": number,
            "active": number is not None and number > 0,
            "marked": unit == marked,
        }
        for unit, number in enumerate(numbers)
    ]
    most = max((number for number in numbers if number is not None), default=1.0)
    tooltip: list[Any] = ["unit:Q"] if values is None else ["unit:Q", alt.Tooltip("value:Q", format="+.4f")]
    axis: dict[str, Any] = {"axis": None, "scale": alt.Scale(paddingInner=0.12)}
    base = alt.Chart(data_of(rows)).encode(x=alt.X("column:O", **axis), y=alt.Y("row:O", **axis), tooltip=tooltip)
    silent = base.mark_rect(color=theme.surface, stroke=theme.grid, strokeWidth=0.5)
    scale = alt.Scale(domain=[0, max(most, 1e-9)], range=list(theme.weights[2:]), interpolate="rgb", clamp=True)
    legend = alt.Legend(title="value of an active unit", orient="top", format=".1f", gradientLength=120, tickCount=2)
    lit = (
        base.transform_filter("datum.active")
        .mark_rect()
        .encode(color=alt.Color("value:Q", scale=scale, legend=legend if values is not None else None))
    )
    frame = base.transform_filter("datum.marked").mark_rect(filled=False, stroke=theme.second, strokeWidth=3)
    # A layer without a mark is a picture without a name to a screen reader.
    framed = marked is not None and marked < drawn
    layers = [silent, *([lit, *([frame] if framed else [])] if values is not None else [])]
    height = CELL * -(-drawn // across) + (0 if values is None else LEGEND)
    return with_page_style(
        alt.LayerChart(layer=layers).properties(width="container", height=height), theme, framed=False
    )
