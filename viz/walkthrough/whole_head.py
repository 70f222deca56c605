"""One head as matrices side by side, for the browser: Q, Kᵀ, products, mask, scores, weights, V and context."""

import base64
import math
from typing import Any

import numpy as np

from model.measures.one_weight import strongest
from model.measures.whole_head import WholeHead
from viz.excerpts import cut_note, excerpt
from viz.explorer.attention_kinds import Text
from viz.tokens import decimal, visible

MOST = 64  # tokens on a side; of a longer text an excerpt is drawn, and says so
STEP = 16  # tokens by which an excerpt moves: a weight nearby leaves it where it is
MANY_KEYS = 60  # beyond, full colour is the head's own largest weight
LONGEST_LABEL = 14
MOVE_IT = "Another query or key moves the excerpt."


def whole_head_figure(
    head: WholeHead,
    queries: Text,
    keys: Text,
    query: int | None = None,
    key: int | None = None,
    *,
    caption: str = "",
    knob: bool = False,
) -> dict[str, Any]:
    """What the browser draws from, as plain values; matrices as little-endian float32 in base64, row by row.

    query, key: the weight that is marked, by default the largest. Rows are an excerpt of at most 64 queries around it;
    columns one of the keys, or with ``knob``, where the browser computes rows again at another scale, all keys, of
    which ``first`` and ``columns`` say the ones to draw. ValueError where texts and weights do not fit together.
    """
    shape = len(queries.tokens), len(keys.tokens)
    if head.weights.shape != shape:
        raise ValueError(f"weights of shape {head.weights.shape}, wanted {shape}: a row a query, a column a key")
    query, key = strongest(head.weights, query, key)
    rows, columns = (excerpt(length, at, MOST, STEP) for length, at in zip(shape, (query, key), strict=True))
    sent = slice(0, shape[1]) if knob else columns
    return {
        "caption": caption,
        "formula": formula_parts(head),
        "titles": titles(head),
        "rows": labels(queries, rows),
        "columns": labels(keys, columns),
        "first": columns.start - sent.start,
        "sent": sent.stop - sent.start,
        "headWidth": head.query.shape[1],
        "scale": head.scale,
        "scaleName": scale_name(head),
        "cap": head.cap,
        "full": float(head.weights.max()) or 1.0 if shape[1] > MANY_KEYS else 1.0,
        "matrices": matrices(head, rows, sent),
        "chosen": [query - rows.start, key - columns.start],
        "cut": f"{cut} {MOVE_IT}" if (cut := cut_note(rows, columns, shape)) else "",
        "knob": knob,
    }


def matrices(head: WholeHead, rows: slice, sent: slice) -> dict[str, str]:
    """The numbers of an excerpt."""
    cells = {name: getattr(head, name) for name in ("products", "bias", "scores", "weights")}
    return {
        **{name: base64_floats(getattr(head, name)[rows]) for name in ("query", "context")},
        **{name: base64_floats(getattr(head, name)[sent]) for name in ("key", "value")},
        **{name: base64_floats(cell[rows, sent]) for name, cell in cells.items() if cell is not None},
    }


def base64_floats(numbers: np.ndarray) -> str:
    """Float32 as base64: exact, and shorter than decimals."""
    return base64.b64encode(np.ascontiguousarray(numbers, "<f4").tobytes()).decode("ascii")


def labels(text: Text, places: slice) -> list[dict[str, Any]]:
    """One side's tokens and their positions, counted from 0."""
    return [
        {"text": visible(text.tokens[place], LONGEST_LABEL), "place": place}
        for place in range(places.start, places.stop)
    ]


def scale_name(head: WholeHead) -> str:
    """ "1/√16" where the scale is that of the paper, else the number."""
    width = head.query.shape[1]
    return f"1/√{width}" if math.isclose(head.scale, width**-0.5, rel_tol=1e-6) else decimal(head.scale, ".4g")


def titles(head: WholeHead) -> dict[str, str]:
    """The name above each matrix."""
    capped = ", capped" if head.cap is not None else ""
    return {
        "query": "Q",
        "key": "Kᵀ",
        "products": "QKᵀ",
        "mask": ("mask" if head.bias is None else "bias and mask") + (": none" if head.mask.all() else ""),
        "scores": f"scores: × {scale_name(head)}{' + bias' if head.bias is not None else ''}{capped}",
        "weights": "weights: softmax",
        "value": "V",
        "context": "context",
    }


def formula_parts(head: WholeHead) -> list[dict[str, str]]:
    """softmax(QKᵀ/√dₖ + mask) · V as this head has it, each piece with the matrix that it names; "" for none."""
    root = scale_name(head).startswith("1/√")
    scaled = " / √dₖ" if root else "" if head.scale == 1 else f" · {scale_name(head)}"
    biased = [(" + bias", "mask")] if head.bias is not None else []
    capped = [("cap(", "scores")] if head.cap is not None else []
    pieces = [
        *(("softmax(", "weights"), *capped, ("Q", "query"), ("Kᵀ", "key"), (scaled, "scores")),
        *biased,
        *([(")", "scores")] if capped else []),
        *((" + mask", "mask"), (")", "weights"), (" · ", ""), ("V", "value"), (" = ", ""), ("context", "context")),
    ]
    return [{"text": text, "part": part} for text, part in pieces]
