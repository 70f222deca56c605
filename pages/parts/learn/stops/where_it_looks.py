"""Where does it look? One row of one head."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from model import Edits
from model.attention import scaled_dot_product_attention
from model.measures.learn.heads.clear_row import ClearRow, at_query, clear_row, whole_words
from pages.parts.frame.theme import theme
from pages.parts.learn.settings import OPENINGS, Path
from pages.parts.learn.stop import Door, Stop, StopQuestion
from pages.parts.passes import trace_key, trace_of
from pages.parts.state.selection import Selection
from pages.parts.state.session import choose
from pages.parts.widgets.binding import radio, select
from pages.parts.widgets.charts import show_chart
from viz.charts.learn.heads.row import row_chart
from viz.explorer.attention_kinds import Kind, kinds_of
from viz.text.learn.stops import where_it_looks as words
from viz.tokens import position_name

MOST_BUTTONS = 12  # words that stand side by side; more are a list


def ask(selection: Selection) -> StopQuestion:
    """Which key gets most of a row."""
    kind = next(iter(kinds_of(trace_of(selection, Edits())).values()))
    places = whole_words(kind.keys.tokens, kind.keys.words, kind.keys.special)
    row = opening_row(trace_key(selection, Edits()), kind, places)
    if row is None or not row.clear:
        return unclear(selection, words.ALONE if row is None else words.UNCLEAR)
    named, options = words.words(row, kind), sorted((row.key, *row.others))
    chosen = chosen_row(selection, kind, places, row)
    return StopQuestion(
        question=words.QUESTION.format(**named),
        setting=words.SETTING.format(**named),
        options=words.option_names(row, kind, options),
        right=frozenset({options.index(row.key)}),
        answer=words.ANSWER.format(**named),
        sentence=words.SENTENCE.format(**named),
        picture=lambda seen: show_row(selection, kind, chosen if seen else row, seen=seen),
        act=lambda: show_words(kind, places, row, chosen),
        door=door_of(selection, kind, row),
    )


@st.cache_data(show_spinner=False, max_entries=64)
def opening_row(key: tuple[Any, ...], _kind: Kind, _places: Sequence[int]) -> ClearRow | None:
    """The row to ask about; the key decides all numbers."""
    return clear_row(np.stack(_kind.weights), _kind.keys.tokens, _places, causal=_kind.causal)


def chosen_row(selection: Selection, kind: Kind, places: Sequence[int], row: ClearRow) -> ClearRow:
    """The row of the word that the knob names, in the same head; the one that was asked about where it names none."""
    knob = selection.of(Path).knob
    place = next((place for place in places if str(place) == knob), row.query)
    return at_query(row, np.stack(kind.weights), place)


def unclear(selection: Selection, why: str) -> StopQuestion:
    """Nothing to guess."""
    return StopQuestion(
        question=STOP.name,
        setting="",
        options=(),
        right=frozenset(),
        answer="",
        sentence="",
        picture=lambda seen: None,
        door=Door(page="explore", label="All heads of this text", explained=words.EXPLORE_EXPLAINED),
        unclear=why,
    )


def door_of(selection: Selection, kind: Kind, row: ClearRow) -> Door:
    """Every step to the weight that was asked about."""
    text = {"checkpoint": selection.checkpoint, "text": selection.text}
    place = {"attention": kind.name, "layer": row.layer, "head": row.head, "query": row.query, "key": row.key}
    return Door(page="inside", label=words.DOOR, explained=words.DOOR_EXPLAINED, changes=text | place)


def show_row(selection: Selection, kind: Kind, row: ClearRow, *, seen: bool) -> None:
    """The row, or its words alone."""
    show_chart(
        ("learn_row", trace_key(selection, Edits()), row.layer, row.head, row.query, seen),
        lambda: row_chart(
            kind.keys.tokens, row.weights, row.query, key=row.key if seen else None, hidden=not seen, theme=theme()
        ),
        words.ALT,
    )


def show_words(kind: Kind, places: Sequence[int], row: ClearRow, chosen: ClearRow) -> None:
    """The words whose rows can be seen, and what another one than the first says."""
    names = {place: position_name(place, kind.keys.tokens[place]) for place in places}
    widget = radio if len(places) <= MOST_BUTTONS else select
    widget(words.CHOOSE, places, chosen.query, take_word, key="row_of_word", format_func=names.__getitem__)
    if chosen.query != row.query:
        st.markdown(words.CHOSEN.format(**words.words(chosen, kind)))


def take_word(place: int) -> None:
    """Another word's row."""
    choose(knob=str(place))


STOP = Stop(
    name="Where does it look?",
    opening=OPENINGS["where_it_looks"],
    can_use=lambda config: True,
    rounds=(ask,),
    code=(scaled_dot_product_attention,),
    paper="Section 3.2.1, equation 1: softmax(QKᵀ/√d_k)V. Each row of the softmax holds the weights of one query.",
)
