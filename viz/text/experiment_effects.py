"""What an experiment did to the text on the screen, as a sentence with measured numbers."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from model.measures import comparison
from model.trace import StackTrace
from viz.text.weight_sentences import prediction
from viz.tokens import percent

SAME = 1e-5  # the largest difference of any coordinate that rounding alone may leave
BLIND = "Every key is hidden from this attention: its queries look at nothing, and all its weights are 0."
ORDER_TEXTS = ("The dog bit the man", "The man bit the dog")


@dataclass(frozen=True, kw_only=True)
class ExperimentRun:
    """The original and the edited run of one text, of the attention and layer that are looked at."""

    before: Float[np.ndarray, "head query key"]
    after: Float[np.ndarray, "head query key"]
    stacks: tuple[StackTrace, StackTrace]  # the stack in which that attention stands, before and after
    layer: int
    one_text: bool  # queries and keys are positions of one text
    probabilities: tuple[dict[str, float], dict[str, float]] | None = None  # of every label, before and after
    ordered: tuple[tuple[StackTrace, StackTrace], tuple[StackTrace, StackTrace]] | None = None  # of the two texts


def of_widths(run: ExperimentRun) -> str:
    """How widely rows spread."""
    if sees_nothing(run):
        return BLIND
    before, after = (comparison.mean_entropy(weights) for weights in (run.before, run.after))
    first, second = (comparison.mean_largest(weights) for weights in (run.before, run.after))
    return (
        f"In layer {run.layer + 1} the mean entropy of a row goes from {before:.2f} to {after:.2f} bits, and the "
        f"largest weight of a row from {percent(first)} to {percent(second)} on average."
    )


def sees_nothing(run: ExperimentRun) -> bool:
    """Whether edits left no query of the attention a key to look at."""
    return not run.after.any()


def of_order(run: ExperimentRun) -> str:
    """Whether two sentences of the same words can be told apart."""
    if run.ordered is None:
        return of_widths(run)
    differences = [told_apart(*pair) for pair in run.ordered]
    if None in differences:
        return of_widths(run)
    before, after = (float(difference or 0) for difference in differences)
    sentence = (
        f"“{ORDER_TEXTS[0]}” and “{ORDER_TEXTS[1]}”: matched word by word, their last vectors differ by up to "
        f"{decimal(before)} with positions and by up to {decimal(after)} without."
    )
    if after <= SAME:
        return f"{sentence} Without positions the outputs are equal up to the order of the words: who bit whom is lost."
    return f"{sentence} They still differ, because a mask is left: it lets the first word see one word, the second two."


def decimal(value: float) -> str:
    """Two digits that are not 0, without an exponent."""
    return str(np.format_float_positional(value, precision=2, fractional=False, trim="-"))


def told_apart(first: StackTrace, second: StackTrace) -> float | None:
    """The largest difference of two texts' last vectors, word by word; None where their tokens are not the same."""
    order = comparison.matching_positions(first.ids.tolist(), second.ids.tolist())
    return None if order is None else comparison.largest_difference(first.final, second.final, order)


def of_neighbours(run: ExperimentRun) -> str:
    """Weight on a token and its neighbours."""
    if not run.one_text or sees_nothing(run):
        return of_widths(run)
    before, after = (comparison.share_near(weights) for weights in (run.before, run.after))
    return (
        f"In layer {run.layer + 1} a token gives itself and its two neighbours {percent(before)} of its weight "
        f"before and {percent(after)} after. {stream_change(run)}"
    )


def of_masks(run: ExperimentRun) -> str:
    """Weight on later tokens."""
    if sees_nothing(run):
        return BLIND
    if not run.one_text:
        return f"{of_widths(run)} Cross-attention has no mask of its own; it changes because its inputs change."
    if run.before.size > len(run.before) and np.array_equal(run.before, run.after):
        return (
            "This attention keeps its mask, and its weights stay as they are. Choose the attention of the other stack "
            "below."
        )
    before, after = (comparison.share_later(weights) for weights in (run.before, run.after))
    return (
        f"In layer {run.layer + 1} later tokens get {percent(before)} of a query's weight before and "
        f"{percent(after)} after, on average."
    )


def of_likeness(run: ExperimentRun) -> str:
    """How alike tokens are after the layer."""
    before, after = (comparison.mean_cosine(stack.blocks[run.layer].stream_out) for stack in run.stacks)
    if not np.isfinite([before, after]).all():
        return stream_change(run)
    share = comparison.stream_distances(*streams(run))[run.layer]
    return (
        f"After layer {run.layer + 1} the vectors have moved by {percent(share)} of their length, and the mean cosine "
        f"between two tokens goes from {before:.2f} to {after:.2f} (1: all point the same way)."
    )


def of_lengths(run: ExperimentRun) -> str:
    """How long the vectors are."""
    lengths = [comparison.mean_length(stack.blocks[-1].stream_out) for stack in run.stacks]
    mean_length = "After the last layer the mean length of a token's vector"
    mean_lengths = f"{mean_length} is {lengths[0]:,.2f} before and {lengths[1]:,.2f} after"
    if sees_nothing(run):
        return f"{mean_lengths}. {BLIND}"
    widths = [comparison.mean_entropy(weights) for weights in (run.before, run.after)]
    spread = f"the mean entropy of a row in layer {run.layer + 1} goes from {widths[0]:.2f} to {widths[1]:.2f} bits"
    return f"{mean_lengths}; {spread}."


def of_uniform(run: ExperimentRun) -> str:
    """How far the rows were from even, and what became of the prediction."""
    return f"{of_widths(run)} {of_heads(run)}"


def of_heads(run: ExperimentRun) -> str:
    """What became of the prediction; without labels, of the stream."""
    if run.probabilities is None:
        return stream_change(run)
    before, after = run.probabilities
    label, probability = prediction(before)
    return f"The probability of “{label}” goes from {percent(probability, 2)} to {percent(after[label], 2)}."


def stream_change(run: ExperimentRun) -> str:
    """How far the stream went by the last layer."""
    share = comparison.stream_distances(*streams(run))[-1]
    return f"The stream after the last layer moves by {percent(share)} of its length."


def streams(run: ExperimentRun) -> tuple[list, list]:
    """The stream after every layer, before and after."""
    before, after = run.stacks
    return [block.stream_out for block in before.blocks], [block.stream_out for block in after.blocks]
