"""What the answer would be without each token of the text: Li et al. 2016, "Understanding Neural Networks through
Representation Erasure", section 3. The token is taken out of the text and those after it move up by one position.
"""

from collections.abc import Iterator
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from model.checkpoint import Checkpoint
from model.measures.causes.answers import Said, said_of
from model.measures.causes.resumed_pass import final_of_texts, rows_at_once
from model.measures.outcome import Outcome, outcome_of
from model.trace import Trace


def omissible(checkpoint: Checkpoint, trace: Trace) -> list[int]:
    """The positions of the text that can be taken out: no special token, not the mask, and never the only one."""
    source, outcome = trace.text_stack, outcome_of(checkpoint, trace)
    special = source.special if source.special is not None else (False,) * len(source.ids)
    kept = outcome.rows if outcome.kind == "masked" else ()
    return [] if len(source.ids) < 2 else [at for at, one in enumerate(special) if not one and at not in kept]


def leave_one_out(checkpoint: Checkpoint, trace: Trace) -> Iterator[tuple[list[int], Said]]:
    """Some positions, and what the passes without each of them say of the answer; all ``omissible`` ones, in order.

    A decoder beside an encoder reads what it read. trace: of this checkpoint, without edits. ValueError where the model
    gives no answer.
    """
    model, outcome, source = checkpoint.model, outcome_of(checkpoint, trace), trace.text_stack
    if outcome.kind == "stream":
        raise ValueError(f"{checkpoint.label} gives no answer for this text")
    segments = None if source.segments is None else torch.tensor(source.segments)
    for few in torch.tensor(omissible(checkpoint, trace), dtype=torch.long).split(rows_at_once(model, trace)):
        if not len(few):
            return
        others = torch.stack([torch.cat([torch.arange(at), torch.arange(at + 1, len(source.ids))]) for at in few])
        final = final_of_texts(model, trace, source.ids[others], None if segments is None else segments[others])
        yield few.tolist(), said_of(model, *read_of(outcome, trace, final, few.tolist()))


def read_of(
    outcome: Outcome, trace: Trace, final: Float[Tensor, "row position width"], left_out: list[int]
) -> tuple[Outcome, Trace, Float[Tensor, "row _ width"]]:
    """The outcome, the trace and the final states as ``said_of`` reads them, where the answer's row has moved up."""
    if outcome.kind not in ("next", "masked"):
        return outcome, trace, final
    (row,) = outcome.rows
    rows = torch.tensor([row - (at <= row) for at in left_out], device=final.device)
    return replace(outcome, rows=(0,)), trace, final[torch.arange(len(final), device=final.device), rows][:, None]
