"""Translate: which words does it look at while it produces text?"""

from dataclasses import replace

import streamlit as st

import pages
from model import available_checkpoints
from pages.parts.computed import checkpoint_named
from pages.parts.exploring import Attended, name_under, show_explorer, show_neighbours
from pages.parts.selection import (
    Selection,
    address_notice,
    changed,
    choose_checkpoint,
    current,
    fit,
    remember,
    selected,
    with_checkpoint,
    with_example,
)
from pages.parts.translated import HOW_TO_READ, show_alignment, show_forced, show_step, show_tree
from pages.parts.translating import Produced, Shown, candidate_of, produce, shown_of
from pages.parts.translation import SENTENCES, options_of
from pages.parts.translation_controls import choose_options, fitting, show_outcome
from viz.explorer.kinds import kinds_of
from viz.tokens import markdown_text

CHECKPOINT = "translate-en-fr"


def show() -> None:
    """The page, from top to bottom."""
    selection = with_checkpoint(with_example(selected(), SENTENCES[0]), CHECKPOINT)
    translators = available_checkpoints("encoder-decoder")
    others = [selection.checkpoint] if selection.checkpoint not in translators else []
    selection = selection if others else opening(selection)
    pages.strip(selection, [*translators, *others], examples=SENTENCES)
    st.title("Which words does it look at while it produces text?", anchor=False)
    pages.say_kept(selection)
    remember(selection)
    address_notice()
    if others:
        offer_translator(selection, translators)
        return
    with pages.plain_refusals():
        checkpoint = checkpoint_named(selection.checkpoint)
        choose_options(options_of(selection.translation))
        produce(selection, checkpoint, options_of(selection.translation))
        show_translation()


def opening(selection: Selection) -> Selection:
    """The selection as the page first shows it: on cross-attention, from where the visitor may go on to others."""
    options = options_of(selection.translation)
    if options.opened:
        return selection
    return changed(selection, attention="cross", translation=replace(options, opened=True).to_text())


def offer_translator(selection: Selection, translators: list[str]) -> None:
    """Why there is nothing to see, and what to open instead."""
    st.info(
        markdown_text(
            f"{selection.checkpoint} does not translate: this page needs a checkpoint with an encoder that reads and a "
            "decoder that writes."
        )
    )
    for name in translators[:1]:
        st.button(f"Open {markdown_text(name)}", key="translator", on_click=choose_checkpoint, args=(name,))


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
    checkpoint, options = checkpoint_named(selection.checkpoint), options_of(selection.translation)
    produced = produce(selection, checkpoint, options)
    return produced, shown_of(selection, checkpoint, candidate_of(produced, options))


def attended() -> Attended:
    """The three attentions of that pass."""
    _, shown = translated(current())
    kinds = kinds_of(shown.trace)
    return Attended(fit(current(), kinds), kinds, name_under(shown.key))


def show_parts(selection: Selection, produced: Produced, shown: Shown) -> None:
    """The translation, one step of it, the explorer, every token's probability, the alignment and the tree."""
    checkpoint, options = checkpoint_named(selection.checkpoint), options_of(selection.translation)
    show_outcome(selection, produced, shown)
    show_step(selection, checkpoint, produced, shown)
    pictures = Attended(selection, kinds_of(shown.trace), name_under(shown.key))
    show_explorer(pictures, attended)
    show_neighbours(pictures)
    st.markdown(f"**How to read this**\n{HOW_TO_READ}")
    show_forced(selection, checkpoint, shown)
    show_alignment(checkpoint, shown, options)
    if options.method == "beam":
        show_tree(produced, options)


pages.frame()
show()
pages.settle("translate")
