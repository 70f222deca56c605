"""Does it notice if two words change places? Two verdicts; then without positions; then in French."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import pandas as pd
import streamlit as st

from model import Checkpoint, Edits
from model.edits import Shift
from model.measures.learn.attention_to_word import change_of
from model.measures.learn.two_verdicts import TwoVerdicts, two_verdicts
from model.positions import computed_sinusoids
from model.transformer import Stack
from pages.parts.cache import checkpoint_key, checkpoint_named
from pages.parts.frame.theme import theme
from pages.parts.learn.effects import even_chance, unclear
from pages.parts.learn.settings import Path
from pages.parts.learn.stop import Asked, Door, Stop
from pages.parts.passes import trace_key, trace_of, with_text
from pages.parts.state.selection import EXAMPLES, Selection
from pages.parts.state.session import changed, choices, choose
from pages.parts.widgets.charts import show_chart
from viz.charts.learn.position_waves import position_waves
from viz.charts.learn.verdicts import verdict_chart
from viz.text.learn import looking_and_mattering, word_order

TRANSLATOR, FRENCH_TEXT = "translate-en-fr", "The dog bit the man."
MOST_TRANSLATED = 40  # tokens of a text that is translated four times
FRENCH_EDITS = (Edits(), Edits(unpositioned=frozenset({"encoder"})))  # as it is, and without the source's positions
FURTHEST = 400  # positions of a shift
LONGEST_OUTPUT = 60  # tokens


@dataclass(frozen=True, kw_only=True)
class Orders:
    """A text, the same words in another order, and the verdicts on both."""

    selection: Selection
    other: Selection

    @property
    def checkpoint(self) -> Checkpoint:
        return checkpoint_named(self.selection.checkpoint)

    @property
    def bare_edits(self) -> Edits:
        """No positions anywhere."""
        return Edits(unpositioned=frozenset(self.checkpoint.config.stacks))

    def verdicts(self, edits: Edits) -> TwoVerdicts:
        """On the two orders, with these edits."""
        first, second = (trace_of(each, edits) for each in (self.selection, self.other))
        return two_verdicts(self.checkpoint, first, second)

    @cached_property
    def plain(self) -> TwoVerdicts:
        """With the model's positions."""
        return self.verdicts(Edits())

    @cached_property
    def bare(self) -> TwoVerdicts:
        """Without."""
        return self.verdicts(self.bare_edits)

    @property
    def names(self) -> dict[str, str]:
        """Everything that the sentences name."""
        width = self.checkpoint.config.width
        return word_order.words(self.plain, self.bare, self.other.text, width=width)


def orders_of(selection: Selection) -> Orders | None:
    """The text in two orders; None where nothing in it can change places."""
    trace = trace_of(selection, Edits())
    other = word_order.other_order(selection.text, trace.text_stack)
    return None if other is None else Orders(selection=selection, other=with_text(selection, other))


def ask_about_order(selection: Selection) -> Asked:
    """What the verdict is on the same words in another order."""
    orders = orders_of(selection)
    if orders is None:
        return unclear(word_order.NAME, selection, word_order.NO_ORDER)
    plain, names = orders.plain, orders.names
    right = change_of(plain.first, plain.second, other_answer=not plain.same_answer)
    return Asked(
        question=word_order.ORDER_QUESTION,
        setting=word_order.ORDER_SETTING.format(**names),
        options=word_order.ORDER_OPTIONS,
        right=frozenset({right}),
        answer=word_order.ORDER_ANSWERS[right].format(**names),
        sentence=word_order.ORDER_SENTENCE,
        picture=lambda seen: show_bars(orders, [plain.first, plain.second if seen else None], word_order.BARS),
        act=lambda: read_other(orders),
        door=Door(
            page="positions",
            label=word_order.ORDER_DOOR,
            explained=word_order.ORDER_DOOR_EXPLAINED,
            changes={"checkpoint": selection.checkpoint, "text": selection.text},
        ),
    )


def ask_about_positions(selection: Selection) -> Asked:
    """How far the verdicts are apart without positions."""
    orders = orders_of(selection)
    if orders is None:
        return unclear(word_order.NAME, selection, word_order.NO_ORDER)
    bare, names = orders.bare, orders.names
    right = len(word_order.BARE_OPTIONS) - 1 - bare.distance  # the furthest comes first
    return Asked(
        question=word_order.BARE_QUESTION,
        setting=word_order.BARE_SETTING.format(**names),
        options=word_order.BARE_OPTIONS,
        right=frozenset({right}),
        answer=word_order.BARE_ANSWERS[right].format(**names),
        sentence=word_order.BARE_EQUAL if bare.distance == 0 else word_order.BARE_APART,
        picture=lambda seen: show_both(orders, seen=seen),
        act=lambda: choose_shift(selection),
        door=Door(
            page="break",
            label=word_order.BREAK_DOOR,
            explained=word_order.BREAK_DOOR_EXPLAINED,
            changes={"checkpoint": selection.checkpoint, "text": selection.text, "experiment": "positions"},
        ),
    )


def show_both(orders: Orders, *, seen: bool) -> None:
    """The verdicts with positions and without, and beside them what was left out."""
    plain, bare, shift = orders.plain, orders.bare, shift_of(orders.selection)
    shares: list[float | None] = [plain.first, plain.second, *((bare.first, bare.second) if seen else (None, None))]
    names = [*word_order.BARS, *word_order.BARE_BARS]
    if seen and shift:
        names.append(word_order.SHIFTED_BAR.format(by=shift))
        shares.append(orders.verdicts(shifted(orders.checkpoint, shift)).first)
    left, right = st.columns([3, 2], gap="large")
    with left:
        show_bars(orders, shares, names)
    with right:
        show_waves(orders)


def shifted(checkpoint: Checkpoint, by: int) -> Edits:
    """All positions of every stack counted from here."""
    return Edits(shifted=frozenset(Shift(stack, by) for stack in checkpoint.config.stacks))


def show_waves(orders: Orders) -> None:
    """The vectors that are added to the words of this text."""
    vectors = trace_of(orders.selection, Edits()).text_stack.embedding.position
    if vectors is None:
        st.markdown(word_order.NO_WAVES)
        return
    key = ("learn_waves", trace_key(orders.selection, Edits()))
    show_chart(key, lambda: position_waves(np.asarray(vectors), theme=theme()), word_order.WAVES_ALT)
    st.caption(word_order.WAVES.format(**orders.names))


def show_bars(orders: Orders, shares: Sequence[float | None], names: Sequence[str]) -> None:
    """The passes, a bar each."""
    title = looking_and_mattering.probability(orders.plain.answer)
    even = even_chance(orders.selection)
    key = ("learn_orders", trace_key(orders.selection, Edits()), tuple(names), tuple(shares))
    make = partial(verdict_chart, names, shares, title, even=even, theme=theme())
    show_chart(key, make, word_order.BARS_ALT)


def read_other(orders: Orders) -> None:
    """The other order becomes the text, to be guessed the other way round."""
    st.button(word_order.OTHER_ORDER_BUTTON, key="other_order", on_click=choose, kwargs={"text": orders.other.text})


def shift_of(selection: Selection) -> int:
    """How far the positions are shifted; 0 as the stop opens."""
    knob = selection.of(Path).knob
    return min(int(knob), furthest(selection)) if knob.isdecimal() and len(knob) < len(str(10 * FURTHEST)) else 0


def furthest(selection: Selection) -> int:
    """The largest shift for which the model has positions for the whole text."""
    checkpoint = checkpoint_named(selection.checkpoint)
    count = len(trace_of(selection, Edits()).text_stack.ids)
    return max(0, min(FURTHEST, checkpoint.config.max_length - count))


def choose_shift(selection: Selection) -> None:
    """Count the positions from another number."""
    most = furthest(selection)
    if most < 1 or checkpoint_named(selection.checkpoint).config.positions == "none":
        return
    st.session_state["order_shift"] = shift_of(selection)
    st.slider(word_order.SHIFT, 0, most, key="order_shift", on_change=take_shift, help=word_order.SHIFT_HELP, width=420)


def take_shift() -> None:
    choose(knob=str(int(st.session_state["order_shift"])))


def ask_about_french(selection: Selection) -> Asked:
    """Whether a translator tells two orders apart without positions."""
    text = selection.text if "text" in choices() else FRENCH_TEXT
    source = changed(selection, checkpoint=TRANSLATOR, text=text, pair="", target="")
    stack = trace_of(source, Edits()).text_stack
    count = len(stack.ids)
    if count > MOST_TRANSLATED:
        return unclear(word_order.NAME, source, word_order.FRENCH_LONG.format(count=count, most=MOST_TRANSLATED))
    other = word_order.two_words_swapped(text, stack)
    if other is None:
        return unclear(word_order.NAME, source, word_order.NO_ORDER)
    plain, bare = ([translation(TRANSLATOR, each, edits) for each in (text, other)] for edits in FRENCH_EDITS)
    names = {
        "model": TRANSLATOR,
        "first": word_order.shortened(text),
        "second": word_order.shortened(other),
        "plain_first": word_order.shortened(plain[0]),
        "plain_second": word_order.shortened(plain[1]),
        "bare_first": word_order.shortened(bare[0]),
        "bare_second": word_order.shortened(bare[1]),
    }
    same = bare[0] == bare[1]
    return Asked(
        question=word_order.FRENCH_QUESTION,
        setting=word_order.FRENCH_SETTING.format(**names),
        options=word_order.FRENCH_OPTIONS,
        right=frozenset({int(same)}),
        answer=(word_order.FRENCH_SAME if same else word_order.FRENCH_DIFFERENT).format(**names),
        sentence=word_order.FRENCH_SENTENCE.format(**names),
        picture=lambda seen: show_translations((text, other), plain, bare if seen else None),
        door=Door(
            page="translate",
            label=word_order.FRENCH_DOOR,
            explained=word_order.FRENCH_DOOR_EXPLAINED,
            changes={"checkpoint": TRANSLATOR, "text": text},
        ),
        unclear=word_order.FRENCH_ALIKE.format(**names) if plain[0] == plain[1] else "",
    )


def translation(name: str, text: str, edits: Edits) -> str:
    """What greedy decoding makes of a text."""
    return kept_translation(checkpoint_key(name), text, edits)


@st.cache_data(show_spinner=False, max_entries=128)
def kept_translation(key: tuple[str, str, tuple[int, ...]], text: str, edits: Edits) -> str:
    """The same; the key names the checkpoint and its files."""
    return checkpoint_named(key[0]).generate(text, max_tokens=LONGEST_OUTPUT, edits=edits).text


def show_translations(texts: Sequence[str], plain: Sequence[str], bare: Sequence[str] | None) -> None:
    """The four translations in a table."""
    columns = word_order.table(texts, plain, bare)
    rows = {name: list(map(word_order.shortened, column)) for name, column in columns.items()}
    st.table(pd.DataFrame(rows), hide_index=True)


STOP = Stop(
    name=word_order.NAME,
    checkpoint="sentiment",
    text=EXAMPLES[0],
    can_use=lambda config: bool(config.labels),
    rounds=(ask_about_order, ask_about_positions, ask_about_french),
    code=(computed_sinusoids, Stack.embed),
    paper=word_order.PAPER,
)
