"""What stands above every page's picture: the question, what is found in this text, and the picture's own place."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from model import Checkpoint
from model.trace import Trace
from pages.parts.state.session import model_notice
from viz.text.card_tables import limits
from viz.text.caveats import caveats, length
from viz.tokens import markdown_text

FINDING = "_finding"  # in the session: the words on the screen, for the picture to share
LIMITS = "Limits of {}:"
ALONE = "picture"  # the value of ``view`` in an address that shows the finding and the picture alone


def picture_alone() -> bool:
    """Whether the address asks for the picture and nothing around it, for a slide or a frame of another page."""
    return st.session_state.get("_view", st.query_params.get("view")) == ALONE


def show_finding(question: str, title: str = "", sentence: str = "", *, explained: str | None = None) -> None:
    """The title of a page is what was found in this text, with the page's question small above it.

    Where nothing was found the question is the title. Alone with its picture the finding is hidden until it is asked
    for, so that a class can guess before. Call it once a run.

    title, sentence: Markdown; what a visitor typed is escaped by whoever calls.
    explained: how the finding was chosen, at the sentence.
    """
    st.session_state.setdefault(FINDING, {}).update(title=title or question, sentence=sentence)
    with st.container(key="finding", gap=None):
        if picture_alone():
            with st.expander(question, key="finding_folded"):
                show_title(title or question, sentence, explained)
            return
        if title:
            st.caption(question)
        show_title(title or question, sentence, explained)


def show_caveats(checkpoint: Checkpoint, trace: Trace, read: int | None = None, of: str = "") -> None:
    """What keeps the model from judging this text, and whether it is a new one, in one line under the finding.

    Its place is there in any case: a browser makes all that follows anew where an element comes or goes before it.

    read: how many tokens have been read, where more than the text's are. of: "B", where it is the second of two texts.
    """
    place, stack = st.container(), trace.text_stack
    probabilities = checkpoint.probabilities(trace) if checkpoint.config.labels else None
    doubts = caveats(stack, checkpoint.tokenizer.unknown_id, probabilities, checkpoint.card)
    model = "" if of or picture_alone() else model_notice()
    if sentences := " ".join(filter(None, (model, length(stack, checkpoint.longest, read), doubts))):
        place.caption(markdown_text(f"{of}: {sentences}" if of else sentences))


def show_limits(checkpoint: Checkpoint) -> None:
    """What the card of a model says that it cannot do, for who tries it with texts; nothing where it says nothing."""
    if said := limits(checkpoint.card):
        st.caption(markdown_text(f"{LIMITS.format(checkpoint.label)} {' '.join(said)}"))


def show_title(title: str, sentence: str, explained: str | None) -> None:
    """A line, and a sentence under it."""
    st.title(title, anchor=False)
    if sentence:
        st.markdown(sentence, help=explained)


@contextmanager
def picture() -> Iterator[None]:
    """The place of the page's main picture, one in a run: what comes before it on the screen is measured by a test."""
    with st.container(key="picture"):
        yield
