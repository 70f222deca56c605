"""Translate: which words does it look at while it produces text?"""

from functools import partial

import streamlit as st

import pages
from model import available_checkpoints
from pages.parts.computed import checkpoint_named
from pages.parts.downloads import Taken, downloads, files
from pages.parts.exploring import Attended, name_under, show_explorer, show_neighbours
from pages.parts.finding import show_finding
from pages.parts.productions import Produced, candidate_of, target_said
from pages.parts.state.selection import Selection
from pages.parts.state.session import address_notice, current, fit, remember, selected
from pages.parts.translated import HOW_TO_READ, show_alignment, show_forced, show_step, show_tree
from pages.parts.translating import Shown, produce, shown_of
from pages.parts.translation import CHECKPOINT, SENTENCES, Options
from pages.parts.translation_controls import choose_options, fitting, show_outcome
from viz.explorer.kinds import kinds_of
from viz.provenance import Provenance
from viz.tokens import markdown_text


def show() -> None:
    """The page, from top to bottom."""
    selection = selected()
    translators = available_checkpoints("encoder-decoder")
    others = [selection.checkpoint] if selection.checkpoint not in translators else []
    pages.show_bar(selection, translators, examples=SENTENCES)
    show_finding("Which words does it look at while it produces text?")
    pages.say_kept(selection)
    remember(selection)
    address_notice()
    if others:
        offer_translator(selection, translators)
        return
    with pages.plain_refusals():
        checkpoint = checkpoint_named(selection.checkpoint)
        choose_options(selection.of(Options))
        produce(selection, checkpoint, selection.of(Options))
        show_translation()


def offer_translator(selection: Selection, translators: list[str]) -> None:
    """Why there is nothing to see, and what to open instead."""
    st.info(
        markdown_text(
            f"{selection.checkpoint} does not translate: this page needs a checkpoint with an encoder that reads and a "
            "decoder that writes."
        )
    )
    if translators:
        pages.offer(CHECKPOINT if CHECKPOINT in translators else translators[0], "translate")


@st.fragment
def show_translation() -> None:
    """All that is of one translation; this alone runs when the explorer is used or a step is made."""
    selection = current()
    with pages.plain_refusals():
        produced, shown = translated(selection)
        selection = fitting(fit(selection, kinds_of(shown.trace)), shown, produced)
        address_notice()
        show_parts(selection, produced, shown)
    remember(selection)


def translated(selection: Selection) -> tuple[Produced, Shown]:
    """What decoding came to, and the pass over the one translation that is looked at."""
    checkpoint, options = checkpoint_named(selection.checkpoint), selection.of(Options)
    produced = produce(selection, checkpoint, options)
    return produced, shown_of(selection, checkpoint, candidate_of(produced, options))


def attended() -> Attended:
    """The three attentions of that pass."""
    _, shown = translated(current())
    kinds = kinds_of(shown.trace)
    return Attended(fit(current(), kinds), kinds, name_under(shown.key))


def taken(selection: Selection, produced: Produced, shown: Shown) -> Taken:
    """What files of the translation on the screen are made of."""
    options = selection.of(Options)
    target = target_said(selection, options, candidate_of(produced, options), stopped=produced.stopped)
    source = Provenance(checkpoint=selection.checkpoint, text=selection.text, target=target.text, target_by=target.by)
    return Taken(trace=shown.trace, view=selection.view, provenance=source, for_script={"target": target})


def show_parts(selection: Selection, produced: Produced, shown: Shown) -> None:
    """The translation, one step of it, the explorer, every token's probability, the alignment and the tree."""
    checkpoint, options = checkpoint_named(selection.checkpoint), selection.of(Options)
    show_outcome(selection, produced, shown)
    show_step(selection, checkpoint, produced, shown)
    pictures = Attended(selection, kinds_of(shown.trace), name_under(shown.key))
    with files():
        any_head = bool(selection.view.heads_on(pictures.kind.heads))
        downloads("translate", partial(taken, selection, produced, shown), any_head=any_head)
    show_explorer(pictures, attended)
    show_neighbours(pictures)
    st.markdown(f"**How to read this**\n{HOW_TO_READ}")
    show_forced(selection, checkpoint, shown)
    show_alignment(checkpoint, shown, options, taken(selection, produced, shown).provenance)
    if options.method == "beam":
        show_tree(produced, options)


pages.frame("translate")
show()
pages.settle("translate")
