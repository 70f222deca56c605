"""Does looking mean mattering? Heads that look hardest at a word are muted; then every head is forbidden to look."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import streamlit as st

from model import Edits, HiddenKey
from model.edits import HeadSite
from model.edits.interventions import mask_after, zero_ablate
from model.measures.head_kinds import sides_of
from model.measures.learn.heads.attention_to_word import AttentionToWord, attention_to_word, change_of
from model.measures.learn.heads.clear_row import whole_words
from model.measures.learn.heads.head_effects import HeadEffects, muting_edits
from pages.parts.frame.theme import theme
from pages.parts.learn.effects import answer_of, effects_of, even_chance, outcome_under, unclear, why_no_effects
from pages.parts.learn.settings import OPENINGS, Path
from pages.parts.learn.stop import Door, Stop, StopQuestion
from pages.parts.passes import trace_key, trace_of
from pages.parts.state.selection import Selection
from pages.parts.state.session import choose
from pages.parts.widgets.binding import select
from pages.parts.widgets.charts import show_chart
from viz.charts.learn.heads.head_grid import head_grid
from viz.charts.learn.heads.verdicts import verdict_chart
from viz.explorer.attention_kinds import Kind, kinds_of
from viz.text.learn.stops import looking_and_mattering as words
from viz.tokens import position_name

Bars = dict[str, float | None]  # the probability of the answer in a pass, by its name; None: to be guessed

NAME = "Does looking mean mattering?"


@dataclass(frozen=True, kw_only=True)
class WordLookedAt:
    """The word that some head looks at hardest, the heads that do, and what muting heads does to the answer."""

    selection: Selection
    kind: Kind
    word: AttentionToWord
    effects: HeadEffects

    @property
    def heads(self) -> list[HeadSite]:
        """The heads that look hardest at the word."""
        return [HeadSite(self.kind.name, layer, head) for layer, head in self.word.heads]

    @property
    def token(self) -> str:
        return self.kind.keys.tokens[self.word.key]

    @property
    def knob(self) -> str:
        return self.selection.of(Path).knob

    @property
    def answer(self) -> str:
        return answer_of(self.selection, self.effects.outcome)

    @cached_property
    def names(self) -> dict[str, str]:
        """Everything that the sentences name."""
        return words.words(self.word, self.token, self.answer, self.effects)

    @cached_property
    def muted(self) -> tuple[float, bool]:
        """The answer's probability with these heads muted, and whether it is still the likeliest."""
        return self.under(muting_edits(self.heads))

    @cached_property
    def forbidden(self) -> tuple[float, bool]:
        """The same where no head may look at the word."""
        return self.without_key(self.word.key)

    def without_key(self, key: int) -> tuple[float, bool]:
        """The same where no head may look at one token."""
        return self.under(Edits(hidden=frozenset({HiddenKey(self.kind.name, key)})))

    def under(self, edits: Edits) -> tuple[float, bool]:
        """The same with any edits."""
        return outcome_under(self.selection, self.effects.outcome, edits)

    @property
    def door(self) -> Mapping[str, Any]:
        """What every door takes along."""
        return {"checkpoint": self.selection.checkpoint, "text": self.selection.text, "attention": self.kind.name}


def looked_at(selection: Selection) -> WordLookedAt | str:
    """What is measured of a text before either round; or why there is nothing to ask."""
    trace = trace_of(selection, Edits())
    if why_not := why_no_effects(selection):
        return why_not
    kind = next(iter(kinds_of(trace).values()))
    word = attention_to_word(np.stack(kind.weights), sides_of(trace, kind.name))
    if word is None:
        return words.NO_WORD
    if not word.heads:
        return words.spread(word, kind.keys.tokens[word.key])
    return WordLookedAt(selection=selection, kind=kind, word=word, effects=effects_of(selection))


def ask_about_muting(selection: Selection) -> StopQuestion:
    """What becomes of the answer when the heads that look hardest at a word are muted."""
    looked = looked_at(selection)
    if isinstance(looked, str):
        return unclear(NAME, selection, looked)
    right = change_of(looked.effects.plain, looked.muted[0], other_answer=not looked.muted[1])
    return StopQuestion(
        question=words.MUTE_QUESTION.format(**looked.names),
        setting=words.mute_setting(looked.word).format(**looked.names),
        options=words.OPTIONS,
        right=frozenset({right}),
        answer=words.change(right, looked.names, looked.muted[0]),
        sentence=words.MUTE_SENTENCE.format(**looked.names),
        picture=lambda seen: show_picture(looked, bars_of_muting(looked, seen=seen)),
        act=lambda: show_heads(looked),
        bars=bars_of_muting(looked, seen=True),
        door=Door(
            page="explore",
            label=words.MUTE_DOOR,
            explained=words.MUTE_DOOR_EXPLAINED,
            changes={**looked.door, "muted": frozenset(looked.word.heads)},
        ),
    )


def ask_about_forbidding(selection: Selection) -> StopQuestion:
    """What becomes of the answer when no head may look at that word."""
    looked = looked_at(selection)
    if isinstance(looked, str):
        return unclear(NAME, selection, looked)
    right = change_of(looked.effects.plain, looked.forbidden[0], other_answer=not looked.forbidden[1])
    return StopQuestion(
        question=words.FORBID_QUESTION.format(**looked.names),
        setting=words.FORBID_SETTING.format(**looked.names),
        options=words.OPTIONS,
        right=frozenset({right}),
        answer=words.change(right, looked.names, looked.forbidden[0]),
        sentence=words.forbid_sentence(looked.word, looked.names, looked.muted[0]),
        picture=lambda seen: show_picture(looked, bars_of_forbidding(looked, seen=seen)),
        act=lambda: show_other_words(looked),
        bars=bars_of_forbidding(looked, seen=True),
        door=Door(
            page="break",
            label=words.FORBID_DOOR,
            explained=words.FORBID_DOOR_EXPLAINED,
            changes={**looked.door, "experiment": "hide", "key": looked.word.key},
        ),
    )


def bars_of_muting(looked: WordLookedAt, *, seen: bool) -> Bars:
    """The passes of the first round, each with the answer's probability; None until it was guessed."""
    effects = looked.effects
    bars: Bars = {words.NONE_MUTED: effects.plain, words.these_muted(looked.word): looked.muted[0] if seen else None}
    if not seen:
        return bars
    most, chosen = effects.most, chosen_head(looked)
    bars |= {words.most_muted(effects.sites[most]): float(effects.alone[most])}
    return bars if chosen == most else bars | {words.one_muted(effects.sites[chosen]): float(effects.alone[chosen])}


def bars_of_forbidding(looked: WordLookedAt, *, seen: bool) -> Bars:
    """The passes of the second round."""
    bars: Bars = {words.NONE_MUTED: looked.effects.plain, words.these_muted(looked.word): looked.muted[0]}
    bars |= {words.forbidden(looked.token, looked.word.key): looked.forbidden[0] if seen else None}
    chosen = chosen_word(looked)
    if not seen or chosen == looked.word.key:
        return bars
    return bars | {words.forbidden(looked.kind.keys.tokens[chosen], chosen): looked.without_key(chosen)[0]}


def show_picture(looked: WordLookedAt, bars: Bars) -> None:
    """The passes as bars, and beside them where every head looks."""
    key = trace_key(looked.selection, Edits())
    left, right = st.columns([3, 2], gap="large")
    even = even_chance(looked.selection)
    with left:
        show_chart(
            ("learn_verdicts", key, tuple(bars.items())),
            lambda: verdict_chart(
                list(bars), list(bars.values()), words.probability(looked.answer), even=even, theme=theme()
            ),
            words.BARS_ALT,
        )
    with right:
        show_chart(
            ("learn_looking", key),
            lambda: head_grid(looked.word.given, looked.word.heads, theme=theme()),
            words.GRID_ALT,
        )
        st.caption(words.GRID.format(**looked.names))


def show_heads(looked: WordLookedAt) -> None:
    """Another head to mute, alone."""
    places, sites = range(len(looked.effects.sites)), looked.effects.sites
    names = [words.head_option(site, float(looked.word.given[site.layer, site.head])) for site in sites]
    chosen = chosen_head(looked)
    select(words.CHOOSE_HEAD, places, chosen, take, key="head_alone", format_func=names.__getitem__, width=420)


def chosen_head(looked: WordLookedAt) -> int:
    """The place of the head that the knob names; else of the one that changes the answer most."""
    return chosen_place(looked.knob, list(range(len(looked.effects.sites))), looked.effects.most)


def show_other_words(looked: WordLookedAt) -> None:
    """Another word to forbid."""
    names = {place: position_name(place, looked.kind.keys.tokens[place]) for place in forbiddable(looked)}
    chosen = chosen_word(looked)
    select(words.CHOOSE_WORD, list(names), chosen, take, key="word_forbidden", format_func=names.__getitem__, width=420)


def chosen_word(looked: WordLookedAt) -> int:
    """The word that the knob names; else the one that was asked about."""
    return chosen_place(looked.knob, forbiddable(looked), looked.word.key)


def forbiddable(looked: WordLookedAt) -> list[int]:
    """The words that can be chosen: whole ones, and the one that was asked about."""
    keys = looked.kind.keys
    return sorted({*whole_words(keys.tokens, keys.words, keys.special), looked.word.key})


def chosen_place(knob: str, places: Sequence[int], opening: int) -> int:
    """The place that a knob names; the opening one where it names none of these."""
    return next((place for place in places if str(place) == knob), opening)


def take(place: int) -> None:
    """Another head, or another word."""
    choose(knob=str(place))


STOP = Stop(
    name=NAME,
    opening=OPENINGS["looking_and_mattering"],
    can_use=lambda config: bool(config.labels),
    needs="a model that judges texts",
    rounds=(ask_about_muting, ask_about_forbidding),
    code=(zero_ablate, mask_after),
    paper=words.PAPER,
    leans_on_verdict=True,
)
