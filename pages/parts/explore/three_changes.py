"""Three changes to a text or to what heads may do, with what each does to the model's verdict."""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from model import Checkpoint, Edits, HiddenKey, InputError
from model.measures.head_statistics import most_attended_by_head
from pages.parts.ablations.experiments import ATTENTIONS
from pages.parts.explore.explorer_panel import ShownAttention
from pages.parts.explore.heads_worth_a_look import OpeningHead
from pages.parts.frame.page_links import page_link
from pages.parts.passes import edits_of, reads_typed, trace_key, trace_of
from pages.parts.prediction import change_of, no_prediction, verdict_of
from pages.parts.shared_cache import checkpoint_named
from pages.parts.state.selection import Selection
from pages.parts.state.session import changed_selection, choose, current, selection_after
from pages.parts.widgets.head_switches import muted_heads, with_mute
from viz.text import head_findings
from viz.text.swapped_halves import swapped_halves, word_span
from viz.text.swapped_spans import swapped_spans
from viz.tokens import markdown_text

MUTE_HELP = (
    "Sets this head's context, the weighted sum of the values, to zero before the layer's output projection. The "
    "other heads stay as they are."
)
UNMUTE_HELP = "Runs the model with this head again."
SWAP_HELP = (
    "Exchanges the parts of the text before and after the word “but” or a comma; the model then reads that text."
)
FORBID_HELP = (
    "Removes this token from the keys of every head in every layer of {attention}. The link opens this experiment on "
    "the page Break the formula, with both runs side by side."
)
ATTENTION_NAMES = {
    "encoder": "the encoder’s own attention",
    "decoder": "the decoder’s own attention",
    "cross": "the cross-attention",
}
SWAPPED = "_swapped"  # in the session: a text, and what it became when its halves were swapped
LONGEST = 100  # characters of a text under its button
MOST_DECODED = 64  # source tokens; a translation of more, made three times, would keep the page waiting
TOO_LONG = "Press to compute the result; a text of this length takes a while."
ALONE = "The text has no other token to look at."
NO_HALVES = "The text has no “but” and no comma between two halves."
SWAP_WORDS = " To swap two words, drag one onto the other."


def show_changes(attention: ShownAttention, opening: OpeningHead) -> None:
    """Three buttons side by side, each with its result, or once for all three why there is none."""
    selection = attention.selection
    checkpoint = checkpoint_named(selection.checkpoint)
    for place, show in zip(st.columns(3), (show_mute, show_swap, show_forbid), strict=True):
        with place, st.container(gap="xxsmall"):
            show(attention, opening, checkpoint)
    if reason := no_prediction(checkpoint, trace_of(selection, edits_of(selection, checkpoint))):
        st.caption(f"{markdown_text(reason)}. A change shows in the attention alone.")


def show_mute(attention: ShownAttention, opening: OpeningHead, checkpoint: Checkpoint) -> None:
    """The head of the picture muted, or given back."""
    selection, site = attention.selection, (opening.layer, opening.head)
    is_muted = site in muted_heads(selection)
    changes = with_mute(selection, site, attention.kind.heads, muted=not is_muted)
    changes |= {"layer": opening.layer, "head": opening.head}  # else the picture is of another head, and the button too
    label = "Unmute this head" if is_muted else "Mute this head"
    st.button(
        label,
        key="change_mute",
        help=UNMUTE_HELP if is_muted else MUTE_HELP,
        on_click=choose,
        kwargs=changes,
        width="stretch",
    )
    after = changed_selection(selection, **changes)
    say_result(attention, lambda: change(selection, checkpoint, after, edits_of(after, checkpoint)))
    st.caption("Do large weights mean that the head matters?")


def show_swap(attention: ShownAttention, opening: OpeningHead, checkpoint: Checkpoint) -> None:
    """The halves of the text in the other order."""
    selection, label = attention.selection, "Swap the halves"
    before, after_swap = st.session_state.get(SWAPPED, ("", None))
    if selection.text == after_swap:
        text, label, take = before, "Swap the halves back", partial(choose, text=before)
    else:
        text = swapped_halves(selection.text)
        take = partial(take_halves, selection.text, text or "")
    st.button(label, key="change_swap", help=SWAP_HELP, on_click=take, disabled=text is None, width="stretch")
    if text is None:
        st.caption(NO_HALVES + (SWAP_WORDS if len(attention.kind.keys.tokens) > 1 else ""))
        return
    after = selection_after(text=text)
    say_result(attention, lambda: swap_change(selection, checkpoint, after))
    st.caption(markdown_text(f"“{excerpt_of(text)}”"))


def take_halves(before: str, after: str) -> None:
    """Read the text with its halves in the other order. The one before is kept: a second swap may not give it back."""
    st.session_state[SWAPPED] = (before, after)
    choose(text=after)


def swap_change(selection: Selection, checkpoint: Checkpoint, after: Selection) -> str:
    """What the model says of this text, and of another; a typed target is of the first alone."""
    if reads_typed(selection):
        edits = edits_of(after, checkpoint)
        return cached_words(("said", trace_key(after, edits)), lambda: verdict_of(checkpoint, trace_of(after, edits)))
    return change(selection, checkpoint, after, edits_of(after, checkpoint))


def excerpt_of(text: str) -> str:
    """The text, or as much of its beginning as a few lines hold."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rsplit(maxsplit=1)[0]} …"


def show_forbid(attention: ShownAttention, opening: OpeningHead, checkpoint: Checkpoint) -> None:
    """The key that most is attended to, hidden from every head of this attention, as on the page that it leads to.

    That page mutes no head of this one's.
    """
    selection, kind = attention.selection, attention.kind
    key = key_of(attention, opening)
    name = markdown_text(head_findings.quoted_token(kind.keys, key))
    both = checkpoint.config.is_encoder_decoder
    attention_name = ATTENTION_NAMES[kind.name] if both else "the model"
    if len(kind.keys.tokens) == 1:
        st.button(f"Forbid looking at {name}", key="change_forbid", disabled=True, width="stretch")
        st.caption(ALONE)
        return
    explained = FORBID_HELP.format(attention=attention_name)
    page_link(f"Forbid looking at {name}", "break", explained, experiment="hide", key=key, layer=opening.layer)
    stack, sublayer = ATTENTIONS[kind.name]
    hidden = Edits(hidden=frozenset({HiddenKey(stack, key, sublayer)}))
    plain = changed_selection(selection, muted=frozenset(), mute=False)
    say_result(attention, lambda: change(plain, checkpoint, plain, hidden))
    where = f"No head of {attention_name}" if both else "No head"
    muted = " Measured with no head muted." if edits_of(selection, checkpoint).muted else ""
    st.caption(f"{where} may look at it. Does the model need it?{muted}")


def key_of(attention: ShownAttention, opening: OpeningHead) -> int:
    """The key that the finding is about, or else the one that its head attends to most; special ones come last."""
    if opening.finding is not None and opening.finding.key is not None:
        return opening.finding.key
    return most_attended_by_head(attention.kind.weights[opening.layer][opening.head], attention.kind.keys.special)


def change(selection: Selection, checkpoint: Checkpoint, after: Selection, edits: Edits) -> str:
    """What the model says now, and what it says after a change."""
    now, typed = edits_of(selection, checkpoint), reads_typed(selection)

    def compute() -> str:
        return change_of(checkpoint, trace_of(selection, now), trace_of(after, edits), typed=typed)

    return cached_words(("changed", trace_key(selection, now), trace_key(after, edits), typed), compute)


@st.cache_data(show_spinner=False, max_entries=256)
def cached_words(key: tuple[Any, ...], _compute: Callable[[], str]) -> str:
    """What was computed under a key. Only the words are kept: traces of a long text would push each other out."""
    return _compute()


def say_result(attention: ShownAttention, compute: Callable[[], str]) -> None:
    """The result, or why it was not computed."""
    if decodes_long(attention):
        st.markdown(TOO_LONG)
        return
    try:
        if words := compute():
            st.markdown(f"**{markdown_text(words)}**")
    except InputError as refusal:
        st.markdown(markdown_text(str(refusal)))


def decodes_long(attention: ShownAttention) -> bool:
    """Whether another pass would decode a long text again, one token after the other."""
    return "cross" in attention.kinds and len(attention.kinds["encoder"].keys.tokens) > MOST_DECODED


def swappable_side(attention: ShownAttention) -> str | None:
    """Which side of the picture is the text that was typed: "both", "columns", or None."""
    kind = attention.kind
    both_stacks = "encoder" in attention.kinds and "decoder" in attention.kinds
    if kind.name == "decoder" and both_stacks:
        return None
    return "both" if kind.queries is kind.keys else "columns"


def take_swap(one: int, other: int) -> None:
    """Exchange the words of two tokens in the text."""
    selection = current()
    checkpoint = checkpoint_named(selection.checkpoint)
    trace = trace_of(selection, edits_of(selection, checkpoint))
    read = trace.text_stack
    if read.spans is None:
        return
    spans = [None if read.segments and read.segments[place] else span for place, span in enumerate(read.spans)]
    places = [word_span(spans, read.words, place) for place in (one, other)]
    if None not in places and places[0] != places[1]:
        choose(text=swapped_spans(selection.text, *places))  # type: ignore[arg-type]
