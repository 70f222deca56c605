"""An LSTM beside a Transformer as lines: gradients, costs, accuracy. Each keeps its colour in all of them."""

from collections.abc import Collection, Sequence
from typing import Literal

import altair as alt

from model.measures.learn.records.recurrence import TrainingRecord
from model.measures.learn.recurrence.gradient_reach import GradientReach
from model.measures.learn.recurrence.recurrent_cost import LENGTHS, Cost
from viz.charts.learn.recurrence.compared_lines import Axis, ModelLine, compared_lines
from viz.text.learn.stops import recurrent_network as words
from viz.theme import LIGHT, Theme

COLOURS: dict[str, Literal["accent", "second", "quiet"]] = {
    words.LSTM: "second",
    words.TRANSFORMER: "accent",
    words.FUSED: "quiet",
}
FIELDS = {
    "forward": "forward_ms",
    "training": "training_ms",
    "memory": "forward_bytes",
    "trainingmemory": "training_bytes",
}
MEGABYTE = 1_000_000
LEAST = 1e-30  # of a gradient that is drawn; what is smaller is drawn there


def gradient_lines(
    reach: GradientReach, *, drawn: Collection[str] | None = None, theme: Theme = LIGHT
) -> alt.LayerChart:
    """The gradient at every token beside that at the last, from the last token, 0, back to the first."""
    lines = [
        ModelLine(
            name=name,
            colour=COLOURS[name],
            values={back: max(norm / norms[-1], LEAST) for back, norm in enumerate(reversed(norms))},
        )
        for name, norms in ((words.LSTM, reach.lstm), (words.TRANSFORMER, reach.transformer))
    ]
    across = Axis(title=words.ACROSS_GRADIENT, form=",d", domain=(0, len(reach.lstm) - 1))
    return compared_lines(lines, across, Axis(title=words.UP_GRADIENT, log=True, form=".0e"), drawn=drawn, theme=theme)


def cost_lines(
    costs: Sequence[Cost], what: str, *, models: Collection[str] | None = None, theme: Theme = LIGHT
) -> alt.LayerChart:
    """One of FIELDS by the number of tokens, both axes logarithmic: a straight line is a power."""
    unit = MEGABYTE if FIELDS[what].endswith("bytes") else 1
    lines = [
        ModelLine(
            name=name,
            colour=COLOURS[name],
            values={cost.tokens: getattr(cost, FIELDS[what]) / unit for cost in costs if cost.model == model},
        )
        for model, name in words.NAMES.items()
    ]
    across = Axis(title=words.ACROSS_COST, log=True, values=LENGTHS, form=",d", domain=(LENGTHS[0], LENGTHS[-1]))
    return compared_lines(lines, across, Axis(title=words.UP_COST[what], log=True), drawn=models, theme=theme)


def accuracy_lines(record: TrainingRecord, *, theme: Theme = LIGHT) -> alt.LayerChart:
    """The mean validation accuracy over the steps."""
    lines = [
        ModelLine(name=words.NAMES[model], colour=COLOURS[words.NAMES[model]], values=record.curve(model))
        for model in ("lstm", "transformer")
    ]
    up = Axis(title=words.UP_ACCURACY_CURVE, form="%", domain=(words.LEAST_ACCURACY, 1))
    return compared_lines(lines, Axis(title=words.ACROSS_STEPS, form=",d"), up, theme=theme)
