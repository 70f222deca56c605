"""Mistakes: what do tutorials get wrong, and what does it do to this text?"""

import streamlit as st

import pages
from model import Checkpoint, Edits
from model.measures.learn.mistakes.catalogue import MISTAKES, usable
from model.measures.learn.mistakes.effect import MOST_TOKENS, Effect
from model.trace import Trace
from pages.parts.frame.downloads import share_bars
from pages.parts.frame.finding import picture, picture_alone, show_caveats, show_finding
from pages.parts.frame.page_links import page_link
from pages.parts.mistakes.check_yours import show_check_yours
from pages.parts.mistakes.mistake_effects import effect_of, greatest
from pages.parts.mistakes.mistake_picture import show_lines, show_picture
from pages.parts.mistakes.settings import MistakesSettings
from pages.parts.passes import provenance_of, trace_of
from pages.parts.shared_cache import checkpoint_named
from pages.parts.state.selection import Selection
from pages.parts.state.session import address_notice, choose, current_selection
from pages.parts.widgets.binding import select
from viz.text.learn import mistakes as words
from viz.tokens import markdown_text

QUESTION = "What do tutorials get wrong?"
FITTING = "sentiment"  # the checkpoint that shows every mistake
CHOSEN_HELP = (
    "Where none is chosen, the page opens on the mistake that moves the probability of the answer most. The wrong and "
    "the right lines run in the same pass with the same trained weights."
)
CHOICE_HELP = "Ten mistakes that tutorials of the Transformer make. Each runs on this text beside the right form."
LEARN = "Learn, twelve questions from the start"
LEARN_HELP = "Asks what each part is for, one question at a time, and answers on your own sentence."


def show() -> None:
    """The page, from top to bottom."""
    selection = current_selection()
    pages.show_bar(selection)
    with (
        pages.plain_refusals(),
        pages.question_above(QUESTION),
        st.spinner("Running the wrong lines and the right ones"),
    ):
        checkpoint, trace = checkpoint_named(selection.checkpoint), trace_of(selection, Edits())
        name = selection.of(MistakesSettings).mistake or greatest(checkpoint, trace)
        if name in usable(checkpoint.config):
            show_mistake(name, effect_of(name, checkpoint, trace), selection, checkpoint, trace)
        else:
            show_unfit(name, checkpoint)
        if not picture_alone():
            show_lines(name)
            show_check_yours(selection, checkpoint)
    if not picture_alone():
        page_link(LEARN, "learn", LEARN_HELP)


def show_mistake(name: str, effect: Effect, selection: Selection, checkpoint: Checkpoint, trace: Trace) -> None:
    """What it does to the text, and its picture."""
    labels = [markdown_text(label) for label in checkpoint.config.labels]
    title = words.title(words.WORDS[name], effect, labels)
    sentence = words.sentence(words.WORDS[name], effect, labels)
    show_finding(QUESTION, title, sentence, explained=CHOSEN_HELP)
    show_caveats(checkpoint, trace)
    if kept := words.first_tokens(MOST_TOKENS, len(trace.text_stack.ids)):
        st.caption(kept)
    if not picture_alone():
        choose_mistake(name, checkpoint)
    with picture():
        show_picture(name, effect, checkpoint, trace)
    address_notice()
    if not picture_alone():
        bars, foot = words.bars(words.WORDS[name], effect, checkpoint.config.labels)
        share_bars("mistakes", bars, foot, provenance_of(selection, checkpoint, Edits()))


def show_unfit(name: str, checkpoint: Checkpoint) -> None:
    """A mistake that does not show in a model of this kind, and one in which it does."""
    show_finding(QUESTION, "", words.UNFIT[name].format(model=markdown_text(checkpoint.label)))
    choose_mistake(name, checkpoint)
    address_notice()
    pages.offer(FITTING)


def choose_mistake(name: str, checkpoint: Checkpoint) -> None:
    """A list of all; those that the model cannot show are marked."""
    shown = usable(checkpoint.config)
    names = {each: words.WORDS[each].name + ("" if each in shown else words.NOT_HERE) for each in MISTAKES}
    looks = {
        "format_func": names.__getitem__,
        "label_visibility": "collapsed",
        "help": CHOICE_HELP,
        "filter_mode": None,
    }
    select("Mistake", list(names), name, take_mistake, key="mistake", width=420, **looks)


def take_mistake(name: str) -> None:
    choose(mistake=name)


pages.frame("mistakes")
show()
pages.freeze_imports("mistakes")
