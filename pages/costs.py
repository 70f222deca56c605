"""What it costs: how many parameters has a model, and what does a longer text cost?"""

from typing import Any

import pandas as pd
import streamlit as st
import torch

import pages
from model import Config
from model.measures.learn.sizes.costs import LENGTHS, parameter_bytes, read_record, weight_bytes
from model.measures.learn.sizes.parameters import groups_of, parameter_count
from pages.parts.costs.controls import choose_model, choose_sizes, choose_tokens
from pages.parts.costs.live import live_points, show_start
from pages.parts.costs.settings import OWN, Costs
from pages.parts.frame.finding import picture, picture_alone, show_finding
from pages.parts.frame.page_links import page_link
from pages.parts.frame.theme import theme
from pages.parts.shared_cache import config_of
from pages.parts.state.session import address_notice, current_selection
from pages.parts.widgets.charts import show_chart
from viz.charts.learn.recurrence.costs import memory_lines, parameter_bars, time_lines
from viz.text.learn import costs as words
from viz.tokens import markdown_text

QUESTION = "How large is a model, and what does a longer text cost?"
BARS = "Bars: the parameters of each kind of part, with their formula."
TIMES = "Lines: milliseconds of a forward pass and of a training step, from 16 to 1,024 tokens."
MEMORY = "Lines: megabytes of the attention weights and of the parameters, from 16 to 1,024 tokens."
TIME_EXPLAINED = (
    "Both axes double from line to line. A line that rises by one step for each step to the right doubles with the "
    "text; one that rises by two grows with its square. Short texts cost about the same, because starting each "
    "operation takes longer than the operation."
)
MEMORY_EXPLAINED = (
    "In training the weights of every layer are kept until the gradients are computed. Both axes are in powers of two: "
    "the weights grow with the square of the length, the parameters not at all."
)
LEARN_HELP = "Twelve questions about a sentence of yours, each with a guess before its answer."


def show() -> None:
    """The page, from top to bottom."""
    selection = current_selection()
    costs, own = selection.of(Costs), config_of(selection.checkpoint)
    counted, refusal = costs.countable(own)
    config = counted.config(own)
    typed = bool(counted.typed)
    name = markdown_text(words.subject(counted.preset, selection.checkpoint, typed=typed))
    show_finding(QUESTION, words.title(name, config), words.sentence(config, counted.preset, typed=typed))
    address_notice()
    if refusal:
        st.error(markdown_text(refusal))
    with picture():
        show_parameters(config)
    if picture_alone():
        return
    choose_model(selection)
    choose_sizes(costs, costs.base(own))
    show_formulas(config)
    show_lengths(counted, config, checkpoint=counted.preset == OWN and own is not None)
    show_times()
    page_link("Learn: twelve questions about one sentence", "learn", LEARN_HELP)


def show_parameters(config: Config) -> None:
    """A bar for every kind of part."""
    groups, total = groups_of(config), parameter_count(config)
    names = [words.group_name(group, config) for group in groups]
    labels = [words.group_label(group, total) for group in groups]
    marked = [place for place, group in enumerate(groups) if group.name == "embedding"]
    bars: tuple[Any, ...] = (names, list(map(words.formula, groups)), [group.total for group in groups], labels)
    show_chart(("costs", *bars), lambda: parameter_bars(*bars, marked=marked, theme=theme()), BARS)


def show_formulas(config: Config) -> None:
    """What the bars are the sum of, part by part."""
    lines = "\n".join(f"- {line}" for line in words.reading_lines(config))
    st.markdown(f"**How to read this**\n\n{lines}")
    st.markdown(markdown_text(words.symbols_line(config)))
    with st.expander("Every part, with its formula"):
        st.dataframe(pd.DataFrame(words.part_rows(config)), hide_index=True, height="content")


def show_lengths(costs: Costs, config: Config, *, checkpoint: bool) -> None:
    """What the square of the length comes to, by formulas alone."""
    st.header(words.attention_title(costs.tokens), anchor=False)
    choose_tokens(costs)
    limit = words.limit_sentence(config, costs.tokens, checkpoint=checkpoint)
    st.markdown(f"{words.attention_sentence(config, costs.tokens)} {limit}\n\n{words.memory_sentence(config)}")
    weights, parameters = [weight_bytes(config, tokens) for tokens in LENGTHS], parameter_bytes(config)
    st.markdown("**Memory, by the formulas**", help=MEMORY_EXPLAINED)
    show_chart(
        ("costs_memory", *weights, parameters),
        lambda: memory_lines(LENGTHS, weights, parameters, theme=theme()),
        MEMORY,
    )


def show_times() -> None:
    """How long it takes, as it was measured: before, and on a click."""
    record = read_record()
    st.header("How long it takes", anchor=False, help=TIME_EXPLAINED)
    st.markdown(f"{words.measured_model()}. {words.growth_sentence(record.points, live=False)}")
    show_start()
    live = live_points()
    if live:
        st.markdown(words.growth_sentence(live, live=True))
    show_chart(("costs_times", record.points, live), lambda: time_lines(record.points, live, theme=theme()), TIMES)
    st.caption(markdown_text(words.times_caption(record, torch.get_num_threads() if live else None)))
    with st.expander("The command that recorded this"):
        st.code(record.command, language=None, wrap_lines=True)


pages.frame("costs")
show()
pages.freeze_imports("costs")
