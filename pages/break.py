"""Break the formula: what is each part of it for?"""

# ruff: noqa: N999  (a page is run by its path, and the path is its address: nothing imports it)

import streamlit as st

import pages
from model import Edits
from pages.parts import bench, fresh, heads, padding, word
from pages.parts.break_settings import Broken
from pages.parts.breaking import show_experiment, take_experiment
from pages.parts.computed import checkpoint_named
from pages.parts.finding import show_finding
from pages.parts.passes import trace_of
from pages.parts.state.selection import Selection
from pages.parts.state.session import address_notice, fit, remember, selected
from pages.parts.subjects import GROUPS, group_of, short_name
from pages.parts.widgets.bound import radio
from viz.explorer.kinds import kinds_of

WHERE_HELP = (
    "In this text: the model runs twice, as it is and with a part of the formula changed. In fresh models: stacks and "
    "heads with random weights, for what a trained model has already overcome. By hand: small cases to work through."
)
SHOWN = {
    "heads": heads.show_heads,
    "word": word.show_word,
    "depth": fresh.show_depth,
    "spread": fresh.show_spread,
    "bench": bench.show_bench,
    "split": heads.show_split,
    "padding": padding.show_padding,
}


def show() -> None:
    """The page, from top to bottom."""
    selection = selected()
    pages.show_bar(selection)
    show_finding("What is each part of the formula for?")
    show_choice(selection)
    with pages.plain_refusals(), st.spinner("Running the model twice"):
        checkpoint = checkpoint_named(selection.checkpoint)
        before = trace_of(selection, Edits())
        kinds = kinds_of(before)
        selection = fit(selection, kinds)
        remember(selection)
        place = st.container()
        if selection.of(Broken).experiment in SHOWN:
            pages.say_kept(selection)
        SHOWN.get(selection.of(Broken).experiment, show_experiment)(selection, checkpoint, before, kinds)
        with place:
            address_notice()


def show_choice(selection: Selection) -> None:
    """First where, then what."""
    experiment = selection.of(Broken).experiment
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
pages.settle("break")
