"""From text to numbers: the tokens with their ids, and one row of the embedding table."""

from collections.abc import Sequence

import altair as alt
import numpy as np
from jaxtyping import Float

from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.theme import FONT, FONT_SIZE, LIGHT, Theme, difference_scale
from viz.tokens import visible

MOST_TOKENS = 7  # that fit side by side on a phone
TOKEN_HEIGHT, STRIP, AXIS = 58, 32, 24  # pixels
SIGN = 0.3  # of a token's width, for the sign that the text goes on


def token_window(count: int, place: int) -> range:
    """As many positions around one as have room."""
    first = min(max(0, place - MOST_TOKENS // 2), max(0, count - MOST_TOKENS))
    return range(first, min(count, first + MOST_TOKENS))


def token_id_chart(
    tokens: Sequence[str], ids: Sequence[int], place: int | None, *, theme: Theme = LIGHT
) -> alt.LayerChart:
    """Tokens over their ids, those around one position, which is framed; None: the first.

    "…" on a side on which the text has more. ValueError where they do not fit together.
    """
    if len(tokens) != len(ids):
        raise ValueError(f"{len(tokens)} tokens came with {len(ids)} ids")
    window = token_window(len(tokens), place or 0)
    rows = [
        {
            "at": column + 0.5,
            "from": column + 0.04,
            "to": column + 0.96,
            "token": visible(tokens[at]),
            "id": f"{ids[at]:,}",
            "position": at + 1,
            "marked": at == place,
        }
        for column, at in enumerate(window)
    ]
    left, right = (SIGN if more else 0.0 for more in (window.start > 0, window.stop < len(tokens)))
    scale = alt.Scale(domain=[-left, len(window) + right], nice=False)
    base = alt.Chart(data_of(rows)).encode(tooltip=["position:Q", "token:N", "id:N"])
    fit = alt.expr(f"width / {len(window) + left + right} - 8")
    middle = alt.X("at:Q", scale=scale, axis=None)
    cells = base.mark_rect(cornerRadius=4, fill=theme.surface, strokeWidth=2).encode(
        x=alt.X("from:Q", scale=scale, axis=None),
        x2="to:Q",
        stroke=alt.condition("datum.marked", alt.value(theme.second), alt.value(theme.grid)),
        y=alt.value(1),
        y2=alt.value(TOKEN_HEIGHT - 1),
    )
    names = base.mark_text(font=FONT, fontSize=FONT_SIZE, color=theme.text, limit=fit).encode(
        x=middle, y=alt.value(TOKEN_HEIGHT * 0.32), text="token:N"
    )
    numbers = base.mark_text(font=FONT, fontSize=FONT_SIZE - 1, color=theme.quiet, limit=fit).encode(
        x=middle, y=alt.value(TOKEN_HEIGHT * 0.7), text="id:N"
    )
    sides = [
        {"at": at, "tokens": count, "sign": "…"}
        for at, count in ((-SIGN / 2, window.start), (len(window) + SIGN / 2, len(tokens) - window.stop))
        if count
    ]
    signs = (
        alt.Chart(data_of(sides))
        .mark_text(font=FONT, fontSize=FONT_SIZE, color=theme.quiet)
        .encode(x=middle, y=alt.value(TOKEN_HEIGHT / 2), text="sign:N", tooltip=alt.Tooltip("tokens:Q", title="more"))
    )
    layers = [cells, names, numbers, *([signs] if sides else [])]
    chart = alt.LayerChart(layer=layers).properties(width="container", height=TOKEN_HEIGHT)
    return with_page_style(chart, theme, framed=False)


def row_strip(row: Float[np.ndarray, " width"], title: str, *, theme: Theme = LIGHT) -> alt.Chart:
    """The numbers of one row side by side, coloured around 0."""
    most = float(np.abs(row).max(initial=0)) or 1.0
    stops = difference_scale(theme)
    scale = alt.Scale(
        domain=[stop * most for stop, _ in stops],
        range=[colour for _, colour in stops],
        clamp=True,
        interpolate="rgb",
    )
    cells = [{"coordinate": place + 1, "number": number} for place, number in enumerate(row.tolist())]
    chart = (
        alt.Chart(data_of(cells))
        .mark_rect()
        .encode(
            x=alt.X("coordinate:O", title=title, axis=alt.Axis(labels=False, ticks=False)),
            color=alt.Color("number:Q", scale=scale, legend=None),
            tooltip=["coordinate:Q", alt.Tooltip("number:Q", format="+.5g")],
        )
    )
    return with_page_style(chart.properties(width="container", height=STRIP + AXIS), theme, framed=False)
