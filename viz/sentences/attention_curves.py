"""One head's weights as the large picture of a sentence: its tokens twice, and a curve for every weight."""

from typing import Any

import numpy as np
from jaxtyping import Bool

from viz.excerpts import excerpt
from viz.explorer.attention_kinds import Kind, Text
from viz.explorer.view import same_word
from viz.sentences.curve_look import LOOK
from viz.text.head_findings import head_called, token_name, unit_of
from viz.theme import LIGHT, Theme
from viz.tokens import percent

MOST = 60  # tokens on a side; of a longer text an excerpt is drawn, and says so
DIGITS = 6  # of a weight


def sentence_figure(
    kind: Kind,
    layer: int,
    head: int,
    marked: Bool[np.ndarray, "query key"],
    *,
    key: int | None = None,
    theme: Theme = LIGHT,
) -> dict[str, Any]:
    """What the browser draws the picture of one head from, as plain values.

    marked: the weights that the finding is about, drawn dark. key: the token that is named, with what it gets under it.
    ValueError for marks of other shapes than the weights, or a head that is not there.
    """
    check(kind, layer, head, marked)
    weights = kind.weights[layer][head]
    columns = excerpt(len(kind.keys.tokens), key or 0, MOST)
    rows = columns if kind.queries is kind.keys else excerpt(len(kind.queries.tokens), 0, MOST)
    drawn, marks = weights[rows, columns], marked[rows, columns]
    return {
        "rows": words(kind.queries, rows),
        "columns": words(kind.keys, columns),
        "weights": [[round(float(weight), DIGITS) for weight in row] for row in drawn],
        "marked": [np.flatnonzero(row).tolist() for row in marks],
        "finding_key": None if key is None else key - columns.start,
        "note": "" if key is None else gets(weights, marked, key),
        "mean": key is not None and bool(marked[:, key].sum() > 1),
        "head": head_called(layer, head),
        "label": f"The sentence twice, with a curve for every weight of {head_called(layer, head).replace('L', 'l')}",
        "cut": cut_note(kind, rows, columns),
        "look": LOOK.to_message(),
        "colours": {"shades": list(theme.weights), "text": theme.text, "quiet": theme.quiet, "page": theme.background},
    }


def check(kind: Kind, layer: int, head: int, marked: Bool[np.ndarray, "query key"]) -> None:
    """ValueError unless there is such a head, and a mark or none for each of its weights."""
    if not (0 <= layer < kind.layers and 0 <= head < kind.heads):
        raise ValueError(f"layer {layer}, head {head}; there are {kind.layers} layers of {kind.heads} heads")
    if marked.shape != kind.weights[layer][head].shape:
        raise ValueError(f"marks of shape {marked.shape}, wanted {kind.weights[layer][head].shape}")


def words(text: Text, places: slice) -> list[dict[str, Any]]:
    """One side's tokens: how each is written, its position, and whether it goes on within a word."""
    special = text.special or (False,) * len(text.tokens)
    records = []
    for place in range(places.start, places.stop):
        joined = place > places.start and same_word(text, place - 1, place)
        token = token_name(text.tokens[place])
        written = token.removeprefix("##") if joined and token != "##" else token
        records.append({"text": written, "place": place, "special": bool(special[place]), "joined": joined})
    return records


def gets(weights: np.ndarray, marked: Bool[np.ndarray, "query key"], key: int) -> str:
    """What the marked queries give to a key, on average; "" where there are none."""
    queries = marked[:, key]
    return percent(float(weights[queries, key].mean(dtype=np.float64))) if queries.any() else ""


def cut_note(kind: Kind, rows: slice, columns: slice) -> str:
    """Which part of a long text is drawn; "" where all of it is."""
    sides = [(kind.queries, rows), (kind.keys, columns)]
    parts = [part_of(text, places) for text, places in sides[: 1 if kind.queries is kind.keys else 2]]
    ranges = [part for part in parts if part]
    drawn = f"The picture shows {' and '.join(ranges)}."
    return f"{drawn} The views under “All heads” show the whole text." if ranges else ""


def part_of(text: Text, places: slice) -> str:
    """ "words 1–60 of 327"; "" where all are drawn."""
    if places.stop - places.start == len(text.tokens):
        return ""
    return f"{unit_of(text)}s {places.start + 1}–{places.stop} of {len(text.tokens)}"
