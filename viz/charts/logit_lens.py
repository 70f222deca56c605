"""What each layer would have said: its likeliest tokens in a row, one row a layer."""

from collections.abc import Sequence

import altair as alt
import numpy as np
from jaxtyping import Float, Int

from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.sentences.token_strip import ink_on, shade
from viz.theme import FONT_SIZE, LIGHT, Theme, colour_scale
from viz.tokens import counted, quoted, visible

ROW, AROUND = 30, 46


def lens_chart(
    probabilities: Float[np.ndarray, "layer place"], tokens: Sequence[Sequence[str]], *, theme: Theme = LIGHT
) -> alt.LayerChart:
    """The likeliest tokens of every layer, shaded by their probability on the scale of weights, 0 to 1.

    ValueError where tokens and probabilities do not fit together.
    """
    if probabilities.shape != (len(tokens), len(tokens[0]) if tokens else 0):
        raise ValueError(f"probabilities of shape {probabilities.shape} for {len(tokens)} layers of tokens")
    rows = [
        {
            "layer": counted(layer),
            "place": counted(place),
            "token": visible(token),
            "probability": float(probabilities[layer, place]),
            "ink": ink_on(shade(float(probabilities[layer, place]), theme)),
        }
        for layer, likeliest in enumerate(tokens)
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
    probabilities: Float[np.ndarray, " layer"],
    of_token: Float[np.ndarray, " layer"],
    ranks: Int[np.ndarray, " layer"],
) -> dict[str, list[object]]:
    """One row a layer: its likeliest token with the probability, and those of the token that is followed."""
    return {
        "after layer": [layer + 1 for layer in range(len(tokens))],
        "likeliest": [quoted(token) for token in tokens],
        "its probability": [float(value) for value in probabilities],
        "probability of the token": [float(value) for value in of_token],
        "its rank": [int(rank) for rank in ranks],
    }
