"""Does it notice if words change places? Two verdicts; then without positions; then in French."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import streamlit as st

from model import Checkpoint, Edits
from model.edits import Shift
from model.measures.learn.heads.attention_to_word import change_of
from model.measures.learn.order.changed_words import lost_words
from model.measures.learn.order.position_hands import clock_pairs, hand_angles, possible_shifts, turns
from model.measures.learn.order.two_verdicts import TwoVerdicts, same_tokens, two_verdicts
from model.positions import computed_sinusoids
from model.transformer import Stack
from pages.parts.frame.theme import theme
from pages.parts.learn.effects import even_chance, unclear
from pages.parts.learn.sentence_rows import show_sentence_rows
from pages.parts.learn.settings import OPENINGS, Path
from pages.parts.learn.stop import Door, Stop, StopQuestion
from pages.parts.passes import trace_key, trace_of, with_text
from pages.parts.shared_cache import checkpoint_key, checkpoint_named
from pages.parts.state.selection import Selection
from pages.parts.state.session import changed_selection, choices, choose
from pages.parts.widgets.binding import listed, select
from pages.parts.widgets.charts import show_chart
from viz.charts.learn.heads.verdicts import verdict_chart
from viz.charts.learn.position_hands import MOST_HANDS, hands_chart
from viz.charts.learn.position_waves import position_waves
from viz.text.learn.stops import looking_and_mattering, word_order

TRANSLATOR, FRENCH_TEXT = "translate-en-fr", "The dog bites the man."
MOST_TRANSLATED = 32  # tokens of a text that is translated four times
LONGEST_OUTPUT = 64  # tokens
WITHOUT = Edits(unpositioned=frozenset({"encoder"}))  # of a translator; what it writes keeps its own positions
ROTATED = "sinusoidal"  # positions whose dimensions 2i and 2i + 1 are a sine and its cosine


@dataclass(frozen=True, kw_only=True)
class Orders:
    """A text, the same words in another order, and the verdicts on both."""

    selection: Selection
    other: Selection

    @property
    def checkpoint(self) -> Checkpoint:
        return checkpoint_named(self.selection.checkpoint)

    def verdicts(self, edits: Edits) -> TwoVerdicts:
        """On the two orders, with these edits."""
        return verdicts_on(self.selection, self.other, edits)

    @cached_property
    def plain(self) -> TwoVerdicts:
        """With the model's positions."""
        return self.verdicts(Edits())

    @cached_property
    def bare(self) -> TwoVerdicts:
        """Without."""
        return self.verdicts(Edits(unpositioned=frozenset(self.checkpoint.config.stacks)))

    @property
    def names(self) -> dict[str, str]:
        """Everything that the sentences name."""
        width = self.checkpoint.config.width
        return word_order.words(self.plain, self.bare, self.other.text, width=width)

    @property
    def tokens(self) -> int:
        return len(trace_of(self.selection, Edits()).text_stack.ids)

    @property
    def shifts(self) -> tuple[int, ...]:
        """How far the positions can be moved."""
        return possible_shifts(self.checkpoint.config, self.tokens)

    @property
    def shift(self) -> int:
        """How far the knob moves them."""
        return shift_of(self.selection, self.shifts)


def verdicts_on(first: Selection, second: Selection, edits: Edits) -> TwoVerdicts:
    """The verdicts on two texts, with these edits."""
    return kept_verdicts(trace_key(first, edits), trace_key(second, edits), first, second, edits)


@st.cache_data(show_spinner=False, max_entries=256)
def kept_verdicts(
    key: tuple[object, ...],
    other_key: tuple[object, ...],
    _first: Selection,
    _second: Selection,
    _edits: Edits,
) -> TwoVerdicts:
    """The same; the keys decide them. Traces of a long text would push each other out."""
    checkpoint = checkpoint_named(_first.checkpoint)
    return two_verdicts(checkpoint, trace_of(_first, _edits), trace_of(_second, _edits))


def orders_of(selection: Selection) -> Orders | None:
    """The text in two orders; None where nothing in it can change places."""
    selection = with_text(selection, selection.text)  # a second segment would stay where it is
    stack, tokenizer = trace_of(selection, Edits()).text_stack, checkpoint_named(selection.checkpoint).tokenizer
    other = word_order.other_order(selection.text, stack, partial(same_tokens, tokenizer, selection.text))
    return None if other is None else Orders(selection=selection, other=with_text(selection, other))


def ask_about_order(selection: Selection) -> StopQuestion:
    """What the verdict is on the same words in another order."""
    orders = orders_of(selection)
    if orders is None:
        return unclear(word_order.NAME, selection, word_order.NO_ORDER)
    plain, names = orders.plain, orders.names
    right = change_of(plain.first, plain.second, other_answer=not plain.same_answer)
    return StopQuestion(
        question=word_order.ORDER_QUESTION,
        setting=word_order.ORDER_SETTING.format(**names),
        options=word_order.ORDER_OPTIONS,
        right=frozenset({right}),
        answer=word_order.order_answer(plain, right).format(**names),
        sentence=word_order.ORDER_SENTENCE.format(**names)
        + word_order.other_wrong(plain, orders.other.text, orders.checkpoint.config.labels),
        picture=lambda seen: show_bars(orders, bars_of_order(orders, seen=seen)),
        act=lambda: choose_neighbours(orders),
        bars=bars_of_order(orders, seen=True),
        door=Door(
            page="positions",
            label=word_order.ORDER_DOOR,
            explained=word_order.ORDER_DOOR_EXPLAINED,
            changes={"checkpoint": selection.checkpoint, "text": selection.text},
        ),
    )


def bars_of_order(orders: Orders, *, seen: bool) -> dict[str, float | None]:
    """Both orders, and the two neighbours that the knob swaps."""
    plain, texts = orders.plain, (orders.selection.text, orders.other.text)
    shares = (plain.first, plain.second if seen else None)
    bars = {
        word_order.bar_name(name, text): share for name, text, share in zip(word_order.BARS, texts, shares, strict=True)
    }
    name, text = chosen_neighbours(orders)
    if seen and text:
        swapped = verdicts_on(orders.selection, with_text(orders.selection, text), Edits()).second
        bars |= {word_order.bar_name(name, text): swapped}
    return bars


def neighbours_of(orders: Orders) -> dict[str, str]:
    """Every two neighbours that can be swapped, by their names; the first swaps none."""
    stack = trace_of(orders.selection, Edits()).text_stack
    return {word_order.NO_NEIGHBOURS: "", **word_order.neighbours_swapped(orders.selection.text, stack)}


def chosen_neighbours(orders: Orders) -> tuple[str, str]:
    """The neighbours that the knob names, and the text with them swapped; none as it opens."""
    knob, every = orders.selection.of(Path).knob, list(neighbours_of(orders).items())
    return next((two for place, two in enumerate(every) if str(place) == knob), every[0])


def choose_neighbours(orders: Orders) -> None:
    """Two neighbouring words to swap."""
    names = list(neighbours_of(orders))
    places, chosen = range(len(names)), names.index(chosen_neighbours(orders)[0])
    look = {"format_func": names.__getitem__, "width": 420}
    select(word_order.NEIGHBOURS, places, chosen, take_knob, key="neighbours_swapped", **look)


def take_knob(number: int) -> None:
    """Other neighbours, or another shift."""
    choose(knob=str(number))


def ask_about_positions(selection: Selection) -> StopQuestion:
    """How far the verdicts are apart without positions."""
    orders = orders_of(selection)
    if checkpoint_named(selection.checkpoint).config.positions == "none":
        return unclear(word_order.NAME, selection, word_order.NO_POSITIONS)
    if orders is None:
        return unclear(word_order.NAME, selection, word_order.NO_ORDER)
    bare, names, right = orders.bare, orders.names, word_order.bare_option(orders.bare)
    alike = same_tokens(orders.checkpoint.tokenizer, selection.text, orders.other.text)
    return StopQuestion(
        question=word_order.BARE_QUESTION,
        setting=word_order.BARE_SETTING.format(**names),
        options=word_order.BARE_OPTIONS,
        right=frozenset({right}),
        answer=word_order.BARE_ANSWERS[right].format(**names),
        sentence=word_order.bare_sentence(bare, same_tokens=alike).format(**names),
        picture=lambda seen: show_both(orders, seen=seen),
        act=lambda: move_positions(orders),
        bars=bars_of_positions(orders, orders.shift, seen=True),
        door=Door(
            page="break",
            label=word_order.BREAK_DOOR,
            explained=word_order.BREAK_DOOR_EXPLAINED,
            changes={"checkpoint": selection.checkpoint, "text": selection.text, "experiment": "positions"},
        ),
    )


def show_both(orders: Orders, *, seen: bool) -> None:
    """The verdicts with positions and without, and beside them what was left out."""
    shift = orders.shift if seen else 0
    left, right = st.columns([3, 2], gap="large")
    with left:
        show_bars(orders, bars_of_positions(orders, shift, seen=seen))
    with right:
        if shift and orders.checkpoint.config.positions == ROTATED:
            show_hands(orders, shift)
        else:
            show_waves(orders)


def bars_of_positions(orders: Orders, shift: int, *, seen: bool) -> dict[str, float | None]:
    """Both orders, with positions, without, and with those that the knob has moved."""
    plain, bare = orders.plain, orders.bare
    shares = (plain.first, plain.second, *((bare.first, bare.second) if seen else (None, None)))
    bars = dict(zip((*word_order.BARS, *word_order.BARE_BARS), shares, strict=True))
    if shift:
        moved = orders.verdicts(shifted_stacks(orders.checkpoint.config.stacks, shift))
        names = [name.format(by=f"{shift:,}") for name in word_order.SHIFTED_BARS]
        bars |= dict(zip(names, (moved.first, moved.second), strict=True))
    return bars


def shifted_stacks(stacks: Sequence[str], by: int) -> Edits:
    """The positions of these stacks moved on."""
    return Edits(shifted=frozenset(Shift(stack, by) for stack in stacks))


def show_waves(orders: Orders) -> None:
    """The vectors that are added to the words of this text."""
    vectors = trace_of(orders.selection, Edits()).text_stack.embedding.position
    if vectors is None:
        st.markdown(word_order.NO_WAVES)
        return
    key = ("learn_waves", trace_key(orders.selection, Edits()))
    show_chart(key, lambda: position_waves(np.asarray(vectors), theme=theme()), word_order.WAVES_ALT)
    st.caption(word_order.WAVES.format(**orders.names))


def show_hands(orders: Orders, shift: int) -> None:
    """The same vectors as hands of clocks, before the positions are moved and after."""
    edits, width = shifted_stacks(orders.checkpoint.config.stacks, shift), orders.checkpoint.config.width
    pairs = clock_pairs(width)
    before, after = (
        hand_angles(np.asarray(trace_of(orders.selection, each).text_stack.embedding.position)[:MOST_HANDS], pairs)
        for each in (Edits(), edits)
    )
    first, second = word_order.HANDS_NAMES
    names = first, second.format(by=f"{shift:,}")
    show_chart(
        ("learn_hands", trace_key(orders.selection, edits)),
        lambda: hands_chart(before, after, turns(width, pairs), names, theme=theme()),
        word_order.HANDS_ALT,
    )
    st.caption(word_order.HANDS.format(count=before.shape[1]))


def show_bars(orders: Orders, bars: Mapping[str, float | None]) -> None:
    """The passes, a bar each."""
    title = looking_and_mattering.probability(orders.plain.answer)
    even = even_chance(orders.selection)
    key = ("learn_orders", trace_key(orders.selection, Edits()), tuple(bars.items()))
    make = partial(verdict_chart, list(bars), list(bars.values()), title, even=even, theme=theme())
    show_chart(key, make, word_order.BARS_ALT)


def shift_of(selection: Selection, shifts: Sequence[int]) -> int:
    """The shift that the knob names; none as it opens."""
    return next((shift for shift in shifts if str(shift) == selection.of(Path).knob), 0)


def move_positions(orders: Orders) -> None:
    """Move all positions on, beyond those of the longest text too."""
    choose_shift(word_order.SHIFT, orders.shifts, orders.shift)
    if orders.shift:
        limit = orders.checkpoint.config.max_length
        st.markdown(word_order.shifted_sentence(orders.shift, orders.tokens, limit))


def choose_shift(label: str, shifts: Sequence[int], chosen: int) -> None:
    """A slider of the shifts; nothing where there is no choice."""
    if len(shifts) > 1:
        look: dict[str, Any] = {"format_func": "{:,}".format, "width": 480}
        st.select_slider(label, shifts, **listed("positions_moved", shifts, chosen, take_knob), **look)


def ask_about_french(selection: Selection) -> StopQuestion:
    """What a translator makes of two orders without positions."""
    text = selection.text if "text" in choices() else FRENCH_TEXT
    source = with_text(changed_selection(selection, checkpoint=TRANSLATOR), text)
    tokenizer = checkpoint_named(TRANSLATOR).tokenizer
    count = len(tokenizer.encode(text).ids)
    if count > MOST_TRANSLATED:
        return unclear(word_order.NAME, source, word_order.FRENCH_LONG.format(count=count, most=MOST_TRANSLATED))
    other = french_order(checkpoint_key(TRANSLATOR), text)
    if other is None:
        return unclear(word_order.NAME, source, word_order.NO_ORDER)
    texts = (text, other)
    plain, bare = (translations(texts, edits) for edits in (Edits(), WITHOUT))
    lost, _ = lost_words(plain[0], bare[0])
    names, count = word_order.french_words(TRANSLATOR, texts, plain, bare, lost), sum(lost)
    return StopQuestion(
        question=word_order.FRENCH_QUESTION.format(**names),
        setting=word_order.FRENCH_SETTING.format(**names),
        options=word_order.FRENCH_OPTIONS,
        right=frozenset({word_order.french_option(count)}),
        answer=word_order.FRENCH_ANSWERS[min(count, 2)].format(**names),
        sentence=word_order.french_sentence(bare, count).format(**names),
        picture=lambda seen: show_translations(source, texts, plain, bare if seen else None),
        act=lambda: move_english(source),
        door=Door(
            page="translate",
            label=word_order.FRENCH_DOOR,
            explained=word_order.FRENCH_DOOR_EXPLAINED,
            changes={"checkpoint": TRANSLATOR, "text": text},
        ),
        unclear="" if lost else word_order.NO_FRENCH,
    )


@st.cache_data(show_spinner=False, max_entries=128)
def french_order(key: tuple[str, str, tuple[int, ...]], text: str) -> str | None:
    """The other order of a text that is translated; the key names the checkpoint and its files."""
    checkpoint = checkpoint_named(key[0])
    stack = checkpoint.trace(text, target="").text_stack  # nothing is decoded for it
    return word_order.other_order(text, stack, partial(same_tokens, checkpoint.tokenizer, text))


def translations(texts: tuple[str, str], edits: Edits) -> tuple[str, str]:
    """What greedy decoding makes of both orders, with these edits."""
    one, other = (kept_translation(checkpoint_key(TRANSLATOR), text, edits) for text in texts)
    return one, other


@st.cache_data(show_spinner=False, max_entries=256)
def kept_translation(key: tuple[str, str, tuple[int, ...]], text: str, edits: Edits) -> str:
    """The same of one; the key names the checkpoint and its files."""
    return checkpoint_named(key[0]).generate(text, max_tokens=LONGEST_OUTPUT, edits=edits).text


def show_translations(
    source: Selection, texts: tuple[str, str], plain: tuple[str, str], bare: tuple[str, str] | None
) -> None:
    """The translations of both orders, with positions, without, and with those that the knob has moved."""
    with_positions, without, moved = word_order.FRENCH_GROUPS
    columns: dict[str, Sequence[str | None]] = {with_positions: plain, without: bare or (None, None)}
    shift = english_shift(source)
    if bare is not None and shift:
        columns[moved.format(by=f"{shift:,}")] = translations(texts, shifted_stacks(("encoder",), shift))
    marked = {} if bare is None else dict(zip((with_positions, without), lost_words(plain[0], bare[0]), strict=True))
    show_sentence_rows(word_order.french_groups(texts, columns, marked), theme(), key="french_orders")


def english_shifts(source: Selection) -> tuple[int, ...]:
    """How far the positions of the English text can be moved."""
    checkpoint = checkpoint_named(source.checkpoint)
    return possible_shifts(checkpoint.config, len(checkpoint.tokenizer.encode(source.text).ids))


def english_shift(source: Selection) -> int:
    """How far the knob moves them."""
    return shift_of(source, english_shifts(source))


def move_english(source: Selection) -> None:
    """Move the positions of the English text on, those of the French stay."""
    choose_shift(word_order.FRENCH_SHIFT, english_shifts(source), english_shift(source))


STOP = Stop(
    name=word_order.NAME,
    opening=OPENINGS["word_order"],
    can_use=lambda config: bool(config.labels),
    needs="a model that judges texts",
    rounds=(ask_about_order, ask_about_positions, ask_about_french),
    code=(computed_sinusoids, Stack.embed),
    paper=word_order.PAPER,
    leans_on_verdict=True,
)
