"""The words of the question why not a recurrent network."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from model.measures.learn.records.recurrence import TrainedRun, TrainingRecord
from model.measures.learn.recurrence.gradient_reach import GradientReach
from model.measures.learn.recurrence.recurrent_cost import Cost, ratio
from viz.tokens import decimal, markdown_text, percent

LSTM, TRANSFORMER, FUSED = "LSTM", "Transformer", "Transformer, PyTorch's layers"
NAMES = {"lstm": LSTM, "transformer": TRANSFORMER, "fused": FUSED}
DIGITS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
FAR = 32  # tokens back
BRANCHES = (0.5, 0.01, 1e-6)  # of the gradient at the last token: where one option ends and the next begins

GRADIENT_QUESTION = "How much of an LSTM’s gradient reaches the first word of this text?"
GRADIENT_SETTING = (
    "An **LSTM**, a recurrent network, reads the {count} tokens one after the other. In training, a gradient goes back "
    "the same way. With fresh weights, the gradient at the first token, divided by that at the last, is:"
)
GRADIENT_OPTIONS = (
    "More than a half", "Between 1 % and a half", "Between a millionth and 1 %", "Less than a millionth",
)  # fmt: skip
GRADIENT_ANSWER = "The first of {count} tokens gets {first} of the gradient at the last."
GRADIENT_SENTENCE = (
    "In the LSTM, the token {back} back from the last gets {middle} of it. In the Transformer, attention joins the "
    "last token to every other in one step: the first gets {transformer_first} of the gradient at the last, the one "
    "before the last {transformer_next}."
)
GRADIENT_ALONE = "This text has a single token, so no gradient has to go back."
FORGET_LABEL = "Added to the bias of the forget gate"
FORGET_SENTENCE = "With {bias} added, the first token gets **{first}** of the last one's gradient."
FORGET_WHY = (
    "A gate that forgets nothing hands the gradient on, and it keeps everything, too. Many LSTMs begin training with 1."
)
ACROSS_GRADIENT, UP_GRADIENT = "tokens back from the last", "gradient, beside that at the last token"

COST_QUESTION = "On one processor core, from which length is the Transformer faster?"
COST_SETTING = (
    "A text of 1,024 tokens is 1,024 steps to the LSTM, each of which waits for the one before. A layer "
    "of attention takes 1. Both models have about {parameters} parameters. Forward pass, one text at a time:"
)
COST_OPTIONS = ("From 16 tokens on", "From 128 tokens on", "From 1,024 tokens on", "At none up to 1,024")
COST_LENGTHS = (32, 256, 1024)  # up to which a length belongs to an option
COST_ANSWERS = {
    True: "At none: at {longest} tokens, {lstm} for the LSTM, {transformer} for the Transformer.",
    False: "From {start} tokens on; at {longest}, {lstm} for the LSTM, {transformer} for it.",
}
COST_SENTENCE = (
    "From {half} to {longest} tokens the LSTM's time grows × {lstm_growth}, this Transformer's × {growth}, for every "
    "token looks at every other ({fused} with PyTorch's layers). One core does one thing at a time anyway; with "
    "thousands of cores, the LSTM's {longest} steps still wait for each other."
)
RECORDED = "Recorded on {machine}, by `{command}`."
MEASURED = "Measured here just now, {threads}."
MEASURE = "Measure it here"
MEASURE_HELP = "Runs all three at every length on this server, for at most 20 seconds."
MEASURING = "{tokens} tokens"
STOP = "Stop"
BUSY = "Somebody else measures just now; two at a time would slow each other down."
DRAWN = {
    "forward": "Forward pass, time",
    "training": "Training step, time",
    "memory": "Forward pass, memory",
    "trainingmemory": "Training step, memory",
}
UP_COST = {
    "forward": "milliseconds",
    "training": "milliseconds",
    "memory": "megabytes of tensors, at the peak",
    "trainingmemory": "megabytes of tensors, at the peak",
}
ACROSS_COST = "tokens of the text"
DRAWN_LABEL = "Drawn"

TRAINED_QUESTION = "After {steps} steps on film reviews, which judges more new ones rightly?"
TRAINED_SETTING = (
    "Both have about {parameters} parameters and read the same {training} reviews in the same batches, with three "
    "seeds each (recorded). The LSTM's verdict is read from the mean of its states, as the Transformer's is."
)
TRAINED_OPTIONS = ("The LSTM", "The Transformer", "Both alike, within 0.5 %")
TRAINED_ANSWERS = {
    "lstm": "The LSTM: {lstm} against {transformer}.",
    "transformer": "The Transformer: {transformer} against {lstm}.",
    None: "Both alike: the LSTM {lstm}, the Transformer {transformer}.",
}
TRAINED_SENTENCE = (
    "Of {reviews} held-out reviews, by seed: the LSTM {lstm_range}, the Transformer {transformer_range}. Of those "
    "longer than {long} tokens, the LSTM judges {lstm_long} rightly, the Transformer {transformer_long}."
)
TRAINED_SOURCE = (
    "Recorded: {steps} steps with seeds {seeds}, which took the LSTM {lstm_minutes} minutes and the Transformer "
    "{transformer_minutes}, on {machine}, by `{command}`."
)
LEAST_ACCURACY = 0.5  # a guess at random
TRAINED_VIEWS = {"lengths": "By length", "steps": "Over the steps", "parameters": "Parameters"}
UP_ACCURACY = "reviews judged rightly"
UP_ACCURACY_CURVE = "reviews judged rightly, from 50 % up"
ACROSS_LENGTHS = "tokens of the review"
ACROSS_STEPS = "training step"

SMALL = "the tutorial's size"  # begins the name of its row
PARAMETER_TABLE = """| model | parameters | reviews judged rightly |
|---|---:|---:|
| what articles say of such a classifier | about 200,000 | 85 % |
| one of that size, on the card of *sentiment* | about 200,000 | {small_value} |
| the LSTM here | {lstm_size} | {lstm} of {reviews} |
| the Transformer here | {transformer_size} | {transformer} of {reviews} |
| {name}, on this page | {own_size} | {own_value} |
| the paper's base, as its layers add up | {base_size} | it translates |
| the paper's base, as table 3 says | 65 M | it translates |"""


def power(number: float) -> str:
    """ "52 %", "0.3 %", and from a ten-thousandth down "7 × 10⁻¹⁵"."""
    if number >= 1e-4:
        return percent(number) if number < 1.5 else f"{number:.1f} times"
    if number <= 0:
        return "nothing"
    exponent = math.floor(math.log10(number))
    digit = round(number / 10.0**exponent)
    if digit == 10:
        exponent, digit = exponent + 1, 1
    return f"{digit}\u00a0×\u00a010{str(exponent).translate(DIGITS)}"


def gradient_option(reach: GradientReach) -> int:
    """Which of GRADIENT_OPTIONS is right."""
    return sum(reach.first_to_last < branch for branch in BRANCHES)


def gradient(reach: GradientReach) -> dict[str, str]:
    """What the sentences of the first round name."""
    count = len(reach.lstm)
    back = FAR if count > FAR + 1 else max(1, (count - 1) // 2)
    return {
        "count": str(count),
        "first": power(reach.first_to_last),
        "back": str(back),
        "middle": power(reach.lstm[-1 - back] / reach.lstm[-1]),
        "transformer_first": power(reach.transformer_first_to_last),
        "transformer_next": power(reach.transformer[-2] / reach.transformer[-1]),
    }


def cost_option(start: int | None) -> int:
    """Which of COST_OPTIONS is right, of the length from which on the Transformer is faster."""
    return len(COST_LENGTHS) if start is None else sum(start > length for length in COST_LENGTHS)


def cost(measured: Sequence[Cost], start: int | None, *, parameters: int) -> dict[str, str]:
    """What the sentences of the second round name. measured: at two lengths or more."""
    costs = {(each.model, each.tokens): each for each in measured}
    lengths = sorted({each.tokens for each in measured})
    longest, half = lengths[-1], lengths[-2]
    growth = {name: ratio(costs[name, longest], costs[name, half]) for name in NAMES}
    return {
        "parameters": f"{round(parameters, -3):,}",
        "start": f"{start:,}" if start else "",
        "longest": f"{longest:,}",
        "half": f"{half:,}",
        **{name: milliseconds(costs[name, longest]) for name in NAMES},
        "lstm_growth": decimal(growth["lstm"], ".1f"),
        "growth": decimal(growth["transformer"], ".1f"),
    }


def milliseconds(cost: Cost) -> str:
    return f"{cost.forward_ms:.{0 if cost.forward_ms >= 10 else 1}f}\u00a0ms"


def threads(count: int) -> str:
    return "on one core" if count == 1 else f"on {count} cores"


def trained(record: TrainingRecord) -> dict[str, str]:
    """What the sentences of the third round name."""
    runs = {name: record.of(name) for name in ("lstm", "transformer")}
    last = runs["lstm"][0].by_length[-1]
    return {
        "steps": f"{record.facts['steps']:,}",
        "seeds": ", ".join(map(str, record.facts["seeds"])),
        "machine": record.machine,
        "command": record.command,
        "training": f"{record.facts['training_reviews']:,}",
        "reviews": f"{runs['lstm'][0].reviews:,}",
        "parameters": millions(runs["transformer"][0].parameters, 2),
        "long": f"{last.shortest - 1:,}",
        **{name: percent(record.accuracy(name), 1) for name in runs},
        **{f"{name}_range": spread(some) for name, some in runs.items()},
        **{f"{name}_long": percent(record.accuracy_by_length(name)[-1], 1) for name in runs},
        **{f"{name}_size": f"{some[0].parameters:,}" for name, some in runs.items()},
        **{f"{name}_minutes": minutes(some) for name, some in runs.items()},
    }


def minutes(runs: Sequence[TrainedRun]) -> str:
    """ "3 to 6": how long the shortest and the longest of them took."""
    least, most = (round(bound(run.seconds for run in runs) / 60) for bound in (min, max))
    return str(least) if least == most else f"{least} to {most}"


def spread(runs: Sequence[TrainedRun]) -> str:
    """ "84.8 %, 85.1 % and 85.5 %", by seed."""
    shares = [percent(run.accuracy, 1) for run in runs]
    return " and ".join([", ".join(shares[:-1]), shares[-1]] if len(shares) > 1 else shares)


def length_names(run: TrainedRun) -> list[str]:
    """ "129–256" for each part of the lengths."""
    return [f"{part.shortest:,}–{part.longest:,}" for part in run.by_length]


def millions(parameters: int, digits: int = 1) -> str:
    """ "63.1 M"."""
    return f"{parameters / 1e6:.{digits}f}\u00a0M"


def parameter_table(
    record: TrainingRecord, name: str, size: int, cards: tuple[Mapping[str, Any], Mapping[str, Any]], base: int
) -> str:
    """What is said of such models' sizes, beside those measured, as Markdown.

    name, size: of the model on the page. cards: its own, and that of the bundled classifier. base: of the paper's.
    """
    own, bundled = cards
    return PARAMETER_TABLE.format(
        name=markdown_text(name),
        own_size=f"{size:,}",
        own_value=accuracy_on(own, "accuracy"),
        small_value=accuracy_on(bundled, SMALL),
        base_size=millions(base),
        **trained(record),
    )


def accuracy_on(card: Mapping[str, Any], beginning: str) -> str:
    """ "84.8 % of 5,000": the first evaluation on a card whose name begins so; "" where there is none."""
    rows = card.get("evaluations")
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict) and str(row.get("what")).startswith(beginning):
            value, examples = row.get("value"), row.get("examples")
            if isinstance(value, int | float) and isinstance(examples, int):
                return f"{percent(value / 100, 1)} of {examples:,}"
    return ""
