"""The answer with more and more heads muted, and where it becomes another."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
from jaxtyping import Bool, Float

from viz.charts.chart_data import data_of
from viz.charts.lines import HEIGHT, with_page_style
from viz.theme import FONT_SIZE, LIGHT, Theme

SAYS = ("the answer", "another answer is likelier")


def muting_curve(
    counts: Sequence[int],
    values: Float[np.ndarray, " count"],
    turned: Bool[np.ndarray, " count"],
    title: str,
    *,
    theme: Theme = LIGHT,
) -> alt.LayerChart:
    """A point for each count on an even axis, a hollow orange diamond where another answer is likelier.

    A line stands at the first of those. title: of the axis up. ValueError for arrays of other lengths.
    """
    if not len(counts) == len(values) == len(turned):
        raise ValueError(f"{len(values)} values and {len(turned)} marks for {len(counts)} counts")
    rows = [
        {"count": count, "value": float(value) if np.isfinite(value) else None, "says": SAYS[int(flips)]}
        for count, value, flips in zip(counts, values, turned, strict=True)
    ]
    across = alt.X(
        "count:Q",
        title="heads muted, that with the smallest effect first",
        scale=alt.Scale(domain=[min(counts), max(counts)], nice=False),
        axis=alt.Axis(tickMinStep=1, tickCount=12, format="d"),
    )
    up = alt.Y("value:Q", title=title, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=5))
    tooltip = [alt.Tooltip("count:Q", title="heads muted"), alt.Tooltip("value:Q", title=title, format=".6g"), "says:N"]
    base = alt.Chart(data_of(rows)).encode(x=across, y=up)
    points = base.mark_point(size=55, filled=True, opacity=1).encode(
        shape=alt.Shape("says:N", scale=alt.Scale(domain=SAYS, range=["circle", "diamond"]), legend=_legend()),
        color=alt.Color("says:N", scale=alt.Scale(domain=SAYS, range=[theme.heads[0], theme.second]), legend=_legend()),
        tooltip=tooltip,
    )
    layers = [base.mark_line(color=theme.heads[0]), points]
    if np.any(turned):
        first = [{"count": counts[int(np.argmax(turned))], "said": "first another answer"}]
        at = alt.Chart(data_of(first)).encode(x=across)
        layers += [at.mark_rule(color=theme.second, strokeDash=[4, 3], aria=False), _label(at, first[0], counts, theme)]
    chart = alt.LayerChart(layer=layers).properties(width="container", height=HEIGHT)
    return with_page_style(chart, theme)


def _label(at: alt.Chart, first: dict[str, object], counts: Sequence[int], theme: Theme) -> alt.Chart:
    late = int(str(first["count"])) > (min(counts) + max(counts)) / 2
    place: dict[str, Any] = {"align": "right", "dx": -5} if late else {"align": "left", "dx": 5}
    return at.mark_text(baseline="bottom", color=theme.second, fontSize=FONT_SIZE - 2, aria=False, **place).encode(
        y=alt.value(HEIGHT - 6), text="said:N"
    )


def _legend() -> alt.Legend:
    return alt.Legend(title=None, orient="top")
