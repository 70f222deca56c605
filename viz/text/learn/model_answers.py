"""What a model answers, in a sentence."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from viz.tokens import decimal, markdown_text, percent, visible

ANSWERS = {
    "label": "The model says {answer} with {share}",
    "next": "The model continues with {answer}, at {share}",
    "masked": "The model fills the blank with {answer}, at {share}",
}
TOO_LONG = (
    "This text has {count} tokens. The question needs one pass for each of the {heads} heads, so it takes texts of up "
    "to {longest} tokens."
)
NO_ANSWER = "The model gives no answer on this text that could change."


CAN_BE_WRONG = "This model gets about {right} of 100 reviews right, so it may be wrong about this text."
WRONG = "The model is wrong here: this text is {label}."
OTHER_WRONG = " The model is wrong about the other order: that text is {label}, too."
# What the texts that the app opens with say of their film, as we wrote them: a model may judge otherwise.
LABELS = {
    "The film was slow, but I loved it.": "positive",
    "I loved the film, but it was slow.": "positive",
    "The acting is not bad at all.": "positive",
    "I wanted to like it, but the plot makes no sense.": "negative",
    "Nobody who saw it with me was bored.": "positive",
    "It was never boring.": "positive",
}


def doubt(text: str, answer: str, accuracy: float | None) -> str:
    """Whether the model is wrong about a text whose label is known; else how often it is right.

    "" where neither is known. accuracy: in percent, on its card.
    """
    label = LABELS.get(text)
    if label is not None:
        return "" if label == answer else WRONG.format(label=label)
    return "" if accuracy is None else CAN_BE_WRONG.format(right=round(accuracy))


def accuracy_of(card: Mapping[str, Any]) -> float | None:
    """How many of 100 reviews a model judges rightly, by its card, which may come from anywhere; None: not said."""
    rows = card.get("evaluations")
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict) and re.match("accuracy.*review", str(row.get("what"))):
            value = row.get("value")
            return float(value) if isinstance(value, int | float) and 0 <= value <= 100 else None
    return None


def answer_name(answer: str) -> str:
    """ "“positive”", escaped."""
    return f"“{markdown_text(visible(answer.strip() or answer))}”"


def saying(kind: str, answer: str, share: float) -> str:
    """ "The model says “positive” with 93.9 %"."""
    return ANSWERS[kind].format(answer=answer_name(answer), share=percent(share, 1))


def heads_in_words(count: int) -> str:
    """ "1 head", "2 heads"."""
    return f"{count} head" + ("" if count == 1 else "s")


def points(share: float) -> str:
    """ "0.4 points": the difference of two probabilities."""
    return f"{decimal(100 * share, '.1f')} points"


def listing(names: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
