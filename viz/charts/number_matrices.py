"""Small matrices with every number in its cell, and the split of a width into heads."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
from jaxtyping import Float

from viz.charts.causes.comparison import MOST_SIGNED, SIGNED_SHARE
from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.sentences.token_strip import ink_on
from viz.theme import FONT_SIZE, LIGHT, Theme, colour_at, difference_scale
from viz.tokens import counted, decimal

CELL, AROUND = 34, 70
ROW, AROUND_SPLIT = 22, 110


def matrix_table(
    title: str,
    numbers: Float[np.ndarray, "row column"],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    weights: bool = False,
    form: str = ".3g",
) -> dict[str, Any]:
    """Every number in its cell, short and exact, as the browser draws it; −∞ is written out and left uncoloured.

    weights: the scale of weights, 0 to 1, in place of the ``signed`` one around 0 that ends at ``most``, the largest
    number. form: of the short number, as ``format`` takes it.
    ValueError where names and numbers do not fit together.
    """
    if numbers.shape != (len(rows), len(columns)):
        raise ValueError(f"numbers of shape {numbers.shape}, wanted ({len(rows)} rows, {len(columns)} columns)")
    finite = np.abs(numbers[np.isfinite(numbers)])
    cells = [
        [cell(f"{title}: {row}, {column}", float(numbers[i, j]), form) for j, column in enumerate(columns)]
        for i, row in enumerate(rows)
    ]
    return {
        "title": title,
        "columns": list(columns),
        "rows": [{"name": name, "cells": numbers_of_rows} for name, numbers_of_rows in zip(rows, cells, strict=True)],
        "signed": not weights,
        "most": 1.0 if weights else float(finite.max(initial=0)) or 1.0,
    }


def cell(place: str, number: float, form: str) -> dict[str, object]:
    """One number; one that is not finite has no colour."""
    finite = bool(np.isfinite(number))
    exact = (f"{number:.0f}" if number.is_integer() else repr(number)) if finite else "−∞"
    return {
        "number": number if finite else None,
        "text": decimal(number, form) if finite else "−∞",
        "exact": f"{place}: {exact}",
    }


def joined_chart(joined: Float[np.ndarray, "head head_width"], *, theme: Theme = LIGHT) -> alt.Chart:
    """What a projection gave for one token: all coordinates side by side, as it leaves the projection."""
    cells = coordinates(joined, theme, legend=False).encode(
        x=alt.X("coordinate:O", title=f"all {joined.size} coordinates", axis=_axis()),
    )
    return with_page_style(cells.properties(width="container", height=AROUND + CELL), theme)


def split_chart(joined: Float[np.ndarray, "head head_width"], *, theme: Theme = LIGHT) -> alt.LayerChart:
    """The same coordinates cut into heads: one row for each. Those far from 0 carry their sign, where it has room."""
    cells = coordinates(joined, theme).encode(
        x=alt.X("within:O", title=f"{joined.shape[1]} coordinates of each head", axis=_axis()),
        y=alt.Y("head:O", sort=None, title="head"),
    )
    ink = alt.Color("ink:N", scale=None)
    signs = cells.mark_text(fontWeight="bold", fontSize=FONT_SIZE).encode(text="sign:N", color=ink)
    # Shared, the cells' scale would be merged with the signs', which have none, and Vega draws nothing.
    drawn = alt.LayerChart(layer=[cells, signs]).resolve_scale(color="independent")
    return with_page_style(drawn.properties(width="container", height=AROUND_SPLIT + ROW * len(joined)), theme)


def coordinates(joined: Float[np.ndarray, "head head_width"], theme: Theme, *, legend: bool = True) -> alt.Chart:
    """A cell for every coordinate, coloured around 0."""
    most = float(np.abs(joined).max()) or 1.0
    stops = difference_scale(theme)
    domain, colours = [at * most for at, _ in stops], [colour for _, colour in stops]
    scale = alt.Scale(domain=domain, range=colours, clamp=True, interpolate="rgb")
    width = joined.shape[1]
    rows = [
        {
            "coordinate": head * width + at + 1,
            "head": counted(head),
            "within": at + 1,
            "number": float(joined[head, at]),
            "sign": sign_label(float(joined[head, at]) / most, width),
            "ink": ink_on(colour_at(stops, float(joined[head, at]) / most)),
        }
        for head, at in np.ndindex(joined.shape)
    ]
    named = alt.Legend(title="number", orient="top", format="+.2~f", values=[-most, 0, most], gradientLength=160)
    exact = alt.Tooltip("number:Q", format="+.6g")
    return (
        alt.Chart(data_of(rows))
        .mark_rect()
        .encode(
            color=alt.Color("number:Q", scale=scale, legend=named if legend else None),
            tooltip=["head:N", "coordinate:Q", "within:Q", exact],
        )
    )


def sign_label(share: float, width: int) -> str:
    """The sign of a number, given as a share of the largest, unless it is near 0 or in a row of too many."""
    if abs(share) < SIGNED_SHARE or width > MOST_SIGNED:
        return ""
    return "+" if share > 0 else "−"


def _axis() -> alt.Axis:
    return alt.Axis(labels=False, ticks=False)
