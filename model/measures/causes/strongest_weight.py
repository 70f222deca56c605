"""The edit of one weight that changes the answer most: its query looks at that key alone.

Tried are the largest weights of a head, or of the heads without which the answer changes most.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from model.checkpoint import Checkpoint
from model.edits import NO_EDITS, Edits, HeadSite
from model.edits.sites import SublayerSite
from model.measures.causes.ablation import each_attention, said_before
from model.measures.causes.answers import Said
from model.measures.causes.resumed_pass import attention_at, attention_sites
from model.measures.causes.sole_key import sole_key
from model.measures.edited_weights import head_mask
from model.measures.outcome import outcome_of
from model.trace import Trace

MOST_WEIGHTS, MOST_HEADS = 128, 8  # that are tried, of a head and of an attention
PLAIN_TO_SEE = 0.05  # a change of probability after which no further head is tried


@dataclass(frozen=True, kw_only=True)
class StrongestWeight:
    """A weight of a head, and what the answer is when its query looks at that key alone.

    after: what is followed, a probability, or how far the last vectors moved where there is none. change: of it.
    turned: whether the answer is another.
    """

    site: HeadSite
    query: int
    key: int
    after: float
    change: float
    turned: bool

    @property
    def is_plain(self) -> bool:
        """Whether nobody would overlook what it does."""
        return self.turned or self.change >= PLAIN_TO_SEE


def strongest_of_attention(
    checkpoint: Checkpoint, trace: Trace, stack: str, kind: str, *, edits: Edits = NO_EDITS
) -> StrongestWeight | None:
    """Of the heads of an attention, those that matter most first, until one's change is plain to see.

    kind: "self" or "cross". trace: of this checkpoint, with ``edits``. None where no query has a choice of keys.
    """
    best: StrongestWeight | None = None
    for site in heads_by_importance(checkpoint, trace, stack, kind, edits=edits)[:MOST_HEADS]:
        found = strongest_of_head(checkpoint, trace, site, edits=edits)
        if found and (best is None or (found.turned, found.change) > (best.turned, best.change)):
            best = found
        if best and best.is_plain:
            break
    return best


def heads_by_importance(
    checkpoint: Checkpoint, trace: Trace, stack: str, kind: str, *, edits: Edits = NO_EDITS
) -> list[HeadSite]:
    """The heads of an attention, that without which the answer changes most first."""
    sites = [site for site in attention_sites(trace) if (site.stack, site.sublayer) == (stack, kind)]
    own = followed(said_before(checkpoint, trace, outcome_of(checkpoint, trace)))
    changes = {
        HeadSite(stack, site.layer, head, kind): float(change)
        for site, said in each_attention(checkpoint, trace, sites, edits=edits)
        for head, change in enumerate(np.abs(followed(said) - own))
    }
    return sorted(changes, key=lambda site: -changes[site])


def strongest_of_head(
    checkpoint: Checkpoint, trace: Trace, site: HeadSite, *, edits: Edits = NO_EDITS
) -> StrongestWeight | None:
    """Of the largest weights of a head; None where no query has a choice of keys."""
    attention = attention_at(trace, SublayerSite(site.stack, site.layer, site.attention))
    mask = head_mask(attention, site.head)
    cells = [cell for cell in np.argwhere(mask).tolist() if mask[cell[0]].sum() > 1]
    order = sorted(cells, key=lambda cell: -float(attention.weights[site.head, cell[0], cell[1]]))[:MOST_WEIGHTS]
    if not order:
        return None
    said = sole_key(checkpoint, trace, site, torch.tensor(order), edits=edits)
    own = followed(said_before(checkpoint, trace, outcome_of(checkpoint, trace)))
    changes = np.abs(followed(said) - own)
    best = int(changes.argmax())
    query, key = order[best]
    after, turned = float(followed(said)[best]), bool(said.turned[best])
    return StrongestWeight(site=site, query=query, key=key, after=after, change=float(changes[best]), turned=turned)


def followed(said: Said) -> Float[np.ndarray, "*passes"]:
    """The answer's probability, or how far the last vectors moved where there is none."""
    return np.where(np.isfinite(said.probability), said.probability, np.nan_to_num(said.distance))
