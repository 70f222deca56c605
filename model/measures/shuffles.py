"""The same tokens in another order: what tells a head that looks for a word from one that looks at a place."""

from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Float

from model.checkpoint import Checkpoint
from model.edits import NO_EDITS, Edits
from model.trace import StackTrace, Trace

SHUFFLES = 8  # more than these change a mean by a percent or two, and each costs a pass


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


def shuffled_weights(
    checkpoint: Checkpoint, trace: Trace, attention: str, edits: Edits = NO_EDITS, count: int = SHUFFLES
) -> Iterator[Float[np.ndarray, "layer head query key"]]:
    """The weights of one attention ("encoder", "decoder" or "cross") in ``count`` shuffles of a trace's text.

    Shuffled is the text that the keys come from; in cross-attention the decoder reads what it read before. Each is
    traced when it is asked for, so that no two are in memory together. Nothing comes where no order is another one.
    """
    keys = trace.encoder if attention in ("encoder", "cross") else trace.decoder
    assert keys is not None
    ids = keys.ids.tolist()
    orders = [shuffled_ids(ids, keys.special, seed) for seed in range(count)]
    for order in orders:
        if list(order) != ids:
            yield weights_of(traced_again(checkpoint, trace, keys, order, edits), attention)


def traced_again(
    checkpoint: Checkpoint, trace: Trace, keys: StackTrace, order: tuple[int, ...], edits: Edits
) -> Trace:
    """The trace of the text in this order, with the other text, where there is one, as it was."""
    source, target = trace.encoder, trace.decoder
    if source is not None and target is not None:
        given = source.ids.tolist(), target.ids.tolist()
        ids, target_ids = (order, given[1]) if keys is source else (given[0], order)
        return checkpoint.trace_ids(ids, target_ids, edits=edits, logits=False)
    types = keys.segments if checkpoint.config.segments > 1 else None
    return checkpoint.trace_ids(order, type_ids=types, edits=edits, logits=False)


def weights_of(trace: Trace, attention: str) -> Float[np.ndarray, "layer head query key"]:
    """The weights of all layers of one attention of a trace."""
    stack = trace.encoder if attention == "encoder" else trace.decoder
    assert stack is not None
    return np.asarray(stack.cross_weights() if attention == "cross" else stack.weights())
