"""The weights of one head for the browser's editor: the matrix, its mask, what is overwritten, the answer beside it."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from viz.excerpts import cut_note, excerpt
from viz.explorer.attention_kinds import Text
from viz.text.causes.token_measures import row_names
from viz.tokens import percent, visible
from viz.walkthrough.whole_head import base64_floats

MOST = 40  # tokens on a side; of a longer text an excerpt is drawn, and says so
STEP = 10  # tokens by which an excerpt moves: a cell nearby leaves it where it is
LONGEST_LABEL = 14
SEEN, MASKED, HIDDEN = 1, 0, 2  # what a query may do with a key: see it; the mask, or a kept edit, forbids it

Cell = tuple[int, int, float, bool]  # query, key, value, whether the row is renormalised


def editor_figure(
    base: Float[np.ndarray, "query key"],
    mask: Bool[np.ndarray, "query key"],
    queries: Text,
    keys: Text,
    cells: Iterable[Cell],
    chosen: tuple[int, int],
    *,
    hidden: Iterable[int] = (),
) -> dict[str, Any]:
    """What the browser edits, as plain values; float32 and bytes in base64, row by row.

    base: the weights without what is overwritten in this head. hidden: keys that no query may look at. chosen: the
    cell that is selected; of a long text the 40 queries and keys around it are drawn, and a row has all of its keys.
    ValueError where texts and weights do not fit together.
    """
    shape = len(queries.tokens), len(keys.tokens)
    if base.shape != shape or mask.shape != shape:
        raise ValueError(f"weights of shape {base.shape}, mask of shape {mask.shape}, wanted {shape}")
    rows, columns = (excerpt(length, at, MOST, STEP) for length, at in zip(shape, chosen, strict=True))
    allowed = np.where(mask, SEEN, MASKED).astype(np.uint8)
    allowed[:, list(hidden)] = HIDDEN
    return {
        "rows": labels(queries, rows),
        "columns": labels(keys, columns),
        "first": rows.start,
        "sent": shape[1],
        "base": base64_floats(base[rows]),
        "mask": base64.b64encode(allowed[rows].tobytes()).decode("ascii"),
        "cells": [list(cell) for cell in sorted(cells)],
        "chosen": list(chosen),
        "cut": cut_note(rows, columns, shape),
    }


def labels(text: Text, places: slice) -> list[dict[str, Any]]:
    """One side's tokens and their positions, counted from 0; one that comes again has its place in its name, from 1."""
    names = row_names(text.tokens, range(places.start, places.stop), LONGEST_LABEL)
    return [{"text": name, "place": at} for at, name in names.items()]


def answer_panel(
    title: str,
    names: Sequence[str],
    before: Float[np.ndarray, " answer"],
    after: Float[np.ndarray, " answer"],
    *,
    edited: bool,
    texts: Mapping[str, str] | None = None,
    note: str = "",
) -> dict[str, Any]:
    """The answer before and after, beside the matrix. names: of what the model may answer, one for each probability.

    texts: what it writes, by a name. edited: whether anything is; else before and after are one.
    """
    rows = [
        {
            "name": visible(name),
            "before": float(first),
            "after": float(second),
            "said": f"{percent(float(first), 1)} → {percent(float(second), 1)}" if edited else percent(float(first), 1),
        }
        for name, first, second in zip(names, before, after, strict=True)
    ]
    written = [{"name": name, "text": text} for name, text in (texts or {}).items()]
    return {"title": title, "rows": rows, "texts": written, "note": note, "edited": edited}
