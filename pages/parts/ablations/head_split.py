"""The width cut into heads: the same weights read as one head or many, and a picture of the cut."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from model import Checkpoint
from model.measures import comparison
from model.measures.experiments.head_count import favourites, head_counts, why_not, with_heads
from model.measures.experiments.score_spread import expected_deviation
from model.trace import AttentionTrace, Trace
from pages.parts.ablations.experiment_runs import (
    HOW_TO_READ,
    Kinds,
    chosen_number,
    refuse,
    show_attention,
    show_place,
    take_number,
)
from pages.parts.ablations.experiments import ATTENTIONS, NO, NOTHING
from pages.parts.ablations.subjects import SUBJECTS
from pages.parts.frame.theme import theme
from pages.parts.passes import trace_key
from pages.parts.prediction import prediction_of
from pages.parts.shared_cache import bytes_of, traces
from pages.parts.state.selection import Selection
from pages.parts.widgets.binding import radio, select
from pages.parts.widgets.charts import explain, show_chart, show_measured
from viz.charts.number_matrices import joined_chart, split_chart
from viz.explorer.attention_kinds import kinds_of
from viz.tokens import counted, percent, position_name

HEADS_HELP = "The number of heads into which the same weights are cut for the second run."
TABLE_HELP = (
    "All numbers are of the chosen layer. Different favourites: the number of different keys that get the largest "
    "weight of a query from some head. Entropy (bits) and largest weight: of a row, averaged over heads and queries."
)


@dataclass(frozen=True, kw_only=True)
class HeadSplit:
    """What the weights do as so many heads, in the layer that is looked at."""

    heads: int
    trace: Trace
    weights: np.ndarray  # (head, query, key)


def show_heads(selection: Selection, checkpoint: Checkpoint, before: Trace, kinds: Kinds) -> None:
    """One head against many, on the same weights."""
    subject = SUBJECTS["heads"]
    words, beside = explain(subject.name, subject.explained, subject.look_for)
    refusal, counts = why_not(checkpoint.config), head_counts(checkpoint.config)
    if refusal or len(counts) < 2:
        refuse(f"{NOTHING}{refusal or 'it has one head already'}.", "split")
        return
    chosen = chosen_number(selection, counts[:-1], counts[0])
    with beside:
        radio("Heads after", counts[:-1], chosen, take_number, key="heads_count", help=HEADS_HELP)
    cuts = [cut_of(selection, checkpoint, before, count) for count in counts]
    after = next(cut for cut in cuts if cut.heads == chosen)
    show_measured(words, heads_sentence(cuts[-1], after, selection), TABLE_HELP)
    st.dataframe(heads_table(cuts, checkpoint), hide_index=True)
    show_place(selection, kinds)
    st.markdown(f"“After” shows {'one head' if chosen == 1 else f'the mean of {chosen} heads'}.")
    show_attention(selection, (kinds, kinds_of(after.trace)))
    st.markdown(f"**How to read this**\n{HOW_TO_READ}")


def cut_of(selection: Selection, checkpoint: Checkpoint, before: Trace, count: int) -> HeadSplit:
    """The same ids through the same weights as so many heads."""

    def trace() -> Trace:
        return replace(checkpoint, model=with_heads(checkpoint.model, count)).trace_again(before)

    key = ("heads", count, *trace_key(selection, NO))
    cut_trace: Trace = traces().get(key, trace, bytes_of)
    weights = kinds_of(cut_trace)[selection.view.attention].weights[selection.view.layer]
    return HeadSplit(heads=count, trace=cut_trace, weights=weights)


def heads_table(cuts: list[HeadSplit], checkpoint: Checkpoint) -> dict[str, list[Any]]:
    joined = checkpoint.config.heads * checkpoint.config.head_width
    predictions = [prediction_of(checkpoint, cut.trace) for cut in cuts]
    table: dict[str, list[Any]] = {
        "heads": [cut.heads for cut in cuts],
        "d_k": [joined // cut.heads for cut in cuts],
        "different favourites": [favourites(cut.weights) for cut in cuts],
        "entropy": [comparison.mean_entropy(cut.weights) for cut in cuts],
        "largest weight": [comparison.mean_largest(cut.weights) for cut in cuts],
    }
    given = [prediction for prediction in predictions if prediction is not None]
    if len(given) < len(predictions):
        return table
    title = given[0][0]
    return table | {title: [outcome for _, outcome, _ in given]}


def heads_sentence(own: HeadSplit, after: HeadSplit, selection: Selection) -> str:
    """Favourites before and after, and how far the stream went."""
    stack, _ = ATTENTIONS[selection.view.attention]
    first, second = (getattr(cut.trace, stack).blocks for cut in (own, after))
    moved = comparison.stream_distances([block.stream_out for block in first], [block.stream_out for block in second])
    return (
        f"In layer {counted(selection.view.layer)} the {own.heads} heads of a query have "
        f"{favourites(own.weights):.2f} different favourites on average; read as {plural(after.heads)}, it is "
        f"{favourites(after.weights):.2f}. After the last layer the stream has moved by {percent(moved[-1])} of its "
        f"length."
    )


def plural(heads: int) -> str:
    """ "1 head", "2 heads"."""
    return f"{heads} head" + ("" if heads == 1 else "s")


def show_split(selection: Selection, checkpoint: Checkpoint, before: Trace, kinds: Kinds) -> None:
    """The query of one token, joined and cut."""
    subject, kind = SUBJECTS["split"], kinds[selection.view.attention]
    words, beside = explain(subject.name, subject.explained, subject.look_for)
    token = chosen_number(selection, range(len(kind.queries.tokens)), 0)
    stack, attention = ATTENTIONS[selection.view.attention]
    block = getattr(before, stack).blocks[selection.view.layer]
    trace: AttentionTrace = block.cross_attention if attention == "cross" else block.self_attention
    query = np.asarray(trace.query[:, token])
    with beside:
        names = [position_name(place, name) for place, name in enumerate(kind.queries.tokens)]
        select("Token", range(len(names)), token, take_number, key="split_token", format_func=names.__getitem__)
    show_measured(words, split_sentence(query, checkpoint.config.width))
    show_place(selection, kinds, head=False)
    key_of_chart = ("split", trace_key(selection, NO), selection.view.attention, selection.view.layer, token)
    st.markdown("**As it leaves the projection**")
    show_chart(("joined", key_of_chart), lambda: joined_chart(query, theme=theme()), "One token's query in one row.")
    st.markdown("**Cut into heads**")
    show_chart(key_of_chart, lambda: split_chart(query, theme=theme()), "The same numbers, a row for each head.")


def split_sentence(query: np.ndarray, width: int) -> str:
    heads, head_width = query.shape
    return (
        f"A token of this checkpoint is {width} numbers wide. Its query has {heads} × {head_width} = {query.size} "
        f"numbers: {heads} heads with d_k = {head_width}, and √d_k = {expected_deviation(head_width):.2f}."
    )
