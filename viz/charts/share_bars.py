"""Shares from 0 to 1 as bars, one a line."""

from collections.abc import Sequence

import altair as alt

from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.theme import FONT_SIZE, LIGHT, Theme
from viz.tokens import percent

LINE = 22  # pixels
AROUND = 40
ROOM = 1.15  # where the axis ends: beyond a full bar its number has to fit


def share_chart(
    names: Sequence[str], shares: Sequence[float], title: str, *, marked: int | None = None, theme: Theme = LIGHT
) -> alt.LayerChart:
    """A bar for each name, in the order given; ``marked``: the place of the one in the second colour, with "●".

    ValueError where names and shares do not fit together, or two names are the same.
    """
    if len(names) != len(shares) or len(set(names)) != len(names):
        raise ValueError(f"{len(names)} names came with {len(shares)} shares, wanted one for each, all different")
    rows = [
        {"name": name, "share": float(share), "marked": place == marked, "said": percent_label(share, place == marked)}
        for place, (name, share) in enumerate(zip(names, shares, strict=True))
    ]
    base = alt.Chart(data_of(rows)).encode(
        y=alt.Y("name:N", sort=list(names), title=None, axis=alt.Axis(labelLimit=130, ticks=False, domain=False)),
        x=alt.X("share:Q", title=title, scale=alt.Scale(domain=[0, ROOM]), axis=alt.Axis(values=[0, 0.5, 1])),
        tooltip=["name:N", alt.Tooltip("share:Q", title=title, format=".4f")],
    )
    colour = alt.condition("datum.marked", alt.value(theme.second), alt.value(theme.accent))
    bars = base.mark_bar(height=13).encode(color=colour)
    numbers = base.mark_text(align="left", dx=5, fontSize=FONT_SIZE - 2, color=theme.text).encode(text="said:N")
    return with_page_style(
        alt.LayerChart(layer=[bars, numbers]).properties(width="container", height=AROUND + LINE * len(rows)), theme
    )


def largest(shares: Sequence[float], count: int) -> list[int]:
    """The places of the largest so many, in the order of the text."""
    return sorted(sorted(range(len(shares)), key=lambda place: -shares[place])[:count])


def percent_label(share: float, marked: bool) -> str:
    """ "41 %", and a dot behind the one that is marked."""
    return percent(share, 1) + (" ●" if marked else "")
