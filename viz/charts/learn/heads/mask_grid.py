"""Which characters of a short text each of them may look at, with the causal mask and without."""

import altair as alt
import numpy as np
from jaxtyping import Bool

from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.theme import FONT_SIZE, LIGHT, Theme
from viz.tokens import visible

ROW = 26  # pixels of height


def mask_grids(text: str, masks: dict[str, Bool[np.ndarray, "query key"]], *, theme: Theme = LIGHT) -> alt.LayerChart:
    """A grid for each mask: a row for each character that looks, a filled cell for each that it may look at.

    The ring in a row is round the character that it has to predict. ValueError for a mask of another length.
    """
    for name, mask in masks.items():
        if mask.shape != (len(text), len(text)):
            raise ValueError(f"{name} has shape {mask.shape}, wanted one row and column for {len(text)} characters")
    size, gap = len(text), len(text) + 1
    rows = [
        {"grid": name, "left": number * gap + key, "right": number * gap + key + 1, "top": query, "bottom": query + 1,
         "query": visible(text[query]), "key": visible(text[key]), "seen": bool(mask[query, key]),
         "answer": key == query + 1}
        for number, (name, mask) in enumerate(masks.items())
        for query in range(size)
        for key in range(size)
    ]  # fmt: skip
    width = len(masks) * gap - 1
    base = alt.Chart(data_of(rows)).encode(
        x=alt.X("left:Q", scale=alt.Scale(domain=[-1, width], nice=False), axis=None),
        y=alt.Y("top:Q", scale=alt.Scale(domain=[size, -2], nice=False), axis=None),
        tooltip=["grid:N", "query:N", "key:N", "seen:N"],
    )
    fill = alt.condition("datum.seen", alt.value(theme.accent), alt.value(theme.surface))
    cells = base.mark_rect(stroke=theme.background, strokeWidth=2).encode(x2="right:Q", y2="bottom:Q", color=fill)
    middle = base.transform_calculate(across="datum.left + 0.5", down="datum.top + 0.5")
    rings = middle.transform_filter("datum.answer").mark_point(
        size=220, strokeWidth=3, color=theme.second, filled=False, opacity=1
    )
    labels = alt.Chart(data_of(letters(text, masks, gap))).mark_text(fontSize=FONT_SIZE, color=theme.text)
    names = [{"left": number * gap + size / 2, "top": -1.5, "text": name} for number, name in enumerate(masks)]
    titles = alt.Chart(data_of(names)).mark_text(fontSize=FONT_SIZE, fontWeight="bold", color=theme.text)
    placed = {"x": "left:Q", "y": "top:Q", "text": "text:N"}
    layers = [cells, rings.encode(x="across:Q", y="down:Q"), labels.encode(**placed), titles.encode(**placed)]
    chart = alt.LayerChart(layer=layers).properties(width="container", height=ROW * (size + 2))
    return with_page_style(chart, theme, framed=False)


def letters(text: str, masks: dict[str, Bool[np.ndarray, "query key"]], gap: int) -> list[dict[str, object]]:
    """The characters over each grid, and down its left side."""
    rows: list[dict[str, object]] = []
    for number in range(len(masks)):
        for place, character in enumerate(map(visible, text)):
            rows.append({"left": number * gap + place + 0.5, "top": -0.5, "text": character})
            rows.append({"left": number * gap - 0.4, "top": place + 0.5, "text": character})
    return rows
