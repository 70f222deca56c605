"""The answer if one query of a head looked at one key alone: for every weight of the head, in one batch.

The context of the query is then that key's value. That is the pass in which the weight is overwritten with 1 and the
others of its row with 0; what lies before the attention is the same and is not computed again.
"""

from collections.abc import Iterator

import torch
from jaxtyping import Int
from torch import Tensor

from model.checkpoint import Checkpoint
from model.edits import NO_EDITS, Edits
from model.edits.sites import HeadSite, SublayerSite
from model.measures.causes.ablation import said
from model.measures.causes.answers import Said, joined
from model.measures.causes.resumed_pass import Contexts, attention_at
from model.measures.outcome import outcome_of
from model.scores import for_every_head
from model.trace import AttentionTrace, Trace

AT_ONCE = 64  # weights


def sole_key(
    checkpoint: Checkpoint,
    trace: Trace,
    site: HeadSite,
    cells: Int[Tensor, "cell 2"],
    *,
    edits: Edits = NO_EDITS,
) -> Said:
    """The answer where, of each cell (query, key), the query gives all its attention in this head to the key.

    trace: of this checkpoint, with ``edits``, which do not mute the head. ValueError for no cells.
    """
    place = SublayerSite(site.stack, site.layer, site.attention)
    attention, outcome = attention_at(trace, place), outcome_of(checkpoint, trace)
    return joined(
        said(checkpoint, trace, outcome, place, contexts, edits)
        for contexts in sole_contexts(attention, site.head, cells)
    )


def sole_contexts(attention: AttentionTrace, head: int, cells: Int[Tensor, "cell 2"]) -> Iterator[Contexts]:
    """A row for each cell, in which the query's context in the head is the key's value; some rows at a time."""
    value = for_every_head(attention.value, attention.query.shape[-3])[head]
    for part in cells.split(AT_ONCE):
        queries, keys = part.T
        contexts = attention.context.repeat(len(part), 1, 1, 1)
        contexts[torch.arange(len(part)), head, queries] = value[keys]
        yield contexts
