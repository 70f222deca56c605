"""Position vectors as curves, heatmaps and rotations, and what schemes of positions add to scores.

Positions and dimensions count from 0 here, as in the formula; the tokens of a text from 1, as everywhere on the screen.
"""

import csv
import html
import io
import math
from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float
from plotly.subplots import make_subplots

from viz.theme import FONT, FONT_SIZE, LIGHT, Theme
from viz.tokens import position_name

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
MOST_CURVES = 12
MOST_CELLS = 512  # to a side of a heatmap: about a pixel each; of more, every second or third … is drawn
HEIGHT = 340
ROW_HEIGHT, TALLEST = 22, 420  # of the heatmaps of a text
CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d"]}


def label(position: int, token: str) -> str:
    """ "4 · the" for Plotly, which reads tags and LaTeX in labels."""
    return html.escape(position_name(position, token), quote=False).replace("$", "&#36;")


def step(count: int) -> int:
    """Every which row or column of so many a heatmap draws."""
    return -(-count // MOST_CELLS)


def skipped(length: int, width: int) -> str:
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
    figure = _figure(theme, HEIGHT)
    for place, dimension in enumerate(dimensions):
        figure.add_scatter(
            x=np.arange(len(table)),
            y=table[:, dimension],
            mode="lines+markers" if len(table) == 1 else "lines",
            name=f"dimension {dimension}",
            line={"color": theme.heads[place], "dash": DASHES[place % len(DASHES)], "width": 2},
            hovertemplate=f"position %{{x}}, dimension {dimension}: %{{y:.6f}}<extra></extra>",
        )
    figure.update_layout(showlegend=True, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0})
    figure.update_xaxes(title="position")
    figure.update_yaxes(title="value")
    return figure


def position_heatmap(table: Float[np.ndarray, "position width"], *, theme: Theme = LIGHT) -> go.Figure:
    """A table, position 0 at the top. Of a large one, every ``step``-th position and dimension."""
    rows, columns = (np.arange(0, count, step(count)) for count in table.shape)
    figure = _figure(theme, HEIGHT + 80)
    hover = "position %{y}, dimension %{x}: %{z:.6f}<extra></extra>"
    figure.add_trace(_signed(table[np.ix_(rows, columns)], theme, hover, x=columns, y=rows))
    figure.update_xaxes(title="dimension")
    figure.update_yaxes(title="position", autorange="reversed")
    return figure


def product_heatmap(products: Float[np.ndarray, "query key"], *, theme: Theme = LIGHT) -> go.Figure:
    """The dot product of every two positions. Of many, every ``step``-th."""
    places = np.arange(0, len(products), step(len(products)))
    figure = _figure(theme, HEIGHT)
    hover = "position %{y} · position %{x} = %{z:.6f}<extra></extra>"
    figure.add_trace(_signed(products[np.ix_(places, places)], theme, hover, x=places, y=places))
    figure.update_xaxes(title="position")
    figure.update_yaxes(title="position", autorange="reversed")
    return figure


def distance_curve(
    mean: Float[np.ndarray, "distance"],
    least: Float[np.ndarray, "distance"],
    most: Float[np.ndarray, "distance"],
    *,
    theme: Theme = LIGHT,
) -> go.Figure:
    """The dot product against the distance: the mean over all pairs so far apart, the smallest and the largest."""
    figure = _figure(theme, HEIGHT)
    for name, values, colour, dash in (
        ("largest", most, theme.second, "dash"),
        ("smallest", least, theme.quiet, "dot"),
        ("mean of all pairs", mean, theme.accent, "solid"),
    ):
        hover = f"distance %{{x}}, {name}: %{{y:.6f}}<extra></extra>"
        line = {"color": colour, "dash": dash, "width": 2}
        figure.add_scatter(x=np.arange(len(mean)), y=values, mode="lines", name=name, line=line, hovertemplate=hover)
    figure.update_layout(showlegend=True, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0})
    figure.update_xaxes(title="distance between the two positions")
    figure.update_yaxes(title="dot product")
    return figure


def wavelength_figure(wavelengths: Float[np.ndarray, "pair"], *, theme: Theme = LIGHT) -> go.Figure:
    """Positions to a full turn, of every pair of a sine and a cosine, between 2π and 10000·2π."""
    figure = _figure(theme, HEIGHT)
    dimensions = 2 * np.arange(len(wavelengths))
    hover = "dimension %{x} and the next: a turn in %{y:,.2f} positions<extra></extra>"
    marker = {"color": theme.accent, "size": 6}
    figure.add_scatter(x=dimensions, y=wavelengths, mode="markers", marker=marker, hovertemplate=hover)
    for turns, name in ((1, "2π"), (10_000, "10000·2π")):
        line = {"color": theme.quiet, "dash": "dot", "width": 1}
        figure.add_hline(y=2 * math.pi * turns, line=line)
        height = math.log10(2 * math.pi * turns)  # annotations of a logarithmic axis are placed by the exponent
        place = {"x": 1, "xref": "x domain", "xanchor": "right", "y": height, "yanchor": "bottom", "showarrow": False}
        figure.add_annotation(text=name, font={"color": theme.text}, **place)
    figure.update_xaxes(title="dimension of the sine")
    figure.update_yaxes(
        title="wavelength (positions)", type="log", tickvals=[10, 100, 1000, 10_000], tickformat=",", range=[0.6, 5.2]
    )
    return figure


def rotation_figure(
    before: Float[np.ndarray, "2"], after: Float[np.ndarray, "2"], names: tuple[str, str], *, theme: Theme = LIGHT
) -> go.Figure:
    """(sine, cosine) of two positions as hands on the unit circle; ``names`` says which positions."""
    figure = _figure(theme, HEIGHT)
    figure.add_shape(type="circle", x0=-1, y0=-1, x1=1, y1=1, line={"color": theme.grid, "width": 2})
    for (sine, cosine), name, colour, dash in (
        (before, names[0], theme.accent, "solid"),
        (after, names[1], theme.second, "dash"),
    ):
        figure.add_scatter(
            x=[0, sine],
            y=[0, cosine],
            mode="lines+markers",
            name=name,
            line={"color": colour, "dash": dash, "width": 3},
            marker={"size": [0, 10]},
            hovertemplate=f"{name}: sine %{{x:.6f}}, cosine %{{y:.6f}}<extra></extra>",
        )
    figure.update_layout(showlegend=True, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0})
    figure.update_xaxes(title="sine", range=[-1.1, 1.1], constrain="domain")
    figure.update_yaxes(title="cosine", range=[-1.1, 1.1], scaleanchor="x", constrain="domain")
    return figure


def unseen_figure(share: Float[np.ndarray, "position"], known: int, *, theme: Theme = LIGHT) -> go.Figure:
    """The share of a position's numbers that no position before ``known`` comes up or down to."""
    figure = _figure(theme, HEIGHT - 60)
    hover = "position %{x}: %{y:.1%} of its numbers are new<extra></extra>"
    line = {"color": theme.accent, "width": 2}
    figure.add_scatter(x=np.arange(len(share)), y=share, mode="lines", line=line, hovertemplate=hover)
    line = {"color": theme.second, "dash": "dash", "width": 2}
    figure.add_vline(x=known - 0.5, line=line)
    place = {"x": known - 0.5, "y": 1, "yref": "y domain", "yanchor": "bottom", "showarrow": False}
    figure.add_annotation(text="end of the longest text", font={"color": theme.second}, **place)
    figure.update_xaxes(title="position", range=[0, len(share) - 1])
    figure.update_yaxes(title="new numbers", tickformat=".0%", rangemode="tozero")
    return figure


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
    between = 44
    figure = make_subplots(
        rows=len(parts),
        shared_xaxes=True,
        vertical_spacing=between / (len(parts) * (height + between) - between) if len(parts) > 1 else 0,
        subplot_titles=list(parts),
    )
    top = max(float(np.abs(part).max()) for part in parts.values())
    hover = "token %{y}, dimension %{x}: %{z:.6f}<extra></extra>"
    for row, part in enumerate(parts.values(), start=1):
        trace = _signed(part, theme, hover, x=np.arange(part.shape[1]), y=np.arange(1, len(tokens) + 1), top=top)
        trace.showscale = row == 1
        figure.add_trace(trace, row=row, col=1)
    places = range(0, len(tokens), -(-len(tokens) * 14 // height))
    _dress(figure, theme, len(parts) * (height + between) + 60)
    figure.update_annotations(font={"color": theme.text, "size": FONT_SIZE}, x=0, xanchor="left")
    ticks = {"tickvals": [place + 1 for place in places], "ticktext": [label(place, tokens[place]) for place in places]}
    figure.update_yaxes(autorange="reversed", showgrid=False, zeroline=False, **ticks)
    figure.update_xaxes(title="dimension", row=len(parts))
    return figure


def scheme_figure(added: Float[np.ndarray, "query key"], query: int, title: str, *, theme: Theme = LIGHT) -> go.Figure:
    """What a scheme adds to each score, on a scale of its own, above the row of one query. NaN is not drawn."""
    if not 0 <= query < len(added):
        raise ValueError(f"query {query} of {len(added)} positions, wanted one of them, counted from 0")
    figure = make_subplots(rows=2, shared_xaxes=True, vertical_spacing=0.1, row_heights=[0.6, 0.4])
    places = np.arange(len(added))
    hover = "query %{y}, key %{x}: %{z:.6f}<extra></extra>"
    trace = _signed(added, theme, hover, x=places, y=places)
    trace.showscale = False
    figure.add_trace(trace, row=1, col=1)
    hover = f"query {query}, key %{{x}}: %{{y:.6f}}<extra></extra>"
    line = {"color": theme.accent, "width": 2}
    figure.add_scatter(
        x=places, y=added[query], mode="lines+markers", marker={"size": 4}, line=line, hovertemplate=hover, row=2, col=1
    )
    _dress(figure, theme, 400)
    figure.update_layout(margin={"l": 48, "r": 8, "t": 34, "b": 44}, title=_title(title, theme))
    figure.update_yaxes(autorange="reversed", title="query", row=1)
    figure.update_yaxes(title="added", row=2)
    figure.update_xaxes(title="key", row=2)
    line = {"color": theme.second, "width": 1.5, "dash": "dot"}
    figure.add_hline(y=query, line=line, row=1, col=1)
    return figure


def table_csv(table: Float[np.ndarray, "position width"]) -> str:
    """A line for each position, a column for each dimension, every number in full."""
    written = io.StringIO()
    rows = csv.writer(written, lineterminator="\n")
    rows.writerow(["position", *(f"dimension {dimension}" for dimension in range(table.shape[1]))])
    rows.writerows([position, *row] for position, row in enumerate(table.tolist()))
    return written.getvalue()


def _signed(
    values: Float[np.ndarray, "row column"],
    theme: Theme,
    hover: str,
    *,
    x: np.ndarray,
    y: np.ndarray,
    top: float | None = None,
) -> go.Heatmap:
    """Signed numbers, with the page's background at 0."""
    finite = values[np.isfinite(values)]
    top = top or (float(np.abs(finite).max()) if finite.size else 0.0) or 1.0
    return go.Heatmap(
        z=values.astype(np.float32),
        x=x,
        y=y,
        zmin=-top,
        zmax=top,
        colorscale=theme.differences,
        hovertemplate=hover,
        hoverongaps=False,
        colorbar={"thickness": 10, "outlinewidth": 0, "tickfont": {"color": theme.quiet}, "len": 1, "xpad": 4},
    )


def _figure(theme: Theme, height: int) -> go.Figure:
    figure = go.Figure()
    _dress(figure, theme, height)
    return figure


def _dress(figure: go.Figure, theme: Theme, height: int) -> None:
    figure.update_layout(
        template="none",
        height=height,
        margin={"l": 60, "r": 12, "t": 36, "b": 48},
        paper_bgcolor=theme.background,
        plot_bgcolor=theme.background,
        font={"family": FONT, "size": FONT_SIZE - 1, "color": theme.quiet},
        hoverlabel={"bgcolor": theme.surface, "font": {"color": theme.text, "family": FONT}},
        modebar={"color": theme.quiet, "activecolor": theme.text, "bgcolor": "rgba(0,0,0,0)"},
        showlegend=False,
        dragmode=False,  # a finger that drags over a picture scrolls the page; the buttons above it zoom
    )
    figure.update_xaxes(gridcolor=theme.grid, zeroline=False, automargin=True)
    figure.update_yaxes(gridcolor=theme.grid, zeroline=False, automargin=True)


def _title(text: str, theme: Theme) -> dict[str, object]:
    return {"text": text, "x": 0, "xanchor": "left", "font": {"size": FONT_SIZE + 1, "color": theme.text}}
