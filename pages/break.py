"""Break the formula: what is each part of it for?"""

# ruff: noqa: N999  (a page is run by its path, and the path is its address: nothing imports it)

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

import pages
from model import Checkpoint, Edits
from model.measures.comparison import stream_distances
from model.trace import Trace
from pages.parts.computed import bytes_of, checkpoint_named, trace_key, trace_of, traces
from pages.parts.effects import ORDER_TEXTS, Run, streams
from pages.parts.experiments import ATTENTIONS, EXPERIMENTS, Place, edits_for
from pages.parts.predicting import prediction_of
from pages.parts.selection import Selection, address_notice, changed, choose, current, fit, remember, selected, shows
from viz import answer
from viz.comparison import MOST_DRAWN, difference_chart, distance_chart, weights_chart
from viz.explorer.kinds import TITLES, Kind, kinds_of
from viz.theme import theme_of
from viz.tokens import counted, markdown_text

HOW_TO_READ = """
- **Before** and **after**: the attention of the chosen layer, on one scale from 0 to 1. A row is a query, a column a
  key; a row's weights add up to 1.
- **Difference**: after − before. Blue and + where a key gained weight, orange and − where it lost some; the scale ends
  at the largest difference, so look at its numbers before comparing two experiments.
- **Distance**: how far the vectors of all tokens moved, as a share of their length before. 0 is no change at all.
"""
DISTANCE_HELP = (
    "The length of the difference between the stream of the edited and of the original run after a layer, divided by "
    "the length of the original's; both over all tokens. 100 % is a change as large as the stream itself."
)
OUTPUT_HELP = (
    "What the decoder writes when it takes the most probable token each time; after the edit, 10 tokens more at most."
)
EFFECT_HELP = "Measured on the text above; of the weights, the mean over all heads of the chosen layer."
MORE_WRITTEN = 10  # tokens
SAME_TARGET = (
    "Both runs read the decoder text that the original run wrote, so that their attentions can be laid over each other."
)
UNCHANGED = "The weights of this layer are the same in both runs: what was changed acts after them. Try a later layer."


def show() -> None:
    """The page, from top to bottom."""
    selection = selected()
    pages.strip(selection)
    st.title("What is each part of the formula for?", anchor=False)
    st.pills(
        "Take out, or change",
        list(EXPERIMENTS),
        key=shows("experiment", selection.experiment),
        format_func=short_name,
        required=True,
        on_change=take_experiment,
    )
    with pages.plain_refusals(), st.spinner("Running the model twice"):
        checkpoint = checkpoint_named(selection.checkpoint)
        before = trace_of(selection, Edits())
        kinds = kinds_of(before)
        selection = fit(selection, kinds)
        address_notice()
        remember(selection)
        show_experiment(selection, checkpoint, before, kinds)


def short_name(name: str) -> str:
    """An experiment's name without its place."""
    return {"residual": "No residual", "mute": "Mute a head"}.get(name, EXPERIMENTS[name].name)


def take_experiment() -> None:
    """Another experiment."""
    choose(experiment=st.session_state["experiment"])


def show_experiment(selection: Selection, checkpoint: Checkpoint, before: Trace, kinds: Mapping[str, Kind]) -> None:
    """What is changed, what it did, and both runs."""
    experiment, place = EXPERIMENTS[selection.experiment], place_of(selection, kinds)
    edits = edits_for(experiment, checkpoint.config, place)
    st.subheader(experiment.title(place), anchor=False)
    words, outcome = st.columns([5, 2], gap="large")
    with words:
        st.markdown(experiment.explained)
        st.markdown(f"**What to look for.** {experiment.look_for}")
    if isinstance(edits, str):
        st.info(edits)
        show_place(selection, kinds)
        return
    after = aligned(selection, checkpoint, before, edits)
    run = run_of(selection, checkpoint, edits, (before, after), kinds)
    with words:
        st.markdown(f"**Measured here.** {markdown_text(experiment.effect(run))}", help=EFFECT_HELP)
    with outcome:
        show_predictions(selection, checkpoint, edits, (before, after))
    show_place(selection, kinds)
    show_attention(selection, edits, kinds, kinds_of(after))
    show_distances(selection, edits, run)
    st.markdown(f"**How to read this**\n{HOW_TO_READ}")


def place_of(selection: Selection, kinds: Mapping[str, Kind]) -> Place:
    """The layer that is looked at, and the first head that is on."""
    view = selection.view
    heads = view.heads_on(kinds[view.attention].heads)
    return Place(view.attention, view.layer, heads[0] if heads else 0)


def aligned(selection: Selection, checkpoint: Checkpoint, before: Trace, edits: Edits) -> Trace:
    """The edited run of the same tokens; a decoder beside an encoder reads what the original run wrote."""
    if before.encoder is None or before.decoder is None:
        return trace_of(selection, edits)
    typed, target = before.encoder.ids.tolist(), before.decoder.ids.tolist()
    key = ("aligned", *trace_key(selection, edits))
    found: Trace = traces().get(key, lambda: checkpoint.trace_ids(typed, target, edits=edits), bytes_of)
    return found


def run_of(
    selection: Selection, checkpoint: Checkpoint, edits: Edits, runs: tuple[Trace, Trace], kinds: Mapping[str, Kind]
) -> Run:
    """Both runs, as the effects are measured on them."""
    view, kind = selection.view, kinds[selection.view.attention]
    stack, _ = ATTENTIONS[kind.name]
    before, after = (getattr(trace, stack) for trace in runs)
    labels = bool(checkpoint.config.labels)
    return Run(
        before=kind.weights[view.layer],
        after=kinds_of(runs[1])[kind.name].weights[view.layer],
        stacks=(before, after),
        layer=view.layer,
        one_text=kind.queries is kind.keys,
        probabilities=tuple(map(checkpoint.probabilities, runs)) if labels else None,  # type: ignore[arg-type]
        ordered=ordered(selection, checkpoint, edits) if edits.unpositioned else None,
    )


def ordered(selection: Selection, checkpoint: Checkpoint, edits: Edits) -> Any:
    """The two sentences of the same words, each before and after; of an encoder where there is one."""
    stacks = []
    for changes in (Edits(), edits):
        both = [order_trace(changed(selection, text=text, pair=""), checkpoint, changes) for text in ORDER_TEXTS]
        stacks.append(tuple(trace.encoder or trace.decoder for trace in both))
    return tuple(stacks)


def order_trace(selection: Selection, checkpoint: Checkpoint, edits: Edits) -> Trace:
    """One of the two; a decoder beside the encoder reads the same words, for writing some would take longer."""
    if checkpoint.config.architecture != "encoder-decoder":
        return trace_of(selection, edits)
    text, key = selection.text, ("order", *trace_key(selection, edits))
    found: Trace = traces().get(key, lambda: checkpoint.trace(text, target=text, edits=edits), bytes_of)
    return found


def show_predictions(selection: Selection, checkpoint: Checkpoint, edits: Edits, runs: tuple[Trace, Trace]) -> None:
    """What the model says of the text before and after."""
    before, after = runs
    if before.encoder is not None and before.decoder is not None:
        tokens = before.decoder.ids.tolist()
        original = checkpoint.tokenizer.decode(tokens)
        for label, text in (("before", original), ("after", written(selection, checkpoint, edits, len(tokens)))):
            st.markdown(f"Output {label}", help=OUTPUT_HELP)
            st.text(answer.text_line(text))
        return
    for label, trace in (("before", before), ("after", after)):
        if said := prediction_of(checkpoint, trace):
            title, outcome, explained = said
            st.metric(f"{title} {label}", outcome, help=explained)


def written(selection: Selection, checkpoint: Checkpoint, edits: Edits, tokens: int) -> str:
    """What the edited model writes: at most a few tokens more than the original, for it may never come to an end."""
    key = ("written", tokens, *trace_key(selection, edits))

    def write() -> str:
        return checkpoint.generate(selection.text, max_tokens=tokens + MORE_WRITTEN, edits=edits).text

    found: str = traces().get(key, write, len)
    return found


def show_place(selection: Selection, kinds: Mapping[str, Kind]) -> None:
    """Which attention, layer and head are compared."""
    view, kind = selection.view, kinds[selection.view.attention]
    heads = view.heads_on(kind.heads)
    with st.container(horizontal=True):
        if len(kinds) > 1:
            key = shows("compared_attention", view.attention)
            st.selectbox(
                "Attention", list(kinds), key=key, format_func=TITLES.__getitem__, on_change=take_place, width=300
            )
        key = shows("compared_layer", view.layer)
        st.selectbox("Layer", range(kind.layers), key=key, format_func=counted, on_change=take_place, width=120)
        key = shows("compared_head", heads[0] if len(heads) == 1 else -1)
        options = [-1, *range(kind.heads)]
        st.selectbox(
            "Head",
            options,
            key=key,
            format_func=partial(head_name, len(heads) if len(heads) > 1 else kind.heads),
            on_change=take_place,
            args=(kind.heads,),
            width=190,
        )


def head_name(count: int, head: int) -> str:
    """A head in the list; before the first, the mean of several."""
    return f"mean of {count} heads" if head < 0 else counted(head)


def take_place(heads: int = 0) -> None:
    """Another attention, layer or head; one head is the layer's only one on, as in Explore."""
    state = st.session_state
    changes: dict[str, Any] = {"layer": state["compared_layer"]}
    if "compared_attention" in state:
        changes["attention"] = state["compared_attention"]
    if heads:
        layer, head = state["compared_layer"], state["compared_head"]
        elsewhere = {site for site in current().view.off if site[0] != layer}
        changes["off"] = frozenset(
            elsewhere | {(layer, other) for other in range(heads) if head >= 0 and other != head}
        )
    choose(**changes)


def show_attention(selection: Selection, edits: Edits, kinds: Mapping[str, Kind], after: Mapping[str, Kind]) -> None:
    """Both runs' weights and their difference."""
    view, kind = selection.view, kinds[selection.view.attention]
    heads = view.heads_on(kind.heads) or tuple(range(kind.heads))
    first, second = (answer.mean_of_heads(found.weights[view.layer], heads) for found in (kind, after[view.attention]))
    sides, theme = (kind.queries.tokens, kind.keys.tokens), theme_of(st.context.theme.type)
    shown = tuple(tokens[:MOST_DRAWN] for tokens in sides)
    rows, columns = map(len, shown)
    first, second = first[:rows, :columns], second[:rows, :columns]
    key = (trace_key(selection, edits), view.attention, view.layer, heads, theme.background)
    charts: dict[str, Callable[[], Any]] = {
        "Before": lambda: weights_chart(first, *shown, theme=theme),
        "After": lambda: weights_chart(second, *shown, theme=theme),
        "Difference": lambda: difference_chart(first, second, *shown, theme=theme),
    }
    for place, (title, make) in zip(st.columns(3), charts.items(), strict=True):
        with place:
            st.markdown(f"**{title}**")
            show_chart((title, key), make, f"{title}: attention of layer {counted(view.layer)}, query by key.")
    show_notes(kind, np.array_equal(first, second), max(map(len, sides)))


def show_notes(kind: Kind, same: bool, tokens: int) -> None:
    """What has to be known of the three charts."""
    if same:
        st.markdown(UNCHANGED)
    if tokens > MOST_DRAWN:
        st.markdown(f"The first {MOST_DRAWN} of {tokens} tokens are drawn; the measured numbers are of all.")
    if kind.name != "encoder" and kind.queries is not kind.keys:
        st.markdown(SAME_TARGET)


def show_distances(selection: Selection, edits: Edits, run: Run) -> None:
    """How far the stream moved, layer by layer."""
    theme = theme_of(st.context.theme.type)
    st.subheader("How far the stream moved", anchor=False, help=DISTANCE_HELP)
    distances = stream_distances(*streams(run))
    key = ("distance", trace_key(selection, edits), selection.view.attention, theme.background)
    show_chart(key, lambda: distance_chart(distances, theme=theme), "Relative distance of the stream after each layer.")


def show_chart(key: Any, make: Callable[[], Any], said: str) -> None:
    """A chart in the page's own colours."""
    st.vega_lite_chart(drawn(key, make), theme=None, alt=said)


@st.cache_data(show_spinner=False, max_entries=64)
def drawn(key: Any, _make: Callable[[], Any]) -> dict[str, Any]:
    """A chart as Vega-Lite: making and checking it takes longer than the model."""
    found: dict[str, Any] = _make().to_dict()
    return found


pages.frame()
show()
pages.settle("break")
