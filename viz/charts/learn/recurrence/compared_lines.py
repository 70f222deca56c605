"""Lines of two or three models over a number, each in its own colour and dash whether the others are drawn or not."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt

from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.theme import FONT_SIZE, LIGHT, Theme

HEIGHT = 320
DASHES = {"accent": [1, 0], "second": [6, 3], "quiet": [2, 2]}
Number = int | float
POINTS = 24  # of a line, up to which each is marked


@dataclass(frozen=True, kw_only=True)
class Axis:
    """title: with the unit. values: where there are ticks, None: wherever they fit.

    form: of the numbers, None: all digits; where they are powers, as many as they need.
    """

    title: str
    log: bool = False
    values: Sequence[Number] | None = None
    form: str | None = None
    domain: tuple[Number, Number] | None = None


@dataclass(frozen=True, kw_only=True)
class ModelLine:
    """values: by the number across. colour: of the theme, by its name; it decides the dash as well."""

    name: str
    colour: Literal["accent", "second", "quiet"]
    values: Mapping[int, float]


def compared_lines(
    lines: Sequence[ModelLine], across: Axis, up: Axis, *, drawn: Collection[str] | None = None, theme: Theme = LIGHT
) -> alt.LayerChart:
    """One line for each model; those not ``drawn`` keep their place in the legend, and the axes are those of all.

    ValueError for a value on a logarithmic axis that is not above 0, or a name that comes twice.
    """
    if len({line.name for line in lines}) < len(lines):
        raise ValueError(f"the names {[line.name for line in lines]} are not all different")
    for line in lines:
        if up.log and min(line.values.values()) <= 0:
            raise ValueError(f"{line.name} has a value of {min(line.values.values())}, wanted above 0")
    rows = [
        {"model": line.name, "place": place, "value": value}
        for line in lines
        if drawn is None or line.name in drawn
        for place, value in line.values.items()
    ]
    names = [line.name for line in lines]
    colour = alt.Color(
        "model:N",
        scale=alt.Scale(domain=names, range=[getattr(theme, line.colour) for line in lines]),
        legend=legend(),
    )
    dash = alt.StrokeDash(
        "model:N", scale=alt.Scale(domain=names, range=[DASHES[line.colour] for line in lines]), legend=legend()
    )
    base = alt.Chart(data_of(rows)).encode(
        x=alt.X("place:Q", title=across.title, scale=scale(across, [p for line in lines for p in line.values]),
                axis=axis(across)),
        y=alt.Y("value:Q", title=up.title, scale=scale(up, [v for line in lines for v in line.values.values()]),
                axis=axis(up)),
        color=colour,
        tooltip=["model:N", alt.Tooltip("place:Q", title=across.title),
                 alt.Tooltip("value:Q", title=up.title, format=".4g")],
    )  # fmt: skip
    layers = [base.mark_line(strokeWidth=2.5).encode(strokeDash=dash)]
    if max(len(line.values) for line in lines) <= POINTS:
        layers.append(base.mark_point(size=45, filled=True, opacity=1))
    return with_page_style(alt.LayerChart(layer=layers).properties(width="container", height=HEIGHT), theme)


def scale(of: Axis, values: Sequence[Number]) -> alt.Scale:
    """The same whichever lines are drawn."""
    low, high = of.domain or (min(values) if of.log else 0, max(values))
    kind: dict[str, Any] = {"type": "log"} if of.log else {}
    return alt.Scale(domain=[low, high], nice=of.log and of.domain is None, **kind)


def axis(of: Axis) -> alt.Axis:
    given: dict[str, Any] = {} if of.values is None else {"values": list(of.values)}
    form = of.form or (",~g" if of.log else ",~f")  # "g" writes 500 as 5e+2 where the ticks are 500 apart
    return alt.Axis(format=form, labelFontSize=FONT_SIZE - 2, tickCount=6, labelOverlap=True, **given)


def legend() -> alt.Legend:
    return alt.Legend(
        title=None, orient="top", columns=2, labelLimit=340, labelFontSize=FONT_SIZE - 1, symbolType="stroke",
        symbolStrokeWidth=2.5, symbolSize=500,
    )  # fmt: skip
