"""What the embedding and each layer would have said: one row each, of one position or of all."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
from jaxtyping import Float, Int

from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.sentences.token_strip import ink_on, shade
from viz.theme import FONT_SIZE, LIGHT, Theme, colour_scale
from viz.tokens import counted, percent, quoted, visible

ROW, AROUND = 30, 46
STEP, CELL = 76, 38  # pixels of a position across and of a depth down, where all positions are drawn
BESIDE = 84  # of the names of the depths, which the page counts as part of the width


def depth_name(depth: int) -> str:
    """After how many layers: "embedding" for none."""
    return str(depth) if depth else "embedding"


def lens_chart(
    probabilities: Float[np.ndarray, "depth place"], tokens: Sequence[Sequence[str]], *, theme: Theme = LIGHT
) -> alt.LayerChart:
    """The likeliest tokens after the embedding and after every layer, shaded on the scale of weights, 0 to 1.

    ValueError where tokens and probabilities do not fit together.
    """
    if probabilities.shape != (len(tokens), len(tokens[0]) if tokens else 0):
        raise ValueError(f"probabilities of shape {probabilities.shape} for {len(tokens)} rows of tokens")
    rows = [
        {
            "layer": depth_name(depth),
            "place": counted(place),
            "token": visible(token),
            "probability": float(probabilities[depth, place]),
            "ink": ink_on(shade(float(probabilities[depth, place]), theme)),
        }
        for depth, likeliest in enumerate(tokens)
        for place, token in enumerate(likeliest)
    ]
    stops = colour_scale(theme.weights)
    scale = alt.Scale(domain=[stop for stop, _ in stops], range=[colour for _, colour in stops], interpolate="rgb")
    base = alt.Chart(data_of(rows)).encode(
        x=alt.X("place:O", sort=None, title="likeliest, second …", axis=alt.Axis(orient="top", labelAngle=0)),
        y=alt.Y("layer:O", sort=None, title="after layer"),
        tooltip=["layer:O", "place:O", "token:N", alt.Tooltip("probability:Q", format=".6f")],
    )
    layers = [
        base.mark_rect(stroke=theme.grid).encode(color=alt.Color("probability:Q", scale=scale, legend=None)),
        base.mark_text(fontSize=FONT_SIZE - 2, limit=86, aria=False).encode(
            text=alt.Text("token:N"), color=alt.Color("ink:N", scale=None)
        ),
    ]
    chart = alt.LayerChart(layer=layers).properties(width="container", height=AROUND + ROW * len(tokens))
    # Shared, the shades' scale would be merged with the texts', which have none, and Vega draws nothing.
    return with_page_style(chart.resolve_scale(color="independent"), theme)


def lens_table(
    tokens: Sequence[str],
    probabilities: Float[np.ndarray, " depth"],
    of_token: Float[np.ndarray, " depth"],
    ranks: Int[np.ndarray, " depth"],
) -> dict[str, list[object]]:
    """A row for the embedding and every layer: its likeliest token with its probability, and those of one token."""
    return {
        "after layer": [depth_name(depth) for depth in range(len(tokens))],
        "likeliest": [quoted(token) for token in tokens],
        "its probability": [float(value) for value in probabilities],
        "probability of the token": [float(value) for value in of_token],
        "its rank": [int(rank) for rank in ranks],
    }


@dataclass(frozen=True)
class LensColumn:
    """One position at every depth. name: its number and token; answers: the likeliest, the likeliest first."""

    name: str
    answers: Sequence[Sequence[str]]
    probabilities: Float[np.ndarray, "depth place"]


def lens_grid(columns: Sequence[LensColumn], *, read: int | None = None, theme: Theme = LIGHT) -> alt.LayerChart:
    """The likeliest answer after the embedding and after every layer, at every position, with its probability.

    A fixed width for each column: a long text is wider than the page. read: the column that the model's answer is read
    from, which is framed. ValueError for columns of different depths.
    """
    depths = {len(column.answers) for column in columns} | {len(column.probabilities) for column in columns}
    if len(depths) != 1:
        raise ValueError(f"columns of {sorted(depths)} depths, wanted columns of one")
    rows = [
        cell_of(place, depth, column, theme) | {"last": place == read}
        for place, column in enumerate(columns)
        for depth in range(len(column.answers))
    ]
    names = json.dumps({place: column.name for place, column in enumerate(columns)})
    base = alt.Chart(data_of(rows)).encode(
        x=alt.X(
            "column:O",
            sort=None,
            title=None,
            axis=alt.Axis(
                orient="top", labelAngle=0, labelExpr=f"({names})[datum.value]", labelLimit=STEP - 4, labelOverlap=False
            ),
        ),
        y=alt.Y("after:O", sort=None, title="after layer"),
        tooltip=[alt.Tooltip("said:N", title="would say")],
        description="said:N",
    )
    cells = base.mark_rect(stroke=theme.grid).encode(fill=alt.Fill("colour:N", scale=None))
    texts = [
        base.mark_text(fontSize=size, dy=dy, limit=STEP - 6, aria=False).encode(
            text=field, color=alt.Color("ink:N", scale=None)
        )
        for field, size, dy in (("answer:N", FONT_SIZE - 2, -7), ("percent:N", FONT_SIZE - 4, 8))
    ]
    frame = (
        base.transform_filter("datum.last")
        .mark_rect(fillOpacity=0, stroke=theme.text, strokeWidth=2, aria=False)
        .encode(tooltip=alt.value(None))
    )
    (depth,) = depths
    chart = alt.LayerChart(layer=[cells, *texts, *([] if read is None else [frame])])
    return with_page_style(chart.properties(width=BESIDE + STEP * len(columns), height=CELL * depth), theme)


def cell_of(place: int, depth: int, column: LensColumn, theme: Theme) -> dict[str, Any]:
    """What would be said of one position at one depth."""
    answers, shares = [visible(answer) for answer in column.answers[depth]], column.probabilities[depth]
    where = f"after layer {depth}" if depth else "after the embedding"
    second = f", then “{answers[1]}” {percent(float(shares[1]), 1)}" if len(answers) > 1 else ""
    colour = shade(float(shares[0]), theme)
    return {
        "column": place,
        "after": depth_name(depth),
        "answer": answers[0],
        "probability": float(shares[0]),
        "percent": percent(float(shares[0])),
        "said": f"{column.name}, {where}: “{answers[0]}” {percent(float(shares[0]), 1)}{second}",
        "colour": colour,
        "ink": ink_on(colour),
    }
