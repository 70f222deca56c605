"""What an answer becomes with one part of another pass in it: layers × heads, or layers × positions."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
from jaxtyping import Float

from viz.charts.causes.head_effects import AROUND, FLOOR, LEGEND, MOST_SAID, ROW, cell_text, legend, row_of
from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.theme import FONT_SIZE, LIGHT, Theme, colour_scale, difference_scale
from viz.tokens import counted

LOW = 26  # pixels of a row
NAMES = 60  # pixels of the columns' names, which stand upright
CHANGE = ["change of A's answer, points", "blue: likelier with the part from B", "orange: less likely with it"]
MOVED = "movement of A's last vectors, %"


def patch_grid(
    effects: Float[np.ndarray, "layer column"],
    said: Mapping[tuple[int, int], str],
    columns: Sequence[str],
    column: str,
    *,
    signed: bool,
    theme: Theme = LIGHT,
) -> alt.LayerChart:
    """A cell for every layer and column, coloured by its effect on a scale that ends at the largest, or at ``FLOOR``.

    effects: NaN where there is none. said: what a cell says in words. columns: their names, all different; column: what
    they are. ValueError where these do not fit together.
    """
    if set(said) != set(np.ndindex(*effects.shape)) or len(set(columns)) != effects.shape[1]:
        raise ValueError(f"{len(said)} words and {len(columns)} names for numbers of shape {effects.shape}")
    most, form = float(np.nanmax(np.abs(effects), initial=FLOOR)), "+.1f" if signed else ".1f"
    stops = difference_scale(theme) if signed else colour_scale(theme.weights)
    rows: list[dict[str, Any]] = [
        row_of(site, effects[site], most, said[site], stops, theme)
        | {"column name": columns[site[1]], "text": cell_text(float(effects[site]), form, in_nats=False)}
        for site in sorted(said)
    ]
    layers, many = effects.shape[0], effects.shape[1] > MOST_SAID
    upright = max(map(len, columns)) > 2
    base = alt.Chart(data_of(rows)).encode(
        x=alt.X(
            "column name:N",
            title=column,
            sort=None,
            axis=alt.Axis(labelAngle=-90 if upright else 0, orient="bottom", ticks=False, labelOverlap="greedy"),
        ),
        y=alt.Y("layer name:O", title="layer", sort=[counted(layer) for layer in range(layers)]),
        tooltip=[alt.Tooltip("said:N", title="with it from B")],
        description="said:N",
    )
    cells = base.mark_rect(stroke=theme.background, strokeWidth=2).encode(fill=alt.Fill("colour:N", scale=None))
    # With too many columns for numbers, the larger effects still carry their sign.
    text = "text:N" if not many else "sign:N"
    for row in rows:
        large = row["effect"] is not None and signed and abs(row["effect"]) >= most / 4
        row["sign"] = ("+" if row["effect"] > 0 else "−") if large else ""
    numbers = base.mark_text(fontSize=FONT_SIZE - 3, aria=False).encode(text=text, color=alt.Color("ink:N", scale=None))
    height = AROUND + LEGEND + (LOW if many else ROW) * layers + (NAMES if upright else 0)
    shown = [cells, numbers, legend(base, most, stops, CHANGE if signed else [MOVED])]
    drawn = alt.LayerChart(layer=shown).properties(width="container", height=height)
    return with_page_style(drawn.resolve_scale(color="independent"), theme, framed=False)
