"""Statistics of every head of one sentence: two of them as a scatter, one as a strip of layers × heads."""

import math
from collections.abc import Iterable, Mapping, Set
from typing import Any

import altair as alt
import numpy as np
from jaxtyping import Float

from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.theme import FONT_SIZE, LIGHT, Theme
from viz.tokens import counted, decimal

TITLES = {
    "entropy": "entropy (bits)",
    "distance": "mean distance (tokens)",
    "self": "weight on the token itself",
    "previous": "weight on the previous token",
    "next": "weight on the next token",
    "first": "weight on the first token",
    "special": "weight on special tokens",
    "punctuation": "weight on punctuation",
}
CHOSEN = "chosen"
SCATTER_HEIGHT, LAYER_HEIGHT, STRIP_HEIGHT = 260, 24, 480
SMALLEST = 0.4  # side of the smallest mark, as a share of its cell: still seen, and hit by a finger
DIMMED = 0.3
IN_LEGEND = 5  # squares
ROUNDING = 1e-6


def head_statistics(
    statistics: Mapping[str, Float[np.ndarray, "layer head"]],
    across: str,
    up: str,
    *,
    on: Set[tuple[int, int]] = frozenset(),
    titles: Mapping[str, str] = TITLES,
    theme: Theme = LIGHT,
) -> alt.VConcatChart:
    """Every head as a point, statistic ``across`` against statistic ``up``, above a strip of layers × heads.

    ``statistics`` are those of model/measures/head_statistics.py, or others that ``titles`` names. Colour is the
    statistic ``up`` in both views, from the smallest number there is to the largest, and so is height above and size
    below. A click on a mark chooses its head in both views or takes it back; the rest is dimmed; a double click
    clears. The selection parameter is "chosen", with the fields layer and head counted from 0. The heads that are
    ``on`` are outlined. A number that is NaN is not drawn.

    ValueError for an unknown statistic or head, or numbers that do not fit together.
    """
    shape = _checked_shape(statistics, {across, up}, titles, on)
    statistics, titles = _by_field(statistics), _by_field(titles)
    across, up = _field(across), _field(up)
    span = _span(statistics[up])
    heads = alt.Chart(data_of(_rows(statistics, (up, titles[up]), span, on)))
    base = heads.encode(**_look((up, titles[up]), span, theme), tooltip=_tooltip(statistics, titles))
    axes = (across, titles[across]), (up, titles[up])
    views = [_scatter(base, *axes).properties(name="scatter"), _strip(base, shape).properties(name="strip")]
    chart = alt.vconcat(*views, params=[_choice(["scatter", "strip"])], spacing=24)
    return with_page_style(chart, theme, framed=False, labels=FONT_SIZE - 1)


def chosen_heads(points: object, shape: tuple[int, int]) -> set[tuple[int, int]]:
    """The (layer, head) pairs in what the browser sends as "chosen"; what is no head of ``shape`` is left out."""
    sent = points if isinstance(points, list) else []
    pairs = [(point.get("layer"), point.get("head")) for point in sent if isinstance(point, Mapping)]
    return {(layer, head) for layer, head in np.ndindex(shape) if (layer, head) in pairs}


def _checked_shape(
    statistics: Mapping[str, Float[np.ndarray, "layer head"]],
    axes: Set[str],
    titles: Mapping[str, str],
    on: Set[tuple[int, int]],
) -> tuple[int, int]:
    if not axes <= set(statistics) or not set(statistics) <= set(titles):
        raise ValueError(f"axes {sorted(axes)} of {list(statistics)}, wanted two of those given, out of {list(titles)}")
    shapes = {name: values.shape for name, values in statistics.items()}
    shape = next(iter(shapes.values()))
    if len(shape) != 2 or 0 in shape or set(shapes.values()) != {shape}:
        raise ValueError(f"statistics of shapes {shapes}, wanted one (layer, head) for all, neither of them 0")
    if beyond := set(on) - set(np.ndindex(*shape)):
        raise ValueError(f"heads {sorted(beyond)} are on, wanted (layer, head) within {shape}, counted from 0")
    return shape


def _field(name: str) -> str:
    """What a statistic is called in the data: a dot would lead into it."""
    return name.replace(".", "_")


def _by_field(by_name: Mapping[str, Any]) -> dict[str, Any]:
    return {_field(name): value for name, value in by_name.items()}


def _span(values: Float[np.ndarray, "layer head"]) -> tuple[float, float] | None:
    """The smallest and the largest number, the same one where they differ by rounding alone; None without any."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return None
    low, high = float(finite.min()), float(finite.max())
    if not math.isclose(low, high, rel_tol=ROUNDING, abs_tol=ROUNDING):
        return low, high
    common = low if abs(low) > ROUNDING else 0.0
    return common, common


def _share(value: float | None, span: tuple[float, float] | None) -> float:
    """Where in the span a number lies, 0 to 1: in its middle where all numbers are one."""
    if value is None or span is None:
        return 0.0
    low, high = span
    return (value - low) / (high - low) if high > low else 0.5


def _rows(
    statistics: Mapping[str, Float[np.ndarray, "layer head"]],
    colour: tuple[str, str],
    span: tuple[float, float] | None,
    on: Set[tuple[int, int]],
) -> list[dict]:
    """One row per head: what is drawn, what the tooltip says, and what the selection returns."""
    rows, (up, title) = [], colour
    for layer, head in np.ndindex(statistics[up].shape):
        numbers = {name: _number(values.item(layer, head)) for name, values in statistics.items()}
        half = _half_side(_share(numbers[up], span))
        corners = {"left": head - half, "right": head + half, "upper": layer - half, "lower": layer + half}
        names = {"layer name": counted(layer), "head name": counted(head), "on": (layer, head) in on}
        names["shown"] = not on or (layer, head) in on
        words = f"layer {counted(layer)}, head {counted(head)}: {title} {statistics[up][layer, head]:.4f}"
        rows.append({"layer": layer, "head": head, "said": words, **names, **numbers, **corners})
    return sorted(rows, key=lambda row: row["on"])  # drawn last, an outline is not hidden under a neighbour


def _number(value: float) -> float | None:
    """JSON has no NaN."""
    return value if math.isfinite(value) else None


def _half_side(share: float) -> float:
    """Half the side of a head's mark in the strip, in cells; the area grows with the share."""
    return (SMALLEST + (0.92 - SMALLEST) * math.sqrt(share)) / 2


def _choice(views: list[str]) -> alt.TopLevelSelectionParameter:
    """Every click puts a head in or takes it out, with or without shift, so that a finger can choose several."""
    select = alt.PointSelectionConfig(type="point", fields=["layer", "head"], toggle="true")
    return alt.TopLevelSelectionParameter(name=CHOSEN, select=select, views=views)


def _colours(title: str, span: tuple[float, float] | None, theme: Theme) -> tuple[alt.Scale, alt.Legend]:
    """The scale of weights over the numbers there are, in equal steps, and a legend that says its ends.

    The middle of the scale for one number that all heads have.
    """
    low, high = span or (0.0, 1.0)
    around = (abs(low) or 1.0) / 2 if low == high else 0.0
    domain = np.linspace(low - around, high + around, len(theme.weights)).tolist()
    scale_ends = "no number" if span is None else ends(low, high)
    title = f"{title}: {scale_ends}"
    values = sorted(set(np.linspace(low, high, IN_LEGEND).tolist())) if span else []
    # Of squares: a gradient is found by the address of the page, which changes.
    symbols: dict[str, Any] = {"type": "symbol", "symbolType": "square", "values": values, "format": ".3~g"}
    legend = alt.Legend(title=title, titleLimit=0, orient="top", **symbols)
    return alt.Scale(domain=domain, range=list(theme.weights), interpolate="rgb"), legend


def ends(low: float, high: float) -> str:
    """ "0.02 to 0.53"; "0.3 for every head"."""
    first, last = decimal(low, ".3g"), decimal(high, ".3g")
    return f"{first} for every head" if low == high else f"{first} to {last}"


def _look(colour: tuple[str, str], span: tuple[float, float] | None, theme: Theme) -> dict:
    """What both views share: the colour, the outline of a head that is on, the dimming, the tooltip."""
    (up, title), is_on = colour, alt.datum.on
    scale, legend = _colours(title, span, theme)
    return {
        "fill": alt.Fill(f"{up}:Q", scale=scale, legend=legend),
        "stroke": alt.condition(is_on, alt.value(theme.second), alt.value(theme.quiet)),
        "strokeWidth": alt.condition(is_on, alt.value(3), alt.value(1)),
        "description": alt.Description("said:N"),  # what a screen reader says
        "opacity": alt.when(alt.selection_point(name=CHOSEN), empty=False)
        .then(alt.value(1))
        .when(f"length(data('{CHOSEN}_store')) == 0 && datum.shown")
        .then(alt.value(1))
        .otherwise(alt.value(DIMMED)),
    }


def _tooltip(names: Iterable[str], titles: Mapping[str, str]) -> list[alt.Tooltip]:
    places = [alt.Tooltip(f"{name} name:N", title=name) for name in ("layer", "head")]
    return places + [alt.Tooltip(f"{name}:Q", title=titles[name], format=".4f") for name in names]


def _scatter(base: alt.Chart, across: tuple[str, str], up: tuple[str, str]) -> alt.Chart:
    fitted = alt.Scale(zero=False, padding=12)
    return (
        base.mark_point(size=110)
        .encode(
            x=alt.X(f"{across[0]}:Q", title=across[1], axis=alt.Axis(tickCount=5), scale=fitted),
            y=alt.Y(f"{up[0]}:Q", title=up[1], axis=alt.Axis(tickCount=5), scale=fitted),
        )
        .properties(height=SCATTER_HEIGHT)
    )


def _strip(base: alt.Chart, shape: tuple[int, int]) -> alt.Chart:
    layers, heads = shape
    return (
        base.mark_rect()
        .encode(
            x=alt.X("left:Q", title="head", axis=_counting_axis(heads), scale=_cells(heads)),
            x2="right:Q",
            y=alt.Y("upper:Q", title="layer", axis=_counting_axis(layers), scale=_cells(layers, reverse=True)),
            y2="lower:Q",
        )
        .properties(height=min(LAYER_HEIGHT * layers, STRIP_HEIGHT))
    )


def _counting_axis(count: int) -> alt.Axis:
    """Places counted from 0 in the data and from 1 on the screen."""
    return alt.Axis(values=list(range(count)), labelExpr="datum.value + 1", labelOverlap=True, grid=False, ticks=False)


def _cells(count: int, *, reverse: bool = False) -> alt.Scale:
    return alt.Scale(domain=[-0.5, count - 0.5], nice=False, zero=False, reverse=reverse)
