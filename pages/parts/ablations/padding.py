"""A text alone, filled up with padding, and filled up without the mask that hides it."""

from typing import Any

import streamlit as st

from model import Checkpoint
from model.measures.comparison import peak
from model.measures.experiments.padding import (
    PaddedPasses,
    label_probabilities,
    largest_leak,
    padded_passes,
    weight_on_padding,
)
from model.trace import Trace
from pages.parts.ablations.experiment_runs import Kinds, chosen_number, take_number
from pages.parts.ablations.experiments import NO
from pages.parts.ablations.subjects import SUBJECTS
from pages.parts.frame.theme import theme
from pages.parts.passes import trace_key
from pages.parts.shared_cache import bytes_of, traces
from pages.parts.state.selection import Selection
from pages.parts.widgets.binding import bind
from pages.parts.widgets.charts import explain, show_chart, show_measured
from viz.charts.lines import line_chart
from viz.text.experiment_effects import SAME, decimal
from viz.text.weight_sentences import outcome
from viz.tokens import counted, percent

MOST, USUAL = 32, 8
COUNT_HELP = "How many padding tokens stand after the text, as in a batch with a longer text."
NO_ROOM = "The text fills all positions that the model has: there is no room for padding. Type a shorter one."
TABLE_HELP = (
    "The largest difference between a coordinate of a token's last vector and the same coordinate of the text alone; "
    f"rounding leaves up to {SAME:g}."
)
READ = """
- Across: the layers. Up: the share of their weight that the text's own tokens give to padding, averaged over all heads
  and queries. With the mask it is 0 in every layer.
"""


def show_padding(selection: Selection, checkpoint: Checkpoint, before: Trace, kinds: Kinds) -> None:
    """The leak, layer by layer and at the end."""
    subject = SUBJECTS["padding"]
    words, beside = explain(subject.name, subject.explained, subject.look_for)
    ids = before.text_stack.ids.tolist()
    room = min(MOST, checkpoint.config.max_length - len(ids))
    if room < 2:
        st.info(NO_ROOM)
        return
    count = chosen_number(selection, range(1, room + 1), min(USUAL, room))
    with beside:
        key = bind("padding_count", count, told=True)
        st.number_input("Padding tokens", 1, room, width=140, key=key, on_change=take_count, help=COUNT_HELP)
    key_of_runs = ("padding", count, *trace_key(selection, NO))
    passes: PaddedPasses = traces().get(key_of_runs, lambda: padded_passes(checkpoint.model, ids, count), bytes_of)
    lines = {
        "without the mask": weight_on_padding(passes.unmasked, passes.length),
        "with the mask": weight_on_padding(passes.masked, passes.length),
    }
    show_measured(words, padding_sentence(passes, count, lines), TABLE_HELP)
    st.dataframe(padding_table(passes, checkpoint), hide_index=True)
    places, titles = [counted(layer) for layer in range(len(passes.alone.blocks))], ("layer", "weight on padding")
    show_chart(key_of_runs, lambda: line_chart(places, lines, titles, theme=theme()), "Weight on padding by layer.")
    st.markdown(f"**How to read this**\n{READ}")


def take_count() -> None:
    take_number(st.session_state["padding_count"])


def padding_table(passes: PaddedPasses, checkpoint: Checkpoint) -> dict[str, list[Any]]:
    table: dict[str, list[Any]] = {
        "the text": ["alone", "padded, with the mask", "padded, without it"],
        "largest difference": [
            "0",
            *(decimal(largest_leak(passes.alone, other)) for other in (passes.masked, passes.unmasked)),
        ],
    }
    probabilities, labels = label_probabilities(passes), checkpoint.config.labels
    if probabilities is None or not labels:
        return table
    return table | {"prediction": [outcome(dict(zip(labels, each, strict=True))) for each in probabilities]}


def padding_sentence(passes: PaddedPasses, count: int, lines: dict[str, Any]) -> str:
    layer, share = peak(lines["without the mask"])
    moved = largest_leak(passes.alone, passes.unmasked)
    if moved <= SAME:
        return (
            f"{count} padding tokens after {passes.length} tokens change nothing here, with their mask or without: the "
            "causal mask lets no token look at later tokens."
        )
    return (
        f"Without their mask, {count} padding tokens after {passes.length} tokens take up to "
        f"{percent(share)} of the weight (layer {counted(layer)}), and the text's last vectors move by up "
        f"to {decimal(moved)} in a coordinate; with the mask by {decimal(largest_leak(passes.alone, passes.masked))}."
    )
