"""Translate: which words does it look at while it produces text?"""

from dataclasses import replace
from functools import partial

import streamlit as st

import pages
from model.measures.alignment import mean_of_reading
from model.measures.cross_attention_links import largest_of, most_looked_at
from model.measures.one_weight import STEPS
from pages.parts.explore.explorer_panel import ShownAttention, name_under, show_explorer, show_neighbours
from pages.parts.frame.downloads import Snapshot, downloads, files, of_heads, share
from pages.parts.frame.finding import picture, picture_alone, show_caveats, show_finding, show_limits
from pages.parts.frame.page_links import next_page_link, page_link
from pages.parts.models.catalogue import checkpoint_names, loaded_from
from pages.parts.shared_cache import checkpoint_named
from pages.parts.state.selection import Selection
from pages.parts.state.session import address_notice, current, current_selection, fit, remember, run_again
from pages.parts.translate.candidate_pass import ForcedPass, pass_over_candidate, produce
from pages.parts.translate.controls import fitting_selection, show_outcome
from pages.parts.translate.details import (
    EXPLORER_SAID,
    HOW_TO_READ,
    show_alignment,
    show_forced,
    show_step,
    show_tree,
)
from pages.parts.translate.productions import Production, candidate_of, candidate_target, production_key, productions
from pages.parts.translate.settings import Options
from pages.parts.translate.translation_opening import (
    QUESTION,
    WordLinks,
    linked_of,
    opening_options,
    show_link,
    show_walk,
    show_words,
    step_of,
)
from viz.explorer.attention_kinds import kinds_of
from viz.export.provenance import Provenance
from viz.text.translation_finding import how_chosen

INSIDE_HELP = "Shows every step from the words to this weight, with its numbers."


def show() -> None:
    """The page, from top to bottom."""
    selection = current_selection()
    translators = checkpoint_names("encoder-decoder")
    pages.show_bar(selection, translators)
    remember(selection)
    if selection.checkpoint not in translators:
        show_finding(QUESTION)
        pages.say_kept(selection)
        address_notice()
        pages.say_unfit("translate", selection.checkpoint)
        return
    with pages.plain_refusals(), pages.question_above(QUESTION):
        produce(selection, checkpoint_named(selection.checkpoint), selection.of(Options))
        show_translation()


@st.fragment
def show_translation() -> None:
    """All that is of one translation; this alone runs when the explorer is used or a step is made."""
    selection = current()
    if production_key(selection, selection.of(Options)) not in productions():
        run_again()  # the whole page: there what is produced is seen, and can be stopped
    with pages.plain_refusals(), pages.question_above(QUESTION):
        produced, forced_pass = production_and_pass(selection)
        selection = fitting_selection(fit(selection, kinds_of(forced_pass.trace)), forced_pass, produced)
        show_parts(selection, produced, forced_pass)
    remember(selection)


def production_and_pass(selection: Selection) -> tuple[Production, ForcedPass]:
    """What decoding came to, and the pass over the one translation that is looked at."""
    checkpoint, options = checkpoint_named(selection.checkpoint), selection.of(Options)
    produced = produce(selection, checkpoint, options)
    return produced, pass_over_candidate(selection, checkpoint, candidate_of(produced, options))


def shown_attention() -> ShownAttention:
    """The three attentions of that pass."""
    _, forced_pass = production_and_pass(current())
    kinds = kinds_of(forced_pass.trace)
    return ShownAttention(fit(current(), kinds), kinds, name_under(forced_pass.key))


def snapshot_of(selection: Selection, produced: Production, forced_pass: ForcedPass) -> Snapshot:
    """What files of the translation on the screen are made of."""
    options = selection.of(Options)
    target = candidate_target(selection, options, produced)
    source = Provenance(checkpoint=selection.checkpoint, text=selection.text, target=target.text, target_by=target.by)
    return Snapshot(
        trace=forced_pass.trace,
        view=selection.view,
        provenance=source,
        loads=loaded_from(selection.checkpoint),
        for_script={"target": target},
    )


def show_parts(selection: Selection, produced: Production, forced_pass: ForcedPass) -> None:
    """What was found, the picture, and what goes to another step; then everything else."""
    checkpoint = checkpoint_named(selection.checkpoint)
    linked = linked_of(checkpoint, forced_pass)
    chosen = selection.of(Options)
    options = opening_options(checkpoint, forced_pass, linked, chosen)
    step = step_of(selection, options, forced_pass)
    explained = how_chosen(word=chosen.step is None and step == options.step, heads=not chosen.reading)
    options = replace(options, step=step)
    show_link(checkpoint, linked, options, explained)
    show_caveats(checkpoint, forced_pass.trace)
    if picture_alone():
        with picture():
            show_words(linked, options)
        return
    left, right = st.columns([7, 3], gap="medium")
    with left, picture():
        show_words(linked, options)
    with right:
        show_walk(checkpoint, forced_pass, linked, options)
    show_below(selection, produced, forced_pass, linked, options)


def show_below(
    selection: Selection, produced: Production, forced_pass: ForcedPass, linked: WordLinks, options: Options
) -> None:
    """The translation, one step of it, the explorer, probabilities, alignment, tree."""
    checkpoint = checkpoint_named(selection.checkpoint)
    pages.say_kept(selection)
    address_notice()
    show_outcome(selection, produced, forced_pass)
    show_limits(checkpoint)
    st.markdown(f"**How to read this**\n{HOW_TO_READ}")
    show_step(selection, checkpoint, produced, forced_pass, options, linked.row(options.step or 0, options.moment))
    show_all(selection, produced, forced_pass, linked, options)
    show_forced(checkpoint, forced_pass)
    show_alignment(checkpoint, forced_pass, options, snapshot_of(selection, produced, forced_pass).provenance)
    if options.method == "beam":
        show_tree(produced, options)
    show_largest(linked, options)
    next_page_link("translate")


def show_all(
    selection: Selection, produced: Production, forced_pass: ForcedPass, linked: WordLinks, options: Options
) -> None:
    """Every head of the three attentions, and the files."""
    pictures = ShownAttention(selection, kinds_of(forced_pass.trace), name_under(forced_pass.key))
    st.subheader("Every head", anchor=False)
    st.markdown(EXPLORER_SAID)
    with files():
        any_head = bool(selection.view.heads_on(pictures.kind.heads))
        snapshot = snapshot_of(selection, produced, forced_pass)
        downloads("translate", lambda: snapshot, any_head=any_head, with_share=False)
        if options.place():  # the mean of all layers is no layer's picture
            share("translate", partial(snapshot_of_heads, snapshot, linked, options))
    show_explorer(pictures, shown_attention)
    show_neighbours(pictures)


def snapshot_of_heads(snapshot: Snapshot, linked: WordLinks, options: Options) -> Snapshot:
    """The heads that the title was read off, for the picture to share."""
    layer, *head = options.place()
    row = linked.row(options.step or 0, options.moment)
    link = None if row is None else most_looked_at(mean_of_reading(linked.weights, options.place())[row])
    key = None if link is None else link[0]
    return of_heads(snapshot, "cross", layer, head or None, row, key)


def show_largest(linked: WordLinks, options: Options) -> None:
    """Where the largest weight of this step comes from, on the page of one head."""
    row = linked.row(options.step or 0, options.moment)
    if row is None:
        return
    layer, head, key = largest_of(linked.weights, row, options.place())
    site = {"layer": layer, "head": head, "query": row, "key": key}
    page_link(
        "Inside: every step to the largest weight of this word",
        "inside",
        INSIDE_HELP,
        attention="cross",
        step=next(iter(STEPS)),
        **site,
    )


pages.frame("translate")
show()
pages.freeze_imports("translate")
