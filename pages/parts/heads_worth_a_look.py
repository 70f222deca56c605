"""The heads that do most with a text, found by measuring all of them: a sentence, and a click to each."""

from functools import partial

import numpy as np
import streamlit as st

from model.measures.head_kinds import Finding, cards, finding, measure, sides_of
from model.measures.shuffles import shuffled_weights
from pages.parts.computed import checkpoint_named
from pages.parts.exploring import Attended
from pages.parts.head_switches import one_head_on
from pages.parts.passes import edits_of, trace_of
from pages.parts.state.session import choose, current
from viz import findings
from viz.tokens import markdown_text


def show_heads_worth_a_look(shown: Attended) -> None:
    """What is found in words, and one button for each kind of head that this text has; a click shows it alone."""
    first, others = found_heads(shown.name, shown.kind.name, shown)
    if first is None:
        st.markdown(markdown_text(findings.nothing(shown.kind)), help=findings.HELP)
        return
    title, sentence = (markdown_text(say(first, shown.kind)) for say in (findings.title, findings.sentence))
    st.markdown(f"**{title}** {sentence}", help=f"{findings.HELP} {findings.against(first)}")
    with st.container(horizontal=True, gap="xsmall", key="worth_a_look"):
        for each in (first, *others):
            st.button(
                markdown_text(findings.short_label(each)),
                key=f"worth_{each.kind}",
                on_click=partial(show_alone, each, shown.kind.heads),
                help=f"{findings.head_name(each)}, alone. {findings.against(each)}",
            )


@st.cache_data(show_spinner=False, max_entries=64)
def found_heads(name: str, attention: str, _shown: Attended) -> tuple[Finding | None, tuple[Finding, ...]]:
    """The head to look at first, and the best of every other kind. name and attention say which numbers they are of."""
    selection, kind = _shown.selection, _shown.kind
    checkpoint = checkpoint_named(selection.checkpoint)
    edits = edits_of(selection, checkpoint)
    trace = trace_of(selection, edits)
    shuffles = shuffled_weights(checkpoint, trace, attention, edits)
    measured = measure(np.stack(kind.weights), sides_of(trace, attention), shuffles)
    first = finding(measured)
    return first, cards(measured, first)


def show_alone(found: Finding, heads: int) -> None:
    """The head alone in its layer, with the key that it is about kept."""
    choose(
        layer=found.layer, query=found.query, key=found.key, **one_head_on(current(), found.layer, found.head, heads)
    )
