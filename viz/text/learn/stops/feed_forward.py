"""The words of the question what the feed-forward layer does."""

from collections.abc import Sequence

from viz.text.learn.model_answers import listing
from viz.tokens import counted, decimal, markdown_text, percent, visible

NAME = "What does the feed-forward layer do?"
QUESTION = "How many of the {units} units of layer {layer}’s feed-forward are active for {token}?"
SETTING = (
    "After attention, layer {layer} multiplies the {width} numbers of each token by W₁ and adds b₁. That gives {units} "
    "numbers, its **units**. A unit is **active** where its number is above 0. {activation}"
)
RELU = "ReLU, the activation of the paper, makes all others exactly 0."
SOFT = "{name}, the activation here, turns the others into small numbers between {least} and 0."
GATED = "{name} turns the others into small numbers; all are then multiplied by a second product, xV."
ACTIVATIONS = {"relu": "ReLU", "gelu": "GELU", "gelu-tanh": "GELU", "silu": "SiLU"}
LEAST = {"gelu": 0.17, "gelu-tanh": 0.17, "silu": 0.28}  # how far below 0 the curve runs
ANSWER = "{active} of {units} units are active for {token}: {share}."
SENTENCE = (
    "Over all tokens of this text it is {text_share}; a layer of random weights has {random} active on the same input. "
    "{silent}"
)
EXACTLY_SILENT = "W₂ reads the active units alone: the others are exactly 0."
SOFTLY_SILENT = "The others are small, not 0: without them the layer’s output for {token} would change by {change}."
AT_MOST, BETWEEN, AT_LEAST = "{last} or fewer", "{first} to {last}", "{first} or more"
TOKEN, UNIT = "Token", "Unit"
LAYER = "Ask about layer"
WORDS_QUESTION = "How many of {count} words make unit {unit} of layer {layer} active, as {token} does?"
WORDS_SETTING = (
    "Of all active units of {token}, unit {unit} is the one that the other tokens of this text make active least. Each "
    "word of the vocabulary is read alone, as a text of its own."
)
WORDS_ANSWER = "{active} of {count} words, {share}, make it active."
WORDS_SENTENCE = (
    "It has its largest values for {first}. Judge for yourself whether these have one meaning in common: nothing in "
    "training asks that a unit stand for one word or one meaning."
)
NO_WORDS = "This model’s vocabulary has no words that can be read alone, or none of its units is active here."
UNIT_NAME = "unit {unit}: {value}"
WAKE = "Words that make unit {unit} most active, each read alone"
WAKE_NONE = "No word makes unit {unit} active when it is read alone"
ACT = (
    "Unit {unit} has {value} for {token}. Of {count} words of the vocabulary, each read alone, {share} make it active."
)
MEASURE = "value of the unit"
GRID_ALT = "The units of the layer as a grid of cells; active ones are coloured by their value."
WAKE_ALT = "The words of the vocabulary that give the chosen unit its largest values."
DOOR, DOOR_EXPLAINED = "From these words to one weight", "Shows the steps of this layer before the feed-forward layer."
PAPER = (
    "Section 3.3, equation 2: FFN(x) = max(0, xW₁ + b₁)W₂ + b₂, at each position separately, with d_ff = 2048 = 4 × "
    "d_model."
)
SHARES = (0.05, 0.15, 0.35, 0.65)  # where the options end
WORD_SHARES = (0.005, 0.025, 0.1, 0.5)  # the same of words
MOST_NAMED = 3


def token_name(token: str) -> str:
    """ "“loved”", escaped."""
    return f"“{markdown_text(visible(token.strip() or token))}”"


def activation(kind: str, *, gated: bool) -> str:
    """What becomes of a unit that is not active."""
    name = ACTIVATIONS[kind]
    if gated:
        return GATED.format(name=name)
    return RELU if kind == "relu" else SOFT.format(name=name, least=decimal(-LEAST[kind], ".2f"))


def asked_words(
    *, token: str, layer: int, counts: tuple[int, int, int], shares: tuple[float, float], activation: str, silent: str
) -> dict[str, str]:
    """Everything that question and answer name.

    counts: active units, all units, the width. shares: active over the text, and in a layer of random weights.
    """
    active, units, width = counts
    return {
        "token": token_name(token),
        "layer": counted(layer),
        "active": f"{active:,}",
        "units": f"{units:,}",
        "width": f"{width:,}",
        "share": percent(active / units, 1),
        "text_share": percent(shares[0], 1),
        "random": percent(shares[1]),
        "activation": activation,
        "silent": silent,
    }


def active_units(token: str, active: int, units: int) -> str:
    """How many units are active for a token."""
    share = percent(active / units, 1)
    return ANSWER.format(active=f"{active:,}", units=f"{units:,}", token=token_name(token), share=share)


def act(token: str, unit: int, value: float, vocabulary: tuple[int, float]) -> str:
    """What a unit is for a token and for the words of the vocabulary. vocabulary: how many words, the active share."""
    count, share = vocabulary
    return ACT.format(
        unit=f"{unit + 1:,}",
        value=decimal(value, ".2f"),
        token=token_name(token),
        count=f"{count:,}",
        share=percent(share, 1),
    )


def counts_to_guess(units: int, shares: Sequence[float] = SHARES) -> list[range]:
    """The numbers of active units that an option stands for: five groups that together are all."""
    ends = sorted({round(share * units) for share in shares} - {units})
    starts = [0, *(end + 1 for end in ends)]
    return [range(first, last + 1) for first, last in zip(starts, [*ends, units], strict=True)]


def words_of_unit(
    *, token: str, layer: int, unit: int, active: int, count: int, first: Sequence[str]
) -> dict[str, str]:
    """Everything that the second round names. active: of ``count`` words. first: those with the largest values."""
    return {
        "token": token_name(token),
        "layer": counted(layer),
        "unit": f"{unit + 1:,}",
        "active": f"{active:,}",
        "count": f"{count:,}",
        "share": percent(active / count, 1),
        "first": listing([token_name(word) for word in first[:MOST_NAMED]]),
    }


def count_name(counts: range, units: int) -> str:
    """ "51 or fewer", "52 to 154", "667 or more"."""
    form = AT_MOST if counts[0] == 0 else AT_LEAST if counts[-1] == units else BETWEEN
    return form.format(first=f"{counts[0]:,}", last=f"{counts[-1]:,}")


def silent(token: str, change: float | None) -> str:
    """What the units give that are not active. change: of the output without them, None where they give exactly 0."""
    return EXACTLY_SILENT if change is None else SOFTLY_SILENT.format(token=token_name(token), change=percent(change))


def unit_names(units: Sequence[int], values: Sequence[float]) -> list[str]:
    """ "unit 241: 4.44"."""
    return [
        UNIT_NAME.format(unit=f"{unit + 1:,}", value=decimal(value, ".2f"))
        for unit, value in zip(units, values, strict=True)
    ]
