"""Explore: which words does each head look at?"""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

import pages
from model import Checkpoint, Edits
from model.trace import StackTrace, Trace
from pages.parts.computed import checkpoint_named, edits_of, stack_of, tokens_of, trace_of
from pages.parts.selection import (
    VIEWS,
    Selection,
    address_notice,
    choose,
    fit_to_checkpoint,
    fit_to_text,
    heads_on,
    remember,
    selected,
    shows,
    take,
)
from viz import answer
from viz.export import weights_csv, weights_npz
from viz.heatmap import attention_heatmap
from viz.table import token_table, weights_table
from viz.theme import theme_of
from viz.tokens import counted, position_name

HOW_TO_READ = """
- Each row is a **query**, a token that looks; each column a **key**, a token that is looked at. Query attends to key.
- A cell is the share of the query's attention that goes to that key, from 0 to 1. Every row adds up to 1.
- The scale starts at the page's background for 0. Its steps are finer near 0, where most weights of a long text lie.
"""
LAYER_HELP = (
    "Layers work one after the other: each reads what the one before it wrote. They count from 1 here, and from 0 in "
    "addresses, files and code, so layer {shown} is index {index} there."
)
HEADS_HELP = (
    "A layer's attention heads work side by side, each with weights of its own. The picture shows those that are on; "
    "of several, the mean. They count from 1 here and from 0 in addresses, files and code."
)
ONLY_HELP = "Switches this head on and all others of the layer off. Chosen again, it brings all of them back."
MUTE_HELP = (
    "Runs the model again without what the heads that are off found: it is set to zero before the layer's output "
    "projection. Only the layer on the screen is changed, and the prediction is given before and after."
)
PREDICTION_HELP = "The class that the model finds most probable for this text, and that probability."
NEXT_HELP = "The token that the model finds most probable after the last one, and that probability."
MASKED_HELP = "The token that the model finds most probable in place of the first mask, and that probability."
OUTPUT_HELP = "What the decoder writes when it takes the most probable token each time."
SIDES_HELP = (
    "The token that looks: a row of the picture. Until one is chosen, the strongest weight is read out.",
    "The token that is looked at: a column of the picture. The number below is the weight in full float32 precision.",
)
TOKENS_HELP = (
    "The model reads tokens: words, or pieces of the words that it has not learned whole. The id is the token's number "
    "in the vocabulary; characters are counted from 0 in the text, end not included."
)
NPZ_HELP = "Every layer and head as float32, with tokens and ids, for numpy.load. Indices count from 0."
CSV_HELP = "The heads that are on, of the layer on the screen: one line for every query and key. Indices count from 0."
PICTURE_CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"]}


def show() -> None:
    """The page, from top to bottom."""
    selection = selected()
    tools = pages.strip(selection)
    st.title("Which words does each head look at?", anchor=False)
    with pages.plain_refusals(), st.spinner("Computing what every head looks at"):
        checkpoint = checkpoint_named(selection.checkpoint)
        selection = fit_to_checkpoint(selection, checkpoint)
        trace = trace_of(selection, edits_of(selection, checkpoint))
        stack = stack_of(checkpoint, trace)
        selection = fit_to_text(selection, stack)
        address_notice()
        show_attention(checkpoint, selection, trace)
        show_tokens(selection, stack)
        with tools:
            downloads(selection)
    remember(selection)


def show_attention(checkpoint: Checkpoint, selection: Selection, trace: Trace) -> None:
    """The answer in one sentence, the picture, and beside it what changes the picture."""
    sentence = st.container()
    picture, controls = st.columns([5, 2], gap="large")
    with controls:
        show_prediction(checkpoint, selection, trace)
        choose_layer(selection, checkpoint.config.layers)
        choose_heads(selection, heads_on(selection, checkpoint), checkpoint.config.heads)
    stack, heads = stack_of(checkpoint, trace), heads_on(selection, checkpoint)
    tokens = tokens_of(stack)
    if not heads:
        sentence.markdown("No head is on. Press All, or switch one on, to see where it looks.")
        return
    weights = answer.mean_of_heads(stack.blocks[selection.layer].self_attention.weights.numpy(), heads)
    said = answer.sentence(weights, tokens, layer=selection.layer, heads=heads)
    sentence.markdown(said + answer.kept(len(tokens), stack.dropped), help=answer.HELP)
    cell = answer.chosen_cell(weights, selection.query, selection.key)
    with controls:
        read_out(weights, tokens, cell)
        choose_view(selection)
        pages.choose_device()
    with picture:
        show_picture(selection.view, weights, tokens, cell)
        st.text(answer.caption(selection.layer, heads))
        st.markdown(f"**How to read this**\n{HOW_TO_READ}")


def show_prediction(checkpoint: Checkpoint, selection: Selection, trace: Trace) -> None:
    """What the model says of the text, by the kind of its head, and what muting did to it."""
    if trace.encoder is not None and trace.decoder is not None:
        st.markdown("Output", help=OUTPUT_HELP)
        st.text(answer.text_line(checkpoint.tokenizer.decode(trace.decoder.ids.tolist())))
    said = prediction_of(checkpoint, trace)
    if said is None:
        return
    title, outcome, explained = said
    muted = edits_of(selection, checkpoint).muted
    st.metric(f"{title} with heads muted" if muted else title, outcome, help=explained)
    if muted and (before := prediction_of(checkpoint, trace_of(selection, Edits()))):
        st.text(f"Before muting: {before[1]}")


def prediction_of(checkpoint: Checkpoint, trace: Trace) -> tuple[str, str, str] | None:
    """Title, value and explanation of what the head says; None where there is no head."""
    if checkpoint.config.labels:
        return "Prediction", answer.outcome(checkpoint.probabilities(trace)), PREDICTION_HELP
    if trace.logits is None or (trace.encoder is not None and trace.decoder is not None):
        return None
    masked = None if trace.encoder is None else checkpoint.tokenizer.first_masked(trace.encoder.ids.tolist())
    if trace.encoder is not None and masked is None:
        return None
    found = checkpoint.likeliest(trace, -1 if masked is None else masked)
    title, explained = ("Next token", NEXT_HELP) if masked is None else ("Masked word", MASKED_HELP)
    return title, answer.outcome(dict([found])), explained


def choose_layer(selection: Selection, layers: int) -> None:
    """Which layer the picture shows."""
    st.segmented_control(
        "Layer",
        range(layers),
        wrap=True,
        format_func=counted,
        required=True,
        key=shows("layer", selection.layer),
        on_change=take,
        args=("layer",),
        help=LAYER_HELP.format(shown=counted(selection.layer), index=selection.layer),
    )


def choose_heads(selection: Selection, on: tuple[int, ...], heads: int) -> None:
    """Which heads are on, and whether those that are off are muted."""
    numbers = partial(st.pills, options=range(heads), format_func=counted, wrap=True)
    key = shows("heads", list(on))
    numbers("Heads", selection_mode="multi", key=key, on_change=take_heads, help=HEADS_HELP)
    with st.container(horizontal=True):
        st.button("All", on_click=choose, kwargs={"heads": None}, help="Switch every head on.")
        st.button("None", on_click=choose, kwargs={"heads": ()}, help="Switch every head off.")
    key = shows("only", on[0] if len(on) == 1 else None)
    numbers("Only this head", key=key, on_change=take_only, help=ONLY_HELP)
    key = shows("mute", selection.mute)
    st.toggle("Mute the heads that are off", key=key, on_change=take, args=("mute",), help=MUTE_HELP)


def take_heads() -> None:
    """The heads that are on, in their order."""
    choose(heads=tuple(sorted(st.session_state["heads"])))


def take_only() -> None:
    """One head alone, or all again."""
    only = st.session_state["only"]
    choose(heads=None if only is None else (only,))


def choose_view(selection: Selection) -> None:
    """The same numbers as a picture or as a table."""
    key = shows("view", selection.view)
    st.segmented_control(
        "Show as", VIEWS, format_func=str.capitalize, required=True, key=key, on_change=take, args=("view",)
    )


def show_picture(view: str, weights: np.ndarray, tokens: Sequence[str], cell: tuple[int, int]) -> None:
    """The weights of the heads that are on."""
    if view == "table":
        table = weights_table(weights, tokens)
        formats = dict.fromkeys(table, st.column_config.NumberColumn(format="%.4f"))
        formats[next(iter(table))] = st.column_config.TextColumn(pinned=True)
        st.dataframe(pd.DataFrame(table), hide_index=True, height=520, column_config=formats)
        return
    figure = attention_heatmap(weights, tokens, tokens, theme=theme_of(st.context.theme.type), mark=cell)
    described = (
        f"Attention weights of {len(tokens)} queries to {len(tokens)} keys; shown as a table, they can be read out."
    )
    st.plotly_chart(figure, theme=None, key="heatmap", config=PICTURE_CONFIG, alt=described)


def read_out(weights: np.ndarray, tokens: Sequence[str], cell: tuple[int, int]) -> None:
    """One weight in full: query attends to key."""
    names = [position_name(position, token) for position, token in enumerate(tokens)]
    for side, label, place, help_text in zip(
        ("query", "key"), ("Query", "attends to key"), cell, SIDES_HELP, strict=True
    ):
        st.selectbox(
            label,
            range(len(names)),
            format_func=names.__getitem__,
            key=shows(side, place),
            on_change=take,
            args=(side,),
            help=help_text,
        )
    st.code(answer.exact(weights[cell]), language=None)


def show_tokens(selection: Selection, stack: StackTrace) -> None:
    """Every token with its id and the word that it is a piece of."""
    st.subheader("Tokens", anchor=False, help=TOKENS_HELP)
    rows = token_table(selection.text, tokens_of(stack), stack.ids.tolist(), stack.words, stack.spans)
    st.dataframe(pd.DataFrame(rows), hide_index=True)


def downloads(selection: Selection) -> None:
    """The exact weights as files, computed when they are asked for."""
    with st.popover("Download"):
        st.download_button(
            "All weights (NPZ)", partial(npz, selection), "attention.npz", on_click="ignore", help=NPZ_HELP
        )
        st.download_button(
            "This layer (CSV)", partial(csv, selection), "attention.csv", on_click="ignore", help=CSV_HELP
        )


def npz(selection: Selection) -> bytes:
    """The pass on the screen; muted heads are listed in the file."""
    checkpoint = checkpoint_named(selection.checkpoint)
    edits = edits_of(selection, checkpoint)
    stack = stack_of(checkpoint, trace_of(selection, edits))
    muted = sorted((site.layer, site.head) for site in edits.muted)
    return weights_npz(stack.weights().numpy(), tokens_of(stack), stack.ids.tolist(), muted=muted)


def csv(selection: Selection) -> bytes:
    """The heads that are on, of the layer on the screen."""
    checkpoint = checkpoint_named(selection.checkpoint)
    stack = stack_of(checkpoint, trace_of(selection, edits_of(selection, checkpoint)))
    weights = stack.blocks[selection.layer].self_attention.weights.numpy()
    return weights_csv(weights, tokens_of(stack), layer=selection.layer, heads=heads_on(selection, checkpoint))


pages.frame()
show()
pages.settle("explore")
