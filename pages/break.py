"""Break the formula: what is each part of it for?"""

# ruff: noqa: N999  (a page is run by its path, and the path is its address: nothing imports it)

from dataclasses import replace
from functools import partial

import streamlit as st

import pages
from model import Edits
from pages.parts.ablations import attention_by_hand, head_split, padding, untrained_stacks, word_in_two_texts
from pages.parts.ablations.effect_sentences import (
    bars,
    bars_legend,
    box_legend,
    finding,
    how_chosen,
    unmoved_sentence,
)
from pages.parts.ablations.experiment_runs import place_of, show_experiment, take_experiment
from pages.parts.ablations.experiments import EXPERIMENTS
from pages.parts.ablations.part_effects import AT_ONCE, Board, board_of, longest
from pages.parts.ablations.settings import AblationSettings
from pages.parts.ablations.subjects import GROUPS, group_of, short_name
from pages.parts.frame.downloads import share_bars
from pages.parts.frame.finding import picture, picture_alone, show_caveats, show_finding
from pages.parts.frame.page_links import next_page_link
from pages.parts.passes import provenance_of, trace_of
from pages.parts.shared_cache import checkpoint_named
from pages.parts.state.selection import Selection
from pages.parts.state.session import (
    address_notice,
    changed_selection,
    choices,
    current,
    current_selection,
    fit,
    remember,
    run_again,
    take_back,
)
from pages.parts.widgets.binding import radio
from pages.parts.widgets.head_switches import muted_heads
from pages.parts.widgets.switchboard import switchboard
from viz.explorer.attention_kinds import kinds_of
from viz.formula import with_switches

QUESTION = "What is each part of the formula for?"
HOW_TO_READ = (
    "Press a part in a box to run the model without it, or an other change to run it with that; the result stands "
    "below. Press it again to take that back. {}A box gives {}."
)
DASHED = "Until you press one, the result is that of the dashed box, the part that changes the answer most. "
WHERE_HELP = (
    "In this text: the model runs twice, unchanged and with one part of the formula changed. In fresh models: stacks "
    "and heads with random weights show effects that a trained model has already overcome. By hand: small cases to "
    "work through."
)
NONE_MUTED = "This page mutes no head; heads that are muted on other pages stay muted there."
MEASURING = "Taking out the parts one by one, {left} to go. Then the page opens on the part that matters most."
SUBJECT_VIEWS = {
    "heads": head_split.show_heads,
    "word": word_in_two_texts.show_word,
    "depth": untrained_stacks.show_depth,
    "spread": untrained_stacks.show_spread,
    "bench": attention_by_hand.show_bench,
    "split": head_split.show_split,
    "padding": padding.show_padding,
}


def show() -> None:
    """The page, from top to bottom."""
    selection = current_selection()
    pages.show_bar(selection)
    top, board = st.container(), None
    with pages.plain_refusals(), st.spinner("Taking out every part"):
        selection, board = measured_board(selection)
        remember(selection)
    with top:
        title, sentence = finding(board, pressed_part()) if board else ("", "")
        show_finding(QUESTION, title, sentence, explained=how_chosen(board) if board else None)
        if board:
            show_caveats(checkpoint_named(selection.checkpoint), trace_of(selection, Edits()))
        if muted_heads(selection):
            st.caption(NONE_MUTED)
    if board is not None:
        show_board(board)
    if picture_alone():
        return
    if board is None or selection.of(AblationSettings).experiment:
        show_choice(selection)
    place = st.container()
    if board is not None:
        with pages.plain_refusals():
            show_chosen(selection, board)
            share_board(selection, board)
            show_next()
    with place:
        address_notice()


def pressed_part() -> str:
    """The experiment that a visitor has chosen; "" where the page opens on what matters most."""
    return str(choices().get("experiment", ""))


def press(name: str) -> None:
    """Take a part out; pressed again, it is back, and the page shows what matters most."""
    if name == pressed_part():
        take_back("experiment")
    else:
        take_experiment(name)


def measured_board(selection: Selection) -> tuple[Selection, Board]:
    """The formula with its parts measured, and the selection with the part that matters most where none was chosen."""
    checkpoint, before = checkpoint_named(selection.checkpoint), trace_of(selection, Edits())
    kinds = kinds_of(before)
    selection = fit(selection, kinds)
    board = board_of(
        selection, checkpoint, before, place_of(selection, kinds), at_most=None if longest(before) <= AT_ONCE else 1
    )
    if not selection.of(AblationSettings).experiment and not board.pending:
        selection = changed_selection(selection, experiment=board.most() or next(iter(EXPERIMENTS)))
    return selection, board


def show_board(board: Board) -> None:
    """The formula; while parts are not measured, again and again, each time with one more of them."""
    chosen = current().of(AblationSettings).experiment
    with picture():
        if board.pending:
            fill(chosen)
        else:
            draw(board, chosen)
    if not picture_alone():
        st.markdown(HOW_TO_READ.format("" if pressed_part() else DASHED, box_legend(board)))


@st.fragment
def fill(chosen: str) -> None:
    """One part more; this alone runs, each time that the browser has drawn it. chosen: what the page shows below."""
    selection, board = measured_board(current())
    if not board.pending or selection.of(AblationSettings).experiment != chosen:
        run_again()
    rounds = st.session_state["_rounds"] = st.session_state.get("_rounds", 0) + 1
    draw(board, chosen, pending=rounds)
    st.markdown(MEASURING.format(left=len(board.pending)))


def draw(board: Board, chosen: str, *, pending: int = 0) -> None:
    """The formula with its switches."""
    groups = with_switches(board.groups, board.switches(chosen and pressed_part()))
    switchboard(groups, press, key="formula", parts=EXPERIMENTS, pending=pending)


def show_chosen(selection: Selection, board: Board) -> None:
    """The experiment that is chosen, or the part that matters most; nothing while that is not known."""
    experiment = selection.of(AblationSettings).experiment
    if not experiment:
        return
    checkpoint, before = checkpoint_named(selection.checkpoint), trace_of(selection, Edits())
    if experiment in SUBJECT_VIEWS:
        pages.say_kept(selection)
        SUBJECT_VIEWS[experiment](selection, checkpoint, before, kinds_of(before))
    else:
        still = partial(unmoved_sentence, board, experiment)
        show_experiment(selection, checkpoint, before, kinds_of(before), still)


def share_board(selection: Selection, board: Board) -> None:
    """The picture to share, once every part is measured."""
    if board.most():
        edits = Edits.from_text(selection.edits)
        source = provenance_of(selection, checkpoint_named(selection.checkpoint), Edits())
        share_bars("break", bars(board), bars_legend(board), replace(source, edits=edits))


def show_next() -> None:
    """The next page, which is not told of an experiment that nobody chose."""
    unchosen = {} if "experiment" in choices() else {"experiment": ""}
    next_page_link("break", **unchosen)


def show_choice(selection: Selection) -> None:
    """First where, then what."""
    experiment = selection.of(AblationSettings).experiment or next(iter(EXPERIMENTS))
    group = group_of(experiment)
    radio("Where", list(GROUPS), group, take_group, key="group", help=WHERE_HELP)
    radio(
        "Take out, change, or measure",
        GROUPS[group],
        experiment,
        take_experiment,
        key="experiment",
        format_func=short_name,
    )


def take_group(group: str) -> None:
    """The first experiment of another group."""
    take_experiment(GROUPS[group][0])


pages.frame("break")
show()
pages.freeze_imports("break")
