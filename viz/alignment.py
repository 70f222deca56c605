"""Two sentences side by side, a line from every word of the one to the word of the other that it looks at most."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
from jaxtyping import Float

from viz.lines import configured
from viz.rows import data_of
from viz.theme import FONT_SIZE, LIGHT, Theme
from viz.tokens import position_name

MOST_DRAWN = 40  # words on a side
LINE = 24  # pixels
LEFT, RIGHT = 0.36, 0.64  # of the width: where the lines begin and end


def word_names(tokens: Sequence[str], words: Sequence[int | None]) -> list[str]:
    """The words that pieces make, with their numbers."""
    found: dict[int, str] = {}
    for token, word in zip(tokens, words, strict=True):
        if word is not None:
            found[word] = found.get(word, "") + token.removeprefix("##" if word in found else "")
    return [position_name(place, found[word].strip() or found[word]) for place, word in enumerate(sorted(found))]


def alignment_chart(
    weights: Float[np.ndarray, "target source"],
    targets: Sequence[str],
    sources: Sequence[str],
    links: frozenset[tuple[int, int]],
    *,
    theme: Theme = LIGHT,
) -> alt.LayerChart:
    """Source words on the left, target words on the right; the lines are ``links`` of (source, target), wide by weight.

    ValueError where words and weights do not fit together. Of each side the first 40 words are drawn.
    """
    if weights.shape != (len(targets), len(sources)):
        raise ValueError(f"weights of shape {weights.shape}, wanted ({len(targets)} targets, {len(sources)} sources)")
    lines = [row for row in link_rows(weights, targets, sources, links) if max(row["left"], row["right"]) < MOST_DRAWN]
    height = max(min(len(targets), MOST_DRAWN), min(len(sources), MOST_DRAWN), 1)
    down: dict[str, Any] = {"axis": None, "scale": alt.Scale(domain=[-0.5, height - 0.5], reverse=True, nice=False)}
    across: dict[str, Any] = {"axis": None, "scale": alt.Scale(domain=[0, 1], nice=False)}
    rules = (
        alt.Chart(data_of(lines))
        .mark_rule(color=theme.accent, strokeCap="round")
        .encode(
            x=alt.X("start:Q", **across),
            x2="end",
            y=alt.Y("left:Q", **down),
            y2="right",
            strokeWidth=alt.StrokeWidth("weight:Q", legend=None, scale=alt.Scale(domain=[0, 1], range=[1, 9])),
            tooltip=["target:N", "source:N", alt.Tooltip("weight:Q", format=".4f")],
        )
    )
    layers = [rules]
    sides: list[tuple[Sequence[str], float, Any, int]] = [(sources, LEFT, "right", -5), (targets, RIGHT, "left", 5)]
    for names, place, align, dx in sides:
        rows = [{"x": place, "y": line, "word": name} for line, name in enumerate(names[:MOST_DRAWN])]
        mark = alt.Chart(data_of(rows)).mark_text(
            align=align, dx=dx, fontSize=FONT_SIZE - 1, color=theme.text, limit=150
        )
        layers.append(mark.encode(x=alt.X("x:Q", **across), y=alt.Y("y:Q", **down), text="word:N"))
    chart = alt.LayerChart(layer=layers).properties(width="container", height=LINE * height)
    return configured(chart, theme, framed=False)


def link_rows(
    weights: Float[np.ndarray, "target source"],
    targets: Sequence[str],
    sources: Sequence[str],
    links: frozenset[tuple[int, int]],
) -> list[dict]:
    """One record a link, in the order of the target."""
    return [
        {
            "target": targets[target],
            "source": sources[source],
            "weight": float(weights[target, source]),
            "left": source,
            "right": target,
            "start": LEFT,
            "end": RIGHT,
        }
        for source, target in sorted(links, key=lambda link: link[::-1])
    ]


def alignment_table(rows: Sequence[dict]) -> dict[str, list[object]]:
    """The links as columns."""
    return {name: [row[name] for row in rows] for name in ("target", "source", "weight")}
