"""Position vectors as curves, heatmaps and rotations, and what schemes of positions add to scores.

Positions and dimensions count from 0 here, as in the formula; the tokens of a text from 1, as everywhere on the screen.
"""

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from viz.export import data_files
from viz.text.position_sentences import WITHOUT
from viz.theme import FONT, FONT_SIZE, LIGHT, MOST_CURVES, Theme
from viz.tokens import LONGEST, percent, position_name

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
MOST_CELLS = 512  # to a side of a heatmap: about a pixel each; of more, every second or third … is drawn
HEIGHT = 340
ROW_HEIGHT, TALLEST = 22, 220  # of the heatmaps of a text
BETWEEN, AROUND, LINE = 44, 60, 14  # from one of them to the next, about all of them, and what a label takes
BARS_HEIGHT, TALLEST_BARS = 34, 340  # of the bars of a token, and of all
TINY = 0.001  # a share that is written with more digits
LONGEST_LABEL = 10  # characters of a token beside its row: more would leave a phone no room for the picture
DECIMALS = ".6f"  # as an axis writes it, with a minus; in a template's braces it would come with a hyphen
CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d"]}
LEGEND: dict[str, Any] = {"showlegend": True, "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}}
SCHEME_DOMAINS = ((0.46, 1.0), (0.0, 0.36))  # of the matrix and of the curve below it: shares of the height


def label(position: int, token: str, longest: int = LONGEST) -> str:
    """ "4 · the" for Plotly, which reads tags and LaTeX in labels."""
    return html.escape(position_name(position, token, longest), quote=False).replace("$", "&#36;")


def step(count: int) -> int:
    """Every which row or column of so many a heatmap draws."""
    return -(-count // MOST_CELLS)


def skipped_note(length: int, width: int) -> str:
    """What a heatmap of so many positions and dimensions leaves out, in words."""
    steps = {"position": step(length), "dimension": step(width)}
    left = " and ".join(f"one {name} in {every}" for name, every in steps.items() if every > 1)
    return f" Drawn: {left}; the file holds them all." if left else ""


def position_curves(
    table: Float[np.ndarray, "position width"], dimensions: Sequence[int], *, theme: Theme = LIGHT
) -> go.Figure:
    """The chosen columns of a table over its positions. ValueError for none, too many, or one that is not there."""
    if not 1 <= len(dimensions) <= MOST_CURVES or not set(dimensions) <= set(range(table.shape[1])):
        raise ValueError(
            f"dimensions {list(dimensions)} of a table {table.shape[1]} wide, wanted 1 to {MOST_CURVES} of its columns"
        )
    traces = [
        _curve(
            np.arange(len(table)),
            table[:, dimension],
            f"position %{{x}}, dimension {dimension}: %{{y}}",
            {"color": theme.heads[place], "dash": DASHES[place % len(DASHES)], "width": 2},
            name=f"dimension {dimension}",
            mode="lines+markers" if len(table) == 1 else "lines",
        )
        for place, dimension in enumerate(dimensions)
    ]
    return _figure(theme, HEIGHT, traces, x={"title": "position"}, y={"title": "value"}, **LEGEND)


def position_heatmap(table: Float[np.ndarray, "position width"], *, theme: Theme = LIGHT) -> go.Figure:
    """A table, position 0 at the top. Of a large one, every ``step``-th position and dimension."""
    rows, columns = (np.arange(0, count, step(count)) for count in table.shape)
    hover = "position %{y}, dimension %{x}: %{z}"
    trace = _signed(table[np.ix_(rows, columns)], theme, hover, x=columns, y=rows)
    return _figure(theme, HEIGHT + 80, [trace], x={"title": "dimension"}, y=_downwards("position"))


def product_heatmap(products: Float[np.ndarray, "query key"], *, theme: Theme = LIGHT) -> go.Figure:
    """The dot product of every two positions. Of many, every ``step``-th."""
    places = np.arange(0, len(products), step(len(products)))
    hover = "position %{y} · position %{x} = %{z}"
    trace = _signed(products[np.ix_(places, places)], theme, hover, x=places, y=places)
    return _figure(theme, HEIGHT, [trace], x={"title": "position"}, y=_downwards("position"))


def distance_curve(
    mean: Float[np.ndarray, "distance"],
    least: Float[np.ndarray, "distance"],
    most: Float[np.ndarray, "distance"],
    *,
    theme: Theme = LIGHT,
) -> go.Figure:
    """The dot product against the distance: the mean over all pairs so far apart, the smallest and the largest."""
    series = (
        ("largest", most, theme.second, "dash"),
        ("smallest", least, theme.quiet, "dot"),
        ("mean of all pairs", mean, theme.accent, "solid"),
    )
    traces = [
        _curve(
            np.arange(len(mean)),
            values,
            f"distance %{{x}}, {name}: %{{y}}",
            {"color": colour, "dash": dash, "width": 2},
            name=name,
        )
        for name, values, colour, dash in series
    ]
    titles: dict[str, Any] = {"x": {"title": "distance between the two positions"}, "y": {"title": "dot product"}}
    return _figure(theme, HEIGHT, traces, **titles, **LEGEND)


def wavelength_figure(wavelengths: Float[np.ndarray, "pair"], *, theme: Theme = LIGHT) -> go.Figure:
    """Positions to a full turn, of every pair of a sine and a cosine, between 2π and 10000·2π."""
    hover = "dimension %{x} and the next: a turn in %{y:,.2f} positions"
    trace = _curve(2 * np.arange(len(wavelengths)), wavelengths, hover, {}, mode="markers")
    bounds = {"2π": 2 * math.pi, "10000·2π": 10_000 * 2 * math.pi}
    place = {"x": 1, "xref": "x domain", "xanchor": "right", "yanchor": "bottom", "showarrow": False}
    return _figure(
        theme,
        HEIGHT,
        [trace | {"marker": {"color": theme.accent, "size": 6}}],
        x={"title": "dimension of the sine"},
        y={
            "title": "wavelength (positions)",
            "type": "log",
            "tickvals": [10, 100, 1000, 10_000],
            "tickformat": ",",
            "range": [0.6, 5.2],
        },
        shapes=[_line_across(bound, {"color": theme.quiet, "dash": "dot", "width": 1}) for bound in bounds.values()],
        # annotations of a logarithmic axis are placed by the exponent
        annotations=[
            place | {"text": name, "y": math.log10(bound), "font": {"color": theme.text}}
            for name, bound in bounds.items()
        ],
    )


def rotation_figure(
    before: Float[np.ndarray, "2"], after: Float[np.ndarray, "2"], names: tuple[str, str], *, theme: Theme = LIGHT
) -> go.Figure:
    """(sine, cosine) of two positions as hands on the unit circle; ``names`` says which positions."""
    hands = ((before, names[0], theme.accent, "solid"), (after, names[1], theme.second, "dash"))
    traces = [
        _curve(
            [0, sine],
            [0, cosine],
            f"{name}: sine %{{x}}, cosine %{{y}}",
            {"color": colour, "dash": dash, "width": 3},
            name=name,
            mode="lines+markers",
        )
        | {"marker": {"size": [0, 10]}, "xhoverformat": DECIMALS}
        for (sine, cosine), name, colour, dash in hands
    ]
    line = {"color": theme.grid, "width": 2}
    return _figure(
        theme,
        HEIGHT,
        traces,
        x={"title": "sine", "range": [-1.1, 1.1], "constrain": "domain"},
        y={"title": "cosine", "range": [-1.1, 1.1], "scaleanchor": "x", "constrain": "domain"},
        shapes=[{"type": "circle", "x0": -1, "y0": -1, "x1": 1, "y1": 1, "line": line}],
        **LEGEND,
    )


def unseen_figure(share: Float[np.ndarray, "position"], longest: int, *, theme: Theme = LIGHT) -> go.Figure:
    """The share of a position's numbers that no position before ``longest`` comes up or down to."""
    hover = "position %{x}: %{y:.1%} of its numbers are new"
    trace = _curve(np.arange(len(share)), share, hover, {"color": theme.accent, "width": 2})
    end = longest - 0.5
    line = {"color": theme.second, "dash": "dash", "width": 2}
    place = {"x": end, "y": 1, "yref": "y domain", "yanchor": "bottom", "showarrow": False}
    return _figure(
        theme,
        HEIGHT - 60,
        [trace],
        x={"title": "position", "range": [0, len(share) - 1]},
        y={"title": "new numbers", "tickformat": ".0%", "rangemode": "tozero"},
        shapes=[{"type": "line", "x0": end, "x1": end, "y0": 0, "y1": 1, "yref": "y domain", "line": line}],
        annotations=[place | {"text": "end of the longest text", "font": {"color": theme.second}}],
    )


def order_figure(
    changes: Mapping[str, Sequence[float]], tokens: Sequence[str], swapped: tuple[int, int], *, theme: Theme = LIGHT
) -> go.Figure:
    """How far each token's last vector moves when two tokens are swapped, one bar for each of the named series.

    changes: shares of the vector's length; a number of each series for every token. swapped: the places of the two
    tokens, which are marked. ValueError unless every series has a number for each token.
    """
    counts = {name: len(series) for name, series in changes.items()}
    if set(counts.values()) != {len(tokens)}:
        raise ValueError(f"series of {counts} numbers came with {len(tokens)} tokens, wanted one for each in all")
    height = min(BARS_HEIGHT * len(tokens), TALLEST_BARS)
    every = -(-len(tokens) * LINE // height)
    ticks = _token_ticks(tokens, every, swapped)
    names = [label(*each) for each in enumerate(tokens)]
    written = len(tokens) * LINE * len(changes) <= height
    colours = {WITHOUT: theme.second}
    bars = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name if written or max(series) >= TINY else f"{name}: {percent(max(series), 3)}",
            "x": list(series),
            "y": names,
            "marker": {"color": colours.get(name, theme.accent)},
            "text": [percent(value, 1 if value >= TINY else 3) for value in series] if written else None,
            "textposition": "outside",
            "textfont": {"color": theme.text, "size": FONT_SIZE - 3},
            "constraintext": "none",
            "cliponaxis": False,
            "hovertemplate": f"token %{{y}}, {name}: %{{x:.3%}}<extra></extra>",
        }
        for name, series in changes.items()
    ]
    longest = max(max(series) for series in changes.values())
    return _figure(
        theme,
        height + AROUND + LINE,
        bars,
        x={"title": "change of its last vector", "tickformat": ".0%", "range": [0, 1.15 * longest or 1]},
        y=_downwards() | {"showgrid": False} | ticks,
        **LEGEND,
    )


def text_heatmaps(
    parts: Mapping[str, Float[np.ndarray, "position width"]], tokens: Sequence[str], *, theme: Theme = LIGHT
) -> go.Figure:
    """The named parts of a text's vectors under one another, on one scale; a row is a token.

    ValueError unless every part has a row for each token and all have one width.
    """
    shapes = {name: part.shape for name, part in parts.items()}
    if len(set(shapes.values())) != 1 or {shape[0] for shape in shapes.values()} != {len(tokens)}:
        raise ValueError(f"parts of shapes {shapes} came with {len(tokens)} tokens, wanted one (token, width) for all")
    height = min(ROW_HEIGHT * len(tokens), TALLEST)
    whole = len(parts) * (height + BETWEEN) - BETWEEN
    tops = {name: whole - place * (height + BETWEEN) for place, name in enumerate(parts)}
    most = max(float(np.abs(part).max()) for part in parts.values())
    hover = "token %{y}, dimension %{x}: %{z}"
    names = [label(*each) for each in enumerate(tokens)]
    heatmaps = [
        _signed(part, theme, hover, x=np.arange(part.shape[1]), y=names, top=most)
        | {"yaxis": f"y{place}", "showscale": place == 1}
        for place, part in enumerate(parts.values(), start=1)
    ]
    title = {"x": 0, "xref": "paper", "xanchor": "left", "yref": "paper", "yanchor": "bottom", "showarrow": False}
    font = {"color": theme.text, "size": FONT_SIZE}
    return _figure(
        theme,
        len(parts) * (height + BETWEEN) + AROUND,
        heatmaps,
        x={"title": "dimension", "anchor": f"y{len(parts)}"},
        y=_downwards() | {"showgrid": False} | _token_ticks(tokens, -(-len(tokens) * LINE // height)),
        domains=[((top - height) / whole, top / whole) for top in tops.values()],
        annotations=[title | {"text": name, "y": top / whole, "font": font} for name, top in tops.items()],
    )


def scheme_figure(added: Float[np.ndarray, "query key"], query: int, title: str, *, theme: Theme = LIGHT) -> go.Figure:
    """What a scheme adds to each score, on a scale of its own, above the row of one query. NaN is not drawn."""
    if not 0 <= query < len(added):
        raise ValueError(f"query {query} of {len(added)} positions, wanted one of them, counted from 0")
    places = np.arange(len(added))
    matrix = _signed(added, theme, "query %{y}, key %{x}: %{z}", x=places, y=places) | {"showscale": False}
    line = {"color": theme.accent, "width": 2}
    mode = "lines" if np.isfinite(added[query]).sum() > 1 else "lines+markers"  # a point for each takes a while
    row = _curve(places, added[query], f"query {query}, key %{{x}}: %{{y}}", line, mode=mode)
    return _figure(
        theme,
        400,
        [matrix, row | {"yaxis": "y2"}],
        x={"title": "key", "anchor": "y2"},
        y=_downwards("query"),
        domains=SCHEME_DOMAINS,
        below={"title": "added", "autorange": True},
        shapes=[_line_across(float(query), {"color": theme.second, "width": 1.5, "dash": "dot"})],
        margin={"l": 60, "r": 8, "t": 34, "b": 44},
        title={"text": title, "x": 0, "xanchor": "left", "font": {"size": FONT_SIZE + 1, "color": theme.text}},
    )


def table_csv(table: Float[np.ndarray, "position width"], facts: Mapping[str, str]) -> bytes:
    """A line for each position, a column for each dimension, every number in full, after the facts of the table."""
    header = ["position", *(f"dimension {dimension}" for dimension in range(table.shape[1]))]
    rows = ([position, *row] for position, row in enumerate(table.tolist()))
    return data_files.csv_file([header], rows, facts=facts)


def _signed(
    values: Float[np.ndarray, "row column"],
    theme: Theme,
    hover: str,
    *,
    x: np.ndarray,
    y: np.ndarray | Sequence[str],
    top: float | None = None,
) -> dict[str, Any]:
    """A heatmap of signed numbers, with the page's background at 0."""
    finite = values[np.isfinite(values)]
    top = top or (float(np.abs(finite).max()) if finite.size else 0.0) or 1.0
    return {
        "type": "heatmap",
        "z": values.astype(np.float32),
        "x": x,
        "y": y,
        "zmin": -top,
        "zmax": top,
        "zhoverformat": DECIMALS,
        "colorscale": theme.differences,
        "hovertemplate": f"{hover}<extra></extra>",
        "hoverongaps": False,
        "colorbar": {"thickness": 10, "outlinewidth": 0, "tickfont": {"color": theme.quiet}, "len": 1, "xpad": 4},
    }


def _curve(x: Any, y: Any, hover: str, line: dict[str, Any], *, name: str = "", mode: str = "lines") -> dict[str, Any]:
    """A line, or points."""
    hovers = {"hovertemplate": f"{hover}<extra></extra>", "yhoverformat": DECIMALS}
    return {"type": "scatter", "x": x, "y": y, "mode": mode, "name": name, "line": line} | hovers


def _line_across(height: float, line: dict[str, Any]) -> dict[str, Any]:
    """A line over all of the picture, at a height of its first axis."""
    return {"type": "line", "xref": "x domain", "x0": 0, "x1": 1, "y0": height, "y1": height, "line": line}


def _downwards(title: str | None = None) -> dict[str, Any]:
    """An axis whose first place is at the top."""
    return {"autorange": "reversed"} | ({"title": title} if title else {})


def _token_ticks(tokens: Sequence[str], every: int, swapped: tuple[int, ...] = ()) -> dict[str, Any]:
    """The names of some tokens beside their rows, short ones, at least ``every`` rows apart; swapped ones come first.

    A little aside, for where a label stands Plotly shows it to who points there as well, and that shall be the name
    in full: the row's own, which is a category. A ten-thousandth of the axis counts as the same place.
    """
    places: list[int] = []
    for place in (*swapped, *range(0, len(tokens), every)):
        if all(abs(place - other) >= every for other in places):
            places.append(place)
    places.sort()
    return {
        "type": "category",
        "automargin": True,
        "tickvals": [place + 2e-4 * len(tokens) for place in places],
        "ticktext": ["⇄ " * (place in swapped) + label(place, tokens[place], LONGEST_LABEL) for place in places],
    }


def _figure(
    theme: Theme,
    height: int,
    traces: list[dict[str, Any]],
    *,
    x: dict[str, Any],
    y: dict[str, Any],
    domains: Sequence[tuple[float, float]] = ((0, 1),),
    below: dict[str, Any] | None = None,
    **layout: Any,
) -> go.Figure:
    """Traces over one axis across, and one upwards for each domain, of which the last may differ in what is ``below``.

    All in one piece: to add and update parts of a figure takes Plotly ten times as long as to read the whole.
    """
    axis = {"gridcolor": theme.grid, "zeroline": False}
    upwards = {
        f"yaxis{place if place > 1 else ''}": axis | y | {"domain": domain} | ((below or {}) if place > 1 else {})
        for place, domain in enumerate(domains, start=1)
    }
    shared = {
        "template": "none",
        "height": height,
        "margin": {"l": 60, "r": 12, "t": 36, "b": 48},
        "paper_bgcolor": theme.background,
        "plot_bgcolor": theme.background,
        "font": {"family": FONT, "size": FONT_SIZE - 1, "color": theme.quiet},
        "hoverlabel": {"bgcolor": theme.surface, "font": {"color": theme.text, "family": FONT}},
        "modebar": {"color": theme.quiet, "activecolor": theme.text, "bgcolor": "rgba(0,0,0,0)"},
        "showlegend": False,
        "dragmode": False,  # a finger that drags over a picture scrolls the page; the buttons above it zoom
    }
    return go.Figure({"data": traces, "layout": shared | {"xaxis": axis | x} | upwards | layout})
