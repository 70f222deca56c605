"""What did the neighbours do to this word? One word in eight sentences of two senses, layer by layer."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st
from jaxtyping import Float

from model import Checkpoint, InputError
from model.measures.experiments.word_in_contexts import places_of, shared_words, vectors_of
from model.measures.learn.word_senses import (
    SortedSenses,
    as_good_divisions,
    nearest_sentences,
    nearest_to,
    right_by_chance,
    sorted_senses,
)
from pages.parts.frame.theme import theme
from pages.parts.learn.sense_sentences import SENSES
from pages.parts.learn.settings import OPENINGS, Path
from pages.parts.learn.stop import Door, Stop, StopQuestion
from pages.parts.shared_cache import check_lengths, checkpoint_key, checkpoint_named
from pages.parts.state.selection import Selection
from pages.parts.state.session import choose
from pages.parts.widgets.binding import radio
from pages.parts.widgets.charts import show_chart
from viz.charts.learn.sense_table import SenseRow, sense_table
from viz.text.learn.stops import neighbours as words

FIRST = "bank"
Key = tuple[str, str, tuple[int, ...]]


@dataclass(frozen=True, kw_only=True)
class Eight:
    """A word's sentences in a model: their senses, which are sorted, and where the visitor's own sentence is nearest.

    own: at every step the place of the nearest of the eight; None where the visitor's text has not this word.
    """

    word: str
    text: str
    kinds: tuple[int, ...]
    senses: SortedSenses
    own: tuple[int, ...] | None

    @property
    def sentences(self) -> tuple[str, ...]:
        """Those of the one sense, then those of the other."""
        return tuple(sentence for group in SENSES[self.word].sentences for sentence in group)


def eight_of(selection: Selection, word: str) -> Eight:
    """The sentences of a word in the selected model, with the selected text beside them if it has the word."""
    key, groups = checkpoint_key(selection.checkpoint), SENSES[word].sentences
    vectors = np.stack([vectors_in(key, word, sentence) for group in groups for sentence in group])
    kinds = tuple(sense for sense, group in enumerate(groups) for _ in group)
    own = None
    if shared_words(word, selection.text):
        own = tuple(nearest_to(vectors_in(key, word, selection.text), vectors).tolist())
    return Eight(word=word, text=selection.text, kinds=kinds, senses=sorted_senses(vectors, kinds), own=own)


@st.cache_data(show_spinner=False, max_entries=256)
def vectors_in(key: Key, word: str, text: str) -> Float[np.ndarray, "step width"]:
    """The word's vector in a text: as it enters the first layer, and after every layer."""
    checkpoint = checkpoint_named(key[0])
    stack = checkpoint.trace(text, target=unread_target(checkpoint), logits=False).text_stack
    places = places_of(word, text, stack)
    if not places:
        raise InputError(f"The model does not read as far as “{word}”: the text is too long.")
    return vectors_of(stack, places)[1:]


def unread_target(checkpoint: Checkpoint) -> str | None:
    """A target where there is a decoder beside the encoder, which then need not translate: no vector is its own."""
    return "." if checkpoint.config.is_encoder_decoder else None


def ask(selection: Selection) -> StopQuestion:
    """After which layer all eight are sorted."""
    check_lengths(selection.text)
    config = checkpoint_named(selection.checkpoint).config
    word, eight = FIRST, eight_of(selection, FIRST)
    groups, first = words.layer_groups(config.layers), eight.senses.first_sorted_layer
    names = dict(zip(("first", "second"), SENSES[word].names, strict=True)) | {"word": word}
    reads = (words.BOTH_WAYS if config.has_encoder else words.CAUSAL).format(word=word)
    good = as_good_divisions(eight.senses.nearest[:, -1], eight.kinds)
    return StopQuestion(
        question=words.QUESTION.format(word=word),
        setting=words.SETTING.format(**names, reads=reads),
        options=[*map(words.group_name, groups), words.NEVER],
        right=frozenset({next((at for at, group in enumerate(groups) if first in group), len(groups))}),
        answer=words.answer(eight.senses, first),
        sentence=words.sentence(eight.senses, right_by_chance(eight.kinds), good, yours(selection)),
        picture=lambda seen: show_eight(selection, chosen_word(selection) if seen else word, seen=seen),
        act=lambda: show_words(selection),
        door=door_of(selection),
    )


def door_of(selection: Selection) -> Door:
    """The page that compares one word in two texts."""
    changes = {"checkpoint": selection.checkpoint, "experiment": "word"}
    return Door(page="break", label=words.DOOR, explained=words.DOOR_EXPLAINED, changes=changes)


def yours(selection: Selection) -> str:
    """Which sense the visitor's sentence is nearest to at the end; or that the text has none of the words."""
    word = next((word for word in SENSES if shared_words(word, selection.text)), None)
    eight = None if word is None else eight_of(selection, word)
    if eight is None or eight.own is None:
        return f" {words.no_word(tuple(SENSES))}"
    sense = SENSES[eight.word].names[eight.kinds[eight.own[-1]]]
    return words.YOURS.format(word=eight.word, sense=sense)


def chosen_word(selection: Selection) -> str:
    """The word that the knob names, else the one that is asked about."""
    knob = selection.of(Path).knob
    return knob if knob in SENSES else FIRST


def show_eight(selection: Selection, word: str, *, seen: bool) -> None:
    """The sentences, and once it may be seen, which is nearest to which."""
    eight = eight_of(selection, word)
    rows = rows_of(eight)
    key = ("learn_senses", checkpoint_key(selection.checkpoint), word, eight.text if eight.own else "", seen)
    nearest = eight.senses.nearest if eight.own is None else np.vstack([eight.senses.nearest, eight.own])
    show_chart(
        key,
        lambda: sense_table(SENSES[word].names, rows, nearest if seen else None, theme=theme()),
        words.TABLE_ALT,
    )


def rows_of(eight: Eight) -> Sequence[SenseRow]:
    """The eight, and the visitor's if it has the word."""
    rows = [SenseRow(sentence=text, sense=kind) for text, kind in zip(eight.sentences, eight.kinds, strict=True)]
    return rows if eight.own is None else [*rows, SenseRow(sentence=eight.text, sense=None)]


def show_words(selection: Selection) -> None:
    """The words with two senses, and what became of the one that is shown."""
    chosen = chosen_word(selection)
    radio(words.CHOOSE, list(SENSES), chosen, take, key="word_with_senses")
    st.markdown(
        words.act(
            chosen,
            eight_of(selection, chosen).senses,
            chosen_from_twenty=chosen == FIRST and selection.checkpoint == STOP.opening.checkpoint,
        )
    )


def take(word: str) -> None:
    """Another word."""
    choose(knob=word)


STOP = Stop(
    name=words.NAME,
    opening=OPENINGS["neighbours"],
    can_use=lambda config: True,
    rounds=(ask,),
    code=(vectors_of, nearest_sentences),
    paper=words.PAPER,
)
