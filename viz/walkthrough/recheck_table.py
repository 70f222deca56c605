"""The numbers of a walk beside the same computed again, as the rows of a table."""

import numpy as np

from model.measures.answer_reference import RecheckedAnswer
from model.measures.numpy_reference import Rechecked
from model.measures.one_weight import STEPS, WeightPath
from viz.walkthrough.step_numbers import answer_names, quoted_answer
from viz.walkthrough.step_sentences import LABELS, exactly

Row = dict[str, str]


def rows_of_weight(path: WeightPath, again: Rechecked) -> list[Row]:
    """The product, the score and the weight."""
    place = path.site.head, path.site.query, path.site.key
    attention = path.attention
    pairs = {
        "product q · k": (attention.products[place], again.product),
        "score": (attention.scores[place], again.score),
        "weight": (attention.weights[place], again.weight),
    }
    return [row(name, np.asarray(number), other) for name, (number, other) in pairs.items()]


def rows_of_answer(path: WeightPath, again: RecheckedAnswer) -> list[Row]:
    """The vectors on the way to the answer, each by the coordinate that differs most; the largest logit, its share."""
    query, end = path.site.query, STEPS["last-norm"](path)
    rows = [
        worst_row(LABELS["last_stream"], end["last_stream"].values, again.last_stream[query]),
        worst_row(LABELS["final"], end["final"].values, again.final[query]),
    ]
    if again.read is None or again.logits is None or again.probabilities is None:
        return rows
    logits, answer = STEPS["logits"](path), STEPS["answer"](path)
    best = int(logits["all_logits"].values.argmax())
    name = quoted_answer(path, answer_names(path, [best])[0])
    return [
        *rows,
        worst_row(LABELS["read"], logits["read"].values, again.read),
        row(f"logit of {name}", logits["all_logits"].values[best], float(again.logits[best])),
        row(f"probability of {name}", answer["all_probabilities"].values[best], float(again.probabilities[best])),
    ]


def worst_row(name: str, ours: np.ndarray, other: np.ndarray) -> Row:
    """Of two vectors the coordinate at which they differ most."""
    place = int(np.abs(ours - other).argmax())
    return row(f"{name}, coordinate {place + 1} (it differs most)", ours[place], float(other[place]))


def row(name: str, ours: np.ndarray | np.floating, other: float) -> Row:
    """What is on the screen, what came of computing it again, the difference. name: Markdown."""
    return {
        "number": name,
        "on the screen (32 bits)": exactly(np.asarray(ours)),
        "computed again (64 bits)": repr(other),
        "difference": "0" if float(ours) == other else f"{float(ours) - other:.1e}",
    }
