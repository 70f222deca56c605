"""What holds the stack up? Residual connections left out, the tokens of this text, and a norm opened."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from torch import nn

from model import Checkpoint, Edits
from model.measures.learn.stack_support import (
    SAME,
    NormSteps,
    fresh_spread,
    into_first_norm,
    norm_steps,
    range_left,
    range_of,
    spread_by_layer,
    step_of_ratio,
)
from model.norms import PreNorm
from pages.parts.ablations.experiments import every_sublayer
from pages.parts.frame.theme import theme
from pages.parts.learn.effects import unclear
from pages.parts.learn.settings import OPENINGS, Path
from pages.parts.learn.stop import Door, Stop, StopQuestion
from pages.parts.passes import trace_key, trace_of, with_text
from pages.parts.shared_cache import checkpoint_named
from pages.parts.state.selection import EXAMPLES, Selection
from pages.parts.state.session import choose
from pages.parts.widgets.binding import radio, select
from pages.parts.widgets.charts import show_chart
from viz.charts.learn.norm_rows import norm_rows
from viz.charts.learn.verdict_pairs import verdict_pairs
from viz.charts.lines import line_chart
from viz.text.learn.stops import stack as words
from viz.text.learn.stops.looking_and_mattering import probability
from viz.tokens import position_name

LAYERS = ("own", "fresh")


def without_residuals(checkpoint: Checkpoint) -> Edits:
    """Every sublayer's update replaces the stream."""
    return Edits(without_residual=frozenset(site for _, site in every_sublayer(checkpoint.config)))


def ask_about_verdicts(selection: Selection) -> StopQuestion:
    """What is left of the differences between verdicts."""
    checkpoint = checkpoint_named(selection.checkpoint)
    sentences = words.sentences_of(selection.text, EXAMPLES)
    label = checkpoint.config.labels[-1]
    before, after = (
        [shares_of(with_text(selection, text), edits, label) for text in sentences]
        for edits in (Edits(), without_residuals(checkpoint))
    )
    left = range_left(range_of(before), range_of(after))
    names = words.verdict_words(range_of(before), range_of(after), left, len(sentences), label)
    right = step_of_ratio(left)
    return StopQuestion(
        question=words.VERDICT_QUESTION.format(**names),
        setting=words.VERDICT_SETTING.format(**names),
        options=words.VERDICT_OPTIONS,
        right=frozenset({right}),
        answer=words.VERDICT_ANSWERS[right].format(**names),
        sentence=words.VERDICT_SENTENCE.format(**names),
        picture=lambda seen: show_pairs(selection, sentences, before, after if seen else None, label),
        door=break_door(selection),
    )


def shares_of(selection: Selection, edits: Edits, label: str) -> float:
    """The probability of a class for a text."""
    probabilities = checkpoint_named(selection.checkpoint).probabilities(trace_of(selection, edits))
    return probabilities[label]


def show_pairs(
    selection: Selection, sentences: Sequence[str], before: Sequence[float], after: Sequence[float] | None, label: str
) -> None:
    """Two bars a sentence."""
    names = list(map(words.row_name, sentences))
    key = ("learn_pairs", trace_key(selection, Edits()), after is not None)
    titles, axis = (words.WITH, words.WITHOUT), probability(label)
    show_chart(key, partial(verdict_pairs, names, before, after, titles, axis, theme=theme()), words.ALT_BARS)


def break_door(selection: Selection) -> Door:
    """To the page that takes residual connections away one by one."""
    return Door(
        page="break",
        label=words.VERDICT_DOOR,
        explained=words.VERDICT_DOOR_EXPLAINED,
        changes={"checkpoint": selection.checkpoint, "text": selection.text, "experiment": "residual"},
    )


def ask_about_tokens(selection: Selection) -> StopQuestion:
    """How different the tokens' vectors are after the last layer."""
    checkpoint = checkpoint_named(selection.checkpoint)
    traces = [trace_of(selection, edits).text_stack for edits in (Edits(), without_residuals(checkpoint))]
    if len(traces[0].ids) < 2:
        return unclear(words.NAME, selection, words.ONE_TOKEN)
    kept, bare = map(spread_by_layer, traces)
    names, right = words.spread_words(kept, bare, len(traces[0].ids)), words.spread_option(kept, bare)
    return StopQuestion(
        question=words.SPREAD_QUESTION,
        setting=words.SPREAD_SETTING.format(**names),
        options=words.SPREAD_OPTIONS,
        right=frozenset({right}),
        answer=words.SPREAD_ANSWERS[right].format(**names),
        sentence=words.SPREAD_SENTENCE,
        picture=lambda seen: show_lines(selection, kept, bare, seen=seen),
        act=lambda: choose_stack(selection),
        door=break_door(selection),
    )


def show_lines(selection: Selection, kept: np.ndarray, bare: np.ndarray, *, seen: bool) -> None:
    """The spread over the layers of this model, or of a fresh stack of 24."""
    if seen and selection.of(Path).knob == LAYERS[1]:
        ids = tuple(trace_of(selection, Edits()).text_stack.ids.tolist())
        kept, bare = fresh_lines(ids)
    lines = {words.WITH: kept} | ({words.WITHOUT: bare} if seen else {})
    steps = [str(step) for step in range(len(kept))]
    key = ("learn_spread", trace_key(selection, Edits()), seen, len(kept))
    show_chart(key, partial(line_chart, steps, lines, words.AXES, theme=theme()), words.ALT_LINES)


@st.cache_data(show_spinner=False, max_entries=32)
def fresh_lines(ids: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """With residuals and without, in 24 layers that nobody trained."""
    return fresh_spread(ids, residuals=True), fresh_spread(ids, residuals=False)


def choose_stack(selection: Selection) -> None:
    """This model, or a deep stack that nobody trained."""
    names = dict(zip(LAYERS, (words.OWN, words.FRESH), strict=True))
    chosen = LAYERS[1] if selection.of(Path).knob == LAYERS[1] else LAYERS[0]
    radio(words.DEPTH, LAYERS, chosen, lambda one: choose(knob=one), key="stack_depth", format_func=names.__getitem__)


def ask_about_norm(selection: Selection) -> StopQuestion:
    """What a norm makes of a vector that is twice as long."""
    checkpoint = checkpoint_named(selection.checkpoint)
    norm, place = first_norm(checkpoint), word_of(selection)
    if norm is None:
        return unclear(words.NAME, selection, words.NO_NORM)
    stack = trace_of(selection, Edits()).text_stack
    steps = norm_steps(into_first_norm(stack.blocks[0], checkpoint.config.norm_order)[place], norm)
    has_shift = getattr(norm, "bias", None) is not None
    names = words.norm_words(stack.names()[place], steps, has_shift=has_shift)
    same = steps.doubled < SAME * 100
    return StopQuestion(
        question=words.NORM_QUESTION,
        setting=words.NORM_SETTING.format(**names),
        options=words.NORM_OPTIONS,
        right=frozenset({words.NORM_SAME}) if same else frozenset(),
        answer=(words.NORM_ANSWER if same else words.NORM_MOVES).format(**names),
        sentence=words.NORM_SENTENCE.format(**names),
        picture=lambda seen: show_norm(selection, place, steps, has_shift=has_shift, seen=seen),
        act=lambda: choose_word(selection, stack.names(), place),
        door=Door(
            page="inside",
            label=words.NORM_DOOR,
            explained=words.NORM_DOOR_EXPLAINED,
            changes={"checkpoint": selection.checkpoint, "text": selection.text, "step": "norm"},
        ),
    )


def first_norm(checkpoint: Checkpoint) -> nn.LayerNorm | nn.RMSNorm | None:
    """The norm of the first layer's attention; None where a model has none there."""
    stack: Any = checkpoint.model.encoder if checkpoint.config.has_encoder else checkpoint.model.decoder
    residual = stack.blocks[0].self_residual
    is_known = isinstance(residual, PreNorm) or checkpoint.config.norm_order == "post"
    norm = residual.norm
    return norm if is_known and isinstance(norm, nn.LayerNorm | nn.RMSNorm) else None


def word_of(selection: Selection) -> int:
    """The token of the knob; the middle one of the text as the stop opens."""
    knob, count = selection.of(Path).knob, len(trace_of(selection, Edits()).text_stack.ids)
    return int(knob) if knob.isdecimal() and int(knob) < count else count // 2


def show_norm(selection: Selection, place: int, steps: NormSteps, *, has_shift: bool, seen: bool) -> None:
    """The vector, and once it was guessed what each step makes of it."""
    rows = words.rows_of(steps, has_shift=has_shift)
    drawn = rows if seen else dict(list(rows.items())[:1])
    key = ("learn_norm", trace_key(selection, Edits()), place, seen)
    show_chart(key, partial(norm_rows, drawn, theme=theme()), words.ALT_NORM)


def choose_word(selection: Selection, tokens: Sequence[str], place: int) -> None:
    """Another word's vector."""
    names = [position_name(each, token) for each, token in enumerate(tokens)]
    places = range(len(names))
    select(
        words.WORD,
        places,
        place,
        lambda one: choose(knob=str(one)),
        key="norm_word",
        format_func=names.__getitem__,
        width=320,
    )


STOP = Stop(
    name=words.NAME,
    opening=OPENINGS["stack"],
    can_use=lambda config: bool(config.labels),
    needs="a model that judges texts",
    rounds=(ask_about_verdicts, ask_about_tokens, ask_about_norm),
    code=(PreNorm.forward, PreNorm.add),
    paper=words.PAPER,
    leans_on_verdict=True,
)
