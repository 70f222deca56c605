"""How a training run went: loss and accuracy over its steps."""

import csv
import io
import math
from collections.abc import Mapping, Sequence

import altair as alt

from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.theme import FONT_SIZE, LIGHT, Theme

COLUMNS = ("step", "training_loss", "validation_loss", "validation_accuracy")
SERIES = ("training", "validation")
HEIGHT = 240


def read_curve(text: str) -> dict[str, list[float]]:
    """The columns of a curve.csv; an empty cell is NaN. ValueError for a missing column or a cell that is no number."""
    rows = list(csv.DictReader(io.StringIO(text)))
    header = rows[0].keys() if rows else ()
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        raise ValueError(f"the curve has no column {missing[0]} or no row, wanted {', '.join(COLUMNS)} and rows")
    return {name: [float(row[name] or math.nan) for row in rows] for name in COLUMNS}


def last_step(curve: Mapping[str, Sequence[float]]) -> int:
    """How many steps the curve shows."""
    return int(max(curve["step"]))


def loss_curve(curve: Mapping[str, Sequence[float]], *, theme: Theme = LIGHT) -> alt.Chart:
    """Training and validation loss over the steps."""
    points = [
        {"step": step, "loss": loss, "measured on": name}
        for name in SERIES
        for step, loss in zip(curve["step"], curve[f"{name}_loss"], strict=True)
        if math.isfinite(loss)
    ]
    return _lines(points, "loss", "loss (cross-entropy, lower is better)", theme).encode(
        color=alt.Color("measured on:N", scale=_scale([theme.accent, theme.second]), legend=_legend()),
        strokeDash=alt.StrokeDash("measured on:N", scale=_scale([[1, 0], [6, 3]]), legend=_legend()),
    )


def accuracy_curve(curve: Mapping[str, Sequence[float]], *, theme: Theme = LIGHT) -> alt.Chart:
    """Accuracy on the validation part over the steps."""
    points = [
        {"step": step, "accuracy": accuracy, "measured on": "validation"}
        for step, accuracy in zip(curve["step"], curve["validation_accuracy"], strict=True)
        if math.isfinite(accuracy)
    ]
    chart = _lines(points, "accuracy", "validation accuracy", theme, percent=True)
    return chart.encode(color=alt.value(theme.second), strokeDash=alt.value([6, 3]))


def _lines(points: list[dict], field: str, title: str, theme: Theme, percent: bool = False) -> alt.Chart:
    labels = alt.Axis(format="%") if percent else alt.Axis()
    exact = [alt.Tooltip("measured on:N"), alt.Tooltip("step:Q"), alt.Tooltip(f"{field}:Q", format=".6g")]
    marks = alt.Chart(data_of(points), height=HEIGHT).mark_line(point=len(points) <= 60)
    encoded = marks.encode(
        x=alt.X("step:Q", title="training step"),
        y=alt.Y(f"{field}:Q", title=title, axis=labels, scale=alt.Scale(zero=False)),
        tooltip=exact,
    )
    return with_page_style(encoded, theme, framed=False, labels=FONT_SIZE - 1)


def _scale(values: list) -> alt.Scale:
    return alt.Scale(domain=list(SERIES), range=values)


def _legend() -> alt.Legend:
    return alt.Legend(title=None, orient="top")
