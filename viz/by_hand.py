"""Small matrices with every number in its cell, and the split of a width into heads."""

from collections.abc import Sequence

import altair as alt
import numpy as np
from jaxtyping import Float

from viz.lines import configured
from viz.rows import data_of
from viz.theme import FONT_SIZE, LIGHT, Theme, colour_scale, difference_scale
from viz.tokens import counted

CELL, AROUND = 34, 70
ROW, AROUND_SPLIT = 22, 110


def matrix_chart(
    numbers: Float[np.ndarray, "row column"],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    weights: bool = False,
    theme: Theme = LIGHT,
) -> alt.LayerChart:
    """Every number in its cell, three digits, exact in the tooltip; −∞ is written out and left uncoloured.

    weights: the scale of weights, 0 to 1, in place of the one around 0 that ends at the largest number. ValueError
    where names and numbers do not fit together.
    """
    if numbers.shape != (len(rows), len(columns)):
        raise ValueError(f"numbers of shape {numbers.shape}, wanted ({len(rows)} rows, {len(columns)} columns)")
    cells = [cell(name, other, float(numbers[at])) for at, name, other in named_cells(rows, columns)]
    finite = np.abs(numbers[np.isfinite(numbers)])
    most = float(finite.max()) if finite.size and finite.max() > 0 else 1.0
    stops = colour_scale(theme.weights) if weights else [(at * most, colour) for at, colour in difference_scale(theme)]
    scale = alt.Scale(domain=[at for at, _ in stops], range=[colour for _, colour in stops], clamp=True)
    far = f"isValid(datum.number) && abs(datum.number) > {0.35 if weights else 0.45 * most}"
    base = alt.Chart(data_of(cells)).encode(
        x=alt.X("column:N", sort=None, title=None, axis=alt.Axis(orient="top", labelAngle=0, labelLimit=60)),
        y=alt.Y("row:N", sort=None, title=None, axis=alt.Axis(labelLimit=60)),
        tooltip=["row:N", "column:N", "exact:N"],
    )
    ink = alt.condition(far, alt.value(theme.background), alt.value(theme.text))
    layers = [
        base.mark_rect(stroke=theme.grid).encode(color=alt.Color("number:Q", scale=scale, legend=None)),
        base.mark_text(fontSize=FONT_SIZE - 2).encode(text=alt.Text("shown:N"), color=ink),
    ]
    chart = alt.LayerChart(layer=layers).properties(width="container", height=AROUND + CELL * len(rows))
    return configured(chart, theme)


def named_cells(rows: Sequence[str], columns: Sequence[str]) -> list[tuple[tuple[int, int], str, str]]:
    """Where every cell is, and what its row and column are called."""
    return [((row, column), name, other) for row, name in enumerate(rows) for column, other in enumerate(columns)]


def cell(row: str, column: str, number: float) -> dict[str, object]:
    """One record; a number that is not finite has no colour."""
    finite = bool(np.isfinite(number))
    shown = f"{number:.3g}" if finite else "−∞"
    return {
        "row": row,
        "column": column,
        "number": number if finite else None,
        "shown": shown.replace("-", "−"),
        "exact": repr(number) if finite else "−∞",
    }


def joined_chart(joined: Float[np.ndarray, "head head_width"], *, theme: Theme = LIGHT) -> alt.Chart:
    """What a projection gave for one token: all coordinates side by side, as it leaves the projection."""
    cells = coordinates(joined, theme, legend=False).encode(
        x=alt.X("coordinate:O", title=f"all {joined.size} coordinates", axis=_axis()),
    )
    return configured(cells.properties(width="container", height=AROUND + CELL), theme)


def split_chart(joined: Float[np.ndarray, "head head_width"], *, theme: Theme = LIGHT) -> alt.Chart:
    """The same coordinates cut into heads: one row for each."""
    cells = coordinates(joined, theme).encode(
        x=alt.X("within:O", title=f"{joined.shape[1]} coordinates of each head", axis=_axis()),
        y=alt.Y("head:O", sort=None, title="head"),
    )
    return configured(cells.properties(width="container", height=AROUND_SPLIT + ROW * len(joined)), theme)


def coordinates(joined: Float[np.ndarray, "head head_width"], theme: Theme, *, legend: bool = True) -> alt.Chart:
    """A cell for every coordinate, coloured around 0."""
    most = float(np.abs(joined).max()) or 1.0
    stops = difference_scale(theme)
    scale = alt.Scale(domain=[at * most for at, _ in stops], range=[colour for _, colour in stops], clamp=True)
    width = joined.shape[1]
    rows = [
        {
            "coordinate": head * width + at + 1,
            "head": counted(head),
            "within": at + 1,
            "number": float(joined[head, at]),
        }
        for head, at in np.ndindex(joined.shape)
    ]
    named = alt.Legend(title="number", orient="top", format="+.2~f", values=[-most, 0, most], gradientLength=160)
    exact = alt.Tooltip("number:Q", format="+.6g")
    return (
        alt.Chart(data_of(rows))
        .mark_rect()
        .encode(
            color=alt.Color("number:Q", scale=scale, legend=named if legend else None),
            tooltip=["head:N", "coordinate:Q", "within:Q", exact],
        )
    )


def _axis() -> alt.Axis:
    return alt.Axis(labels=False, ticks=False)
