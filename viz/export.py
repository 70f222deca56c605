"""The exact weights as files: NPZ for everything, CSV for what is on the screen."""

import csv
import io
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

_STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def weights_npz(
    weights: Float[np.ndarray, "layer head query key"],
    tokens: Sequence[str],
    ids: Sequence[int],
    *,
    muted: Sequence[tuple[int, int]] = (),
) -> bytes:
    """An NPZ file: ``weights`` in float32, ``tokens``, ``ids`` and the ``muted`` (layer, head) pairs; no pickle.

    Raises ValueError where weights, tokens and ids do not fit each other.
    """
    _check(weights, 4, "(layer, head, query, key)", tokens)
    if len(ids) != len(tokens):
        raise ValueError(f"{len(ids)} ids came with {len(tokens)} tokens, wanted one id a token")
    file = io.BytesIO()
    np.savez_compressed(
        file,
        weights=np.asarray(weights, np.float32),
        tokens=np.array(tokens, dtype=np.str_),
        ids=np.asarray(ids, np.int64),
        muted=np.asarray(muted, np.int64).reshape(-1, 2),
    )
    return file.getvalue()


def weights_csv(
    weights: Float[np.ndarray, "head query key"], tokens: Sequence[str], *, layer: int, heads: Sequence[int]
) -> bytes:
    """One line for every (query, key), one column for every head in ``heads``; everything is counted from 0.

    Numbers are the shortest decimals that give the same float32 back. UTF-8 with a byte-order mark, which
    spreadsheets need to read it as UTF-8. Raises ValueError where the weights do not fit tokens or heads.
    """
    _check(weights, 3, "(head, query, key)", tokens)
    if not set(heads) <= set(range(len(weights))):
        raise ValueError(f"heads {list(heads)} came with {len(weights)} heads")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [f"layer_{layer}_head_{head}" for head in heads]
    writer.writerow(["query", "query_token", "key", "key_token", *names])
    cells = [cell(token) for token in tokens]
    for query, key in np.ndindex(weights.shape[1:]):
        writer.writerow([query, cells[query], key, cells[key], *map(str, weights[list(heads), query, key])])
    return text.getvalue().encode("utf-8-sig")


def cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula: one that could start a formula gets an apostrophe in front."""
    return f"'{text}" if text.startswith(_STARTS_A_FORMULA) else text


def _check(weights: np.ndarray, axes: int, names: str, tokens: Sequence[str]) -> None:
    if weights.ndim != axes or weights.shape[-2:] != (len(tokens), len(tokens)):
        raise ValueError(f"weights have shape {weights.shape}, wanted {names} with {len(tokens)} tokens")
