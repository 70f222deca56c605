"""One word at a time: an "s" that changes a whole translation, and what is looked at to write one word."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st
from jaxtyping import Float

from model import Checkpoint
from model.decoding.steps import write
from model.measures.cross_attention_links import POINTED, most_looked_at
from model.measures.learn.changed_words import changed_words, other_number
from pages.parts.cache import checkpoint_named
from pages.parts.components.linked_words import linked_words, step_clicked
from pages.parts.frame.finding import picture_alone
from pages.parts.frame.theme import theme
from pages.parts.learn.effects import unclear
from pages.parts.learn.settings import Path
from pages.parts.learn.stop import Asked, Door, Stop
from pages.parts.passes import with_text
from pages.parts.state.selection import Selection
from pages.parts.state.session import choices, choose
from pages.parts.translate.candidate_pass import ForcedPass, pass_over_candidate
from pages.parts.translate.picture import Linked, best_reading, is_word, linked_of, opening_step
from pages.parts.translate.productions import Candidate, candidate_of, produced_of
from pages.parts.translate.settings import MOMENTS, SENTENCES, Options
from pages.parts.widgets.charts import show_chart
from viz.charts.share_bars import share_chart
from viz.sentences.word_links import word_links
from viz.text import translation_finding
from viz.text.learn import one_word_at_a_time as words
from viz.tokens import visible

TEXT = "You are my friend."
MOST_TOKENS = 48  # of a text that is translated twice
MOST_OPTIONS = 5
CANDIDATES = 5


def translation(selection: Selection) -> Candidate:
    """What greedy decoding makes of the text."""
    options = Options()
    return candidate_of(produced_of(selection, checkpoint_named(selection.checkpoint), options), options)


def refusal(selection: Selection) -> str:
    """Why a text is not asked about; "" where it is."""
    count = len(checkpoint_named(selection.checkpoint).tokenizer.encode(selection.text).ids)
    return words.TOO_LONG.format(count=count, most=MOST_TOKENS) if count > MOST_TOKENS else ""


def ask_about_letter(selection: Selection) -> Asked:
    """How much of a translation changes with one letter."""
    if why_not := refusal(selection):
        return unclear(words.NAME, selection, why_not)
    other = other_number(selection.text)
    if other is None:
        return unclear(words.NAME, selection, words.NO_LETTER)
    texts = (selection.text, other)
    french = [translation(with_text(selection, text)).text for text in texts]
    changed = changed_words(*french)
    names, right = words.letter_words(texts, french, changed), min(changed.count, len(words.LETTER_OPTIONS) - 1)
    rows = partial(words.two_rows, texts, french[0])
    return Asked(
        question=words.LETTER_QUESTION,
        setting=words.LETTER_SETTING.format(**names),
        options=words.LETTER_OPTIONS,
        right=frozenset({right}),
        answer=words.LETTER_ANSWERS[right].format(**names),
        sentence=words.LETTER_SENTENCE,
        picture=lambda seen: show_rows(rows(words.french_marked(changed) if seen else None)),
        act=lambda: read_other(other),
        door=door(selection),
    )


def show_rows(columns: dict[str, list[str]]) -> None:
    st.table(pd.DataFrame(columns), hide_index=True)


def read_other(text: str) -> None:
    """The changed sentence becomes the text."""
    st.button(words.READ_OTHER, key="read_other", on_click=choose, kwargs={"text": text})


def door(selection: Selection) -> Door:
    """To the page that has all of it."""
    return Door(
        page="translate",
        label=words.OTHER_DOOR,
        explained=words.OTHER_DOOR_EXPLAINED,
        changes={"checkpoint": selection.checkpoint, "text": selection.text},
    )


@dataclass(frozen=True, kw_only=True)
class Written:
    """A translation, the links of its words, and the word that is asked about."""

    selection: Selection
    checkpoint: Checkpoint
    forced_pass: ForcedPass
    linked: Linked
    reading: tuple[int, ...]
    weights: Float[np.ndarray, "target source"]
    word: int

    @property
    def shown(self) -> int:
        """The word that is looked at: the one of the knob, or the one that is asked about."""
        knob = self.selection.of(Path).knob
        steps = len(self.linked.of_step)
        return self.linked.of_step[int(knob)] if knob.isdecimal() and int(knob) < steps else self.word

    def candidates(self, word: int) -> list[tuple[str, float]]:
        """The likeliest tokens at a word's first step, with their probabilities."""
        likeliest = self.forced_pass.tokens[self.linked.steps[word]].likeliest[:CANDIDATES]
        pieces = self.checkpoint.tokenizer.pieces([token_id for token_id, _ in likeliest])
        return [(piece, chance) for piece, (_, chance) in zip(pieces, likeliest, strict=True)]


def written_of(selection: Selection) -> Written:
    """The pass over the text and its translation."""
    checkpoint = checkpoint_named(selection.checkpoint)
    forced_pass = pass_over_candidate(selection, checkpoint, translation(selection))
    linked = linked_of(checkpoint, forced_pass)
    reading = best_reading(checkpoint, forced_pass, linked, MOMENTS[0])
    word = linked.of_step[opening_step(checkpoint, forced_pass, linked)]
    return Written(
        selection=selection,
        checkpoint=checkpoint,
        forced_pass=forced_pass,
        linked=linked,
        reading=reading,
        weights=linked.of_words(reading, MOMENTS[0]),
        word=word,
    )


def ask_about_look(selection: Selection) -> Asked:
    """Which source word is looked at to write the word most worth seeing."""
    if why_not := refusal(selection):
        return unclear(words.NAME, selection, why_not)
    text = selection.text if "text" in choices() else SENTENCES[0]  # its adjective changes places in French
    written = written_of(with_text(selection, text))
    linked, row = written.linked, written.weights[written.word]
    link = most_looked_at(row)
    places = option_places(linked, row)
    if link is None or len(places) < 2 or link[0] not in places:
        return unclear(words.NAME, selection, words.NO_LETTER)
    best, share = link
    target, source = linked.targets.words[written.word], linked.sources.words[best]
    before = linked.targets.words[: written.word]
    names = words.look_words(
        target, source, share, written.candidates(written.word), before, len(written.forced_pass.predicted)
    )
    return Asked(
        question=words.LOOK_QUESTION.format(**names),
        setting=words.LOOK_SETTING,
        options=[words.name(linked.sources.words[place]) for place in places],
        right=frozenset({places.index(best)}),
        answer=words.LOOK_ANSWER.format(**names),
        sentence=words.LOOK_SENTENCE.format(**names),
        picture=lambda seen: show_written(written, seen=seen),
        act=lambda: st.caption(words.CLICK),
        door=door(written.selection),
        unclear="" if share > POINTED else words.EVEN.format(**names),
    )


def option_places(linked: Linked, row: Float[np.ndarray, " source"]) -> list[int]:
    """The source words to guess among, in the order of the text: the one looked at most, and the first others."""
    places = [place for place, word in enumerate(is_word(linked.sources)) if word]
    best = int(row.argmax())
    seen: set[str] = {linked.sources.words[best].lower()}
    others: list[int] = []
    for place in places:
        if (lower := linked.sources.words[place].lower()) not in seen:
            seen.add(lower)
            others.append(place)
    return sorted([*([best] if best in places else []), *others[: MOST_OPTIONS - 1]])


def show_written(written: Written, *, seen: bool) -> None:
    """Words above words, and the candidates for the word that is looked at; before the guess no link is there."""
    linked, word = written.linked, written.shown if seen else written.word
    weights = written.weights if seen else np.zeros_like(written.weights)
    links = word_links(weights, linked.targets, linked.sources, linked.steps, word)
    if not seen:
        links["targets"] = [hidden(each, place >= word) for place, each in enumerate(links["targets"])]
    looks = {
        "colours": {"accent": theme().accent, "quiet": theme().quiet},
        "alone": picture_alone(),
        "caption": translation_finding.picture_caption(written.reading, moment=MOMENTS[0]),
    }
    left, right = st.columns([3, 2], gap="large")
    with left:
        linked_words(links | looks, partial(take_word, len(linked.of_step)))
    with right:
        show_candidates(written, word, seen=seen)


def hidden(target: dict[str, object], is_later: bool) -> dict[str, object]:
    """A target word that is still to be written: its letters are not there."""
    return target | {"text": "?", "said": "?"} if is_later else target


def show_candidates(written: Written, word: int, *, seen: bool) -> None:
    """The likeliest next tokens."""
    if not seen:
        return
    candidates = written.candidates(word)
    names = [f"{rank + 1} · {visible(piece)}" for rank, (piece, _) in enumerate(candidates)]
    shares: Sequence[float] = [chance for _, chance in candidates]
    key = ("learn_candidates", written.forced_pass.key, word)
    show_chart(key, lambda: share_chart(names, shares, words.CANDIDATES, theme=theme()), words.CANDIDATES_ALT)


def take_word(steps: int) -> None:
    """Look at the word that was clicked."""
    step = step_clicked(steps)
    if step is not None:
        choose(knob=str(step))


STOP = Stop(
    name=words.NAME,
    checkpoint="translate-en-fr",
    text=TEXT,
    can_use=lambda config: config.is_encoder_decoder,
    rounds=(ask_about_letter, ask_about_look),
    code=(write,),
    paper=words.PAPER,
)
