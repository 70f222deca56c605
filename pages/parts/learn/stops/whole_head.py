"""From QKᵀ to weights: the whole head, and what the division by √d_k is for."""

from functools import partial
from typing import NamedTuple

import streamlit as st

from model import Checkpoint, Config, Edits
from model.attention import scaled_dot_product_attention
from model.measures.learn.heads.score_scale import (
    Sharpness,
    WithoutDivision,
    divides,
    mean_sharpness,
    most_changed,
    sharpness_by_head,
    untrained_stack,
    without_division,
)
from model.measures.whole_head import WholeHead, whole_head
from model.scores import masked_scores
from pages.parts.inside.head_matrices import head_matrices
from pages.parts.learn.settings import OPENINGS
from pages.parts.learn.stop import Door, Stop, StopQuestion
from pages.parts.passes import trace_key, trace_of
from pages.parts.shared_cache import checkpoint_named
from pages.parts.state.selection import Selection
from viz.explorer.attention_kinds import Text, text_of
from viz.text.learn.stops import whole_head as words
from viz.walkthrough.whole_head import whole_head_figure

PAPER = (
    "Section 3.2.1, equation 1: softmax(QKᵀ/√dₖ)V. Footnote 4 gives the reason: if the components of q and k are "
    "independent random variables with mean 0 and variance 1, their product q · k has mean 0 and variance dₖ. The "
    "authors suspect that such large products push the softmax into regions where its gradients are very small."
)


class ScaleMeasurement(NamedTuple):
    """The head whose rows change most without the division, and what all heads do, trained and untrained."""

    layer: int
    head: int
    sharp: Sharpness
    everywhere: Sharpness
    untrained: Sharpness
    result: WithoutDivision


def can_use(config: Config) -> bool:
    """Models of one stack that answer, or continue the text."""
    return divides(config) and (bool(config.labels) or config.architecture == "decoder")


@st.cache_data(show_spinner=False, max_entries=128)
def scale_measurement(key: object, _selection: Selection) -> ScaleMeasurement:
    """All numbers of the stop; the key decides them."""
    checkpoint, before = checkpoint_named(_selection.checkpoint), trace_of(_selection, Edits())
    sharp = sharpness_by_head(before.text_stack)
    fresh = untrained_stack(checkpoint.config, before.text_stack.ids.tolist())
    layer, head = most_changed(sharp)
    return ScaleMeasurement(
        layer=layer,
        head=head,
        sharp=sharp[layer][head],
        everywhere=mean_sharpness(sharp),
        untrained=mean_sharpness(sharpness_by_head(fresh)),
        result=without_division(checkpoint, before),
    )


def trained_head(selection: Selection, here: ScaleMeasurement) -> WholeHead:
    """The head as the checkpoint has it."""
    return whole_head(trace_of(selection, Edits()).text_stack.blocks[here.layer].self_attention, here.head)


@st.cache_data(show_spinner=False, max_entries=4)
def untrained_head(key: object, _selection: Selection, layer: int, head: int) -> WholeHead:
    """The same of the model that nobody trained. Few are kept: of a long text it takes some megabytes."""
    ids = trace_of(_selection, Edits()).text_stack.ids.tolist()
    stack = untrained_stack(checkpoint_named(_selection.checkpoint).config, ids)
    return whole_head(stack.blocks[layer].self_attention, head)


def text_read(selection: Selection) -> Text:
    """The tokens of the text."""
    trace = trace_of(selection, Edits())
    return text_of("decoder" if trace.encoder is None else "encoder", trace.text_stack)


def ask(selection: Selection) -> StopQuestion:
    """What happens to the answer without the division."""
    text, here = text_read(selection), scale_measurement(trace_key(selection, Edits()), selection)
    checkpoint, result, head = checkpoint_named(selection.checkpoint), here.result, trained_head(selection, here)
    answer = outcome_name(checkpoint, result, result.outcome.answers[0])
    other = "" if result.other is None else outcome_name(checkpoint, result, result.other)
    names = {
        **words.place(here.layer, here.head),
        **words.outcome_words(result, answer, other),
        **words.sharp_words(here.sharp, here.everywhere, head.query.shape[1], biased=head.bias is not None),
    }
    return StopQuestion(
        question=words.QUESTION.format(**names),
        setting=words.SETTING.format(**names),
        options=words.OPTIONS,
        right=frozenset({words.right_option(result)}),
        answer=words.title(result, names),
        sentence=words.SENTENCE.format(**names),
        picture=lambda seen: show_head(head, text, words.TRAINED.format(**names), knob=seen),
        door=door(here),
        act=partial(show_act, words.ACT.format(**names)),
        unclear=words.ALONE if len(text.tokens) < 2 else "",
    )


def ask_untrained(selection: Selection) -> StopQuestion:
    """How widely the products of an untrained head spread."""
    key, text = trace_key(selection, Edits()), text_read(selection)
    here = scale_measurement(key, selection)
    if len(text.tokens) < 2:
        return ask(selection)
    width = checkpoint_named(selection.checkpoint).config.head_width
    names = words.place(here.layer, here.head) | words.spread_words(here.everywhere, here.untrained, width)

    def show(seen: bool) -> None:
        if seen:
            fresh = untrained_head(key, selection, here.layer, here.head)
            show_head(fresh, text, words.UNTRAINED.format(**names), knob=True)
        else:
            show_head(trained_head(selection, here), text, words.TRAINED.format(**names), knob=False)

    return StopQuestion(
        question=words.SPREAD_QUESTION.format(**names),
        setting=words.SPREAD_SETTING.format(**names),
        options=words.SPREAD_OPTIONS,
        right=frozenset({words.right_spread(here.everywhere, here.untrained)}),
        answer=words.SPREAD_ANSWER.format(**names),
        sentence=words.SPREAD_SENTENCE.format(**names),
        picture=show,
        door=door(here),
        act=partial(show_act, words.SPREAD_ACT),
    )


def show_head(head: WholeHead, text: Text, caption: str, *, knob: bool) -> None:
    """The matrices, with a knob on the scale once the answer may be seen."""
    head_matrices(whole_head_figure(head, text, text, caption=caption, knob=knob))


def show_act(sentence: str) -> None:
    """What to do with the knob, which is a part of the picture."""
    st.markdown(sentence)


def outcome_name(checkpoint: Checkpoint, result: WithoutDivision, answer: int) -> str:
    """A label, or a token that may come next."""
    kind = result.outcome.kind
    name = checkpoint.config.labels[answer] if kind == "label" else checkpoint.tokenizer.pieces([answer])[0]
    return words.answer_name(kind, name)


def door(here: ScaleMeasurement) -> Door:
    """The same head on the page Inside a head."""
    return Door(
        page="inside",
        label="Inside this head",
        explained="Shows this head and every step from the words to one of its weights.",
        changes={"layer": here.layer, "head": here.head},
    )


STOP = Stop(
    name="From QKᵀ to weights",
    opening=OPENINGS["whole_head"],
    can_use=can_use,
    needs="a model that judges texts or continues them",
    rounds=(ask, ask_untrained),
    code=(scaled_dot_product_attention, masked_scores),
    paper=PAPER,
    leans_on_verdict=True,
)
