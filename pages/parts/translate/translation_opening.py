"""What a translation opens with: the word most worth seeing, words above words, and what goes to another step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import streamlit as st
from jaxtyping import Float

from model import Checkpoint
from model.measures.alignment import Reading, Words, mean_of_reading, readings, word_weights
from model.measures.cross_attention_links import (
    measured_reading,
    most_looked_at,
    most_reordered,
    pointed_reading,
    units,
)
from model.measures.head_statistics import is_punctuation
from model.measures.teacher_forcing import word_probabilities
from model.trace import StackTrace
from pages.parts.components.linked_words import linked_words, step_clicked
from pages.parts.explore.explorer_panel import name_under
from pages.parts.frame.finding import picture_alone, show_finding
from pages.parts.frame.theme import theme
from pages.parts.state.selection import Selection
from pages.parts.state.session import choose, current
from pages.parts.translate.candidate_pass import ForcedPass
from pages.parts.translate.settings import ALL_HEADS, MOMENTS, Options
from pages.parts.widgets.binding import radio, select
from viz.charts.alignment import words_of
from viz.sentences.word_links import Side, word_links
from viz.text import translation_finding
from viz.text.translation_finding import reading_name
from viz.tokens import markdown_text, position_name

QUESTION = "Which source words does the model look at?"
READING_HELP = f"Every layer has several heads, and each looks at other words. {translation_finding.HEADS_FOUND}"
MOMENT_NAMES = {"produced": "while the word is written", "read": "one step later, while the word is read"}
MOMENT_HELP = (
    "The position before a word writes it, and the word's own position reads it. Some heads look at a word's "
    "counterpart while the word is written, others only one step later. Title, picture, step and alignment are all of "
    "the moment that is chosen here."
)


@dataclass(frozen=True, kw_only=True)
class WordLinks:
    """The words of both texts, and which positions of the pass are theirs."""

    weights: Float[np.ndarray, "layer head query key"]
    targets: Side
    sources: Side
    of_step: list[int]  # the word that each predicted token is a piece of
    keys: list[int]  # the word that each position of the source is a piece of
    probabilities: list[float]  # of each target word, all its pieces together

    def queries(self, moment: str) -> Words:
        """The word that each position of the decoder produces a piece of, or reads one of."""
        return self.of_step if moment == "produced" else [None, *self.of_step[:-1]]

    def row(self, step: int, moment: str) -> int | None:
        """The position whose weights are those of a step; None where the step's token is not read any more."""
        row = step if moment == MOMENTS[0] else step + 1
        return row if row < len(self.of_step) else None

    def of_words(self, reading: Reading, moment: str) -> Float[np.ndarray, "target source"]:
        """What every target word gives to every source word."""
        return word_weights(mean_of_reading(self.weights, reading), self.queries(moment), self.keys, self.counted)

    @property
    def counted(self) -> tuple[int, int]:
        """Target words and source words."""
        return len(self.targets.words), len(self.sources.words)

    @property
    def steps(self) -> list[int]:
        """The step that produces each target word, or the first of its pieces."""
        return [self.of_step.index(word) for word in range(len(self.targets.words))]


def linked_of(checkpoint: Checkpoint, forced_pass: ForcedPass) -> WordLinks:
    """The words of a pass: those that it predicts above those that it reads."""
    decoder, encoder = forced_pass.trace.decoder, forced_pass.trace.encoder
    assert decoder is not None
    assert encoder is not None
    count, last = (
        len(forced_pass.predicted),
        forced_pass.predicted[-1],
    )  # the last position that is read may predict nothing
    tokens = [*(decoder.tokens or ())[1:], checkpoint.tokenizer.pieces([last])[0]][:count]
    special = [*special_of(decoder)[1:], last == checkpoint.config.end_id][:count]
    of_step, keys = units([*(decoder.words or ())[1:], None][:count]), units(encoder.words or ())
    return WordLinks(
        weights=decoder.cross_weights()[:, :, :count].numpy(),
        targets=side(tokens, of_step, special),
        sources=side(encoder.tokens or (), keys, special_of(encoder)),
        of_step=of_step,
        keys=keys,
        probabilities=word_probabilities(forced_pass.tokens, of_step),
    )


def special_of(stack: StackTrace) -> list[bool]:
    """Which positions hold a token that nobody wrote."""
    return list(stack.special or [False] * len(stack.ids))


def side(tokens: Sequence[str], words: Sequence[int], special: Sequence[bool]) -> Side:
    """The words of one text; a special token is one of its own."""
    by_word = dict(zip(words, special, strict=True))
    return Side(words=words_of(tokens, words), special=[by_word[word] for word in sorted(by_word)])


def opening_options(checkpoint: Checkpoint, forced_pass: ForcedPass, linked: WordLinks, options: Options) -> Options:
    """The options with the heads and the step that the page shows where nobody chose others."""
    own = best_reading(checkpoint, forced_pass, linked, options.moment)
    step = opening_step(checkpoint, forced_pass, linked) if options.step is None else options.step
    return replace(options, step=step, reading=options.reading or reading_code(own))


def reading_code(reading: Reading) -> str:
    """A reading as it stands in an address."""
    return ".".join(map(str, reading)) or ALL_HEADS


def best_reading(checkpoint: Checkpoint, forced_pass: ForcedPass, linked: WordLinks, moment: str) -> Reading:
    """The heads that come closest to alignments made by hand; where the card has none, the most telling ones."""
    measured = measured_reading(checkpoint.card, moment, *linked.weights.shape[:2])
    return most_telling(name_under(forced_pass.key), moment, linked) if measured is None else measured


@st.cache_data(show_spinner=False, max_entries=64)
def most_telling(name: str, moment: str, _linked: WordLinks) -> Reading:
    """The same by this text alone; the name says which pass it is of."""
    return pointed_reading(_linked.weights, _linked.queries(moment), _linked.keys, _linked.counted, moment)


def opening_step(checkpoint: Checkpoint, forced_pass: ForcedPass, linked: WordLinks) -> int:
    """The step of the word most worth seeing, whatever heads are looked at now."""
    weights = linked.of_words(best_reading(checkpoint, forced_pass, linked, MOMENTS[0]), MOMENTS[0])
    targets, sources = is_word(linked.targets), is_word(linked.sources)
    word = most_reordered(weights, targets, np.flatnonzero(sources).tolist())
    return 0 if word is None else linked.steps[word]


def is_word(side: Side) -> list[bool]:
    """Which of them are words: no punctuation, and no token of the tokenizer's own."""
    return [not (special or is_punctuation(word)) for word, special in zip(side.words, side.special, strict=True)]


def step_of(selection: Selection, options: Options, forced_pass: ForcedPass) -> int:
    """The token that is being produced: the row kept in the picture of cross-attention, or the one stepped to."""
    view = selection.view
    if view.attention == "cross" and view.query is not None and view.query < len(forced_pass.predicted):
        return view.query
    return options.step or 0


def show_link(checkpoint: Checkpoint, linked: WordLinks, options: Options, explained: str | None) -> None:
    """What was looked at to write the word of the step, as the title of the page. explained: how it was found."""
    word = linked.of_step[options.step or 0]
    link = most_looked_at(linked.of_words(options.place(), options.moment)[word])
    if link is None:
        show_finding(
            QUESTION, sentence=("The model writes the last token but does not read it: that token looks at nothing.")
        )
        return
    (best, weight), name = link, linked.targets.words[word]
    source = linked.sources.words[best]
    title = translation_finding.title(name, source, weight, moment=options.moment)
    sentence = translation_finding.sentence(
        name, source, weight, linked.probabilities[word], linked.of_step.count(word), options.place()
    )
    show_finding(QUESTION, markdown_text(title), markdown_text(sentence), explained=explained)


def show_other_moment(checkpoint: Checkpoint, linked: WordLinks, options: Options) -> None:
    """What the heads that are best in the other moment look at then; nothing where none were measured.

    It stands at the choice of a moment: beside the title it would be taken for what the picture shows.
    """
    other = next(moment for moment in MOMENTS if moment != options.moment)
    reading, word = (
        measured_reading(checkpoint.card, other, *linked.weights.shape[:2]),
        linked.of_step[options.step or 0],
    )
    link = None if reading is None else most_looked_at(linked.of_words(reading, other)[word])
    if reading is None or link is None:
        return
    (best, weight), name = link, linked.targets.words[word]
    sentence = translation_finding.of_other_moment(name, linked.sources.words[best], weight, reading, moment=other)
    st.caption(f"**Not in the picture.** {markdown_text(sentence)}")


def show_words(linked: WordLinks, options: Options) -> None:
    """Words above words; a click on one goes to its step."""
    weights = linked.of_words(options.place(), options.moment)
    marked = linked.of_step[options.step or 0]
    picture = word_links(weights, linked.targets, linked.sources, linked.steps, marked)
    caption = translation_finding.picture_caption(options.place(), moment=options.moment)
    looks = {
        "colours": {"accent": theme().accent, "quiet": theme().quiet},
        "alone": picture_alone(),
        "caption": caption,
    }
    linked_words(picture | looks, partial(take_word, len(linked.of_step)))


def take_word(steps: int) -> None:
    """The step of the word that was clicked."""
    step = step_clicked(steps)
    if step is not None:
        go_to(step)


def show_walk(checkpoint: Checkpoint, forced_pass: ForcedPass, linked: WordLinks, options: Options) -> None:
    """Another step, other heads, another moment."""
    step, names = options.step or 0, names_of(checkpoint, forced_pass)
    with st.container(horizontal=True):
        st.button("Back", key="back", on_click=go_to, args=(step - 1,), disabled=step == 0)
        st.button("Next", key="next", on_click=go_to, args=(step + 1,), disabled=step == len(names) - 1)
    select("Produced token", range(len(names)), step, go_to, key="walked", format_func=names.__getitem__)
    every = {reading_code(reading): reading_name(reading) for reading in readings(*linked.weights.shape[:2])}
    looks = {"format_func": every.__getitem__, "help": READING_HELP}
    select("Heads", list(every), options.reading, partial(take_option, "reading"), key="reading", **looks)
    taken = partial(take_option, "moment")
    names_of_moments: Mapping[str, str] = MOMENT_NAMES
    looks = {"format_func": names_of_moments.__getitem__, "help": MOMENT_HELP, "horizontal": False}
    radio("Moment", MOMENTS, options.moment, taken, key="moment", **looks)
    show_other_moment(checkpoint, linked, options)


def names_of(checkpoint: Checkpoint, forced_pass: ForcedPass) -> list[str]:
    """Every predicted token with its number."""
    return [
        position_name(place, piece) for place, piece in enumerate(checkpoint.tokenizer.pieces(forced_pass.predicted))
    ]


def go_to(step: int) -> None:
    """Another step; the picture of cross-attention keeps its row."""
    row = {"query": step, "key": None} if current().view.attention == "cross" else {}
    choose({"translation.step": step} | row)


def take_option(name: str, value: str) -> None:
    """Another option of how the step and the alignment are looked at."""
    choose({f"translation.{name}": value})
