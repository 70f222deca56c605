"""Two runs of one text side by side: the weights of each, their signed difference, how far the stream went."""

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
from jaxtyping import Float

from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.theme import LIGHT, Theme
from viz.tokens import counted, position_name

MOST_DRAWN = 40  # tokens on a side; the cells of more are too small to be pointed at
MOST_SIGNED = 24  # up to here a cell has room for its sign
SIGNED_SHARE = 0.25  # of the largest difference: from here a cell carries its sign


def comparison_data(
    before: Float[np.ndarray, "query key"],
    after: Float[np.ndarray, "query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    caption: str,
    sides: Sequence[str] = (),
) -> dict[str, Any]:
    """The weights of two runs and after − before, as the browser draws them; ``said``: what they are of.

    ``largest``: the largest difference on either side, where the scale of differences ends; at least a quarter of it
    carries its sign. What is not finite is None. Of more than 40 queries or keys the first 40 are drawn. sides: what
    the two runs are called where they are not one before and one after a change. ValueError where tokens and weights do
    not fit together.
    """
    for name, matrix in {"before": before, "after": after}.items():
        if matrix.shape != (len(queries), len(keys)):
            raise ValueError(f"{name} of shape {matrix.shape}, wanted ({len(queries)} queries, {len(keys)} keys)")
    first, second = (np.asarray(matrix, np.float64)[:MOST_DRAWN, :MOST_DRAWN] for matrix in (before, after))
    change = second - first
    largest = float(np.abs(change[np.isfinite(change)]).max(initial=0)) or 1.0
    signed = (np.abs(change) >= SIGNED_SHARE * largest) & (max(len(queries), len(keys)) <= MOST_SIGNED)
    return {
        "said": caption,
        "sides": list(sides),
        "queries": _names(queries),
        "keys": _names(keys),
        "before": _numbers(first),
        "after": _numbers(second),
        "change": _numbers(change),
        "largest": largest,
        "signs": np.where(signed, np.where(change > 0, "+", "−"), "").tolist(),
    }


def aligned_data(
    first: Float[np.ndarray, "query key"],
    second: Float[np.ndarray, "query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    caption: str,
) -> dict[str, Any]:
    """The same of two passes, A and B, over units of both whose names tell them apart already."""
    names = {"queries": list(queries[:MOST_DRAWN]), "keys": list(keys[:MOST_DRAWN])}
    return comparison_data(first, second, queries, keys, caption, ("A", "B")) | names


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
    return with_page_style(chart, theme)


def _numbers(matrix: Float[np.ndarray, "query key"]) -> list[list[float | None]]:
    return [[number if math.isfinite(number) else None for number in row] for row in matrix.tolist()]


def _names(tokens: Sequence[str]) -> list[str]:
    return [position_name(place, token) for place, token in enumerate(tokens[:MOST_DRAWN])]
