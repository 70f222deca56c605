"""What does the feed-forward layer do? Which of its units are active for a word, and for which words a unit is."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st
from jaxtyping import Float

from model import Config, Edits
from model.feed_forward import FeedForward
from model.measures.learn.active_units import (
    ActiveUnits,
    WakingWords,
    active_units_of,
    longest_token,
    most_particular,
    waking_words,
)
from model.measures.learn.nearest_rows import whole_words
from pages.parts.frame.theme import theme
from pages.parts.learn.effects import unclear
from pages.parts.learn.settings import OPENINGS, Path
from pages.parts.learn.stop import Door, Stop, StopQuestion
from pages.parts.passes import trace_key, trace_of
from pages.parts.shared_cache import checkpoint_key, checkpoint_named
from pages.parts.state.selection import Selection
from pages.parts.state.session import changed_selection, choose, current
from pages.parts.widgets.binding import select
from pages.parts.widgets.charts import show_chart
from viz.charts.learn.unit_grid import unit_grid
from viz.charts.learn.word_bars import BarGroup, word_bars
from viz.text.learn.stops import feed_forward as words
from viz.tokens import counted, position_name

RANK = 8  # words that are shown for a unit
MOST_WORDS = 4000  # of the vocabulary, those with the smallest ids, which are mostly the most frequent
UNITS_TO_CHOOSE = 12


@dataclass(frozen=True, kw_only=True)
class Units:
    """The units of a layer over the tokens of the selected text, and the token that is asked about."""

    selection: Selection
    layer: int
    tokens: tuple[str, ...]
    of_text: ActiveUnits
    place: int

    @property
    def count(self) -> int:
        """How many units the layer has."""
        return self.of_text.values.shape[-1]

    def value(self, place: int, unit: int) -> float:
        """What a unit is for a token."""
        return float(self.of_text.values[place, unit])


@dataclass(frozen=True, kw_only=True)
class ActiveToken:
    """A token and one of the units that it makes active; None where it makes none so. units: to choose among."""

    place: int
    unit: int | None
    units: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """Words, and how they make the units active."""

    words: tuple[str, ...]
    waking: WakingWords


def units_of(selection: Selection) -> Units:
    """The units over the selected text. A target spares a decoder beside the encoder its translation: none is shown."""
    read = changed_selection(selection, target=selection.target or ".")
    stack = trace_of(read, Edits()).text_stack
    layer = chosen_layer(selection, len(stack.blocks))
    of_text = kept_units((trace_key(read, Edits()), layer), read, layer)
    place = longest_token(stack.names(), stack.special or (False,) * len(stack.ids))
    return Units(selection=selection, layer=layer, tokens=stack.names(), of_text=of_text, place=place)


@st.cache_resource(show_spinner=False, max_entries=16)
def kept_units(key: object, _selection: Selection, layer: int) -> ActiveUnits:
    """The same; the key decides all numbers."""
    trace = trace_of(_selection, Edits()).text_stack.blocks[layer].feed_forward
    return active_units_of(checkpoint_named(_selection.checkpoint).model, trace, layer)


def chosen_layer(selection: Selection, layers: int) -> int:
    """The layer that the knob names after a "-"; the first where it names none."""
    name = selection.of(Path).knob.partition("-")[2]
    return next((layer for layer in range(layers) if str(layer) == name), 0)


@st.cache_resource(show_spinner=False, max_entries=8)
def vocabulary_in(key: tuple[str, str, tuple[int, ...]], layer: int) -> Vocabulary | None:
    """The words of a checkpoint's vocabulary that make its units active; None where it knows no word."""
    checkpoint = checkpoint_named(key[0])
    ids = whole_words(checkpoint.tokenizer.pieces(range(checkpoint.config.vocabulary)))
    names = sorted(ids, key=ids.__getitem__)[:MOST_WORDS]
    if not names:
        return None
    waking = waking_words(checkpoint.model, [ids[name] for name in names], RANK, layer)
    return Vocabulary(words=tuple(names), waking=waking)


def ask(selection: Selection) -> StopQuestion:
    """How many units are active for one token."""
    config, units = checkpoint_named(selection.checkpoint).config, units_of(selection)
    groups, active = words.counts_to_guess(units.count), units.of_text.counts[units.place]
    names = names_of(units, config)
    return StopQuestion(
        question=words.QUESTION.format(**names),
        setting=words.SETTING.format(**names),
        options=[words.count_name(group, units.count) for group in groups],
        right=frozenset({next(at for at, group in enumerate(groups) if active in group)}),
        answer=words.ANSWER.format(**names),
        sentence=words.SENTENCE.format(**names),
        picture=lambda seen: show_units(units, seen=seen),
        act=lambda: choose_token(units),
        door=Door(page="inside", label=words.DOOR, explained=words.DOOR_EXPLAINED),
    )


def names_of(units: Units, config: Config) -> dict[str, str]:
    """Everything that question and answer name."""
    token, of_text = units.tokens[units.place], units.of_text
    change = None if of_text.change is None else float(of_text.change[units.place])
    return words.asked_words(
        token=token,
        layer=units.layer,
        counts=(of_text.counts[units.place], units.count, config.width),
        shares=(of_text.share, of_text.random_share),
        activation=words.activation(config.activation, gated=config.gated),
        silent=words.silent(token, change),
    )


def chosen_in(units: Units) -> ActiveToken:
    """What the knob names, as "7.205"; else the token that is asked about, and the unit that it alone makes active."""
    first, _, second = units.selection.of(Path).knob.partition("-")[0].partition(".")
    place = next((at for at in range(len(units.tokens)) if str(at) == first), units.place)
    to_choose = tuple(most_particular(units.of_text.values, place, UNITS_TO_CHOOSE))
    unit = next((unit for unit in to_choose if str(unit) == second), next(iter(to_choose), None))
    return ActiveToken(place=place, unit=unit, units=to_choose)


def ask_about_words(selection: Selection) -> StopQuestion:
    """How many words make the unit active that a token alone of its text makes so."""
    units = units_of(selection)
    unit = next(iter(most_particular(units.of_text.values, units.place, 1)), None)
    vocabulary = vocabulary_in(checkpoint_key(selection.checkpoint), units.layer)
    if unit is None or vocabulary is None:
        return unclear(words.NAME, selection, words.NO_WORDS)
    count = len(vocabulary.words)
    active, groups = (
        round(float(vocabulary.waking.share[unit]) * count),
        words.counts_to_guess(count, words.WORD_SHARES),
    )
    names = words.words_of_unit(
        token=units.tokens[units.place],
        layer=units.layer,
        unit=unit,
        active=active,
        count=count,
        first=group_of(vocabulary, unit).words,
    )
    return StopQuestion(
        question=words.WORDS_QUESTION.format(**names),
        setting=words.WORDS_SETTING.format(**names),
        options=[words.count_name(group, count) for group in groups],
        right=frozenset({next(at for at, group in enumerate(groups) if active in group)}),
        answer=words.WORDS_ANSWER.format(**names),
        sentence=words.WORDS_SENTENCE.format(**names),
        picture=lambda seen: show_unit(units, with_words=seen),
        act=lambda: choose_unit(units),
        door=Door(page="inside", label=words.DOOR, explained=words.DOOR_EXPLAINED),
    )


def show_units(units: Units, *, seen: bool) -> None:
    """The grid of units; once it may be seen, those that are active. No unit is marked: the next round asks of one."""
    show_grid(units, chosen_in(units).place if seen else None, None)


def show_unit(units: Units, *, with_words: bool) -> None:
    """The active units with one of them marked; with_words: and the words that make it active."""
    chosen, of_layer = chosen_in(units), (checkpoint_key(units.selection.checkpoint), units.layer)
    show_grid(units, chosen.place, chosen.unit)
    vocabulary = vocabulary_in(*of_layer) if with_words else None
    if vocabulary is not None and chosen.unit is not None:
        words_key = ("learn_waking_words", of_layer, chosen.unit)
        group = group_of(vocabulary, chosen.unit)
        show_chart(words_key, lambda: word_bars([group], words.MEASURE, theme=theme()), words.WAKE_ALT)


def show_grid(units: Units, place: int | None, unit: int | None) -> None:
    """The units for a token, None for none yet; one of them marked."""
    key = ("learn_units", trace_key(units.selection, Edits()), units.layer, place, unit)
    values: Float[np.ndarray, " hidden"] | None = None if place is None else np.asarray(units.of_text.values[place])
    show_chart(key, lambda: unit_grid(values, units.count, marked=unit, theme=theme()), words.GRID_ALT)


def group_of(vocabulary: Vocabulary, unit: int) -> BarGroup:
    """The words that give a unit its largest values, as far as these are above 0."""
    strongest, values = vocabulary.waking.of(unit)
    title = (words.WAKE if values else words.WAKE_NONE).format(unit=f"{unit + 1:,}")
    return BarGroup(title=title, words=[vocabulary.words[place] for place in strongest], numbers=values)


def choose_token(units: Units) -> None:
    """Another layer or another token, and how many units that token makes active."""
    chosen = chosen_in(units)
    with st.container(horizontal=True):
        select_layer_and_token(units, chosen)
    if chosen.place != units.place:
        active = units.of_text.counts[chosen.place]
        st.markdown(words.active_units(units.tokens[chosen.place], active, units.count))


def choose_unit(units: Units) -> None:
    """Another layer, another token or another unit of it; and how many words make that unit active."""
    chosen = chosen_in(units)
    with st.container(horizontal=True):
        select_layer_and_token(units, chosen)
        if chosen.unit is None:
            return
        labels = words.unit_names(chosen.units, [units.value(chosen.place, unit) for unit in chosen.units])
        by_unit = dict(zip(chosen.units, labels, strict=True))
        select(
            words.UNIT, chosen.units, chosen.unit, partial(take_unit, units.layer, chosen.place), key="unit_of_token",
            format_func=by_unit.__getitem__, width=200,
        )  # fmt: skip
    vocabulary = vocabulary_in(checkpoint_key(units.selection.checkpoint), units.layer)
    if vocabulary is not None:
        share = float(vocabulary.waking.share[chosen.unit])
        value = units.value(chosen.place, chosen.unit)
        st.markdown(words.act(units.tokens[chosen.place], chosen.unit, value, (len(vocabulary.words), share)))


def select_layer_and_token(units: Units, chosen: ActiveToken) -> None:
    """Two lists beside each other."""
    names = [position_name(place, token) for place, token in enumerate(units.tokens)]
    layers = range(len(trace_of(units.selection, Edits()).text_stack.blocks))
    select(words.LAYER, layers, units.layer, take_layer, key="layer_of_units", format_func=counted, width=200)
    select(
        words.TOKEN, range(len(names)), chosen.place, partial(take_token, units.layer), key="token_of_units",
        format_func=names.__getitem__, width=200,
    )  # fmt: skip


def with_layer(knob: str, layer: int) -> str:
    """The knob at a layer; the first is not named."""
    return f"{knob}-{layer}" if layer else knob


def layer_alone(knob: str) -> str:
    """The knob at the same layer, with no token and no unit of it chosen."""
    _, dash, layer = knob.partition("-")
    return dash + layer


def take_layer(layer: int) -> None:
    """The same questions about another layer, guessed anew."""
    path = current().of(Path)
    choose(knob=with_layer("", layer), guesses=path.guesses_elsewhere)


def take_token(layer: int, place: int) -> None:
    """Another token, with its own unit."""
    choose(knob=with_layer(str(place), layer))


def take_unit(layer: int, place: int, unit: int) -> None:
    """Another unit of a token."""
    choose(knob=with_layer(f"{place}.{unit}", layer))


STOP = Stop(
    name=words.NAME,
    opening=OPENINGS["feed_forward"],
    can_use=lambda config: True,
    rounds=(ask, ask_about_words),
    code=(FeedForward.forward, waking_words),
    paper=words.PAPER,
    kept_knob=layer_alone,
)
