"""Words with a bar each, in groups under headings: which rows are near, which words make a unit active."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.theme import FONT, FONT_SIZE, LIGHT, Theme
from viz.tokens import decimal, visible

LINE, HEAD = 21, 26  # pixels
LABELS = "min(140, width * 0.36)"  # pixels for the words left of the bars
ROOM = 1.25  # a number has to fit beside the largest bar


@dataclass(frozen=True, kw_only=True)
class BarGroup:
    """A heading, and under it words with a number each. chance: up to it a number is noise; None where none is."""

    title: str
    words: Sequence[str]
    numbers: Sequence[float]
    chance: float | None = None


def word_bars(groups: Sequence[BarGroup], measure: str, *, theme: Theme = LIGHT) -> alt.LayerChart:
    """A bar for each word, all on one scale from 0. measure: what the numbers are.

    A line in the bars of a group is its chance; a bar that ends before it is grey and reads "noise". ValueError where
    words and numbers do not fit together.
    """
    rows, heads, down = list[dict[str, object]](), list[dict[str, object]](), 0
    for group in groups:
        if len(group.words) != len(group.numbers):
            raise ValueError(f"{len(group.words)} words came with {len(group.numbers)} numbers")
        heads.append({"title": group.title, "y": down + HEAD / 2})
        down += HEAD
        for word, number in zip(group.words, group.numbers, strict=True):
            rows.append(bar_row(group, word, number, down))
            down += LINE
    most = max((number for group in groups for number in group.numbers), default=1.0) or 1.0
    chart = alt.LayerChart(layer=layers(rows, heads, most, measure, theme))
    return with_page_style(chart.properties(width="container", height=max(down, LINE)), theme, framed=False)


def bar_row(group: BarGroup, word: str, number: float, top: int) -> dict[str, object]:
    """One bar, at a height in pixels."""
    noise = group.chance is not None and number <= group.chance
    return {
        "group": group.title,
        "word": visible(word),
        "number": number,
        "shown": decimal(number, ".2f") + ("  noise" if noise else ""),
        "noise": noise,
        "chance": group.chance,
        "end": max(number, group.chance or 0.0) if noise else number,
        "zero": 0,
        "y": top + LINE / 2,
        "top": top,
        "bottom": top + LINE,
    }


def layers(
    rows: list[dict[str, object]], heads: list[dict[str, object]], most: float, measure: str, theme: Theme
) -> list[alt.Chart]:
    """Headings, words, bars, numbers, and the chance as a line."""
    scale = alt.Scale(domain=[0, most * ROOM], range=[alt.expr(LABELS), alt.expr("width")], nice=False)
    across = alt.X("number:Q", axis=None, scale=scale)
    tooltip: list[Any] = ["group:N", "word:N", alt.Tooltip("number:Q", title=measure, format=".4f")]
    base = alt.Chart(data_of(rows)).encode(y=alt.Y("y:Q", scale=None, axis=None), tooltip=tooltip)
    colour = alt.condition("datum.noise", alt.value(theme.grid), alt.value(theme.accent))
    bars = base.mark_bar(height=13).encode(x=across, x2="zero", color=colour)
    label: dict[str, Any] = {"font": FONT, "align": "right", "dx": -6, "fontSize": FONT_SIZE, "color": theme.text}
    words = base.mark_text(**label, limit=alt.expr(f"{LABELS} - 8")).encode(x=alt.X("zero:Q", axis=None), text="word:N")
    number_font: dict[str, Any] = {
        "font": FONT,
        "align": "left",
        "dx": 5,
        "fontSize": FONT_SIZE - 2,
        "color": theme.text,
    }
    numbers = base.mark_text(**number_font).encode(x=alt.X("end:Q", axis=None), text="shown:N")
    titles = (
        alt.Chart(data_of(heads))
        .mark_text(
            font=FONT,
            align="left",
            fontSize=FONT_SIZE - 1,
            fontWeight="bold",
            color=theme.text,
            limit=alt.expr("width"),
        )
        .encode(x=alt.value(2), y=alt.Y("y:Q", scale=None, axis=None), text="title:N")
    )
    chances = [row for row in rows if row["chance"] is not None]
    lines = (
        alt.Chart(data_of(chances))
        .mark_rule(color=theme.second, strokeDash=[3, 2], strokeWidth=2)
        .encode(x=alt.X("chance:Q", axis=None), y=alt.Y("top:Q", scale=None, axis=None), y2=alt.Y2("bottom:Q"))
    )
    return [bars, words, numbers, titles, *([lines] if chances else [])]
