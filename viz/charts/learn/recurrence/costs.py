"""What a model costs: its parameters by part, and what grows with the length of a text."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from model.measures.learn.sizes.costs import TimedLength
from viz.charts.chart_data import data_of
from viz.charts.lines import Line, line_chart, with_page_style
from viz.theme import FONT_SIZE, LIGHT, Theme

ROW, BAR = 56, 12  # pixels
MILLISECONDS, MEGABYTE = 1000, 1e6


def parameter_bars(
    names: Sequence[str],
    formulas: Sequence[str],
    totals: Sequence[int],
    labels: Sequence[str],
    *,
    marked: Sequence[int] = (),
    theme: Theme = LIGHT,
) -> alt.LayerChart:
    """A bar for each group of parts, its name and number above it and its formula below.

    labels: the numbers as they are read, with their share. marked: the places of bars in the second colour.
    ValueError where they are not equally many.
    """
    if not len(names) == len(formulas) == len(totals) == len(labels):
        raise ValueError(f"{len(names)} names, {len(formulas)} formulas, {len(totals)} totals, {len(labels)} labels")
    rows = [
        {"place": place, "name": name, "formula": formula, "total": total, "label": label, "marked": place in marked}
        for place, (name, formula, total, label) in enumerate(zip(names, formulas, totals, labels, strict=True))
    ]
    base = alt.Chart(data_of(rows)).encode(
        y=alt.Y("place:O", axis=None, scale=alt.Scale(paddingInner=0, paddingOuter=0)),
        tooltip=[alt.Tooltip("name:N"), alt.Tooltip("formula:N"), alt.Tooltip("total:Q", format=",")],
    )
    across = alt.X("total:Q", axis=None, scale=alt.Scale(domain=[0, max(totals)]))
    colour = alt.condition("datum.marked", alt.value(theme.second), alt.value(theme.accent))
    bars = base.mark_bar(height=BAR).encode(x=across, color=colour)
    look: dict[str, Any] = {"fontSize": FONT_SIZE - 1, "color": theme.text}
    at_left = base.mark_text(align="left", dy=-16, fontWeight=600, **look).encode(x=alt.value(0), text="name:N")
    at_right = base.mark_text(align="right", dy=-16, **look).encode(x=alt.value("width"), text="label:N")
    below = base.mark_text(align="left", dy=15, fontSize=FONT_SIZE - 2, color=theme.quiet)
    written = below.encode(x=alt.value(0), text="formula:N")
    chart = alt.LayerChart(layer=[bars, at_left, at_right, written])
    return with_page_style(chart.properties(width="container", height=ROW * len(rows)), theme, framed=False)


def time_lines(
    recorded: Sequence[TimedLength], live: Sequence[TimedLength] = (), *, theme: Theme = LIGHT
) -> alt.LayerChart:
    """Milliseconds over tokens, both in powers of two: a forward pass and a training step, recorded and live."""
    places = [point.tokens for point in recorded]
    lines: dict[str, Line] = {}
    for name, points in (("recorded", recorded), ("here", live)):
        if points:
            lines[f"training step, {name}"] = at_places(places, {each.tokens: each.training for each in points})
            lines[f"forward pass, {name}"] = at_places(places, {each.tokens: each.forward for each in points})
    return line_chart(places, lines, ("tokens", "milliseconds"), log=True, theme=theme)


def at_places(places: Sequence[int], seconds: Mapping[int, float]) -> list[float]:
    """Milliseconds at every place, nothing where none was measured."""
    return [MILLISECONDS * seconds.get(place, math.nan) for place in places]


def memory_lines(
    places: Sequence[int], weights: Sequence[int], parameters: int, *, theme: Theme = LIGHT
) -> alt.LayerChart:
    """Megabytes over tokens, both in powers of two: all attention weights of a pass, and the model's parameters."""
    lines: dict[str, Line] = {
        "attention weights": [count / MEGABYTE for count in weights],
        "parameters": [parameters / MEGABYTE] * len(places),
    }
    return line_chart(places, lines, ("tokens", "megabytes"), log=True, theme=theme)
