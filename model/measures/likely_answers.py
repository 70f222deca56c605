"""The answers of two passes side by side: what a model may say of a text, and how probable each is in both."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from model.measures.outcome import Outcome, rows_of
from model.trace import Trace


@dataclass(frozen=True, kw_only=True, eq=False)
class LikelyAnswers:
    """Labels or token ids with their probabilities in two passes; of an "output", its tokens one after the other."""

    ids: tuple[int, ...]
    before: Float[np.ndarray, " answer"]
    after: Float[np.ndarray, " answer"]


def likely_answers(outcome: Outcome, before: Trace, after: Trace, most: int = 4) -> LikelyAnswers:
    """Of labels all; of a token the likeliest of both passes, at least two of each; of an output its own; else none.

    outcome: of the pass ``before``. Of a token, its answer comes first, then the others by the larger of both
    probabilities; else the order is that of the probability before.
    """
    logits = [rows_of(trace) for trace in (before, after)]
    if outcome.kind == "stream" or logits[0] is None or logits[1] is None:
        return LikelyAnswers(ids=(), before=np.zeros(0), after=np.zeros(0))
    rows = list(outcome.rows)
    first, second = (each[rows].double().softmax(dim=-1).numpy() for each in logits if each is not None)
    if outcome.kind == "output":
        places = np.arange(len(rows)), np.array(outcome.answers)
        return LikelyAnswers(ids=outcome.answers, before=first[places], after=second[places])
    first, second = first[0], second[0]
    if outcome.kind == "label":
        chosen = np.arange(len(first))
    else:
        half = max(most // 2, 1)
        likeliest = np.concatenate([np.argsort(-first)[:most], np.argsort(-second)[:half]])
        _, places_first = np.unique(likeliest, return_index=True)
        chosen = likeliest[np.sort(places_first)]
    sizes = first if outcome.kind == "label" else np.maximum(first, second)
    order = chosen[np.lexsort((-sizes[chosen], chosen != outcome.answers[0]))]
    return LikelyAnswers(ids=tuple(map(int, order)), before=first[order], after=second[order])
