"""Pictures of the steps to one weight: vectors as heat strips, keys as rows. Never colour alone says the sign."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import altair as alt
import numpy as np
from altair.utils.schemapi import debug_mode
from jaxtyping import Bool, Float

from viz.charts.chart_data import data_of
from viz.theme import FONT, FONT_SIZE, LIGHT, Theme
from viz.tokens import decimal, position_name

T = TypeVar("T")

STRIP_NAME, STRIP_CELLS, STRIP = 20, 30, 62  # pixels: the name above a strip, its cells, from one strip to the next
HEADS = 12  # pixels for their numbers, beside what is between two strips
ROW_HEIGHT = 22
AROUND_ROWS = 24  # pixels of a chart's height that rows without an axis below them do not get
AXES = 46  # what they take of a chart's height
SIDES = {
    "left": "datum.coordinate / datum.of",
    "right": "(datum.coordinate + 1) / datum.of",
    "from": "(datum.coordinate + 0.5) / datum.of - min(0.2 / datum.of, 4 / width)",
    "to": "(datum.coordinate + 0.5) / datum.of + min(0.2 / datum.of, 4 / width)",
}
BELOW = "datum.value < 0 && width > 4 * datum.of"  # a dash needs some pixels
DASH = 0.55  # opacity of a dash
ROOM = "width > 560"  # pixels in which a name and a range stand side by side
MOST_KEYS = 30
MASKED = "masked"
SIGNS = ("positive", "negative")


def heat_strips(vectors: Mapping[str, Float[np.ndarray, "coordinate"]], *, theme: Theme = LIGHT) -> alt.LayerChart:
    """A row of cells for each named vector, a cell for each number: blue above 0, orange with a dash below it.

    A strip takes the whole width, however many numbers it has. All have one scale: the deepest colour is the largest of
    all numbers.
    """
    for values in vectors.values():
        _check(values, 1, "coordinate")
    reach = _reach(np.concatenate(list(vectors.values())))
    rows = [row for place, values in enumerate(vectors.values()) for row in _strip(values, place, reach)]
    names = [{"strip": place, "name": name, "said": _range(vectors[name])} for place, name in enumerate(vectors)]
    height = STRIP * len(vectors)
    return _layered([*_strips(rows, height, theme), *_strip_names(names, height, theme)], height, theme, names)


def head_strip(
    joined: Float[np.ndarray, "coordinate"], heads: int, chosen: int, *, name: str, theme: Theme = LIGHT
) -> alt.LayerChart:
    """The contexts of all heads as one strip, the part of the chosen one outlined, the heads counted below it."""
    _check(joined, 1, "coordinate")
    width, height = len(joined) // heads, STRIP + HEADS
    rows = [row | {"head": row["coordinate"] // width + 1} for row in _strip(joined, 0, _reach(joined))]
    names = [{"strip": 0, "name": name, "said": _range(joined)}]
    parts = [
        {"left": head / heads, "right": (head + 1) / heads, "middle": (head + 0.5) / heads, "said": str(head + 1)}
        for head in range(heads)
    ]
    mine = parts[chosen] | {"top": STRIP_NAME - 2, "bottom": STRIP_NAME + STRIP_CELLS + 2, "said": f"head {chosen + 1}"}
    box = alt.Chart(data_of([mine])).mark_rect(fill=None, stroke=theme.text, strokeWidth=2)
    below = STRIP_NAME + STRIP_CELLS + 14
    counts = alt.Chart(data_of([*parts[:chosen], mine, *parts[chosen + 1 :]])).mark_text(
        color=theme.quiet, fontSize=FONT_SIZE - 2, y=below
    )
    charts = [
        *_strips(rows, height, theme, [alt.Tooltip("head:Q")]),
        box.encode(x=_share("left"), x2=alt.X2("right:Q"), y=_pixels("top", height), y2=alt.Y2("bottom:Q")),
        counts.encode(x=_share("middle"), text=alt.Text("said:N")),
        *_strip_names(names, height, theme),
    ]
    return _layered(charts, height, theme, names)


def sum_bars(terms: Float[np.ndarray, "coordinate"], *, theme: Theme = LIGHT) -> alt.LayerChart:
    """The terms of a sum as bars, and the sum of those so far as a dashed line that ends in the whole."""
    _check(terms, 1, "coordinate")
    running = np.cumsum(terms, dtype=np.float64)
    pairs = enumerate(zip(terms.tolist(), running.tolist(), strict=True))
    rows = [{"coordinate": place, "value": term, "sum so far": total} for place, (term, total) in pairs]
    ends_at = [0.0, *terms.tolist(), *running.tolist()]
    room = 0.15 * ((max(ends_at) - min(ends_at)) or 1.0)
    line = alt.Chart(data_of(rows)).encode(
        x=_coordinates(len(rows)), y=alt.Y("sum so far:Q"), tooltip=_terms_tooltip("sum so far")
    )
    steps = line.mark_line(color=theme.text, strokeDash=[4, 3], strokeWidth=1.5, interpolate="step")
    last = alt.Chart(data_of([rows[-1] | {"said": f"sum {decimal(running[-1], '.4g')}"}]))
    away = 13 if len(running) > 1 and running[-2] > running[-1] else -11  # from where the line comes
    ends = last.mark_point(color=theme.text, filled=True, size=50).encode(
        x=_coordinates(len(rows)), y=alt.Y("sum so far:Q")
    )
    label = last.mark_text(color=theme.text, align="right", dx=10, dy=away, fontSize=FONT_SIZE - 1).encode(
        x=_coordinates(len(rows)), y=alt.Y("sum so far:Q"), text=alt.Text("said:N")
    )
    bars = _coordinate_bars(rows, len(rows), (min(ends_at) - room, max(ends_at) + room), theme)
    return _layered([bars, _zero(theme), steps, ends, label], 220, theme)


def key_bars(
    values: Float[np.ndarray, "key"],
    tokens: Sequence[str],
    chosen: int,
    *,
    title: str,
    rows_of: Sequence[int] | None = None,
    theme: Theme = LIGHT,
) -> alt.LayerChart:
    """One bar a key, to the right where it is positive, with its number; the chosen key is marked by an arrow.

    rows_of: the keys to draw; all where it is None. A key at minus infinity has no bar and the word "masked".
    """
    _check(values, 1, "key")
    _check_tokens(tokens, len(values))
    places = range(len(values)) if rows_of is None else rows_of
    rows = [_named(key, tokens[key], chosen) | _number(float(values[key]), ".4g") for key in places]
    return _rows_with_numbers([row | {"outlined": row["key"] == chosen} for row in rows], title, "key", theme)


def term_grid(
    terms: Float[np.ndarray, "key coordinate"],
    tokens: Sequence[str],
    chosen: int,
    *,
    rows_of: Sequence[int] | None = None,
    theme: Theme = LIGHT,
) -> alt.LayerChart:
    """Every key's terms at once, a strip of cells for each key; the chosen one is marked by an arrow and an outline."""
    _check(terms, 2, "key, coordinate")
    _check_tokens(tokens, len(terms))
    places = list(range(len(terms)) if rows_of is None else rows_of)
    named = {key: _named(key, tokens[key], chosen) for key in places}
    return _grid({key: terms[key] for key in places}, named, chosen, "key", theme, ROW_HEIGHT * len(places) + 8)


def layer_grid(streams: Float[np.ndarray, "layer coordinate"], first: int, *, theme: Theme = LIGHT) -> alt.LayerChart:
    """A strip of cells for each layer from the ``first``, counted from 0, to the last; the first is outlined."""
    _check(streams, 2, "layer, coordinate")
    rows = dict(enumerate(streams, start=first))
    named = {layer: {"key": layer, "name": f"{layer + 1}"} for layer in rows}
    return _grid(rows, named, first, "layer", theme, STRIP_CELLS * len(rows) + AROUND_ROWS)


def _grid(
    values: Mapping[int, Float[np.ndarray, "coordinate"]],
    named: Mapping[int, dict[str, Any]],
    chosen: int,
    title: str,
    theme: Theme,
    height: int,
) -> alt.LayerChart:
    """A strip for each row, to one scale; ``named`` has the row's name. The chosen one has an outline."""
    reach = _reach(np.stack(list(values.values())))
    rows = [row | named[place] for place in values for row in _strip(values[place], place, reach)]
    axis = alt.Axis(labelLimit=150, labelOverlap=False, grid=False, ticks=False, domain=False)
    down = alt.Y("name:N", sort=[named[place]["name"] for place in values], title=title, axis=axis)
    cells = alt.Chart(data_of(rows)).transform_calculate(**SIDES)
    marks = cells.mark_rect(height=alt.RelativeBandSize(band=0.86)).encode(
        x=_share("left"),
        x2=alt.X2("right:Q"),
        y=down,
        color=_differences(theme),
        tooltip=[alt.Tooltip("name:N", title=title), *_terms_tooltip("value")],
    )
    dashes = cells.transform_filter(BELOW).mark_rule(color=theme.text, opacity=DASH)
    dashes = dashes.encode(x=_share("from"), x2=alt.X2("to:Q"), y=down)
    mine = alt.Chart(data_of([named[chosen]] if chosen in values else []))
    box = mine.mark_rect(fill=None, stroke=theme.text, strokeWidth=1.5).encode(y=down)
    return _layered([marks, dashes, box], height, theme)


def unchecked(draw: Callable[[], T]) -> T:
    """What a function draws, without Altair's check of every part against its schema, which takes most of the time.

    The tests draw the same with the check.
    """
    with debug_mode(False):
        return draw()


def spec(chart: alt.LayerChart) -> dict[str, Any]:
    """A chart as Vega-Lite, without that check either."""
    return chart.to_dict(validate=False)


def named_bars(
    values: Float[np.ndarray, "name"],
    names: Sequence[str],
    chosen: int,
    *,
    title: str,
    names_title: str,
    theme: Theme = LIGHT,
) -> alt.LayerChart:
    """One bar a name, with its number; the chosen one is marked by an arrow. ValueError for a name that comes twice."""
    _check(values, 1, "name")
    if not len(set(names)) == len(names) == len(values):
        raise ValueError(f"{len(names)} names for {len(values)} values, wanted one each, all different")
    rows = [
        {"name": f"{'▶ ' if place == chosen else ''}{name}", "outlined": place == chosen} | _number(value, ".4g")
        for place, (name, value) in enumerate(zip(names, values.tolist(), strict=True))
    ]
    return _rows_with_numbers(rows, title, names_title, theme)


def part_bars(parts: Mapping[str, float], title: str = "part of the score", *, theme: Theme = LIGHT) -> alt.LayerChart:
    """The named parts of a number as bars, with their sum below them."""
    whole = {**parts, "sum": sum(parts.values())}
    rows = [{"name": name, "outlined": name == "sum"} | _number(part, "+.4f") for name, part in whole.items()]
    return _rows_with_numbers(rows, title, None, theme)


def keys_to_show(
    weights: Float[np.ndarray, "key"], allowed: Bool[np.ndarray, "key"], chosen: int, most: int = MOST_KEYS
) -> list[int]:
    """The keys to draw, in the order of the text: all, or the chosen one and those of most weight."""
    order = sorted(range(len(weights)), key=lambda key: (key != chosen, not allowed[key], -float(weights[key])))
    return sorted(order[:most])


def _check(values: np.ndarray, axes: int, axis_names: str) -> None:
    if values.ndim != axes or 0 in values.shape:
        raise ValueError(f"values of shape {values.shape}, wanted ({axis_names}), none of them 0")


def _check_tokens(tokens: Sequence[str], keys: int) -> None:
    if len(tokens) != keys:
        raise ValueError(f"{len(tokens)} tokens for {keys} keys, wanted one each")


def _sign(value: float) -> str:
    return SIGNS[value < 0]


def _named(key: int, token: str, chosen: int) -> dict[str, Any]:
    """A key's row; the chosen one has an arrow before its name."""
    return {"key": key, "name": f"{'▶ ' if key == chosen else ''}{position_name(key, token)}"}


def _number(value: float, form: str) -> dict[str, Any]:
    """What is drawn and written for a number; minus infinity has no bar, and its word stands at 0."""
    if not np.isfinite(value):
        return {"value": None, "place": 0.0, "sign": _sign(value), "said": MASKED}
    return {"value": value, "place": value, "sign": _sign(value), "said": decimal(value, form)}


def _rows_with_numbers(rows: list[dict[str, Any]], title: str, names: str | None, theme: Theme) -> alt.LayerChart:
    """A bar for each row, from 0 to the right or to the left, with its number at its end."""
    numbers = [0.0, *(float(row["place"]) for row in rows)]
    low, high = min(numbers), max(numbers)
    room = 0.4 * ((high - low) or 1.0)
    limits = alt.Scale(domain=[low - (room if low < 0 else 0), high + room], nice=False)
    labels = alt.Axis(labelLimit=190, labelOverlap=False, grid=False, ticks=False, domain=False)
    down = alt.Y("name:N", sort=[row["name"] for row in rows], title=names, axis=labels)
    data = alt.Chart(data_of(rows))
    bars = (
        data.transform_filter("isValid(datum.value)")
        .mark_bar(height=13, stroke=theme.text)
        .encode(
            x=alt.X("value:Q", title=title, scale=limits, axis=alt.Axis(tickCount=4, grid=False)),
            y=down,
            color=_signed(theme),
            strokeWidth=alt.condition("datum.outlined", alt.value(1.5), alt.value(0)),
            tooltip=[alt.Tooltip("name:N", title=names or "part"), alt.Tooltip("value:Q", format=".9g")],
        )
    )
    written = alt.Text("said:N")
    at = alt.X("place:Q", scale=limits)
    right = data.transform_filter("datum.place >= 0").mark_text(
        align="left", dx=4, fontSize=FONT_SIZE - 2, color=theme.text
    )
    left = data.transform_filter("datum.place < 0").mark_text(
        align="right", dx=-4, fontSize=FONT_SIZE - 2, color=theme.text
    )
    texts = [each.encode(x=at, y=down, text=written) for each in (right, left)]
    return _layered([bars, *texts], ROW_HEIGHT * len(rows) + AXES, theme)


def _reach(values: np.ndarray) -> float:
    """What the deepest colour stands for: the largest number without its sign; 1 where all are 0."""
    return float(np.abs(values).max()) or 1.0


def _strip(values: Float[np.ndarray, "coordinate"], place: int, reach: float) -> list[dict[str, Any]]:
    """The cells of one strip; their shade is from −1 to 1."""
    return [
        {
            "strip": place,
            "coordinate": coordinate,
            "counted": coordinate + 1,
            "of": len(values),
            "value": value,
            "shade": value / reach,
        }
        for coordinate, value in enumerate(values.tolist())
    ]


def _strips(rows: list[dict[str, Any]], height: int, theme: Theme, more: Sequence[alt.Tooltip] = ()) -> list[alt.Chart]:
    """Cells under one another, with a dash in each that is below 0."""
    top = f"{STRIP} * datum.strip + {STRIP_NAME}"
    places = {"top": top, "middle": f"{top} + {STRIP_CELLS / 2}", "bottom": f"{top} + {STRIP_CELLS}"}
    data = alt.Chart(data_of(rows)).transform_calculate(**SIDES, **places)
    cells = data.mark_rect().encode(
        x=_share("left"),
        x2=alt.X2("right:Q"),
        y=_pixels("top", height),
        y2=alt.Y2("bottom:Q"),
        color=_differences(theme),
        tooltip=[*_terms_tooltip("value"), *more],
    )
    dashes = data.transform_filter(BELOW).mark_rule(color=theme.text, opacity=DASH)
    return [cells, dashes.encode(x=_share("from"), x2=alt.X2("to:Q"), y=_pixels("middle", height))]


def _strip_names(names: list[dict[str, Any]], height: int, theme: Theme) -> list[alt.Chart]:
    """What every strip is, and from where to where it goes, above it; the latter where there is room for both."""
    data = alt.Chart(data_of(names))
    name = data.mark_text(align="left", fontSize=FONT_SIZE - 1, color=theme.text)
    ranges = data.transform_filter(ROOM).mark_text(align="right", fontSize=FONT_SIZE - 2, color=theme.quiet)
    return [
        each.transform_calculate(at=f"{STRIP} * datum.strip + 9").encode(
            x=alt.value(0) if field == "name" else alt.value("width"),
            y=_pixels("at", height),
            text=alt.Text(f"{field}:N"),
        )
        for field, each in (("name", name), ("said", ranges))
    ]


def _range(values: np.ndarray) -> str:
    """ "128 numbers, −2.31 to 1.98"."""
    low, high = (decimal(float(end), ".4g") for end in (values.min(), values.max()))
    return f"{len(values):,} numbers, {low} to {high}" if len(values) > 1 else f"one number, {low}"


def _share(field: str) -> alt.X:
    """A place across, as a share of the width."""
    return alt.X(f"{field}:Q", scale=alt.Scale(domain=[0, 1], nice=False), axis=None)


def _pixels(field: str, height: int) -> alt.Y:
    """A place down, in pixels from the top."""
    return alt.Y(f"{field}:Q", scale=alt.Scale(domain=[height, 0], nice=False), axis=None)


def _differences(theme: Theme) -> alt.Color:
    """The colour of a shade, with the background at 0."""
    stops = theme.differences
    domain, colours = [2 * stop - 1 for stop, _ in stops], [colour for _, colour in stops]
    scale = alt.Scale(domain=domain, range=colours, interpolate="rgb")
    return alt.Color("shade:Q", scale=scale, legend=None)


def _ticks(low: float, high: float) -> list[float]:
    """0 and one round number on either side, at least half as far as the axis reaches."""
    return [sign * _round(sign * end) for sign, end in ((-1, low), (1, high)) if sign * end > 0] + [0.0]


def _round(number: float) -> float:
    """The number with one digit, no larger: 0.0047 becomes 0.004."""
    power = math.floor(math.log10(number))
    return round(math.floor(number / 10**power + 1e-9) * 10.0**power, max(0, -power))


def _across(count: int) -> alt.Scale:
    return alt.Scale(domain=[-0.5, count - 0.5], nice=False, zero=False)


def _coordinates(count: int, field: str = "coordinate") -> alt.X:
    """Coordinates counted from 0 in the data and from 1 on the screen."""
    axis = alt.Axis(labelExpr="datum.value + 1", labelOverlap=True, grid=False, ticks=False, format="d", tickMinStep=1)
    return alt.X(f"{field}:Q", title="coordinate", scale=_across(count), axis=axis)


def _signed(theme: Theme) -> alt.Color:
    scale = alt.Scale(domain=list(SIGNS), range=[theme.above[-1], theme.below[-1]])
    return alt.Color("sign:N", scale=scale, legend=None, title=None)


def _terms_tooltip(field: str) -> list[alt.Tooltip]:
    return [alt.Tooltip("counted:Q", title="coordinate"), alt.Tooltip(f"{field}:Q", format=".9g")]


def _coordinate_bars(rows: list[dict[str, Any]], count: int, limits: tuple[float, float], theme: Theme) -> alt.Chart:
    for each in rows:
        each |= {
            "sign": _sign(each["value"]),
            "counted": each["coordinate"] + 1,
            "left": each["coordinate"] - 0.4,
            "right": each["coordinate"] + 0.4,
            "zero": 0,
        }
    return (
        alt.Chart(data_of(rows))
        .mark_rect()
        .encode(
            x=_coordinates(count, "left"),
            x2=alt.X2("right:Q"),
            y=alt.Y(
                "value:Q",
                title=None,
                scale=alt.Scale(domain=list(limits), nice=False),
                axis=alt.Axis(values=_ticks(*limits), grid=False),
            ),
            y2=alt.Y2("zero:Q"),
            color=_signed(theme),
            tooltip=_terms_tooltip("value"),
        )
    )


def _zero(theme: Theme) -> alt.Chart:
    return alt.Chart(data_of([{"value": 0}])).mark_rule(color=theme.quiet).encode(y=alt.Y("value:Q"))


def _layered(
    charts: list[alt.Chart], height: int, theme: Theme, names: Sequence[Mapping[str, Any]] = ()
) -> alt.LayerChart:
    """In one call: each of Altair's methods copies a chart with all its data. names: of its strips, for its summary."""
    quiet: dict[str, Any] = {"labelColor": theme.quiet, "titleColor": theme.quiet, "labelFontSize": FONT_SIZE - 2}
    axis = {**quiet, "titleFontSize": FONT_SIZE - 2, "titleFontWeight": "normal", "gridColor": theme.grid}
    config = alt.Config(
        background=theme.background,
        font=FONT,
        axis=alt.AxisConfig(**axis),
        legend=alt.LegendConfig(**quiet),
        view=alt.ViewConfig(stroke=None),
    )
    bare = {"left": 0, "right": 0, "top": 0, "bottom": 0}  # strips have no axis to leave room for
    summary: dict[str, Any] = (
        {"description": "; ".join(each["name"] for each in names), "padding": bare} if names else {}
    )
    return alt.LayerChart(layer=charts, height=height, config=config, **summary)
