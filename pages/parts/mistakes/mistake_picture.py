"""The picture of a mistake, and its lines beside the right ones."""

import streamlit as st

from model import Checkpoint
from model.measures.learn.mistakes.catalogue import MISTAKES
from model.measures.learn.mistakes.effect import Curves, Effect, Tables
from model.trace import Trace
from pages.parts.frame.theme import theme
from pages.parts.widgets.charts import show_chart
from viz.charts.learn.mistakes import MOST_SHOWN, mistake_lines, mistake_tables
from viz.explorer.component import matrices
from viz.text.learn.mistakes import WORDS, answer_axis
from viz.tokens import counted, markdown_text, visible
from viz.walkthrough.source_excerpts import with_signature

POINT = "Point at a cell for the exact number."
CUT = f"The first {MOST_SHOWN} rows and columns are shown."
LINES_SAID = "Two lines, the numbers of the wrong lines of code and of the right ones."
TOKEN = 6  # characters of a token at a row or a column
OF_WEIGHTS = ("mask", "billion")


def show_picture(name: str, effect: Effect, checkpoint: Checkpoint, trace: Trace) -> None:
    """Wrong beside right."""
    if isinstance(effect.picture, Tables):
        show_tables(name, effect.picture, trace)
        return
    curves: Curves = effect.picture
    across, up = WORDS[name].axes
    titles = (across, up or answer_axis(checkpoint.config.labels[effect.label]))
    key = ("mistake", name, checkpoint.name, curves.places, tuple(curves.wrong), tuple(curves.right))
    show_chart(key, lambda: mistake_lines(curves, titles, theme=theme()), LINES_SAID)


def show_tables(name: str, tables: Tables, trace: Trace) -> None:
    """Two matrices, whose rows and columns are heads or tokens."""
    tokens = [visible(token, TOKEN) for token in trace.text_stack.names()]
    heads = [f"head {counted(head)}" for head in range(max(tables.right.shape))]
    places = [counted(place) for place in range(max(tables.right.shape))]
    rows, columns = {
        "mask": (heads, tokens),
        "billion": (tokens, tokens),
        "view": (heads, places),
        "reshape": (places, heads),
    }[name]
    height, width = tables.right.shape
    pair = mistake_tables(tables, rows[:height], columns[:width], weights=name in OF_WEIGHTS)
    cut = [CUT] if max(tables.right.shape) > MOST_SHOWN else []
    matrices(pair, key=f"mistake_{name}", hint=" ".join([WORDS[name].cells, *cut, POINT]))


def show_lines(name: str) -> None:
    """The wrong lines beside the right ones, both as they ran."""
    mistake, words = MISTAKES[name], WORDS[name]
    st.subheader("What is written wrong", anchor=False)
    st.markdown(words.wrong)
    for column, label, form in zip(
        st.columns(2, gap="medium"), ("Wrong", "Right"), (mistake.wrong, mistake.right), strict=True
    ):
        with column:
            part = with_signature(form)
            st.markdown(f"**{label}**")
            st.code(part.code, language="python", wrap_lines=True)
            st.caption(markdown_text(part.place))
    st.markdown(f"**What one would notice.** {words.notice}")
