"""Lines over layers, depths or widths: one for each run that is compared."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import altair as alt
import numpy as np
from jaxtyping import Float

from viz.charts.chart_data import data_of
from viz.theme import FONT_SIZE, LIGHT, Theme

Drawn = TypeVar("Drawn", alt.Chart, alt.LayerChart, alt.VConcatChart)

Line = Sequence[float] | Float[np.ndarray, " place"]

DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
HEIGHT = 300


def line_chart(
    places: Sequence[str] | Sequence[int],
    lines: Mapping[str, Line],
    titles: tuple[str, str],
    *,
    log: bool = False,
    theme: Theme = LIGHT,
) -> alt.LayerChart:
    """One line for each name, with a point at every place; ``titles`` are of the axis across and of the one up.

    Lines are told apart by colour and dash. log: both axes are logarithmic, and places are numbers. What is not
    finite is not drawn. ValueError for a line with other places, or more than four lines.
    """
    for name, line in lines.items():
        if len(line) != len(places):
            raise ValueError(f"{name} has {len(line)} values, wanted one for each of {len(places)} places")
    if not 1 <= len(lines) <= len(DASHES):
        raise ValueError(f"{len(lines)} lines, wanted 1 to {len(DASHES)}")
    rows = [
        {"place": place, "line": name, "value": float(value) if np.isfinite(value) else None}
        for name, line in lines.items()
        for place, value in zip(places, line, strict=True)
    ]
    across: dict[str, Any] = {"title": titles[0], "axis": alt.Axis(labelAngle=0, labelOverlap=True)}
    scale = alt.Scale(type="log", base=2) if log else alt.Scale(zero=True)
    colour = alt.Color("line:N", scale=_scale(lines, theme.heads), legend=_legend(lines))
    base = alt.Chart(data_of(rows)).encode(
        x=alt.X("place:Q", scale=scale, **across) if log else alt.X("place:O", sort=None, **across),
        y=alt.Y("value:Q", title=titles[1], scale=scale, axis=alt.Axis(tickCount=5)),
        color=colour,
        tooltip=["line:N", alt.Tooltip("place:N", title=titles[0]), alt.Tooltip("value:Q", format=".6g")],
    )
    dash = alt.StrokeDash("line:N", scale=_scale(lines, DASHES), legend=_legend(lines))
    # Points as a layer of their own, outside the legend: its symbols are strokes then, whose dash can be seen.
    layers = [base.mark_line().encode(strokeDash=dash), base.mark_point(size=45, filled=True, opacity=1)]
    return with_page_style(alt.LayerChart(layer=layers).properties(width="container", height=HEIGHT), theme)


def with_page_style(chart: Drawn, theme: Theme, *, framed: bool = True, labels: int = FONT_SIZE - 3) -> Drawn:
    """The chart in the colours and sizes of the page.

    Altair's own methods would copy the chart and all its data once for every part.
    """
    quiet: dict[str, Any] = {"labelColor": theme.quiet, "titleColor": theme.quiet, "labelFontSize": labels}
    title: dict[str, Any] = {"titleFontSize": FONT_SIZE - 1, "titleFontWeight": "normal"}
    dressed = chart.copy(deep=False)
    dressed["config"] = alt.Config(
        background=theme.background,
        axis=alt.AxisConfig(**quiet, **title, gridColor=theme.grid),
        legend=alt.LegendConfig(**quiet, **title),
        view=alt.ViewConfig(stroke=theme.grid if framed else None),
    )
    return dressed


def _scale(lines: Mapping[str, object], values: Sequence[Any]) -> alt.Scale:
    return alt.Scale(domain=list(lines), range=list(values[: len(lines)]))


def _legend(lines: Mapping[str, object]) -> alt.Legend | None:
    return (
        None
        if len(lines) == 1
        else alt.Legend(
            title=None,
            orient="top",
            columns=2,
            labelLimit=320,
            symbolType="stroke",
            symbolStrokeWidth=2,
            symbolSize=400,
        )
    )
