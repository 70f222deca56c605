"""Two sentences side by side, a line from every word of the one to the word of the other that it looks at most."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
from jaxtyping import Float

from model.measures.alignment import Reading
from viz.charts.chart_data import data_of
from viz.charts.lines import with_page_style
from viz.export.data_files import cell, csv_file
from viz.export.provenance import Provenance, facts_of
from viz.theme import FONT_SIZE, LIGHT, Theme
from viz.tokens import position_name, whole_characters

MOST_DRAWN = 40  # words on a side
LINE = 24  # pixels
LEFT, RIGHT = 0.36, 0.64  # of the width: where the lines begin and end


def word_names(tokens: Sequence[str], words: Sequence[int | None]) -> list[str]:
    """The words that pieces make, with their numbers."""
    return [position_name(place, word) for place, word in enumerate(words_of(tokens, words))]


def words_of(tokens: Sequence[str], words: Sequence[int | None]) -> list[str]:
    """The words that pieces make, in full."""
    joined: dict[int, str] = {}
    for token, word in zip(tokens, words, strict=True):
        if word is not None:
            joined[word] = joined.get(word, "") + token.removeprefix("##" if word in joined else "")
    whole = {word: whole_characters(text) for word, text in joined.items()}
    return [whole[word].strip() or whole[word] for word in sorted(whole)]


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
    check_sides(weights, targets, sources)
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
    return with_page_style(chart, theme, framed=False)


def check_sides(weights: Float[np.ndarray, "target source"], targets: Sequence[str], sources: Sequence[str]) -> None:
    """ValueError where words and weights do not fit together."""
    if weights.shape != (len(targets), len(sources)):
        raise ValueError(f"weights of shape {weights.shape}, wanted ({len(targets)} targets, {len(sources)} sources)")


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
    return {name: [row[name] for row in rows] for name in ("target", "source", "weight")}


def alignment_csv(
    weights: Float[np.ndarray, "target source"],
    targets: Sequence[str],
    sources: Sequence[str],
    links: frozenset[tuple[int, int]],
    *,
    reading: Reading | None = None,
    moment: str = "",
    provenance: Provenance | None = None,
) -> bytes:
    """One line a link of (source, target), in the order of the target; words count from 0, weights have all digits.

    targets, sources: the words in full, those of ``words_of``. reading, moment: which heads the weights were read off,
    and when, one of ``model.measures.alignment.MOMENTS``; both stand before the header beside the facts, which
    ``selection_csv`` says how to skip. ValueError where words and weights do not fit together.
    """
    check_sides(weights, targets, sources)
    facts = facts_of(provenance)
    facts |= {} if reading is None else {"heads": heads_read(reading)}
    facts |= {"moment": f"while the word is {moment}"} if moment else {}
    rows = (
        (target, cell(targets[target]), source, cell(sources[source]), repr(float(weights[target, source])))
        for source, target in sorted(links, key=lambda link: link[::-1])
    )
    return csv_file([["target", "target_word", "source", "source_word", "weight"]], rows, facts=facts)


def heads_read(reading: Reading) -> str:
    """ "layer 0, head 3", from 0; the mean where a reading names no head."""
    named = [f"{name} {index}" for name, index in zip(("layer", "head"), reading, strict=False)]
    means = ("mean of all layers and heads", "mean of its heads", "")
    return ", ".join(filter(None, [*named, means[len(reading)]]))
