"""The pass with the edit beside the one without, and the edit that is worth a try where nothing is edited yet."""

from dataclasses import dataclass

import numpy as np
import streamlit as st
import torch
from jaxtyping import Bool, Float

from model import Checkpoint, Edits
from model.edits import HeadSite, Overwrite
from model.edits.sites import SublayerSite
from model.measures.causes.ablation import each_attention, said_before
from model.measures.causes.answers import Said
from model.measures.causes.resumed_pass import attention_at, attention_sites
from model.measures.causes.sole_key import sole_key
from model.measures.edited_weights import head_mask, of_head, overwrites, with_head, without_weights
from model.measures.outcome import Outcome, outcome_of
from model.trace import AttentionTrace, Trace
from pages.parts.edit.kept_edits import edit_text
from pages.parts.lru_cache import LRUCache
from pages.parts.passes import trace_key, trace_of
from pages.parts.shared_cache import bytes_of, checkpoint_named, traces
from pages.parts.state.selection import Selection
from pages.parts.state.session import choices

SITES = {"encoder": ("encoder", "self"), "decoder": ("decoder", "self"), "cross": ("decoder", "cross")}
LARGEST_MODEL = 20_000_000  # parameters; of a larger one nothing is searched before the page is seen
MOST_TOKENS, MOST_WEIGHTS = 40, 128  # of a text that is searched; of the weights of a head that are tried
MOST_HEADS, PLAIN_TO_SEE = 8, 0.05  # of the heads that are tried; a change of probability after which no other is
TRIED_BYTES, SUGGESTION_BYTES = 1_000_000, 500
PLACE = frozenset({"layer", "head"})


@dataclass(frozen=True, kw_only=True, eq=False)
class EditedPass:
    """A text without and with its overwritten weights.

    others: the kept edits beside these, in effect in both passes. base: the weights of the head without what is
    overwritten in it. A decoder beside an encoder reads the same in both.
    """

    checkpoint: Checkpoint
    site: HeadSite
    edits: Edits
    others: Edits
    before: Trace
    after: Trace
    base: Float[np.ndarray, "query key"]
    outcome: Outcome

    @property
    def place(self) -> SublayerSite:
        return SublayerSite(self.site.stack, self.site.layer, self.site.attention)

    @property
    def attention(self) -> AttentionTrace:
        """That of the head, before."""
        return attention_at(self.before, self.place)

    @property
    def mask(self) -> Bool[np.ndarray, "query key"]:
        return head_mask(self.attention, self.site.head)

    @property
    def weights(self) -> Float[np.ndarray, "query key"]:
        """The head's weights with the edit."""
        return np.asarray(attention_at(self.after, self.place).weights[self.site.head])

    @property
    def is_edited(self) -> bool:
        return bool(self.edits.overwritten)

    @property
    def cells(self) -> frozenset[Overwrite]:
        """What is overwritten in the head."""
        return of_head(self.edits, self.site)


@dataclass(frozen=True, kw_only=True)
class Suggestion:
    """A head, and of it the weight that changes the answer most when its query looks at that key alone.

    change: of what is followed, between 0 and 1 where it is a probability.
    """

    site: HeadSite
    query: int
    key: int
    after: float
    change: float
    turned: bool


def edited_pass(selection: Selection, site: HeadSite) -> EditedPass:
    """Both passes. InputError where an edit has no place in this text."""
    checkpoint, edits = checkpoint_named(selection.checkpoint), Edits.from_text(edit_text(selection))
    others = without_weights(edits)
    before = trace_of(selection, others)
    rest = with_head(edits, site, frozenset())
    unedited = pass_with(selection, checkpoint, before, others, rest)
    place = SublayerSite(site.stack, site.layer, site.attention)
    return EditedPass(
        checkpoint=checkpoint,
        site=site,
        edits=edits,
        others=others,
        before=before,
        after=pass_with(selection, checkpoint, before, others, edits),
        base=np.asarray(attention_at(unedited, place).weights[site.head]),
        outcome=outcome_of(checkpoint, before),
    )


def pass_with(selection: Selection, checkpoint: Checkpoint, before: Trace, others: Edits, edits: Edits) -> Trace:
    """The pass over the same tokens with these edits."""
    if edits == others:
        return before
    key = ("edited", *trace_key(selection, others), edits)
    trace: Trace = traces().get(key, lambda: checkpoint.trace_again(before, edits), bytes_of)
    return trace


@st.cache_resource(show_spinner=False)
def suggestions() -> LRUCache:
    """Those of all visitors."""
    return LRUCache(TRIED_BYTES)


def site_of(selection: Selection) -> HeadSite:
    """The head that is edited: the chosen one, else one that has an edit, else the one that is suggested."""
    stack, kind = SITES[selection.view.attention]
    edits = Edits.from_text(edit_text(selection))
    edited = sorted(
        {cell.site for cell in edits.overwritten if (cell.site.stack, cell.site.attention) == (stack, kind)}
    )
    if not PLACE & set(choices()):
        if edited:
            return edited[0]
        if (suggestion := suggestion_of(selection)) is not None:
            return suggestion.site
    return HeadSite(stack, selection.view.layer, selection.head, kind)


def suggestion_of(selection: Selection) -> Suggestion | None:
    """The edit of one weight to try: of the chosen head, or of one that matters. None for a large model."""
    checkpoint = checkpoint_named(selection.checkpoint)
    others = without_weights(Edits.from_text(edit_text(selection)))
    before = trace_of(selection, others)
    if checkpoint.model.parameter_count() > LARGEST_MODEL or len(before.text_stack.ids) > MOST_TOKENS:
        return None
    stack, kind = SITES[selection.view.attention]
    chosen = HeadSite(stack, selection.view.layer, selection.head, kind) if PLACE & set(choices()) else None
    key = ("suggested", trace_key(selection, others), selection.view.attention, chosen)

    def search() -> tuple[Suggestion | None]:
        if chosen:
            return (best_weight(checkpoint, before, chosen, others),)
        best: Suggestion | None = None
        for site in by_importance(checkpoint, before, (stack, kind), others)[:MOST_HEADS]:
            tried = best_weight(checkpoint, before, site, others)
            best = max(filter(None, (best, tried)), key=strength, default=None)
            if best and strength(best) >= (False, PLAIN_TO_SEE):
                break
        return (best,)

    found: tuple[Suggestion | None] = suggestions().get(key, search, lambda _: SUGGESTION_BYTES)
    return found[0]


def strength(suggestion: Suggestion) -> tuple[bool, float]:
    """What one suggestion is better by than another: that the answer is another, then by how much it changes."""
    return suggestion.turned, suggestion.change


def by_importance(checkpoint: Checkpoint, before: Trace, attention: tuple[str, str], edits: Edits) -> list[HeadSite]:
    """The heads of an attention, that without which the answer changes most first."""
    sites = [site for site in attention_sites(before) if (site.stack, site.sublayer) == attention]
    own = answer_number(said_before(checkpoint, before, outcome_of(checkpoint, before)))
    changes = {
        HeadSite(site.stack, site.layer, head, site.sublayer): float(change)
        for site, said in each_attention(checkpoint, before, sites, edits=edits)
        for head, change in enumerate(np.abs(answer_number(said) - own))
    }
    return sorted(changes, key=lambda site: -changes[site])


def best_weight(checkpoint: Checkpoint, before: Trace, site: HeadSite, edits: Edits) -> Suggestion | None:
    """The weight of a head that changes the answer most when it is all of its row; None where no row has a choice."""
    attention = attention_at(before, SublayerSite(site.stack, site.layer, site.attention))
    mask = head_mask(attention, site.head)
    cells = [cell for cell in np.argwhere(mask).tolist() if mask[cell[0]].sum() > 1]
    order = sorted(cells, key=lambda cell: -float(attention.weights[site.head, cell[0], cell[1]]))[:MOST_WEIGHTS]
    if not order:
        return None
    said = sole_key(checkpoint, before, site, torch.tensor(order), edits=edits)
    own = answer_number(said_before(checkpoint, before, outcome_of(checkpoint, before)))
    changes = np.abs(answer_number(said) - own)
    best = int(changes.argmax())
    query, key = order[best]
    after, turned = float(answer_number(said)[best]), bool(said.turned[best])
    return Suggestion(site=site, query=query, key=key, after=after, change=float(changes[best]), turned=turned)


def answer_number(said: Said) -> Float[np.ndarray, "*passes"]:
    """What is followed: the answer's probability, or how far the last vectors moved where there is none."""
    return np.where(np.isfinite(said.probability), said.probability, np.nan_to_num(said.distance))


def suggested_edit(run: EditedPass, suggestion: Suggestion) -> str:
    """The edit that is suggested, beside the others."""
    wanted = np.array(run.base, np.float64)
    wanted[suggestion.query] = np.eye(wanted.shape[1])[suggestion.key]
    return with_head(run.edits, run.site, overwrites(run.site, run.base, wanted)).to_text()
