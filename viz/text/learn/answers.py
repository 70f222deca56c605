"""What a model answers, in a sentence."""

from collections.abc import Sequence

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
