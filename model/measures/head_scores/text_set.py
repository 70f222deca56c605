"""Every kind of head over a set of texts, one trace in memory at a time."""

from collections.abc import Callable, Iterable, Iterator

from model.checkpoint import Checkpoint
from model.errors import InputError
from model.measures.head_kinds import sides_of
from model.measures.head_scores.kind_sums import SumsByAttention, added, kind_sums
from model.measures.positions.shuffled_order import shuffled_weights
from model.trace import StackTrace, Trace

SHUFFLES = 2  # of each text: many texts make up for few orders of each


def attentions(trace: Trace) -> dict[str, tuple[StackTrace, bool]]:
    """The attentions of a trace: each with the stack of its queries and whether it is cross-attention."""
    stacks = {"encoder": (trace.encoder, False), "decoder": (trace.decoder, False)}
    if trace.encoder is not None and trace.decoder is not None:
        stacks["cross"] = (trace.decoder, True)
    return {name: (stack, cross) for name, (stack, cross) in stacks.items() if stack is not None}


def sums_of_trace(checkpoint: Checkpoint, trace: Trace, text: int) -> SumsByAttention:
    """What one text adds to every kind of every attention."""
    sums = {}
    for name, (stack, cross) in attentions(trace).items():
        weights = (stack.cross_weights() if cross else stack.weights()).numpy()
        shuffles = list(shuffled_weights(checkpoint, trace, name, count=SHUFFLES))
        sums[name] = kind_sums(weights, sides_of(trace, name), shuffles, text, stack.names())
    return sums


def measured_texts(
    checkpoint: Checkpoint,
    texts: Iterable[tuple[int, str]],
    *,
    stopped: Callable[[], bool] = lambda: False,
) -> Iterator[SumsByAttention]:
    """The sums so far, after each of these numbered texts.

    A text of which nothing can be measured, as one without any token, is passed over. ``stopped`` is asked before each.
    """
    totals: SumsByAttention = {}
    for number, text in texts:
        if stopped():
            return
        try:
            trace = checkpoint.trace(text, logits=False)
        except InputError:
            continue
        totals = added(totals, sums_of_trace(checkpoint, trace, number))
        yield totals
