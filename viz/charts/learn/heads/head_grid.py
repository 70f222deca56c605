"""All heads of a model, layer by layer, each shaded by one number; those that are muted are crossed out."""

from collections.abc import Collection
from typing import Any

import altair as alt
import numpy as np
from jaxtyping import Float

from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.sentences.token_strip import ink_on
from viz.theme import FONT, FONT_SIZE, LIGHT, Theme, colour_at, colour_scale
from viz.tokens import counted, percent

CELL, AROUND = 28, 48  # pixels: of a layer, of the axis above them
MUTED = "✕"


def head_grid(
    shares: Float[np.ndarray, "layer head"],
    muted: Collection[tuple[int, int]],
    *,
    hidden: bool = False,
    theme: Theme = LIGHT,
) -> alt.LayerChart:
    """A cell for each head, shaded by its share, 0 to 1.

    muted: (layer, head) of those that are crossed out. hidden: no head is shaded, to
    guess before. ValueError for a muted head that is not there.
    """
    layers, heads = shares.shape
    if any(layer >= layers or head >= heads for layer, head in muted):
        raise ValueError(f"muted heads {sorted(muted)}, wanted some of {layers} layers with {heads} heads")
    drawn = (np.zeros_like(shares) if hidden else shares).tolist()
    scale = colour_scale(theme.weights)
    rows = [
        record((layer, head), drawn[layer][head], colour_at(scale, drawn[layer][head]))
        | {"mark": MUTED if (layer, head) in muted else ""}
        for layer, head in np.ndindex(layers, heads)
    ]
    tooltip = [alt.Tooltip("name:N"), *([] if hidden else [alt.Tooltip("said:N", title="share")])]
    base = alt.Chart(data_of(rows)).encode(
        x=alt.X("head:O", title="head", axis=axis("top")),
        y=alt.Y("layer:O", title="layer", axis=axis("left")),
        tooltip=tooltip,
    )
    cells = base.mark_rect(stroke=theme.grid, strokeWidth=1).encode(color=alt.Color("fill:N", scale=None))
    crosses = base.mark_text(font=FONT, fontSize=FONT_SIZE + 3, fontWeight="bold").encode(
        text="mark:N", color=alt.Color("ink:N", scale=None)
    )
    chart = alt.LayerChart(layer=[cells, crosses]).resolve_scale(color="independent")
    return with_page_style(chart.properties(width="container", height=AROUND + CELL * layers), theme)


def record(place: tuple[int, int], share: float, fill: str) -> dict[str, Any]:
    """One head: both its names, its number, and what is written on its colour."""
    layer, head = place
    return {
        "layer": layer + 1,
        "head": head + 1,
        "name": f"layer {counted(layer)}, head {counted(head)}",
        "share": share,
        "said": percent(share, 1),
        "fill": fill,
        "ink": ink_on(fill),
    }


def axis(side: str) -> alt.Axis:
    """Numbers without lines."""
    return alt.Axis(orient=side, labelAngle=0, ticks=False, domain=False, grid=False)  # type: ignore[arg-type]
