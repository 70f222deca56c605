"""One word in two texts that the visitor may change."""

import json
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import streamlit as st

from model import Checkpoint, InputError
from model.measures.comparison import peak
from model.measures.experiments.word_in_contexts import Apart, apart, places_of, shared_words, vectors_of
from model.trace import Trace
from pages.parts.ablations.experiment_runs import Kinds, text_trace
from pages.parts.ablations.experiments import NO
from pages.parts.ablations.settings import AblationSettings
from pages.parts.ablations.subjects import SUBJECTS
from pages.parts.frame.theme import theme
from pages.parts.passes import with_text
from pages.parts.state.selection import LONGEST_TEXT, Selection, typable
from pages.parts.state.session import choose, unusable
from pages.parts.widgets.binding import bind_text, select
from pages.parts.widgets.charts import explain, show_chart, show_measured
from viz.charts.lines import line_chart
from viz.tokens import counted

FIRST, SECOND = "They sat on the bank of the river.", "She put all her money in the bank."
LONGEST = LONGEST_TEXT // 4  # characters of each, so that both fit an address
NO_SHARED = "The two texts have no word in common. Write one word, such as “bank”, into both."
READ = """
- **Distance**: the length of the difference of the word's two vectors, as a share of their mean length. 0: the same
  vector; 1.41: at right angles, if they are equally long.
- **Cosine**: 1 where both point the same way, 0 at right angles. The page compares the word's first occurrence in each
  text; a word in several pieces is compared by the mean of their vectors.
"""


@dataclass(frozen=True)
class Two:
    """Two texts, and the word that is compared; "" for the first that both have."""

    first: str = FIRST
    second: str = SECOND
    word: str = "bank"

    def to_setting(self) -> str:
        """As it stands in an address; nothing for the texts that the page opens with."""
        return (
            ""
            if self == Two()
            else json.dumps([self.first, self.second, self.word], ensure_ascii=False, separators=(",", ":"))
        )


def two_of(setting: str) -> Two:
    """What ``to_setting`` wrote; the default, and a notice, for anything else."""
    try:
        values = json.loads(setting) if setting else list(vars(Two()).values())
    except (ValueError, RecursionError):
        values = None
    if (
        isinstance(values, list)
        and len(values) == 3
        and all(type(text) is str and len(text) <= LONGEST for text in values)
    ):
        return Two(*map(typable, values))
    unusable("setting")
    return Two()


def show_word(selection: Selection, checkpoint: Checkpoint, before: Trace, kinds: Kinds) -> None:
    """The distance of a word's vectors, layer by layer."""
    subject, two = SUBJECTS["word"], two_of(selection.of(AblationSettings).setting)
    words, _ = explain(subject.name, subject.explained, subject.look_for)
    shared = shared_words(two.first, two.second)
    word = two.word if two.word in shared else (max(shared, key=len) if shared else "")
    ask(two, shared, word)
    if not word:
        st.info(NO_SHARED)
        return
    two_vectors = distances(selection, checkpoint, two, word)
    show_measured(words, word_sentence(word, two_vectors))
    steps = ["token", "+ position", *(f"layer {counted(layer)}" for layer in range(len(two_vectors.distances) - 2))]
    charts = {"Distance": two_vectors.distances, "Cosine": two_vectors.cosines}
    for place, (title, line) in zip(st.columns(2, gap="large"), charts.items(), strict=True):
        with place:
            key = ("word", title, selection.checkpoint, two, word, line.tobytes())
            titles = ("after", title.lower())
            make = partial(line_chart, steps, {word: line}, titles, theme=theme())
            show_chart(key, make, f"{title} of the two vectors by layer.")
    st.markdown(f"**How to read this**\n{READ}")


def ask(two: Two, shared: list[str], word: str) -> None:
    """The two texts and the word."""
    with st.form("two_texts", border=False):
        left, right = st.columns(2)
        left.text_input("First text", **bind_text("first_text", two.first), max_chars=LONGEST)
        right.text_input("Second text", **bind_text("second_text", two.second), max_chars=LONGEST)
        st.form_submit_button("Compare", on_click=take_texts)
    if shared:
        select("Word in both", shared, word, take_word, key="shared_word", width=260)


def take_texts() -> None:
    """New texts; the word stays where both still have it."""
    state = st.session_state
    take(replace(Two(), first=state["first_text"], second=state["second_text"], word=state.get("shared_word", "")))


def take_word(word: str) -> None:
    """Another word of the same texts."""
    state = st.session_state
    take(Two(state["first_text"], state["second_text"], word))


def take(two: Two) -> None:
    """Put the two texts into the selection."""
    choose(setting=two.to_setting())


def distances(selection: Selection, checkpoint: Checkpoint, two: Two, word: str) -> Apart:
    """The word's vectors in both texts against each other. InputError where the model read none of it."""
    vectors = list[np.ndarray]()
    for text in (two.first, two.second):
        trace = text_trace(with_text(selection, text), checkpoint, NO)
        stack = trace.text_stack
        places = places_of(word, text, stack)
        if not places:
            raise InputError(f"The model read no token of “{word}” in one of the texts; choose another word.")
        vectors.append(vectors_of(stack, places))
    return apart(vectors[0], vectors[1])


def word_sentence(word: str, two_vectors: Apart) -> str:
    """Start, largest and end in numbers."""
    steps = two_vectors.distances
    layer, furthest = peak(steps[2:])
    return (
        f"The two vectors of “{word}” start {steps[0]:.2f} apart (one row of the token table); with their positions "
        f"they are {steps[1]:.2f} apart. The distance is largest after layer {counted(layer)} "
        f"({furthest:.2f}). After the last layer it is {steps[-1]:.2f}, with a cosine of "
        f"{two_vectors.cosines[-1]:.2f}."
    )
