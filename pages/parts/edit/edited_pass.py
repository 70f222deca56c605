"""The pass with the edit beside the one without, and the edit that is worth a try where nothing is edited yet."""

from dataclasses import dataclass

import numpy as np
import streamlit as st
from jaxtyping import Bool, Float

from model import Checkpoint, Edits
from model.edits import HeadSite, Overwrite
from model.edits.sites import SublayerSite
from model.measures.causes.resumed_pass import attention_at
from model.measures.causes.strongest_weight import StrongestWeight, strongest_of_attention, strongest_of_head
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
MOST_TOKENS = 40  # of a text that is searched
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


def suggestion_of(selection: Selection) -> StrongestWeight | None:
    """The edit of one weight to try: of the chosen head, or of one that matters. None for a large model."""
    checkpoint = checkpoint_named(selection.checkpoint)
    others = without_weights(Edits.from_text(edit_text(selection)))
    before = trace_of(selection, others)
    if checkpoint.model.parameter_count() > LARGEST_MODEL or len(before.text_stack.ids) > MOST_TOKENS:
        return None
    stack, kind = SITES[selection.view.attention]
    chosen = HeadSite(stack, selection.view.layer, selection.head, kind) if PLACE & set(choices()) else None
    key = ("suggested", trace_key(selection, others), selection.view.attention, chosen)

    def search() -> tuple[StrongestWeight | None]:
        if chosen:
            return (strongest_of_head(checkpoint, before, chosen, edits=others),)
        return (strongest_of_attention(checkpoint, before, stack, kind, edits=others),)

    found: tuple[StrongestWeight | None] = suggestions().get(key, search, lambda _: SUGGESTION_BYTES)
    return found[0]


def suggested_edit(run: EditedPass, suggestion: StrongestWeight) -> str:
    """The edit that is suggested, beside the others."""
    wanted = np.array(run.base, np.float64)
    wanted[suggestion.query] = np.eye(wanted.shape[1])[suggestion.key]
    return with_head(run.edits, run.site, overwrites(run.site, run.base, wanted)).to_text()
