"""Bars of every token by several measures side by side, one row for each token, linked by the pointer."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
from jaxtyping import Float

from viz.charts.causes.head_effects import cell_text
from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.text.causes.token_measures import MEASURES, SIGNED, row_names, row_said
from viz.theme import FONT_SIZE, LIGHT, Theme, colour_at, colour_scale, difference_scale
from viz.tokens import percent, visible

CHOSEN = "chosen"
ROW, AROUND = 24, 50  # pixels
BAR, NUMBER = 0.68, 0.95  # of the width of a column: the longest bar, and where its number ends
ROOM = 620  # pixels: a narrower picture has no room for numbers
LONGEST = 14  # letters of a token beside its row


def token_bars(
    tokens: Sequence[str],
    values: Mapping[str, Float[np.ndarray, " token"]],
    places: Sequence[int],
    *,
    chosen: int | None = None,
    theme: Theme = LIGHT,
) -> alt.LayerChart:
    """A row for each of these places of a text, a column for each measure, scaled to the largest of its own.

    values: NaN where there is none, by the names of ``MEASURES``. Bars to the left of their column's zero speak against
    the answer. The largest of a column is darker. The selection parameter is "chosen", with the field position.
    ValueError for values of other lengths.
    """
    if any(len(column) != len(tokens) for column in values.values()) or set(values) != set(MEASURES):
        raise ValueError(f"{ {name: len(column) for name, column in values.items()} } values for {len(tokens)} tokens")
    rows = [
        {"position": at, "start": 0, "end": len(values), "said": row_said(tokens[at], numbers_at(values, at))}
        for at in places
    ]
    bars = [
        bar for column, name in enumerate(MEASURES) for bar in column_bars(values[name], name, column, places, theme)
    ]
    first = [{"position": chosen}] if chosen is not None else []
    pick = alt.selection_point(
        name=CHOSEN, fields=["position"], toggle="false", empty=False, value=first or alt.Undefined
    )
    hover = alt.selection_point(name="pointed", fields=["position"], on="pointerover", clear="pointerout", empty=False)
    names = json.dumps(row_names(tokens, places, LONGEST))
    down = alt.Y("position:O", title=None, sort=None, axis=alt.Axis(labelExpr=f"({names})[datum.value]", ticks=False))
    heads = json.dumps([list(head) for head, _ in MEASURES.values()])
    across = alt.Axis(
        orient="top",
        values=list(range(len(values))),
        labelExpr=f"({heads})[datum.value]",
        labelAlign="left",
        labelOverlap=False,
        labelBound=False,
        labelFlush=False,
        labelPadding=20,  # the second line comes below the first
        ticks=False,
        title=None,
        domain=False,
    )
    x = alt.X("start:Q", scale=alt.Scale(domain=[0, len(values)], nice=False), axis=across)
    behind = (
        alt.Chart(data_of(rows))
        .mark_rect(cursor="pointer")
        .encode(
            x=x,
            x2="end:Q",
            y=down,
            tooltip=[alt.Tooltip("said:N", title="token")],
            description="said:N",
            fill=alt.condition(pick | hover, alt.value(theme.grid), alt.value(theme.background)),
        )
        .add_params(pick, hover)
    )
    drawn = (
        alt.Chart(data_of(bars))
        .mark_rect(aria=False, height={"band": 0.62})
        .encode(x=x, x2="end:Q", y=down, fill=alt.Fill("colour:N", scale=None), tooltip=alt.value(None))
    )
    numbers = (
        alt.Chart(data_of(bars))
        .mark_text(align="right", fontSize=FONT_SIZE - 3, color=theme.quiet, aria=False)
        .encode(
            x=alt.X("at:Q", scale=alt.Scale(domain=[0, len(values)], nice=False)),
            y=down,
            text="number:N",
            opacity=alt.condition(f"width > {ROOM}", alt.value(1), alt.value(0)),
            tooltip=alt.value(None),
        )
    )
    chart = alt.LayerChart(layer=[behind, drawn, numbers]).properties(
        width="container", height=AROUND + ROW * len(places)
    )
    return with_page_style(chart, theme, framed=False)


def numbers_at(values: Mapping[str, Float[np.ndarray, " token"]], at: int) -> dict[str, float]:
    """The numbers of one token, in the order of the columns."""
    return {name: float(values[name][at]) for name in MEASURES}


def column_bars(
    values: Float[np.ndarray, " token"], name: str, column: int, places: Sequence[int], theme: Theme
) -> list[dict[str, Any]]:
    """One measure: from its zero to its number, for every place that has one."""
    known = np.nan_to_num(values)
    below, above = max(0.0, -float(known.min())), max(0.0, float(known.max()))
    width = (below + above) or 1.0
    zero, most = column + BAR * below / width, float(np.abs(known).max())
    bars = []
    for at in places:
        value = float(values[at])
        if not np.isfinite(value):
            continue
        ends = sorted((zero, zero + BAR * value / width))
        colour = bar_colour(value, name, first=abs(value) == most, theme=theme)
        bars.append(
            {
                "position": at,
                "measure": name,
                "value": value,
                "start": ends[0],
                "end": ends[1],
                "colour": colour,
                "at": column + NUMBER,
                "number": number_text(name, value),
            }
        )
    return bars


def number_text(name: str, value: float) -> str:
    """What stands beside a bar: logits with two digits, shares and points in percent."""
    of_logit = name == "integrated"
    return cell_text(value, "+.2f" if of_logit else "+.1f" if name in SIGNED else ".1f", in_nats=of_logit)


def bar_colour(value: float, name: str, *, first: bool, theme: Theme) -> str:
    """The largest of a column is deep; a sign has its colour."""
    depth = 1.0 if first else 0.35
    if name in SIGNED:
        return colour_at(difference_scale(theme), depth if value >= 0 else -depth)
    return colour_at(colour_scale(theme.weights), depth)


def layer_shares(
    tokens: Sequence[str],
    shares: Float[np.ndarray, "layer token"],
    places: Sequence[int],
    *,
    theme: Theme = LIGHT,
) -> alt.Chart:
    """A row for each of these tokens, a column for each layer: how much of the token stands where the answer is read.

    Coloured from 0 to 1 as weights are. ValueError for shares of other tokens.
    """
    if shares.shape[1] != len(tokens):
        raise ValueError(f"shares of {shares.shape[1]} tokens, wanted {len(tokens)}")
    rows = [
        {
            "position": at,
            "layer": str(layer + 1),
            "share": float(shares[layer, at]),
            "said": f"{visible(tokens[at])}: {percent(float(shares[layer, at]), 1)} after layer {layer + 1}",
            "colour": colour_at(colour_scale(theme.weights), float(shares[layer, at])),
        }
        for at in places
        for layer in range(len(shares))
    ]
    names = json.dumps(row_names(tokens, places, LONGEST))
    cells = (
        alt.Chart(data_of(rows))
        .mark_rect(stroke=theme.grid, strokeWidth=1)
        .encode(
            x=alt.X("layer:O", title="after layer", sort=None, axis=alt.Axis(labelAngle=0, orient="top", ticks=False)),
            y=alt.Y(
                "position:O", title=None, sort=None, axis=alt.Axis(labelExpr=f"({names})[datum.value]", ticks=False)
            ),
            fill=alt.Fill("colour:N", scale=None),
            tooltip=[alt.Tooltip("said:N", title="token")],
            description="said:N",
        )
    )
    return with_page_style(cells.properties(width="container", height=AROUND + ROW * len(places)), theme, framed=False)
