"""The words of the questions what residual connections and norms do for a stack of layers."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from model.measures.learn.stack_support import SAME, NormSteps
from viz.tokens import decimal, markdown_text, percent, visible

NAME = "What holds the stack up?"
VERDICT_QUESTION = "Without residual connections, how far apart are the verdicts on {count} sentences?"
VERDICT_SETTING = (
    "A **residual connection** adds what a layer computes to the vector that came in. With it, the verdicts run from "
    "{least} to {most} {answer}."
)
VERDICT_OPTIONS = ("As far as before", "About half as far", "A quarter to a tenth as far", "Less than a tenth as far")
VERDICT_ANSWERS = (
    "As far as before: from {after_least} to {after_most}.",
    "About half as far: from {after_least} to {after_most}.",
    "Much closer: all between {after_least} and {after_most}.",
    "Every sentence gets nearly the same verdict: {after_least} to {after_most}.",
)
VERDICT_SENTENCE = "Without residual connections, the {count} verdicts keep {width} of their range."
SPREAD_QUESTION = "Without residual connections, how different are the tokens’ vectors after the last layer?"
SPREAD_SETTING = (
    "With them, the {tokens} vectors of this text differ from their mean by {with_last} of their length after the last "
    "layer."
)
SPREAD_OPTIONS = (
    "More than with them",
    "At least half as much",
    "Below half, but not 0",
    "Not at all: all are the same",
)
SPREAD_ANSWERS = (
    "They differ more: by {without_last} of their length.",
    "They differ nearly as much: by {without_last} of their length.",
    "They differ less: by {without_last} of their length.",
    "All {tokens} tokens have the same vector: they differ by {without_last} of its length.",
)
SPREAD_SENTENCE = (
    "Each attention averages values, so it makes vectors more alike; the residual connection keeps what made them "
    "different."
)
ONE_TOKEN = "This text has one token, and one vector differs from no other."
NORM_QUESTION = "A word’s vector is made twice as long. What does the layer’s first norm make of it?"
NORM_SETTING = "Before the norm, the vector of {word} has a mean of {mean} and a standard deviation of {deviation}."
NORM_OPTIONS = ("A vector twice as long", "A vector half as long", "The same vector as before", "A random vector")
NORM_SAME = 2  # the place of the option
NORM_ANSWER = "The same vector: doubling moves the result by {doubled} of its length."
NORM_MOVES = "A different vector: doubling moves the result by {doubled} of its length."
NORM_SENTENCE = (
    "The norm {centres}divides by the {measure}, so the length is gone. Then it multiplies by γ{shift}, as learned in "
    "training."
)
NO_NORM = "This model has no norm before its first attention."
PAPER = (
    "Section 3.1: “We employ a residual connection [He et al.] around each of the two sub-layers, followed by layer "
    "normalization [Ba et al.].” Dong, Cordonnier and Loukas (2021, “Attention is not all you need”) show that without "
    "them a stack makes all tokens alike."
)
VERDICT_DOOR, VERDICT_DOOR_EXPLAINED = (
    "Break the formula: one residual connection at a time",
    "Removes the residual connection of one layer, and shows both runs side by side.",
)
NORM_DOOR, NORM_DOOR_EXPLAINED = "Inside a head: the norm, step by step", "Shows the norm of a query and a key."
DEPTH = "Which stack"
OWN, FRESH = "this model", "24 untrained layers"
ALT_LINES = "Two lines over the layers: how far the tokens' vectors are from their mean, with residuals and without."
ALT_BARS = "Two bars for each sentence: the probability with residual connections and without."
ALT_NORM = "Rows of cells: the vector before the norm, and after each of its steps."
WITH, WITHOUT = "with residuals", "without"
AXES = ("after layer", "distance from the mean")
WORD = "Another word"
BEFORE, CENTRED, SCALED, RESULT = "before the norm", "mean subtracted", "divided by the deviation", "times γ, plus β"
SCALED_RMS, RESULT_RMS = "divided by the root mean square", "times γ"
LONGEST = 56  # characters of a sentence over its bars, for which a phone has room


def row_name(text: str) -> str:
    """A sentence beside its bars, plain text."""
    return visible(" ".join(text.split()), LONGEST)


def verdict_words(
    before: tuple[float, float], after: tuple[float, float], left: float, count: int, answer: str
) -> dict[str, str]:
    """Everything that the first round names."""
    return {
        "count": str(count),
        "others": str(count - 1),
        "answer": f"“{markdown_text(visible(answer))}”",
        "least": percent(before[0], 1),
        "most": percent(before[1], 1),
        "after_least": percent(after[0], 1),
        "after_most": percent(after[1], 1),
        "width": percent(left),
    }


def spread_words(kept: Float[np.ndarray, " step"], bare: Float[np.ndarray, " step"], tokens: int) -> dict[str, str]:
    """Everything that the second round names."""
    return {"tokens": str(tokens), "with_last": percent(float(kept[-1])), "without_last": share(float(bare[-1]))}


def spread_option(kept: Float[np.ndarray, " step"], bare: Float[np.ndarray, " step"]) -> int:
    """The place of the option that the last layer's numbers speak for."""
    last, other = float(bare[-1]), float(kept[-1])
    if last <= SAME:
        return 3
    return 0 if last > other else 1 if last >= other / 2 else 2


def share(number: float) -> str:
    """A share that may be far below what a percentage shows."""
    return percent(number, 1 if number >= 0.001 else 4)


def norm_words(token: str, steps: NormSteps, *, has_shift: bool) -> dict[str, str]:
    """Everything that the third round names."""
    centres = steps.centred is not None
    return {
        "word": f"“{markdown_text(visible(token))}”",
        "mean": decimal(float(steps.before.mean()), ".3f"),
        "deviation": decimal(steps.deviation, ".3f"),
        "doubled": share(steps.doubled),
        "centres": "subtracts the mean and " if centres else "",
        "measure": "standard deviation" if centres else "root mean square",
        "shift": " and adds β" if has_shift else "",
    }


def rows_of(steps: NormSteps, *, has_shift: bool) -> dict[str, np.ndarray]:
    """The steps by their names."""
    if steps.centred is None:
        return {BEFORE: steps.before, SCALED_RMS: steps.scaled, RESULT_RMS: steps.result}
    result = RESULT if has_shift else RESULT_RMS
    return {BEFORE: steps.before, CENTRED: steps.centred, SCALED: steps.scaled, result: steps.result}


def sentences_of(text: str, examples: Sequence[str]) -> list[str]:
    """The visitor's text first, then the examples that are others."""
    return [text, *(example for example in examples if example != text)]
