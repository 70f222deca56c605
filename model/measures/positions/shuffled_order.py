"""The same tokens in another order: what tells a head that looks for a word from one that looks at a place."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from model.checkpoint import Checkpoint
from model.edits import NO_EDITS, Edits
from model.trace import StackTrace, Trace
from model.tracing.forward_pass import on_cpu

MOST, FEWEST = 8, 2  # shuffles
TOKENS = 1024  # of all shuffles together; of a long text each says more, and costs more
TOGETHER = 512  # tokens in one pass


def shuffled_ids(ids: Sequence[int], special: Sequence[bool] | None, seed: int) -> tuple[int, ...]:
    """The ids in another order, the special ones where they were: no other token keeps its place.

    The order is one of all cyclic permutations, each as probable as any other (Sattolo 1986): a token that stayed
    would be counted for the null. Where fewer than two tokens are not special, the ids come back as they are.
    """
    result = np.array(ids, np.int64)
    places = np.flatnonzero(~np.array(special, bool)) if special is not None else np.arange(len(result))
    order = np.random.default_rng(seed).permutation(places)
    result[order] = result[np.roll(order, 1)]
    return tuple(map(int, result))


def shuffle_count(length: int) -> int:
    """How many shuffles a text of so many tokens is measured against: 8 up to 128 tokens, 2 from 512."""
    return min(MOST, max(FEWEST, TOKENS // length))


def shuffled_weights(
    checkpoint: Checkpoint, trace: Trace, attention: str, edits: Edits = NO_EDITS, count: int | None = None
) -> Iterator[Float[np.ndarray, "layer head query key"]]:
    """The weights of one attention ("encoder", "decoder" or "cross") in shuffles of a trace's text, one by one.

    Shuffled is the text that the keys come from; in cross-attention the decoder reads what it read before. Long texts
    are computed when they are asked for, so that no two are in memory together. Nothing comes where no order is
    another one. count: how many shuffles; None: ``shuffle_count``.
    """
    keys = trace.decoder if attention == "decoder" else trace.encoder
    assert keys is not None
    ids = tuple(keys.ids.tolist())
    count = shuffle_count(len(ids)) if count is None else count
    orders = [order for seed in range(count) if (order := shuffled_ids(ids, keys.special, seed)) != ids]
    size = max(1, TOGETHER // len(ids))
    for start in range(0, len(orders), size):
        rows = torch.tensor(orders[start : start + size], device=checkpoint.device)
        with torch.no_grad():
            stack = shuffled_stack(checkpoint, trace, attention, rows, edits)
        weights = on_cpu(stack.cross_weights() if attention == "cross" else stack.weights())
        yield from (weights[:, row].numpy() for row in range(len(rows)))


def shuffled_stack(
    checkpoint: Checkpoint, trace: Trace, attention: str, rows: Int[Tensor, "order position"], edits: Edits
) -> StackTrace:
    """The stack with this attention for the text in several orders; the other text, where there is one, as it was."""
    model, source = checkpoint.model, trace.encoder
    if attention == "decoder":
        memory = None if source is None else source.final.to(rows.device).expand(len(rows), -1, -1)
        return model.decode(rows, memory=memory, edits=edits)
    assert source is not None
    two = checkpoint.config.segments > 1 and source.segments is not None
    segments = torch.tensor(source.segments, device=rows.device).expand_as(rows) if two else None
    encoder = model.encode(rows, segments=segments, edits=edits)
    if attention == "encoder":
        return encoder
    assert trace.decoder is not None
    target = trace.decoder.ids.to(rows.device).expand(len(rows), -1)
    return model.decode(target, memory=encoder.final, edits=edits)
