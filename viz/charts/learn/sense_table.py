"""Sentences of two senses, and at every step the number of the sentence that a word's vector is nearest to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
from jaxtyping import Int

from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.theme import FONT, FONT_SIZE, LIGHT, Theme
from viz.tokens import visible

TEXT, CELL, HEAD, GAP = 17, 18, 22, 5  # pixels
LONGEST = 90  # characters of a sentence
START = "start"  # what enters the first layer
Placed = dict[str, object]  # a row of the chart's data


@dataclass(frozen=True, kw_only=True)
class SenseRow:
    """A sentence and its sense, the place of one of the senses; None where it has none, as a visitor's."""

    sentence: str
    sense: int | None


def sense_table(
    names: Sequence[str],
    rows: Sequence[SenseRow],
    nearest: Int[np.ndarray, "row step"] | None,
    *,
    theme: Theme = LIGHT,
) -> alt.LayerChart:
    """The sentences under the names of their senses, each with a cell for every step: the nearest sentence's number.

    A cell has the colour of that sentence's sense, and a tick where it is the row's own. nearest: places in ``rows``;
    None: the sentences alone. ValueError where rows and cells do not fit together.
    """
    if nearest is not None and len(nearest) != len(rows):
        raise ValueError(f"{len(rows)} sentences came with {len(nearest)} rows of cells")
    labels, cells, height = laid_out(names, rows, nearest)
    chart = alt.LayerChart(layer=layers(labels, cells, 0 if nearest is None else nearest.shape[1], theme))
    return with_page_style(chart.properties(width="container", height=height), theme, framed=False)


def laid_out(
    names: Sequence[str], rows: Sequence[SenseRow], nearest: Int[np.ndarray, "row step"] | None
) -> tuple[list[Placed], list[Placed], int]:
    """Labels and cells at their heights in pixels, and where they end."""
    labels, cells, down = list[Placed](), list[Placed](), 0
    if nearest is not None:
        labels += [step_label(step) for step in range(nearest.shape[1])]
        down += HEAD
    for place, row in enumerate(rows):
        if place == 0 or row.sense != rows[place - 1].sense:
            title = "the sentence above" if row.sense is None else names[row.sense]
            labels.append({"kind": "head", "text": title, "y": down + HEAD / 2})
            down += HEAD
        sentence = f"{place + 1}  {visible(row.sentence, LONGEST)}"
        labels.append({"kind": "sentence", "text": sentence, "y": down + TEXT / 2})
        down += TEXT
        if nearest is not None:
            cells += [cell(rows, place, step, int(at), down) for step, at in enumerate(nearest[place])]
            down += CELL
        down += GAP
    return labels, cells, down


def step_label(step: int) -> Placed:
    """ "layer 3" over a column."""
    return {"kind": "step", "text": START if step == 0 else f"layer {step}", "at": step + 0.5, "y": HEAD / 2}


def cell(rows: Sequence[SenseRow], place: int, step: int, at: int, top: int) -> Placed:
    """One sentence at one step, at a height in pixels."""
    own = rows[at].sense == rows[place].sense
    return {
        "sentence": place + 1,
        "step": START if step == 0 else f"layer {step}",
        "nearest": at + 1,
        "shown": f"{at + 1} ✓" if own else f"{at + 1}",
        "sense": rows[at].sense,
        "own": own,
        "from": step + 0.03,
        "to": step + 0.97,
        "at": step + 0.5,
        "top": top,
        "bottom": top + CELL,
        "y": top + CELL / 2,
    }


def layers(labels: list[Placed], cells: list[Placed], steps: int, theme: Theme) -> list[alt.Chart]:
    """The cells with their numbers, over them the steps, and the sentences."""
    height = alt.Y("y:Q", scale=None, axis=None)
    headings, sentences, over = (
        [label for label in labels if label["kind"] == kind] for kind in ("head", "sentence", "step")
    )
    text: dict[str, Any] = {"font": FONT, "align": "left", "limit": alt.expr("width")}
    named = alt.Chart(data_of(headings)).mark_text(**text, fontWeight="bold", fontSize=FONT_SIZE, color=theme.text)
    written = alt.Chart(data_of(sentences)).mark_text(**text, fontSize=FONT_SIZE, color=theme.text)
    drawn = [chart.encode(x=alt.value(2), y=height, text="text:N") for chart in (named, written)]
    if not cells:
        return drawn
    scale = alt.Scale(domain=[0, steps], nice=False)
    middle = alt.X("at:Q", scale=scale, axis=None)
    tooltip: list[Any] = ["sentence:Q", "step:N", alt.Tooltip("nearest:Q", title="nearest sentence")]
    base = alt.Chart(data_of(cells)).encode(tooltip=tooltip)
    colour = alt.condition("datum.sense === 0", alt.value(theme.weights[2]), alt.value(theme.orange[2]))
    tiles = base.mark_rect(cornerRadius=3).encode(
        x=alt.X("from:Q", scale=scale, axis=None),
        x2="to:Q",
        y=alt.Y("top:Q", scale=None, axis=None),
        y2="bottom:Q",
        color=colour,
    )
    numbers = base.mark_text(font=FONT, fontSize=FONT_SIZE - 1, color=theme.text).encode(
        x=middle, y=height, text="shown:N"
    )
    steps_named = (
        alt.Chart(data_of(over))
        .mark_text(font=FONT, fontSize=FONT_SIZE - 2, color=theme.quiet, limit=alt.expr(f"width / {steps} - 2"))
        .encode(x=middle, y=height, text="text:N")
    )
    return [*drawn, tiles, numbers, steps_named]
