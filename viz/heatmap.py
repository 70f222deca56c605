"""Attention weights as one heatmap: query rows, key columns, a scale fixed at 0 to 1."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jaxtyping import Float

from viz.theme import FONT, FONT_SIZE, LIGHT, Theme, colour_scale
from viz.tokens import figure_text

ROW_HEIGHT = 27
SHORTEST, TALLEST = 340, 800
MOST_LABELS = 40  # more than this overlap; the hover still names every token
HOVER = "query %{y} attends to key %{x}<br>weight %{z:.6f}<extra></extra>"


def attention_heatmap(
    weights: Float[np.ndarray, "query key"],
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    theme: Theme = LIGHT,
    mark: tuple[int, int] | None = None,
) -> go.Figure:
    """The heatmap of one matrix of weights; ``mark`` outlines one (query, key) cell.

    Raises ValueError where the matrix does not fit the tokens, or holds anything but numbers from 0 to 1.
    """
    check_weights(weights, queries, keys)
    layout = _layout(len(queries), theme)
    layout["xaxis"] = _axis(keys, theme) | {"side": "top", "autotickangles": [0, -45, -90]}
    layout["yaxis"] = _axis(queries, theme) | {"range": [len(queries) - 0.5, -0.5]}
    layout["xaxis"]["title"] |= {"text": "key: what is attended to"}
    layout["yaxis"]["title"] |= {"text": "query: what attends"}
    traces: list[object] = [_cells(weights, theme)]
    if max(len(queries), len(keys)) > MOST_LABELS:
        layout |= _thinned("x", layout["xaxis"]) | _thinned("y", layout["yaxis"])
        # An axis that no trace uses is not drawn.
        traces.append(go.Scatter(x=[None], y=[None], xaxis="x2", yaxis="y2", hoverinfo="skip", showlegend=False))
    if mark is not None:
        layout["shapes"] = [_outline(mark, theme)]
    return go.Figure(traces, layout)


def check_weights(weights: Float[np.ndarray, "query key"], queries: Sequence[str], keys: Sequence[str]) -> None:
    """ValueError, saying what came and what was wanted, unless the weights can be drawn with these tokens."""
    wanted = (len(queries), len(keys))
    if weights.shape != wanted or 0 in wanted:
        raise ValueError(f"weights have shape {weights.shape}, wanted (query, key) = {wanted}, at least (1, 1)")
    if not np.isfinite(weights).all():
        raise ValueError("weights hold a value that is not a number, wanted numbers from 0 to 1")
    if weights.min() < 0 or weights.max() > 1 + 1e-5:  # a sum of rounded floats may pass 1 by that much
        raise ValueError(f"weights run from {weights.min()} to {weights.max()}, wanted 0 to 1")


def _cells(weights: Float[np.ndarray, "query key"], theme: Theme) -> go.Heatmap:
    bar = {"orientation": "h", "y": 0, "yanchor": "top", "ypad": 14, "thickness": 10, "len": 0.7, "outlinewidth": 0}
    ticks = {"tickvals": [0, 0.1, 0.25, 0.5, 0.75, 1], "tickfont": {"color": theme.quiet}}
    title = {"text": "attention weight", "side": "bottom", "font": {"color": theme.quiet, "size": FONT_SIZE - 1}}
    return go.Heatmap(
        z=weights,
        x=np.arange(weights.shape[1]),
        y=np.arange(weights.shape[0]),
        zmin=0,
        zmax=1,
        colorscale=colour_scale(theme.weights),
        colorbar=bar | ticks | {"title": title},
        xgap=1 if weights.shape[1] <= MOST_LABELS else 0,
        ygap=1 if weights.shape[0] <= MOST_LABELS else 0,
        hovertemplate=HOVER,
    )


def _axis(tokens: Sequence[str], theme: Theme) -> dict[str, Any]:
    """Integer positions with tick text: a category axis would merge a repeated token, or read "1 2 3" as numbers."""
    return {
        "type": "linear",
        "tickmode": "array",
        "tickvals": list(range(len(tokens))),
        "ticktext": [figure_text(token) for token in tokens],
        "tickfont": {"color": theme.text},
        "title": {"font": {"color": theme.quiet, "size": FONT_SIZE - 1}},
        "showgrid": False,
        "zeroline": False,
        "automargin": True,
        "ticks": "",
    }


def _thinned(name: str, axis: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The axis for the hover alone, and one over it that labels only every so many tokens.

    A hover names a token by its tick, so the first axis keeps every tick and prints none; and it names the position,
    because the label beside a row may be missing.
    """
    places, texts = axis["tickvals"], axis["ticktext"]
    step = -(-len(texts) // MOST_LABELS)
    named = [f"{place + 1} · {text}" for place, text in zip(places, texts, strict=True)]
    hidden = axis | {"ticktext": named, "showticklabels": False, "title": None}
    printed = axis | {"tickvals": places[::step], "ticktext": texts[::step], "overlaying": name, "matches": name}
    return {f"{name}axis": hidden, f"{name}axis2": printed}


def _layout(rows: int, theme: Theme) -> dict[str, Any]:
    return {
        "height": min(max(SHORTEST, 180 + ROW_HEIGHT * rows), TALLEST),
        "margin": {"l": 8, "r": 8, "t": 72, "b": 8},
        "modebar": {"bgcolor": theme.background, "color": theme.quiet},
        "font": {"family": FONT, "size": FONT_SIZE, "color": theme.text},
        "paper_bgcolor": theme.background,
        "plot_bgcolor": theme.background,
        "hoverlabel": {"font": {"family": FONT, "size": FONT_SIZE}},
        "dragmode": "zoom" if rows > MOST_LABELS else False,  # on a phone, dragging should scroll the page
    }


def _outline(mark: tuple[int, int], theme: Theme) -> dict[str, Any]:
    query, key = mark
    edges = {"x0": key - 0.5, "x1": key + 0.5, "y0": query - 0.5, "y1": query + 0.5}
    return {"type": "rect", "line": {"color": theme.second, "width": 2}} | edges
