"""How many of the heads does this sentence need? And what a width is when it is cut into heads."""

from typing import Any

import numpy as np
import streamlit as st

from model import Config, Edits
from model.attention import split
from model.measures.learn.heads.head_cut import (
    counts_to_guess,
    cut_into_heads,
    joined_queries,
    origins,
    tokens_read,
    viewed_as_heads,
)
from model.measures.learn.heads.head_effects import HeadEffects, head_effects, shares_of_heads
from pages.parts.frame.theme import theme
from pages.parts.learn.effects import answer_of, effects_of, unclear, why_no_effects
from pages.parts.learn.settings import OPENINGS, Path
from pages.parts.learn.stop import Door, Stop, StopQuestion
from pages.parts.passes import trace_key, trace_of
from pages.parts.state.selection import Selection
from pages.parts.state.session import choose
from pages.parts.widgets.binding import listed, radio
from pages.parts.widgets.charts import show_chart
from viz.charts.learn.heads.head_cut import head_cut_chart
from viz.charts.learn.heads.head_grid import head_grid
from viz.charts.learn.heads.muted_heads import muted_heads_chart
from viz.text.learn.stops import heads_needed as words

NAME = "How many heads does it need?"
VIEWED, CUT = range(2)


def ask_how_many(selection: Selection) -> StopQuestion:
    """How many heads are left when another answer wins."""
    if why_not := why_no_effects(selection):
        return unclear(NAME, selection, why_not)
    effects = effects_of(selection)
    names = words.words(effects, answer_of(selection, effects.outcome))
    if not effects.clear:
        return unclear(NAME, selection, words.TIE.format(**names))
    counts = shares_of_heads(len(effects.sites))
    needed = len(effects.sites) - effects.spare
    muted = muted_heads(effects, effects.spare)
    return StopQuestion(
        question=words.QUESTION.format(**names),
        setting=words.SETTING.format(**names),
        options=[words.range_name(each) for each in counts],
        right=frozenset(place for place, each in enumerate(counts) if needed in each),
        answer=words.answer(effects, names),
        sentence=words.sentence(effects, names),
        picture=lambda seen: show_muting(selection, effects, seen=seen),
        act=lambda: show_slider(selection, effects),
        door=door_of(selection, "explore", words.DOOR, words.DOOR_EXPLAINED, muted=muted),
    )


def muted_heads(effects: HeadEffects, count: int) -> frozenset[tuple[int, int]]:
    """Layer and head of the first so many, from the least important on."""
    sites = [effects.sites[place] for place in effects.order[:count]]
    return frozenset((site.layer, site.head) for site in sites)


def chosen_count(selection: Selection, effects: HeadEffects) -> int:
    """How many heads the knob mutes; as many as the answer bears where it says nothing."""
    knob = selection.of(Path).knob
    return next((count for count in range(len(effects.muted)) if str(count) == knob), effects.spare)


def show_muting(selection: Selection, effects: HeadEffects, *, seen: bool) -> None:
    """The answer against the number of muted heads, and which heads these are."""
    count = chosen_count(selection, effects) if seen else 0
    answer, key = answer_of(selection, effects.outcome), (trace_key(selection, Edits()), count, seen)
    left, right = st.columns([3, 2], gap="large")
    with left:
        title = words.plain(words.PROBABILITY, answer)
        show_chart(
            ("learn_muted", key),
            lambda: muted_heads_chart(effects.muted, effects.stays, count, title, hidden=not seen, theme=theme()),
            words.CURVE_ALT,
        )
    with right:
        show_chart(("learn_heads", key), lambda: grid_of(effects, count, seen=seen), words.GRID_ALT)
        st.caption(words.grid(answer, seen=seen))


def grid_of(effects: HeadEffects, count: int, *, seen: bool) -> Any:
    """All heads by what muting each alone changes."""
    return head_grid(effects.by_layer, muted_heads(effects, count), hidden=not seen, theme=theme())


def show_slider(selection: Selection, effects: HeadEffects) -> None:
    """The number of muted heads."""
    count, counts = chosen_count(selection, effects), range(len(effects.muted))
    st.slider(words.SLIDER, counts[0], counts[-1], **listed("heads_muted", counts, count, take))


def take(number: int) -> None:
    """Another number of heads, or the other code."""
    choose(knob=str(number))


def ask_about_cut(selection: Selection) -> StopQuestion:
    """How many tokens one head reads where the transpose is forgotten."""
    stack = trace_of(selection, Edits()).text_stack
    query = np.asarray(stack.blocks[0].self_attention.query)
    heads, count, head_width = query.shape
    if count == 1 or heads == 1:
        return unclear(NAME, selection, words.ONE_TOKEN if count == 1 else words.ONE_HEAD)
    wrong = origins(viewed_as_heads(joined_queries(query), heads), query)
    read, tokens = tokens_read(wrong), stack.names()
    names = words.cut_words(tokens, read, tuple(wrong[1, 0].tolist()), (heads, head_width))
    guesses = counts_to_guess(count, len(read), heads)
    return StopQuestion(
        question=words.CUT_QUESTION.format(**names),
        setting=words.CUT_SETTING.format(**names),
        options=[words.count_name(each, count) for each in guesses],
        right=frozenset({guesses.index(len(read))}),
        answer=words.cut_answer(read, names),
        sentence=words.CUT_SENTENCE.format(**names),
        picture=lambda seen: show_cut(selection, query, tokens, chosen_code(selection) if seen else CUT),
        act=lambda: show_codes(selection, names),
        door=door_of(selection, "break", words.CUT_DOOR, words.CUT_DOOR_EXPLAINED, experiment="split"),
    )


def chosen_code(selection: Selection) -> int:
    """Which code the knob names; the one without the transpose where it names none."""
    return CUT if selection.of(Path).knob == str(CUT) else VIEWED


def show_cut(selection: Selection, query: np.ndarray, tokens: tuple[str, ...], code: int) -> None:
    """Whose numbers each head holds at each position."""
    blocks = (viewed_as_heads, cut_into_heads)[code](joined_queries(query), len(query))
    show_chart(
        ("learn_cut", trace_key(selection, Edits()), code),
        lambda: head_cut_chart(origins(blocks, query), tokens, theme=theme()),
        words.CUT_ALT,
    )


def show_codes(selection: Selection, names: dict[str, str]) -> None:
    """The two ways to cut."""
    codes = [f"`{code.format(**names)}`" for code in words.CUT_CODES]
    radio(
        words.CUT_CHOICE, (VIEWED, CUT), chosen_code(selection), take, key="code_of_cut", format_func=codes.__getitem__
    )


def door_of(selection: Selection, page: str, label: str, explained: str, **changes: Any) -> Door:
    """A door that takes text and model along."""
    text = {"checkpoint": selection.checkpoint, "text": selection.text}
    return Door(page=page, label=label, explained=explained, changes=text | changes)


def can_answer(config: Config) -> bool:
    """Whether a model gives one answer that muted heads can change: a class, or a next token."""
    return bool(config.labels) or config.architecture == "decoder"


STOP = Stop(
    name=NAME,
    opening=OPENINGS["heads_needed"],
    can_use=can_answer,
    needs="a model that judges texts or continues them",
    rounds=(ask_how_many, ask_about_cut),
    code=(head_effects, split),
    paper=words.PAPER,
    leans_on_verdict=True,
)
