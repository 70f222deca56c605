"""One row of one head: a sentence, and above each of its words the weight that one query gives it."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
from jaxtyping import Float

from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.charts.share_bars import largest
from viz.theme import FONT, FONT_SIZE, LIGHT, Theme
from viz.tokens import percent, visible

BARS, WORDS = 190, 62  # pixels: of a weight of 1, and under it of the words
TOP = 40  # where a bar of weight 1 ends: above it stand its number and the mark of the query
MOST = 20  # words that stand side by side
SLANTED = "width / {count} < 56"  # where the words have no room side by side, as on a phone
LONGEST = 14
NEAR = 2  # words on each side of the query, which stand there whatever their weights
LEAST_SAID = 0.005


def row_chart(
    tokens: Sequence[str],
    weights: Float[np.ndarray, " key"],
    query: int,
    *,
    key: int | None = None,
    hidden: bool = False,
    theme: Theme = LIGHT,
) -> alt.LayerChart:
    """The words in their order, each with its weight as a bar; of a long text the largest, and the query's neighbours.

    What the words that are left out get is one bar more, at the end. key: the bar in the second colour. hidden: the
    words alone, to guess before. ValueError where tokens and weights do not fit together.
    """
    if len(weights) != len(tokens):
        raise ValueError(f"{len(tokens)} tokens came with {len(weights)} weights")
    rows = row_records(tokens, [float(weight) for weight in weights], query, key)
    rows = [row | {"weight": 0, "said": ""} for row in rows] if hidden else rows
    base = alt.Chart(data_of(rows)).encode(
        x=alt.X("place:O", axis=None, scale=alt.Scale(paddingInner=0.35, paddingOuter=0.2)),
        tooltip=[alt.Tooltip("token:N", title="key")] + ([] if hidden else [alt.Tooltip("weight:Q", format=".4f")]),
    )
    layers = [floor(base, theme), *words(base, len(rows), theme)]
    layers += [mark_of_query(base, len(rows), theme), *([] if hidden else bars(base, len(rows), theme))]
    drawn = alt.LayerChart(layer=layers).properties(width="container", height=BARS + WORDS)
    return with_page_style(drawn, theme, framed=False)


def row_records(tokens: Sequence[str], weights: Sequence[float], query: int, key: int | None) -> list[dict[str, Any]]:
    """One record for each word that is drawn, and one for those that are not."""
    near = range(max(0, query - NEAR), min(len(tokens), query + NEAR + 1))
    places = sorted({*largest(weights, MOST), *near, *([] if key is None else [key])})
    records = [
        record(tokens[place].strip() or tokens[place], weights[place], place=place)
        | {"asks": place == query, "marked": place == key}
        for place in places
    ]
    if len(places) < len(tokens):
        rest = [weight for place, weight in enumerate(weights) if place not in places]
        records.append(record(f"{len(rest)} others", sum(rest), place=len(tokens)))
    return records


def record(token: str, weight: float, *, place: int) -> dict[str, Any]:
    """One bar and its word."""
    name = visible(token, LONGEST)
    label = percent(weight) if weight >= LEAST_SAID else ""
    return {"place": place, "token": name, "weight": weight, "said": label, "asks": False, "marked": False}


def bars(base: alt.Chart, count: int, theme: Theme) -> list[alt.Chart]:
    """The weights as bars, and as numbers above them."""
    size: Any = {"expr": f"{SLANTED.format(count=count)} ? {FONT_SIZE - 3} : {FONT_SIZE}"}
    colour = alt.condition("datum.marked", alt.value(theme.second), alt.value(theme.accent))
    numbers = base.mark_text(font=FONT, baseline="bottom", dy=-4, fontSize=size, color=theme.text)
    return [base.mark_bar().encode(y=up("weight:Q"), color=colour), numbers.encode(y=up("weight:Q"), text="said:N")]


def up(field: str) -> alt.Y:
    """A weight as a height."""
    return alt.Y(field, axis=None, scale=alt.Scale(domain=[0, 1], range=[BARS, TOP]))


def mark_of_query(base: alt.Chart, count: int, theme: Theme) -> alt.Chart:
    """An arrow over the bar of the query itself, and over its number; with its name where that has room."""
    text = {"expr": f"{SLANTED.format(count=count)} ? '▼' : '▼ query'"}
    looks: dict[str, Any] = {"font": FONT, "fontSize": FONT_SIZE - 1, "fontWeight": "bold", "color": theme.accent}
    mark = base.transform_filter("datum.asks").mark_text(text=text, baseline="bottom", dy=-20, **looks)
    return mark.encode(y=up("weight:Q"))


def floor(base: alt.Chart, theme: Theme) -> alt.Chart:
    """The line of weight 0 under every word."""
    return base.mark_bar(height=2, color=theme.grid).encode(y=alt.value(BARS + 1))


def words(base: alt.Chart, count: int, theme: Theme) -> list[alt.Chart]:
    """The words under their bars, slanted where there is no room; the query in bold."""
    slanted = SLANTED.format(count=count)
    looks: dict[str, Any] = {
        "angle": {"expr": f"{slanted} ? 320 : 0"},
        "align": {"expr": f"{slanted} ? 'right' : 'center'"},
        "baseline": "top",
        "limit": 90,
        "font": FONT,
        "fontSize": FONT_SIZE + 1,
    }
    place = {"y": alt.value(BARS + 8), "text": "token:N"}
    others = base.transform_filter("!datum.asks").mark_text(color=theme.text, **looks)
    query = base.transform_filter("datum.asks").mark_text(color=theme.accent, fontWeight="bold", **looks)
    return [others.encode(**place), query.encode(**place)]
