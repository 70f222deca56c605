"""An experiment with edits: the original and the edited run of the text, side by side."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from model import Checkpoint, Edits, InputError
from model.measures.comparison import stream_distances
from model.measures.head_statistics import most_attended
from model.trace import Trace
from pages.parts.ablations.experiments import ATTENTIONS, EXPERIMENTS, NO, ExperimentPlace, edits_for, kept_parts
from pages.parts.ablations.settings import AblationSettings
from pages.parts.ablations.subjects import short_name
from pages.parts.frame.downloads import button, download_name, files
from pages.parts.frame.theme import theme
from pages.parts.models.catalogue import checkpoint_names, loaded_from
from pages.parts.passes import provenance_of, target_of, target_with_origin, trace_key, trace_of, with_text
from pages.parts.prediction import prediction_of
from pages.parts.shared_cache import bytes_of, reads_pairs, traces
from pages.parts.state.selection import Selection
from pages.parts.state.session import choose, current, unusable
from pages.parts.widgets.binding import select
from pages.parts.widgets.charts import explain, show_chart, show_measured
from pages.parts.widgets.head_switches import one_head_on
from viz.charts.causes.comparison import MOST_DRAWN, comparison_data, distance_chart
from viz.explorer import View
from viz.explorer.attention_kinds import TITLES, Kind, kinds_of
from viz.explorer.component import comparison
from viz.export.edited_script import edited_script
from viz.text import weight_sentences
from viz.text.experiment_effects import ORDER_TEXTS, ExperimentRun, streams
from viz.tokens import counted, markdown_text, position_name

HOW_TO_READ = """
- **Before** and **after**: the attention of the chosen layer, on one scale from 0 to 1. A row is a query, a column a
  key; the weights of a row add up to 1.
- **Difference**: after − before. Blue and + mark keys that gained weight, orange and − keys that lost weight. The scale
  ends at the largest difference, so look at its numbers before you compare two experiments.
"""
READ_DISTANCE = """\
- **Distance**: how far the vectors of all tokens moved, as a share of their length before. 0 means no change.
"""
DISTANCE_HELP = (
    "The length of the difference between the streams of the two runs after a layer, divided by the length of the "
    "original stream; both over all tokens. At 100 %, the change is as large as the stream itself."
)
OUTPUT_HELP = (
    "What the decoder writes when it takes the most probable token each time. After the edit, it writes at most 10 "
    "tokens more."
)
EFFECT_HELP = "Measured on the text above. Numbers about weights are means over all heads of the chosen layer."
KEEP_HELP = "Keeps this edit while you try others, so that several act at once."
PYTHON_HELP = "The few lines of Python that compute both runs again, with these edits."
SEEN = {"unmask": "decoder", "causal": "encoder"}  # which attention the change is seen in
MORE_WRITTEN = 10  # tokens
SAME_TARGET = (
    "Both runs read the decoder text that the original run wrote, so that their attentions can be compared cell by "
    "cell."
)
SAME = "{} are the same in both runs: the change acts after them{}."
OTHER_STACK = ", or in the other stack"
LATER = "The picture shows the layer after it, {}."

Kinds = Mapping[str, Kind]


def show_experiment(
    selection: Selection, checkpoint: Checkpoint, before: Trace, kinds: Kinds, still: Callable[[float], str]
) -> None:
    """What is changed, what it did, and both runs.

    still: what it means that the answer stays, where that is so, from how far the stream after the last layer moves.
    """
    experiment, place = EXPERIMENTS[selection.of(AblationSettings).experiment], place_of(selection, kinds)
    kept = Edits.from_text(selection.edits)
    edits = edits_for(experiment, checkpoint.config, place, kept)
    words, outcome = explain(experiment.title(place), experiment.explained, experiment.look_for)
    if isinstance(edits, str):
        refuse(edits, experiment.instead)
        show_kept(kept)
        show_place(selection, kinds)
        return
    try:
        after = edited_trace(selection, checkpoint, before, edits)
    except InputError as refusal:  # what is kept may have no place in this text
        st.error(markdown_text(str(refusal)))
        show_kept(kept)
        return
    run = run_of(selection, checkpoint, edits, (before, after), kinds)
    show_measured(words, experiment.effect(run), EFFECT_HELP)
    with words:
        if unmoved := still(float(stream_distances(*streams(run))[-1])):
            st.markdown(unmoved)
        show_kept(kept)
    with outcome:
        show_predictions(selection, checkpoint, edits, (before, after))
    show_place(selection, kinds)
    show_attention(selection, (kinds, kinds_of(after)))
    show_distances(selection, edits, run)
    with st.container(horizontal=True, vertical_alignment="center"):
        download_script(selection, checkpoint, edits)
        offer_to_keep(kept, edits)
    st.markdown(f"**How to read this**\n{HOW_TO_READ}{READ_DISTANCE}")


def refuse(sentence: str, instead: str) -> None:
    """Why an experiment does not apply, and one that does, a click away."""
    st.info(sentence)
    st.button(f"Try “{short_name(instead)}” instead", key="instead", on_click=take_experiment, args=(instead,))


def take_experiment(name: str) -> None:
    """Another experiment, as it opens: one on a mask with the attention whose mask it is, where there are several."""
    attention, pairs = SEEN.get(name), checkpoint_names("encoder-decoder")
    changes = {"attention": attention} if attention is not None and current().checkpoint in pairs else {}
    choose({"experiment": name, **changes})


def place_of(selection: Selection, kinds: Kinds) -> ExperimentPlace:
    """The layer that is looked at, the first head that is on, and the key that is kept, or else gets most attention."""
    view, kind = selection.view, kinds[selection.view.attention]
    heads = view.heads_on(kind.heads)
    key = most_attended(kind.weights) if view.key is None else view.key
    return ExperimentPlace(view.attention, view.layer, heads[0] if heads else 0, key, kind.keys.tokens[key])


def edited_trace(selection: Selection, checkpoint: Checkpoint, before: Trace, edits: Edits) -> Trace:
    """The edited run of the same tokens; a decoder beside an encoder reads what the original run wrote."""
    if before.encoder is None or before.decoder is None:
        return trace_of(selection, edits)
    key = ("aligned", *trace_key(selection, NO), edits)
    trace: Trace = traces().get(key, lambda: checkpoint.trace_again(before, edits), bytes_of)
    return trace


def run_of(
    selection: Selection, checkpoint: Checkpoint, edits: Edits, runs: tuple[Trace, Trace], kinds: Kinds
) -> ExperimentRun:
    """Both runs, as the effects are measured on them."""
    view, kind = selection.view, kinds[selection.view.attention]
    stack, _ = ATTENTIONS[kind.name]
    before, after = (getattr(trace, stack) for trace in runs)
    labels = bool(checkpoint.config.labels)
    return ExperimentRun(
        before=kind.weights[view.layer],
        after=kinds_of(runs[1])[kind.name].weights[view.layer],
        stacks=(before, after),
        layer=view.layer,
        one_text=kind.queries is kind.keys,
        probabilities=tuple(map(checkpoint.probabilities, runs)) if labels else None,  # type: ignore[arg-type]
        ordered=order_stacks(selection, checkpoint, edits) if edits.unpositioned else None,
    )


def order_stacks(selection: Selection, checkpoint: Checkpoint, edits: Edits) -> Any:
    """The two sentences of the same words, each before and after; of an encoder where there is one.

    None where the model does not know all of their words or letters.
    """
    stacks, unknown = [], checkpoint.tokenizer.unknown_id
    for changes in (Edits(), edits):
        both = [text_trace(with_text(selection, text), checkpoint, changes) for text in ORDER_TEXTS]
        if any(unknown in trace.text_stack.ids.tolist() for trace in both):
            return None
        stacks.append(tuple(trace.text_stack for trace in both))
    return tuple(stacks)


def text_trace(selection: Selection, checkpoint: Checkpoint, edits: Edits) -> Trace:
    """A text's own pass; a decoder beside the encoder reads the same words, for writing some would take longer."""
    if not checkpoint.config.is_encoder_decoder:
        return trace_of(selection, edits)
    text, key = selection.text, ("order", *trace_key(selection, edits))
    trace: Trace = traces().get(key, lambda: checkpoint.trace(text, target=text, edits=edits), bytes_of)
    return trace


def show_predictions(selection: Selection, checkpoint: Checkpoint, edits: Edits, runs: tuple[Trace, Trace]) -> None:
    """What the model says of the text before and after."""
    before, after = runs
    if before.encoder is not None and before.decoder is not None:
        if target_of(selection, checkpoint, NO) is not None:  # typed, searched or sampled: nothing that a run wrote
            return
        tokens = before.decoder.ids.tolist()
        original = checkpoint.tokenizer.decode(tokens)
        for label, text in (("before", original), ("after", edited_output(selection, checkpoint, edits, len(tokens)))):
            st.markdown(f"Output {label}", help=OUTPUT_HELP)
            st.text(weight_sentences.text_line(text))
        return
    for label, trace in (("before", before), ("after", after)):
        if prediction := prediction_of(checkpoint, trace):
            title, outcome, explained = prediction
            st.metric(f"{title} {label}", outcome, help=explained)


def edited_output(selection: Selection, checkpoint: Checkpoint, edits: Edits, tokens: int) -> str:
    """What the edited model writes: at most a few tokens more than the original, for it may never come to an end."""
    key = ("written", tokens, *trace_key(selection, edits))

    def write() -> str:
        return checkpoint.generate(selection.text, max_tokens=tokens + MORE_WRITTEN, edits=edits).text

    text: str = traces().get(key, write, len)
    return text


def show_place(selection: Selection, kinds: Kinds, *, head: bool = True) -> None:
    """Which attention, layer and head are compared."""
    view, kind = selection.view, kinds[selection.view.attention]
    experiment = EXPERIMENTS.get(selection.of(AblationSettings).experiment)
    acted_on = not head or (experiment is not None and experiment.on_layer)
    with st.container(horizontal=True):
        if len(kinds) > 1:
            select(
                "Attention",
                list(kinds),
                view.attention,
                lambda name: choose(attention=name),
                key="compared_attention",
                format_func=TITLES.__getitem__,
                width=300,
            )
        take = partial(take_layer, kind.heads)
        label = "Layer" if acted_on else "Layer drawn"
        select(label, range(kind.layers), view.layer, take, key="compared_layer", format_func=counted, width=120)
        if experiment is not None and experiment.on_key:
            names = [position_name(place, token) for place, token in enumerate(kind.keys.tokens)]
            key, looks = place_of(selection, kinds).key, {"format_func": names.__getitem__, "width": 190}
            select("Token to hide", range(len(names)), key, take_hidden, key="hidden_key", **looks)
        if head:
            show_head(selection, kind)


def chosen_number(selection: Selection, allowed: Collection[int], default: int) -> int:
    """The number that is the setting of an experiment; the default, and a notice, where it is none of those allowed."""
    setting = selection.of(AblationSettings).setting
    if setting in map(str, allowed):
        return int(setting)
    if setting:
        unusable("setting")
    return default


def take_number(number: int) -> None:
    choose(setting=str(number))


def take_hidden(key: int) -> None:
    """Another token to hide; it is the key that other pages keep too."""
    choose(key=key)


def take_layer(heads: int, layer: int) -> None:
    """Another layer; a head that is looked at alone is looked at alone there too."""
    on = current().view.heads_on(heads)
    alone = one_head_on(current(), layer, on[0], heads) if len(on) == 1 < heads else {}
    choose(layer=layer, **alone)


def show_head(selection: Selection, kind: Kind) -> None:
    """The head that an experiment acts on; else one head, or the mean of those that are on."""
    view, experiment = selection.view, EXPERIMENTS.get(selection.of(AblationSettings).experiment)
    heads, acts = view.heads_on(kind.heads), experiment is not None and experiment.on_head
    chosen = heads[0] if heads else 0  # as in place_of
    named = partial(head_name, len(heads) if len(heads) > 1 else kind.heads)
    label, options = ("Head to mute", range(kind.heads)) if acts else ("Head drawn", range(-1, kind.heads))
    option, take = chosen if acts or len(heads) == 1 else -1, partial(take_head, kind.heads)
    select(label, options, option, take, key="compared_head", format_func=named, width=190)


def take_head(heads: int, head: int) -> None:
    """Another head, the only one of its layer that is on, as in Explore; or all of them."""
    selection = current()
    choose(**one_head_on(selection, selection.view.layer, None if head < 0 else head, heads))


def head_name(count: int, head: int) -> str:
    """A head in the list; before the first, the mean of several."""
    return f"mean of {count} heads" if head < 0 else counted(head)


def show_attention(selection: Selection, runs: tuple[Kinds, Kinds]) -> None:
    """Both runs' weights and their difference, of the heads that are on; the second may have other heads."""
    view, (kind, other) = selection.view, (kinds[selection.view.attention] for kinds in runs)
    layer, elsewhere = view.layer, OTHER_STACK if len(runs[0]) > 1 else ""
    first, second = means(view, (kind, other), layer)
    if np.array_equal(first, second) and layer + 1 < kind.layers:  # what acts after the weights is seen in the next
        same = SAME.format(f"The weights of layer {counted(layer)}", elsewhere)
        layer += 1
        first, second = means(view, (kind, other), layer)
        st.markdown(f"{same} {LATER.format(name_drawn(view, kind, layer))}")
    caption = f"attention of layer {counted(layer)}, {name_drawn(view, kind, layer)}, query by key"
    comparison(comparison_data(first, second, kind.queries.tokens, kind.keys.tokens, caption), key="comparison")
    if np.array_equal(first, second):
        st.markdown(SAME.format(f"The weights drawn ({name_drawn(view, kind, layer)})", elsewhere))
    show_notes(kind, max(len(kind.queries.tokens), len(kind.keys.tokens)))


def heads_drawn(view: View, kind: Kind, layer: int) -> tuple[int, ...]:
    """The heads of a layer that are on; all where none is, for something has to be drawn."""
    return view.heads_on(kind.heads, layer) or tuple(range(kind.heads))


def name_drawn(view: View, kind: Kind, layer: int) -> str:
    """ "head 3", or "mean of 8 heads"."""
    heads = heads_drawn(view, kind, layer)
    return f"head {counted(heads[0])}" if len(heads) == 1 else head_name(len(heads), -1)


def means(view: View, kinds: tuple[Kind, Kind], layer: int) -> list[np.ndarray]:
    """The mean of the heads that are drawn, of both runs; of all, where the second has others."""
    heads = heads_drawn(view, kinds[0], layer)
    seen = (heads, heads if kinds[1].heads == kinds[0].heads else tuple(range(kinds[1].heads)))
    return [weight_sentences.mean_of_heads(kind.weights[layer], on) for kind, on in zip(kinds, seen, strict=True)]


def show_notes(kind: Kind, tokens: int) -> None:
    """What has to be known of the three charts."""
    if tokens > MOST_DRAWN:
        st.markdown(f"The first {MOST_DRAWN} of {tokens} tokens are drawn; the measured numbers cover all.")
    if kind.name != "encoder" and kind.queries is not kind.keys:
        st.markdown(SAME_TARGET)


def show_distances(selection: Selection, edits: Edits, run: ExperimentRun) -> None:
    """How far the stream moved, layer by layer."""
    st.subheader("How far the stream moved", anchor=False, help=DISTANCE_HELP)
    distances = stream_distances(*streams(run))
    key = ("distance", trace_key(selection, NO), edits, selection.view.attention)
    show_chart(key, lambda: distance_chart(distances, theme=theme()), "Relative distance of the stream by layer.")


def show_kept(kept: Edits) -> None:
    """The kept edits, beside the verdict that they take part in; each can be undone alone."""
    parts = list(kept_parts(kept))
    if not parts:
        return
    st.markdown("**Kept edits**, also in effect:")
    for place, (what, rest) in enumerate(parts):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.button("Undo", key=f"mend_{place}", on_click=choose, kwargs={"edits": rest.to_text()})
            st.markdown(what, width="content")
    if len(parts) > 1:
        st.button("Undo all kept edits", key="mend", on_click=choose, kwargs={"edits": ""})


def offer_to_keep(kept: Edits, edits: Edits) -> None:
    """A button that keeps these edits while others are tried."""
    if edits != kept:
        now = edits.to_text()
        st.button("Keep this edit", key="keep", on_click=choose, kwargs={"edits": now}, help=KEEP_HELP)


def download_script(selection: Selection, checkpoint: Checkpoint, edits: Edits) -> None:
    config = checkpoint.config
    pair = selection.pair if reads_pairs(selection.checkpoint) else ""
    facts = {"writes": config.is_encoder_decoder, "labels": bool(config.labels)}
    target, source = target_with_origin(selection, checkpoint, NO), provenance_of(selection, checkpoint, NO)
    source = replace(source, edits=edits)
    loads = loaded_from(selection.checkpoint)
    script = partial(edited_script, loads, selection.text, edits, target, source, pair=pair, **facts)
    name = download_name("break", "py", selection.of(AblationSettings).experiment)
    with files():
        button("As Python", name, script, PYTHON_HELP)
