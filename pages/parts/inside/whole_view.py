"""The whole head on a page: its matrices side by side, the chosen weight marked, another chosen by a click."""

from functools import partial

import streamlit as st

from model.attention import masked_softmax, scaled_dot_product_attention
from model.measures.one_weight import WeightPath
from model.measures.whole_head import whole_head
from model.scores import masked_scores
from pages.parts.inside.head_matrices import head_matrices
from pages.parts.inside.opening_weight import take_weight
from viz.explorer.attention_kinds import Kind
from viz.text.whole_head import ROWS, SIZE, caption, idea
from viz.tokens import markdown_text
from viz.walkthrough.source_excerpts import excerpt
from viz.walkthrough.step_sentences import exactly
from viz.walkthrough.whole_head import whole_head_figure

CODE = (scaled_dot_product_attention, masked_scores, masked_softmax)


def show_whole(path: WeightPath, kind: Kind) -> None:
    """The picture, under a sentence on how its matrices belong together."""
    head, site = whole_head(path.attention, path.site.head), path.site
    st.markdown(idea(head))
    figure = whole_head_figure(head, kind.queries, kind.keys, site.query, site.key, caption=caption(site))
    head_matrices(figure, partial(take_weight, site))


def show_whole_code() -> None:
    """The lines of the model that ran."""
    for function in CODE:
        part = excerpt(function)
        st.markdown(markdown_text(part.place))
        st.code(part.code, language=None, wrap_lines=True)


def show_row(path: WeightPath) -> None:
    """The row of the query in every matrix, and those of the key, to be copied in full."""
    head, site = whole_head(path.attention, path.site.head), path.site
    for name, numbers in head.arrays().items():
        row = numbers[site.key if name in ("key", "value") else site.query]
        st.markdown(SIZE.format(ROWS[name], row.size))
        st.code(exactly(row), language=None, wrap_lines=True)
