"""What a pass says, as one number by which another pass over the same tokens can be compared with it."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from model.checkpoint import Checkpoint
from model.measures.comparison import stream_distances
from model.trace import Trace


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What is followed from one pass to another: answers of the first, and the rows of the logits that hold them.

    kind: "label", the class that was found most probable; "next", the token after the text; "masked", the word in
    place of the first mask; "output", the tokens that a decoder beside an encoder reads and the one that it would write
    next; "stream" where the model predicts nothing.
    """

    kind: str
    answers: tuple[int, ...] = ()
    rows: tuple[int, ...] = ()


def outcome_of(checkpoint: Checkpoint, trace: Trace) -> Outcome:
    """What the pass says, by the kind of its head."""
    masked = None if trace.encoder is None else checkpoint.tokenizer.first_masked(trace.encoder.ids.tolist())
    logits = rows_of(trace)
    if logits is None or (trace.decoder is None and not checkpoint.config.labels and masked is None):
        return Outcome(kind="stream")
    if trace.decoder is not None and trace.encoder is not None:
        read = trace.decoder.ids.tolist()
        return Outcome(kind="output", answers=(*read[1:], int(logits[-1].argmax())), rows=tuple(range(len(read))))
    row = masked if masked is not None and not checkpoint.config.labels else len(logits) - 1
    kind = "label" if checkpoint.config.labels else "next" if masked is None else "masked"
    return Outcome(kind=kind, answers=(int(logits[row].argmax()),), rows=(row,))


def rows_of(trace: Trace) -> Float[Tensor, "row answer"] | None:
    """The logits, one row where they are of labels."""
    return trace.logits if trace.logits is None or trace.logits.ndim == 2 else trace.logits[None]


def outcome_value(outcome: Outcome, before: Trace, after: Trace) -> float:
    """The probability of the outcome in the pass ``after``; of several tokens the mean of their probabilities.

    Of a "stream", the length of its difference from that of ``before`` after the last layer, as a share of its length.
    """
    logits = rows_of(after)
    if outcome.kind == "stream" or logits is None:
        first, second = (trace.output_stack.final for trace in (before, after))
        return float(stream_distances([first], [second])[0])
    probabilities = logits[list(outcome.rows)].double().softmax(dim=-1)
    return float(probabilities[torch.arange(len(outcome.rows)), list(outcome.answers)].mean())


def answers_otherwise(outcome: Outcome, after: Trace) -> bool:
    """Whether another answer is the most probable in the pass ``after``; of several, whether any is."""
    logits = rows_of(after)
    if outcome.kind == "stream" or logits is None:
        return False
    return logits[list(outcome.rows)].argmax(dim=-1).tolist() != list(outcome.answers)
