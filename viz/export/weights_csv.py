"""The weights of one head without and with what is overwritten, as CSV."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from viz.explorer.attention_kinds import Text
from viz.export.data_files import cell, csv_file
from viz.export.provenance import Provenance, facts_of

HEADER = ("query", "query_token", "key", "key_token", "weight_before", "weight_after", "overwritten_with")


def weights_csv(
    before: Float[np.ndarray, "query key"],
    after: Float[np.ndarray, "query key"],
    queries: Text,
    keys: Text,
    overwritten: Mapping[tuple[int, int], float],
    *,
    provenance: Provenance | None = None,
) -> bytes:
    """A line for every query and key, counted from 0; numbers are the shortest decimals that give the same float32.

    overwritten: the values by query and key; "" in the file where there is none. ValueError for other shapes.
    """
    shape = len(queries.tokens), len(keys.tokens)
    if before.shape != shape or after.shape != shape:
        raise ValueError(f"weights of shapes {before.shape} and {after.shape}, wanted {shape}")
    rows = [
        (
            query,
            cell(queries.tokens[query]),
            key,
            cell(keys.tokens[key]),
            str(before[query, key]),
            str(after[query, key]),
            repr(overwritten[query, key]) if (query, key) in overwritten else "",
        )
        for query, key in np.ndindex(*shape)
    ]
    return csv_file([HEADER], rows, facts=facts_of(provenance))
