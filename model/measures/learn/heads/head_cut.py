"""The width cut into heads, as it should be and without the transpose: whose numbers stand where."""

import numpy as np
from jaxtyping import Float, Int


def joined_queries(query: Float[np.ndarray, "head position head_width"]) -> Float[np.ndarray, "position width"]:
    """The queries of all heads side by side, a row for each token: as they leave their projection."""
    return query.transpose(1, 0, 2).reshape(query.shape[1], -1)


def cut_into_heads(
    rows: Float[np.ndarray, "position width"], heads: int
) -> Float[np.ndarray, "head position head_width"]:
    """As it should be: every row is cut into heads, then heads and positions change places."""
    return rows.reshape(len(rows), heads, -1).transpose(1, 0, 2)


def viewed_as_heads(
    rows: Float[np.ndarray, "position width"], heads: int
) -> Float[np.ndarray, "head position head_width"]:
    """The same numbers read as (head, position, head_width) at once, without the transpose."""
    return rows.reshape(heads, len(rows), -1)


def origins(
    blocks: Float[np.ndarray, "head position head_width"], query: Float[np.ndarray, "head position head_width"]
) -> Int[np.ndarray, "head position 2"]:
    """Head and token of the real query whose numbers stand in every block; of equal ones the first.

    Found by comparing the numbers. KeyError for a block that is none of the queries.
    """
    places = {
        query[head, token].tobytes(): (head, token) for head, token in reversed(list(np.ndindex(query.shape[:2])))
    }
    return np.array([[places[block.tobytes()] for block in row] for row in blocks])


def tokens_read(sources: Int[np.ndarray, "head position 2"], head: int = 0) -> list[int]:
    """The tokens whose numbers one head holds, in the order of the text."""
    return sorted(set(sources[head, :, 1].tolist()))


def counts_to_guess(tokens: int, read: int, heads: int) -> list[int]:
    """Numbers of tokens among which to guess how many one head reads: the right one, and others that come to mind."""
    return sorted({count for count in (1, 2, read, tokens // 2, heads, tokens) if 1 <= count <= tokens})
