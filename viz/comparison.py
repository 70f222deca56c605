"""Two runs of one text side by side: the weights of each, their signed difference, how far the stream went."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
from jaxtyping import Float

from viz.lines import Drawn, configured
from viz.rows import data_of
from viz.theme import FONT_SIZE, LIGHT, Theme, colour_scale, difference_scale
from viz.tokens import counted, position_name

MOST_DRAWN = 40  # tokens on a side; the cells of more are too small to be pointed at
MOST_SIGNED = 24  # up to here a cell has room for its sign
CELL, LEAST_ROWS = 17, 6
AROUND = 190  # pixels of a chart's height that its axis, labels and legend take
SIGNED_SHARE = 0.25  # of the largest difference: from here a cell says its sign


def weights_chart(
    weights: Float[np.ndarray, "query key"], queries: Sequence[str], keys: Sequence[str], *, theme: Theme = LIGHT
) -> alt.Chart:
    """The weights of one run; the scale is 0 to 1 in every chart, so that two can be compared.

    ValueError where tokens and weights do not fit together. Of more than 40 queries or keys the first 40 are drawn.
    """
    rows = _rows({"weight": weights}, queries, keys)
    stops = colour_scale(theme.weights)
    scale = alt.Scale(domain=[stop for stop, _ in stops], range=[colour for _, colour in stops], interpolate="rgb")
    cells = _cells(queries, keys).encode(
        color=alt.Color("weight:Q", scale=scale, legend=_legend("weight", ".2~f", [0.0, 0.25, 0.5, 1.0])),
        tooltip=_tooltip({"weight": ".4f"}),
    )
    return _holding(rows, configured(cells, theme))


def difference_chart(
    before: Float[np.ndarray, "query key"],
    after: Float[np.ndarray, "query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    theme: Theme = LIGHT,
) -> alt.LayerChart:
    """after − before: orange below 0, blue above, the background at 0; large differences carry their sign as well.

    The scale ends at the largest difference on either side. ValueError as in ``weights_chart``.
    """
    change = np.asarray(after, np.float64) - np.asarray(before, np.float64)
    rows = _rows({"before": before, "after": after, "change": change}, queries, keys)
    most = max((abs(row["change"]) for row in rows), default=0.0) or 1.0
    signed = max(len(queries), len(keys)) <= MOST_SIGNED
    for row in rows:
        large = signed and abs(row["change"]) >= SIGNED_SHARE * most
        row["sign"] = ("+" if row["change"] > 0 else "−") if large else ""
    stops = difference_scale(theme)
    scale = alt.Scale(domain=[stop * most for stop, _ in stops], range=[colour for _, colour in stops], clamp=True)
    cells = _cells(queries, keys)
    coloured = cells.encode(
        color=alt.Color("change:Q", scale=scale, legend=_legend("after − before", "+.2~f", [-most, 0.0, most])),
        tooltip=_tooltip({"before": ".4f", "after": ".4f", "change": "+.4f"}),
    )
    far = f"abs(datum.change) > {0.6 * most}"
    ink = alt.condition(far, alt.value(theme.background), alt.value(theme.text))
    said = cells.transform_filter("datum.sign != ''")  # text for every cell would take longer than all cells
    signs = said.mark_text(fontSize=FONT_SIZE - 2, fontWeight="bold").encode(text=alt.Text("sign:N"), color=ink)
    return _holding(rows, configured(alt.LayerChart(layer=[coloured, signs]), theme))


def distance_chart(distances: Float[np.ndarray, " layer"], *, theme: Theme = LIGHT) -> alt.Chart:
    """Relative distance of the stream after every layer, from 0 upwards; what is not finite is not drawn."""
    if distances.ndim != 1 or not len(distances):
        raise ValueError(f"distances of shape {distances.shape}, wanted one for each layer")
    rows = [
        {"layer": counted(layer), "distance": float(distance) if np.isfinite(distance) else None}
        for layer, distance in enumerate(distances)
    ]
    chart = (
        alt.Chart(data_of(rows))
        .mark_line(color=theme.accent, point=alt.OverlayMarkDef(size=70, color=theme.accent, filled=True))
        .encode(
            x=alt.X("layer:O", sort=None, title="after layer", axis=alt.Axis(labelAngle=0)),
            y=alt.Y(
                "distance:Q",
                title="relative distance",
                scale=alt.Scale(zero=True),
                axis=alt.Axis(format="~%", tickCount=4),
            ),
            tooltip=[alt.Tooltip("layer:O"), alt.Tooltip("distance:Q", format=".4%")],
        )
        .properties(width="container", height=180)
    )
    return configured(chart, theme)


def _rows(
    matrices: dict[str, Float[np.ndarray, "query key"]], queries: Sequence[str], keys: Sequence[str]
) -> list[dict]:
    """A record for every cell that is drawn."""
    for name, matrix in matrices.items():
        if matrix.shape != (len(queries), len(keys)):
            raise ValueError(f"{name} of shape {matrix.shape}, wanted ({len(queries)} queries, {len(keys)} keys)")
    across, down = _names(keys), _names(queries)
    return [
        {"query": query, "key": key} | {name: float(matrix[row, column]) for name, matrix in matrices.items()}
        for row, query in enumerate(down)
        for column, key in enumerate(across)
    ]


def _names(tokens: Sequence[str]) -> list[str]:
    return [position_name(place, token) for place, token in enumerate(tokens[:MOST_DRAWN])]


def _holding(rows: list[dict], chart: Drawn) -> Drawn:
    """The chart with its data, which all its layers share."""
    chart.data = data_of(rows)
    return chart


def _cells(queries: Sequence[str], keys: Sequence[str]) -> alt.Chart:
    """Query downwards, key across, in the order of the text."""
    axis: dict[str, Any] = {"labelLimit": 84, "labelOverlap": True, "ticks": False, "domain": False}
    across, down = _names(keys), _names(queries)
    return (
        alt.Chart()
        .mark_rect()
        .encode(
            x=alt.X("key:N", sort=None, scale=alt.Scale(domain=across), axis=alt.Axis(**axis, labelAngle=-90)),
            y=alt.Y("query:N", sort=None, scale=alt.Scale(domain=down), axis=alt.Axis(**axis)),
        )
        .properties(width="container", height=AROUND + CELL * max(LEAST_ROWS, len(down)))
    )


def _legend(title: str, numbers: str, values: list[float]) -> alt.Legend:
    # As an expression: a format would also round the numbers that are told to those who cannot see the cells.
    label = f"format(datum.value, '{numbers}')"
    return alt.Legend(title=title, labelExpr=label, values=values, orient="top", gradientLength=160)


def _tooltip(numbers: dict[str, str]) -> list[alt.Tooltip]:
    places = [alt.Tooltip("query:N"), alt.Tooltip("key:N")]
    return places + [alt.Tooltip(f"{name}:Q", format=form) for name, form in numbers.items()]
