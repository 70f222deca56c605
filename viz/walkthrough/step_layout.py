"""Which pictures a step to one weight has: rows of titled charts, those in a row side by side where there is room."""

from collections.abc import Callable, Sequence
from typing import Any

import altair as alt
import numpy as np

from model.measures.one_weight import Quantities, WeightPath
from viz.theme import LIGHT, Theme
from viz.tokens import counted, position_name
from viz.walkthrough.step_charts import (
    head_strip,
    heat_strips,
    key_bars,
    keys_to_show,
    layer_grid,
    named_bars,
    spec,
    sum_bars,
    term_grid,
    unchecked,
)
from viz.walkthrough.step_numbers import answer_names
from viz.walkthrough.step_sentences import LABELS

Titled = tuple[str, alt.LayerChart]  # Markdown, "" where the chart names its own parts, and the chart below it
Rows = list[list[Titled]]
VECTORS: dict[str, tuple[tuple[str, ...], ...]] = {
    "embedding": (("query_token", "key_token"),),
    "position": (
        ("query_token", "key_token"),
        ("query_position", "key_position"),
        ("query_segment", "key_segment"),
        ("query_total", "key_total"),
    ),
    "norm": (("query_stream", "key_stream"), ("query_input", "key_input")),
    "projection": (("query_input", "key_input"), ("query_projected", "key_projected"), ("query", "key")),
    "output": (("output_of_head",), ("output",)),
    "residual": (("stream_before",), ("output",), ("stream_after",)),
    "feed-forward": (("feed_forward_input",), ("hidden",), ("feed_forward_output",), ("stream_out",)),
    "last-norm": (("last_stream",), ("final",)),
}
ANSWERS = {"logits": "logit", "probabilities": "probability"}
COMPARED = ("embedding", "position", "output", "residual")  # steps whose vectors are drawn to one scale


def pictures(path: WeightPath, step: str, quantities: Quantities, *, theme: Theme = LIGHT) -> Rows:
    """The pictures of one step from its numbers."""
    if step in VECTORS:
        return _vectors(VECTORS[step], quantities, theme, together=step in COMPARED)
    drawn: dict[str, Callable[[], Rows]] = {
        "product": lambda: _product(path, quantities, theme),
        "scale": lambda: [_keys(path, quantities, ("all_products", "all_scaled"), theme)],
        "mask": lambda: [_keys(path, quantities, ("all_scaled", "all_biases", "all_scores"), theme)],
        "softmax": lambda: [_keys(path, quantities, ("all_scores", "all_weights"), theme)],
        "value": lambda: _value(path, quantities, theme),
        "heads": lambda: _heads(path, quantities, theme),
        "layers": lambda: _layers(path, quantities, theme),
        "pooling": lambda: _pooling(path, quantities, theme),
        "logits": lambda: _answers(path, quantities, "logits", theme),
        "answer": lambda: _answers(path, quantities, "probabilities", theme),
    }
    return drawn[step]()


def specs(
    path: WeightPath, step: str, quantities: Quantities, *, theme: Theme = LIGHT
) -> list[list[tuple[str, dict[str, Any]]]]:
    """The same pictures as Vega-Lite, for a page."""
    rows = unchecked(lambda: pictures(path, step, quantities, theme=theme))
    return [[(title, spec(chart)) for title, chart in row] for row in rows]


def keys_drawn(path: WeightPath) -> list[int]:
    row = path.site.head, path.site.query
    allowed = path.attention.mask.expand_as(path.attention.weights)[row].numpy()
    return keys_to_show(path.attention.weights[row].numpy(), allowed, path.site.key)


def _vectors(rows: Sequence[Sequence[str]], quantities: Quantities, theme: Theme, *, together: bool) -> Rows:
    """A chart of strips for each row of names, or one for all: the vectors of a chart have one scale."""
    groups = [[name for row in rows for name in row]] if together else rows
    present = [[name for name in group if name in quantities] for group in groups]
    return [
        [("", heat_strips({LABELS[name]: quantities[name].values for name in group}, theme=theme))]
        for group in present
        if group
    ]


def _product(path: WeightPath, quantities: Quantities, theme: Theme) -> Rows:
    pair = _vectors((("query", "key"),), quantities, theme, together=True)
    grid = term_grid(
        quantities["all_terms"].values, path.keys.names(), path.site.key, rows_of=keys_drawn(path), theme=theme
    )
    return [
        *pair,
        [(LABELS["terms"], sum_bars(quantities["terms"].values, theme=theme))],
        [(f"The same for {_how_many(path)}", grid)],
    ]


def _how_many(path: WeightPath) -> str:
    drawn, all_of_them = len(keys_drawn(path)), path.attention.weights.shape[-1]
    return "every key" if drawn == all_of_them else f"the {drawn} of {all_of_them} keys with most weight"


def _keys(path: WeightPath, quantities: Quantities, names: Sequence[str], theme: Theme) -> list[Titled]:
    tokens, drawn = path.keys.names(), keys_drawn(path)
    charts = []
    for name in names:
        if name in quantities:
            label = LABELS[name].removesuffix(" of every key")
            values = quantities[name].values
            chart = key_bars(values, tokens, path.site.key, title=label, rows_of=drawn, theme=theme)
            charts.append((f"{label} of {_how_many(path)}", chart))
    return charts


def _value(path: WeightPath, quantities: Quantities, theme: Theme) -> Rows:
    """The value and what is left of it, to one scale, then the sum over all keys."""
    return [
        *([each] for each in _keys(path, quantities, ("all_weights",), theme)),
        *_vectors((("value",), ("weighted_value",), ("context",)), quantities, theme, together=True),
    ]


def _heads(path: WeightPath, quantities: Quantities, theme: Theme) -> Rows:
    name = f"{LABELS['joined']}: {path.module.heads} × {path.head_width} numbers"
    return [[("", head_strip(quantities["joined"].values, path.module.heads, path.site.head, name=name, theme=theme))]]


def _layers(path: WeightPath, quantities: Quantities, theme: Theme) -> Rows:
    """The stream at the query layer by layer, the first at the top."""
    if not path.layers_left:
        return _vectors((("last_stream",),), quantities, theme, together=True)
    return [[(LABELS["streams"], layer_grid(quantities["streams"].values, path.site.layer, theme=theme))]]


def _pooling(path: WeightPath, quantities: Quantities, theme: Theme) -> Rows:
    """The vectors that the one which is read is made of; of an encoder that a decoder reads, who reads it."""
    if "reading" not in quantities:
        rows = (("final",), ("first_final",), ("answering",), ("pooled",), ("read",))
        return _vectors(rows, quantities, theme, together=True)
    values, chosen = quantities["reading"].values, path.answer.position or 0
    names = [position_name(place, token) for place, token in enumerate(path.trace.output_stack.names())]
    drawn = keys_to_show(values, np.ones(len(values), dtype=bool), chosen)
    chart = named_bars(
        values[drawn],
        [names[place] for place in drawn],
        drawn.index(chosen),
        title="weight, averaged over layers and heads",
        names_title="query",
        theme=theme,
    )
    return [[(LABELS["reading"], chart)]]


def _answers(path: WeightPath, quantities: Quantities, name: str, theme: Theme) -> Rows:
    """Labels in their order, or the likeliest tokens; without a head the vector that the stack hands on."""
    if name not in quantities:
        return _vectors((("final",),), quantities, theme, together=True)
    values, what = quantities[name].values, "label" if path.answer.position is None else "token"
    names = answer_names(path, quantities["ids"].values.tolist())
    numbered = [position_name(place, each) for place, each in enumerate(names)]
    title, count = ANSWERS[name], quantities[f"all_{name}"].values.size
    chart = named_bars(values, numbered, int(values.argmax()), title=title, names_title=what, theme=theme)
    which = f"every {what}" if len(values) == count else f"the {len(values)} likeliest of {count:,} tokens"
    return [[(f"{title} of {which}", chart)]]


def alternative(path: WeightPath, title: str, chart: dict[str, Any]) -> str:
    """What a screen reader says in place of a chart."""
    drawn = f"Bars: {title}" if title else f"Strips of numbers: {chart['description']}"
    return f"{drawn}; head {counted(path.site.head)} of layer {counted(path.site.layer)}."
