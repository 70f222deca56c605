"""Experiments on weights that nobody trained: gradients in deep stacks, and the spread of q·k."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from model import Checkpoint
from model.measures.experiments.gradient_depth import MOST_TOKENS, Fresh, gradient_norms
from model.measures.experiments.score_spread import (
    WIDTHS,
    Spread,
    expected_deviation,
    spread_in_trace,
    spread_of_products,
)
from model.trace import Trace
from pages.parts.ablations.experiment_runs import Kinds, chosen_number, show_place, take_number
from pages.parts.ablations.experiments import ATTENTIONS
from pages.parts.ablations.settings import AblationSettings
from pages.parts.ablations.subjects import SUBJECTS
from pages.parts.frame.theme import theme
from pages.parts.state.selection import Selection
from pages.parts.state.session import unusable
from pages.parts.widgets.binding import select
from pages.parts.widgets.charts import explain, show_chart, show_measured
from viz.charts.lines import line_chart
from viz.tokens import counted, percent

DEPTHS = (2, 4, 6, 8, 12, 16, 24)
USUAL_DEPTH = 12
STACKS = {
    "pre-norm": ("pre", True),
    "post-norm": ("post", True),
    "pre-norm, no residuals": ("pre", False),
    "post-norm, no residuals": ("post", False),
}
DEPTH_HELP = "The length (L2) of the gradient after one backward pass, with all weights of a layer as one vector."
TOO_SHORT = "A text of one token has no next token to predict. Type a longer text, or try the spread of q·k."
READ_DEPTH = """
- Across: the layers of a fresh stack, from the text (1) to the prediction. Up: the length of the gradient of a layer's
  weights. A line that falls or rises steeply means that layers learn at very different speeds.
- Solid and dashed lines: with residual connections. Dotted and dash-dotted lines: every layer's result replaces the
  stream.
"""
READ_SPREAD = """
- Left: both axes are logarithmic, so that √d_k is a straight line. The scaled products stay at 1.
- Right: the mean of the largest weight among 16 keys. Uniform weights would be 6 % each; near 100 %, one key takes all.
"""


def show_depth(selection: Selection, checkpoint: Checkpoint, before: Trace, kinds: Kinds) -> None:
    """Gradients by layer in pre- and post-norm stacks, with residuals and without."""
    subject, layers = SUBJECTS["depth"], chosen_number(selection, DEPTHS, USUAL_DEPTH)
    words, beside = explain(subject.name, subject.explained, subject.look_for)
    ids = tuple(before.text_stack.ids.tolist()[:MOST_TOKENS])
    if len(ids) < 2:
        st.info(TOO_SHORT)
        return
    with beside:
        select("Layers", DEPTHS, layers, take_number, key="stack_depth", width=140, help=DEPTH_HELP)
    lines = {name: gradients(ids, order, layers, kept) for name, (order, kept) in STACKS.items()}
    shallow = {name: gradients(ids, *STACKS[name][:1], DEPTHS[0], True)[-1] for name in ("pre-norm", "post-norm")}
    show_measured(words, depth_sentence(lines, shallow), DEPTH_HELP)
    places = [counted(layer) for layer in range(layers)]
    titles = ("layer", "length of its gradient")
    show_chart(("depth", ids, layers), lambda: line_chart(places, lines, titles, theme=theme()), "Gradient by layer.")
    st.markdown(f"**How to read this**\n{READ_DEPTH}")


@st.cache_data(show_spinner=False, max_entries=256)
def gradients(ids: tuple[int, ...], order: str, layers: int, residuals: bool) -> np.ndarray:
    """One backward pass, kept."""
    return gradient_norms(ids, Fresh(norm_order=order, layers=layers, residuals=residuals))


def depth_sentence(lines: dict[str, np.ndarray], shallow: dict[str, float]) -> str:
    """The ends of the lines in numbers."""
    layers = len(next(iter(lines.values())))
    ends = [
        f"in {name} {line[0]:.2f} in the first layer and {line[-1]:.2f} in the last" for name, line in lines.items()
    ]
    last = " and ".join(f"{value:.2f} in {name}" for name, value in shallow.items())
    return (
        f"The gradient of a layer's weights in stacks of {layers} layers on this text: {'; '.join(ends)}. In the last "
        f"layer of stacks of {DEPTHS[0]}, with residuals, it is {last}."
    )


@st.cache_data(show_spinner=False, max_entries=1)
def spreads() -> Sequence[Spread]:
    """Every width; the seed never changes."""
    return [spread_of_products(width) for width in WIDTHS]


def show_spread(selection: Selection, checkpoint: Checkpoint, before: Trace, kinds: Kinds) -> None:
    """√d_k measured, and what the softmax makes of it; beside it the products of the text."""
    if selection.of(AblationSettings).setting:
        unusable("setting")
    subject, by_width = SUBJECTS["spread"], spreads()
    words, beside = explain(subject.name, subject.explained, subject.look_for)
    with beside:
        first, last = by_width[0], by_width[-1]
        for spread in (first, last):
            st.metric(f"spread of q·k at d_k = {spread.head_width}", f"{spread.deviation:.2f}")
    show_measured(words, spread_sentence(selection, before))
    show_place(selection, kinds, head=False)
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**Spread (standard deviation)**")
        show_chart("spread", lambda: deviation_lines(by_width), "Standard deviation of products by head width.")
    with right:
        st.markdown("**Largest weight of a row**")
        show_chart("largest", lambda: weight_lines(by_width), "Largest weight by head width.")
    st.dataframe(spread_table(by_width), hide_index=True)
    st.markdown(f"**How to read this**\n{READ_SPREAD}")


def deviation_lines(by_width: Sequence[Spread]) -> object:
    """Measured and theory."""
    lines = {
        "q·k, measured": [spread.deviation for spread in by_width],
        "√d_k, theory": [expected_deviation(spread.head_width) for spread in by_width],
        "q·k ÷ √d_k, measured": [spread.scaled_deviation for spread in by_width],
    }
    return line_chart(WIDTHS, lines, ("d_k", "standard deviation"), log=True, theme=theme())


def weight_lines(by_width: Sequence[Spread]) -> object:
    """The softmax with and without the division."""
    lines = {
        "softmax(q·k)": [spread.largest for spread in by_width],
        "softmax(q·k ÷ √d_k)": [spread.scaled_largest for spread in by_width],
    }
    return line_chart([str(width) for width in WIDTHS], lines, ("d_k", "largest weight"), theme=theme())


def spread_table(by_width: Sequence[Spread]) -> dict[str, list[float]]:
    return {
        "d_k": [spread.head_width for spread in by_width],
        "spread of q·k": [spread.deviation for spread in by_width],
        "spread of q·k ÷ √d_k": [spread.scaled_deviation for spread in by_width],
        "entropy of softmax(q·k), bits": [spread.entropy for spread in by_width],
        "entropy of softmax(q·k ÷ √d_k), bits": [spread.scaled_entropy for spread in by_width],
    }


def spread_sentence(selection: Selection, before: Trace) -> str:
    """The products of the text above in the trained model."""
    stack, kind = ATTENTIONS[selection.view.attention]
    block = getattr(before, stack).blocks[selection.view.layer]
    attention = block.cross_attention if kind == "cross" else block.self_attention
    spread = spread_in_trace(attention)
    return (
        f"In layer {counted(selection.view.layer)} of this checkpoint d_k is {spread.head_width} and √d_k is "
        f"{expected_deviation(spread.head_width):.2f}. The products of this text spread by {spread.deviation:.2f}: "
        f"training has made queries and keys that are not random. Multiplied by the model's own {spread.scale:.3g}, "
        f"they spread by {spread.scaled_deviation:.2f}, and the largest weight of a row is {percent(spread.largest)} "
        "on average."
    )
