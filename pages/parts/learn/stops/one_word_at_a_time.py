"""One word at a time: an "s" more, a word that may not be looked at, and what follows from another word."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import streamlit as st
from jaxtyping import Float

from model import Checkpoint, Edits, HiddenKey
from model.decoding.steps import write
from model.measures.cross_attention_links import POINTED, most_looked_at
from model.measures.learn.order.changed_words import changed_words, counts_to_guess, other_number, others_changed
from model.measures.learn.order.written_steps import (
    CANDIDATES,
    NextToken,
    PartingStep,
    WrittenSteps,
    parting_step,
    with_second,
    written_steps,
)
from pages.parts.components.linked_words import linked_words, step_clicked
from pages.parts.frame.finding import picture_alone
from pages.parts.frame.theme import theme
from pages.parts.learn.effects import unclear
from pages.parts.learn.sentence_rows import show_sentence_rows
from pages.parts.learn.settings import OPENINGS, Path
from pages.parts.learn.stop import Door, Stop, StopQuestion
from pages.parts.passes import with_text
from pages.parts.shared_cache import checkpoint_key, checkpoint_named
from pages.parts.state.selection import Selection
from pages.parts.state.session import choices, choose
from pages.parts.translate import productions
from pages.parts.translate.candidate_pass import ForcedPass, pass_over_candidate
from pages.parts.translate.settings import MOMENTS, SENTENCES
from pages.parts.translate.translation_opening import WordLinks, best_reading, is_word, linked_of
from pages.parts.widgets.binding import listed, select
from pages.parts.widgets.charts import show_chart
from viz.charts.share_bars import share_chart
from viz.sentences.word_links import word_links, written_until
from viz.text import translation_finding
from viz.text.learn.stops import one_word_at_a_time as words
from viz.tokens import counted

MOST_TOKENS = 48  # of a text that is translated twice
Key = tuple[str, str, tuple[int, ...]]


def written_of(selection: Selection) -> WrittenSteps:
    """What greedy decoding makes of the text."""
    return kept_writing(checkpoint_key(selection.checkpoint), selection.text)


@st.cache_data(show_spinner=False, max_entries=64)
def kept_writing(key: Key, text: str) -> WrittenSteps:
    """The same; the key names the checkpoint and its files."""
    return written_steps(checkpoint_named(key[0]), text)


@st.cache_data(show_spinner=False, max_entries=64)
def kept_parting(key: Key, texts: tuple[str, str]) -> PartingStep | None:
    """Where the translations of two texts part."""
    one, other = (kept_writing(key, text) for text in texts)
    return parting_step(checkpoint_named(key[0]), texts, (one, other))


@st.cache_data(show_spinner=False, max_entries=64)
def kept_second(key: Key, text: str, step: int) -> WrittenSteps:
    """What is written where the second candidate is taken at a step."""
    return with_second(checkpoint_named(key[0]), text, kept_writing(key, text), step)


def refusal(selection: Selection) -> str:
    """Why a text is not asked about; "" where it is."""
    count = len(checkpoint_named(selection.checkpoint).tokenizer.encode(selection.text).ids)
    if count > MOST_TOKENS:
        return words.TOO_LONG.format(count=count, most=MOST_TOKENS)
    return "" if written_of(selection).text.strip() else words.NOTHING_WRITTEN


def door(selection: Selection, step: int, label: str = words.DOOR) -> Door:
    """To the page that has all of it, at the same step."""
    return Door(
        page="translate",
        label=label,
        explained=words.DOOR_EXPLAINED,
        changes={"checkpoint": selection.checkpoint, "text": selection.text, "translation.step": step},
    )


# An "s"


def ask_about_letter(selection: Selection) -> StopQuestion:
    """How much of a translation changes with one letter."""
    if why_not := refusal(selection):
        return unclear(words.NAME, selection, why_not)
    change = other_number(selection.text, is_known(selection))
    if change is None:
        return unclear(words.NAME, selection, words.NO_LETTER)
    other, texts = with_text(selection, change.text), (selection.text, change.text)
    one, two = written_of(selection).text, written_of(other).text
    changed, parts = changed_words(one, two), kept_parting(checkpoint_key(selection.checkpoint), texts)
    names, counts = words.letter_words(selection.text, change, (one, two), changed), counts_to_guess(len(changed.first))
    step = 0 if parts is None else parts.step
    return StopQuestion(
        question=words.LETTER_QUESTION.format(**names),
        setting=words.LETTER_SETTING.format(**names),
        options=[words.range_name(each) for each in counts],
        right=frozenset(place for place, each in enumerate(counts) if changed.count in each),
        answer=words.counted_answer(words.LETTER_ANSWERS, changed.count).format(**names),
        sentence=words.parted(parts),
        picture=lambda seen: show_sentence_rows(
            words.letter_rows(texts, changed, (one, two), seen=seen), theme(), key="letter_rows"
        ),
        act=lambda: show_steps(written_links(other), step),
        door=door(selection, step, words.LETTER_DOOR),  # with the text as it was, which is what is asked on return
    )


def is_known(selection: Selection) -> Callable[[str], bool]:
    """Whether a word is one token of the model's, beside those that it adds to every text."""
    tokenizer = checkpoint_named(selection.checkpoint).tokenizer
    return lambda word: tokenizer.encode(f" {word}").special.count(False) == 1


def show_steps(links: "Links", opening: int) -> None:
    """A step of the new translation: its links and its candidates."""
    steps = range(len(links.written.steps))
    step = chosen_step(links.selection, steps, opening)
    if len(steps) > 1:
        look: dict[str, Any] = {"format_func": counted, "width": 480}
        st.select_slider(words.STEP, steps, **listed("written_step", steps, step, take_step), **look)
    word = links.linked.of_step[step]
    show_links(links, word, step, until=word)


def chosen_step(selection: Selection, steps: Sequence[int], opening: int) -> int:
    """The step that the knob names; else the one it opens with."""
    return next((step for step in steps if str(step) == selection.of(Path).knob), opening)


# The loop


@dataclass(frozen=True, kw_only=True)
class Links:
    """A translation, and what each of its words looks at."""

    selection: Selection
    checkpoint: Checkpoint
    written: WrittenSteps
    forced_pass: ForcedPass
    linked: WordLinks
    reading: tuple[int, ...]

    @cached_property
    def weights(self) -> Float[np.ndarray, "target source"]:
        """What every target word gives to every source word, while it is written."""
        return self.linked.of_words(self.reading, MOMENTS[0])


def written_links(selection: Selection) -> Links:
    """The pass over the text and its translation."""
    checkpoint, written = checkpoint_named(selection.checkpoint), written_of(selection)
    candidate = productions.Candidate(text=written.text, ids=written.ids, ended=written.ids[-1] == written.end_id)
    forced_pass = pass_over_candidate(with_text(selection, selection.text), checkpoint, candidate)
    linked = linked_of(checkpoint, forced_pass)
    return Links(
        selection=selection,
        checkpoint=checkpoint,
        written=written,
        forced_pass=forced_pass,
        linked=linked,
        reading=best_reading(checkpoint, forced_pass, linked, MOMENTS[0]),
    )


def ask_about_look(selection: Selection) -> StopQuestion:
    """What becomes of the first token when the source word that gets most attention is hidden."""
    if "text" not in choices():  # the adjective of this one changes places in French
        selection = with_text(selection, SENTENCES[0])
    if why_not := refusal(selection):
        return unclear(words.NAME, selection, why_not)
    links = written_links(selection)
    sources, link = links.linked.sources, most_looked_at(links.weights[0])
    if link is None or not is_word(sources)[link[0]]:
        return unclear(words.NAME, selection, words.NO_CHOICE)
    place, share = link
    after, hidden = kept_hidden(checkpoint_key(selection.checkpoint), selection.text, place, links)
    names = words.look_words(links.written, (sources.words[place], share), selection.text, (after, hidden[0]))
    outcome = words.look_outcome(links.written, after=after, stays=hidden[0].token_id == links.written.ids[0])
    return StopQuestion(
        question=words.LOOK_QUESTION.format(**names),
        setting=words.LOOK_SETTING.format(**names),
        options=[option.format(**names) for option in words.LOOK_OPTIONS],
        right=frozenset({outcome}),
        answer=words.LOOK_ANSWERS[outcome].format(**names),
        sentence=(words.LOOK_GOES if outcome == len(words.LOOK_OPTIONS) - 1 else words.LOOK_STAYS).format(**names),
        picture=lambda seen: show_look(links, seen=seen, hidden=(sources.words[place], hidden)),
        act=say_click,
        door=door(selection, 0),
        unclear="" if share > POINTED else words.EVEN.format(**names),
    )


@st.cache_data(show_spinner=False, max_entries=64)
def kept_hidden(key: Key, text: str, place: int, _links: Links) -> tuple[float, tuple[NextToken, ...]]:
    """The first token's probability where no head looks at a source word, and the likeliest tokens there.

    place: of the source word. The key names the checkpoint and its files.
    """
    keys = (at for at, word in enumerate(_links.linked.keys) if word == place)
    edits = Edits(hidden=frozenset(HiddenKey("decoder", at, "cross") for at in keys))
    checkpoint, first = checkpoint_named(key[0]), _links.written.ids[0]
    logits = checkpoint.trace(text, target=(first,), edits=edits).logits
    assert logits is not None
    shares = logits[0].softmax(dim=-1)
    ids = shares.topk(CANDIDATES).indices.tolist()
    tokens = zip(ids, checkpoint.tokenizer.pieces(ids), strict=True)
    candidates = (NextToken(token_id=at, token=token, probability=float(shares[at])) for at, token in tokens)
    return float(shares[first]), tuple(candidates)


def say_click() -> None:
    """What can be done with the picture."""
    st.markdown(words.CLICK)


def show_look(links: Links, *, seen: bool, hidden: tuple[str, Sequence[NextToken]]) -> None:
    """Words above words, at the step of the knob; before the guess the first word alone.

    hidden: the source word that is asked about, and the candidates for the first token where no head looks at it.
    """
    of_step = links.linked.of_step
    step = chosen_step(links.selection, range(len(links.written.steps)), 0) if seen else 0
    show_links(
        links,
        of_step[step],
        step,
        until=of_step[-1] if seen else of_step[0],
        hidden=hidden if seen and step == 0 else None,
    )


def show_links(
    links: Links, word: int, step: int, *, until: int, hidden: tuple[str, Sequence[NextToken]] | None = None
) -> None:
    """Words above words, and the candidates of the step.

    until: the last word whose letters and links are there. hidden: a source word, and the candidates without it.
    """
    left, right = st.columns([3, 2], gap="large")
    with left:
        linked_words(picture_of(links, word, until), partial(take_word, len(links.written.steps)))
    with right:
        show_candidates(("learn_candidates", links.forced_pass.key, step), links.written.steps[step], words.CANDIDATES)
        if hidden is not None:
            source, candidates = hidden
            key = ("learn_candidates_hidden", links.forced_pass.key, source)
            show_candidates(key, candidates, words.candidates_without(source))


def picture_of(links: Links, word: int, until: int) -> dict[str, Any]:
    """What the browser draws of the links."""
    linked = links.linked
    drawn = word_links(links.weights, linked.targets, linked.sources, linked.steps, word)
    caption = translation_finding.picture_caption(links.reading, moment=MOMENTS[0])
    return written_until(drawn, until, words.UNWRITTEN) | {
        "colours": {"accent": theme().accent, "quiet": theme().quiet},
        "alone": picture_alone(),
        "caption": caption if word <= until else words.NOT_SHOWN,
    }


def show_candidates(key: tuple[Any, ...], candidates: Sequence[NextToken], title: str) -> None:
    """The likeliest tokens at a step. title: what the bars are."""
    shares = [each.probability for each in candidates]
    make = partial(share_chart, words.candidate_names(candidates), shares, title, theme=theme())
    show_chart(key, make, words.CANDIDATES_ALT)


def take_word(steps: int) -> None:
    """The step of the word that was clicked."""
    step = step_clicked(steps)
    if step is not None:
        choose(knob=str(step))


# Another token


def ask_about_force(selection: Selection) -> StopQuestion:
    """How much of a translation changes where the decoder is given the second candidate at one step."""
    if why_not := refusal(selection):
        return unclear(words.NAME, selection, why_not)
    written = written_of(selection)
    step = written.closest()
    if step is None:
        return unclear(words.NAME, selection, words.NO_FORCE)
    other = kept_second(checkpoint_key(selection.checkpoint), selection.text, step)
    changed = changed_words(written.text, other.text)
    count, counts = others_changed(changed, given_text(selection, other)), counts_to_guess(len(changed.first))
    names = words.force_words(written, step, other.text, count)
    return StopQuestion(
        question=words.FORCE_QUESTION.format(**names),
        setting=words.FORCE_SETTING.format(**names),
        options=[words.range_name(each) for each in counts],
        right=frozenset(place for place, each in enumerate(counts) if count in each),
        answer=words.counted_answer(words.FORCE_ANSWERS, count).format(**names),
        sentence=words.FORCE_CHANGED if count else words.FORCE_SAME,
        picture=lambda seen: show_forced(selection, written, step, seen=seen),
        act=lambda: choose_force(selection, written, step),
        door=door(selection, step),
    )


def given_text(selection: Selection, other: WrittenSteps) -> str:
    """The text of the tokens that the decoder was given."""
    return checkpoint_named(selection.checkpoint).tokenizer.decode(other.ids[: other.forced])


def show_forced(selection: Selection, written: WrittenSteps, opening: int, *, seen: bool) -> None:
    """Both translations; the second with the step of the knob."""
    step = chosen_step(selection, written.forceable(), opening) if seen else opening
    other = kept_second(checkpoint_key(selection.checkpoint), selection.text, step).text
    changed = changed_words(written.text, other) if seen else None
    rows = words.force_rows(written.text, changed, other if seen else None, step)
    show_sentence_rows(rows, theme(), key="force_rows")


def choose_force(selection: Selection, written: WrittenSteps, opening: int) -> None:
    """Another step at which the second candidate is taken."""
    steps = written.forceable()
    names = {step: words.step_name(written, step) for step in steps}
    chosen = chosen_step(selection, steps, opening)
    look = {"format_func": names.__getitem__, "width": 420}
    select(words.FORCE_OTHER, steps, chosen, take_step, key="forced_step", **look)


def take_step(step: int) -> None:
    """Another step, counted from 0."""
    choose(knob=str(step))


STOP = Stop(
    name=words.NAME,
    opening=OPENINGS["one_word_at_a_time"],
    can_use=lambda config: config.is_encoder_decoder,
    needs="a model with an encoder and a decoder",
    rounds=(ask_about_letter, ask_about_look, ask_about_force),
    code=(write,),
    paper=words.PAPER,
)
