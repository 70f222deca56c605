"""The controls of the page Translate: how to produce, which translation, what to type instead."""

from contextlib import suppress
from typing import Any

import streamlit as st

from pages.parts.state.fields import address_text
from pages.parts.state.page_fields import CODEC
from pages.parts.state.selection import Selection, typable
from pages.parts.state.session import changed_selection, choose, current, unusable
from pages.parts.translate.candidate_pass import ForcedPass, go_on
from pages.parts.translate.productions import Production, production_key
from pages.parts.translate.settings import (
    HOTTEST,
    LARGEST_PENALTY,
    LARGEST_SEED,
    METHODS,
    MOST_K,
    SETTINGS,
    WIDEST,
    Options,
)
from pages.parts.widgets.binding import bind, bind_text, radio
from viz.charts.beam_tree import number
from viz.text import weight_sentences
from viz.tokens import markdown_text

METHOD_HELP = (
    "Greedy takes the most probable token each time. Beam search follows several hypotheses (unfinished "
    "translations) at once and keeps the best. Sampled draws each token with its probability, so another seed gives "
    "another text."
)
FIRST_STEP = {"choice": 0, "step": None}
BEGINNING: dict[str, Any] = {"translation.step": None, "query": None, "key": None}
NUMBERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "width": (
        "Beams",
        ("How many hypotheses the search follows at a time."),
        {"min_value": 1, "max_value": WIDEST, "step": 1},
    ),
    "length_penalty": (
        "Length penalty",
        (
            "A translation's score is the sum of the logarithms of its tokens' probabilities, divided by ((5 + "
            "length) / 6) to this power: 0 favours short texts, larger numbers favour long texts."
        ),
        {"min_value": 0.0, "max_value": LARGEST_PENALTY, "step": 0.1, "format": "%.2f"},
    ),
    "temperature": (
        "Temperature",
        (
            "Divides all logits before the softmax. Below 1, probable tokens gain; above 1, improbable tokens gain; 0 "
            "leaves only the most probable token."
        ),
        {"min_value": 0.0, "max_value": HOTTEST, "step": 0.1, "format": "%.2f"},
    ),
    "top_k": (
        "Top-k",
        "Draws only from this many of the most probable tokens; 0 draws from all.",
        {"min_value": 0, "max_value": MOST_K, "step": 1},
    ),
    "top_p": (
        "Top-p",
        (
            "Draws only from the most probable tokens that have this probability together; 1 draws from all, 0 takes "
            "the most probable token."
        ),
        {"min_value": 0.0, "max_value": 1.0, "step": 0.05, "format": "%.2f"},
    ),
    "seed": (
        "Seed",
        "The same seed draws the same text again.",
        {"min_value": 0, "max_value": LARGEST_SEED, "step": 1},
    ),
}
SCORE_HELP = (
    "The translations that the search found, best first, each with its score: the sum of the logarithms of its "
    "tokens' probabilities, divided by the length penalty. Choose one to look at it."
)
TYPE_HELP = (
    "The decoder reads what you type token by token, and predicts each token before it reads it (teacher forcing). "
    "Leave the field empty for the model's own translation."
)


def produce_anew(**changes: Any) -> None:
    """Change how it is produced, and look at what is most worth seeing in the result; what was typed goes."""
    selection = current()  # chosen from now on: what is produced is of this text, by this model
    options = {f"translation.{name}": value for name, value in (FIRST_STEP | changes).items()}
    choose(options, text=selection.text, checkpoint=selection.checkpoint, target="", query=None, key=None)


def choose_options(options: Options, *, typed: bool) -> None:
    """The method and its settings; none is marked where the text was typed, unless a method was chosen before."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        radio(
            "Decoding method",
            list(METHODS),
            None if typed and options.method == Options().method else options.method,
            lambda method: produce_anew(method=method),
            key="translation_method",
            format_func=METHODS.__getitem__,
            help=METHOD_HELP,
            width="content",
        )
        for name in SETTINGS[options.method]:
            label, explained, limits = NUMBERS[name]
            key = bind(f"translation_{name}", getattr(options, name), told=True)
            st.number_input(label, key=key, help=explained, on_change=take_number, args=(name,), width=130, **limits)


def take_number(name: str) -> None:
    """Another setting; an emptied field is left aside."""
    with suppress(ValueError):  # so is a number that no address may hold: a browser can send any
        produce_anew(
            **{name: CODEC.parse(f"translation.{name}", address_text(st.session_state[f"translation_{name}"]))}
        )


def fitting_selection(selection: Selection, forced_pass: ForcedPass, produced: Production) -> Selection:
    """The selection with a translation, step and reading that there are; what had to go is noted."""
    options, decoder = selection.of(Options), forced_pass.trace.decoder
    assert decoder is not None
    layers, heads = decoder.cross_weights().shape[:2]
    limits = [layers, heads]
    wrong = {
        "choice": options.choice >= len(produced.candidates),
        "step": (options.step or 0) >= len(forced_pass.predicted),
        "reading": any(place >= limit for place, limit in zip(options.place(), limits, strict=False)),
    }
    names = [name for name, is_wrong in wrong.items() if is_wrong]
    for name in names:
        unusable(name)
    return changed_selection(selection, **{f"translation.{name}": getattr(Options(), name) for name in names})


def show_outcome(selection: Selection, produced: Production, forced_pass: ForcedPass) -> None:
    """The translation, how it is produced, the n-best list, and the field to type another."""
    options, typed = selection.of(Options), bool(selection.target.strip())
    text = produced.candidates[options.choice].text
    st.markdown("**Typed translation**" if typed else "**Translation**")
    st.text(weight_sentences.text_line(selection.target if typed else text))
    if note := truncation(forced_pass) + ending(produced, options, typed=typed):
        st.markdown(note)
    if produced.stopped:
        key = production_key(selection, options)
        st.button("Produce the whole translation", key="go_on", on_click=go_on, args=(key,))
    choose_options(options, typed=typed)
    if len(produced.candidates) > 1:
        show_n_best(produced, options)
    with st.expander("Type the translation yourself", expanded=typed):
        show_field(selection, text)


def truncation(forced_pass: ForcedPass) -> str:
    """What of both texts was not read."""
    encoder, decoder = forced_pass.trace.encoder, forced_pass.trace.decoder
    assert encoder is not None
    assert decoder is not None
    return weight_sentences.kept_tokens(len(encoder.ids), encoder.dropped) + weight_sentences.kept_tokens(
        len(decoder.ids), decoder.dropped
    )


def ending(produced: Production, options: Options, *, typed: bool) -> str:
    """Why there is no more of it, where that is not its own end: a sentence that follows others."""
    chosen = produced.candidates[options.choice]
    if produced.stopped and not typed:
        return f" Stopped after {produced.steps} tokens; this is the text so far."
    if typed or chosen.ended:
        return ""
    return (
        f" The model did not end the translation: it was cut after {len(chosen.ids)} tokens, the limit for a source of "
        "this length."
    )


def show_n_best(produced: Production, options: Options) -> None:
    named = [f"{number(one.score or 0.0)} · {weight_sentences.text_line(one.text)}" for one in produced.candidates]
    radio(
        "Translations by score",
        range(len(named)),
        options.choice,
        lambda place: produce_anew(choice=place),
        key="choice",
        format_func=lambda place: markdown_text(named[place]),
        help=SCORE_HELP,
        horizontal=False,
    )


def show_field(selection: Selection, text: str) -> None:
    """Where another translation can be typed."""
    with st.form("typed", border=False):
        field = bind_text("target", typable(selection.target) or text)
        st.text_area("Type the translation yourself", height=76, help=TYPE_HELP, **field)
        st.form_submit_button("Read this", on_click=take_target)
    if selection.target.strip():
        st.button("Back to the model's own translation", key="own", on_click=take_own)


def take_target() -> None:
    """What was typed is read, as a target of the text and by the model on the screen."""
    selection = current()
    choose(BEGINNING, text=selection.text, checkpoint=selection.checkpoint, target=st.session_state["target"])


def take_own() -> None:
    """The model's own again."""
    choose(BEGINNING, target="")
