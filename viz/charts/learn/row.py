"""One row of one head: a query's weights, a bar for every key."""

from collections.abc import Sequence

import altair as alt
import numpy as np
from jaxtyping import Float

from viz.charts.chart_data import data_of
from viz.charts.lines import configured
from viz.theme import FONT_SIZE, LIGHT, Theme
from viz.tokens import percent, position_name

HEIGHT = 300


def row_chart(
    tokens: Sequence[str],
    weights: Float[np.ndarray, " key"] | None,
    query: int,
    *,
    key: int | None = None,
    theme: Theme = LIGHT,
) -> alt.LayerChart:
    """The tokens across, each with its weight as a bar; without weights the tokens alone, to guess before.

    key: the bar in the second colour. ValueError where tokens and weights do not fit together.
    """
    if weights is not None and len(weights) != len(tokens):
        raise ValueError(f"{len(tokens)} tokens came with {len(weights)} weights")
    shares = [0.0] * len(tokens) if weights is None else weights.tolist()
    rows = [
        {
            "place": place,
            "name": position_name(place, token),
            "share": share,
            "said": "" if weights is None or share < 0.005 else percent(share),
            "marked": place == key,
        }
        for place, (token, share) in enumerate(zip(tokens, shares, strict=True))
    ]
    names = [row["name"] for row in rows]
    axis = alt.Axis(labelAngle=-40 if len(rows) > 8 else 0, labelFontSize=FONT_SIZE, labelOverlap=False, title=None)
    base = alt.Chart(data_of(rows)).encode(x=alt.X("name:N", sort=names, axis=axis))
    scale = alt.Scale(domain=[0, 1.08])
    height = alt.Y("share:Q", scale=scale, axis=alt.Axis(values=[0, 0.5, 1], title=f"weight of {names[query]}"))
    colour = alt.condition("datum.marked", alt.value(theme.second), alt.value(theme.accent))
    bars = base.mark_bar().encode(y=height, color=colour, tooltip=["name:N", alt.Tooltip("share:Q", format=".4f")])
    numbers = base.mark_text(dy=-8, fontSize=FONT_SIZE - 1, color=theme.text).encode(y=height, text="said:N")
    return configured(alt.LayerChart(layer=[bars, numbers]).properties(width="container", height=HEIGHT), theme)
