"""What is said of the parts of a logit. Layers and heads count from 0, and show from 1."""

from collections.abc import Sequence

from model.measures.causes.contributions import LogitStep
from model.measures.causes.stream_parts import Part
from viz.tokens import counted, decimal, markdown_text

MOST_NAMED = 3  # heads of an attention that a tooltip names
KINDS = {"self": "attention", "cross": "cross-attention", "feed-forward": "feed-forward"}
WHAT = {
    "embedding": "what the stream begins with",
    "attention biases": "the biases of all attentions' output projections, which belong to no head",
    "norm bias": "the biases of all norms, on their way through the norms after them",
    "head bias": "what the output layer adds whatever it reads",
}
EMBEDDED = {"token": "of the tokens", "position": "of their positions", "segment": "of their segments"}


def number(value: float) -> str:
    """ "+0.42", and nothing as "0.00"."""
    text = decimal(value, "+.2f")
    return "0.00" if text in ("+0.00", "−0.00") else text


def step_name(step: LogitStep, *, crossed: bool) -> str:
    """ "layer 2, attention". crossed: whether there is cross-attention, beside which that would say too little."""
    if step.layer is None:
        return {"norm bias": "norm biases", "head bias": "bias of the output layer"}.get(step.kind, step.kind)
    kind = "self-attention" if crossed and step.kind == "self" else KINDS[step.kind]
    if step.head is not None:
        beside = f", {kind}" if crossed else ""
        return f"layer {counted(step.layer)}{beside}, head {counted(step.head)}"
    return f"layer {counted(step.layer)}, {kind}"


def step_said(step: LogitStep, name: str) -> str:
    """What a bar says, plain text."""
    said = f"{name}: {number(step.value)}, from {decimal(step.start, '.2f')} to {decimal(step.end, '.2f')}"
    if step.kind in ("self", "cross") and step.head is None:
        largest = sorted(step.members, key=lambda member: -abs(member[1]))[:MOST_NAMED]
        heads = f"{len(step.members)} heads together" if len(step.members) > 1 else "1 head"
        return f"{said}. {heads}; largest: {', '.join(map(head_said, largest))}"
    if step.kind == "embedding":
        parts = ", ".join(f"{EMBEDDED[part.kind]} {number(value)}" for part, value in step.members)
        return f"{said}: {WHAT[step.kind]}; {parts}"
    return f"{said}: {WHAT[step.kind]}" if step.kind in WHAT else said


def head_said(member: tuple[Part, float]) -> str:
    """ "head 3 +0.42"."""
    part, value = member
    assert part.head is not None
    return f"head {counted(part.head)} {number(value)}"


def total_name(other: str | None) -> str:
    """What the bars sum to. other: the runner-up, where it is the lead over it."""
    return "logit" if other is None else "lead"


def summed_said(answer: str, other: str | None, total: float, *, several: bool = False) -> str:
    """What the waterfall shows, Markdown. answer: in words; other: the runner-up, in words."""
    named = f"mean logit of {answer}" if several else f"logit of {answer}, from which its probability is made,"
    what = f"The {named} is {decimal(total, '.2f')}"
    if other is not None:
        what = (
            f"The lead of {answer} over the runner-up “{markdown_text(other)}”, the difference of their logits, is "
            f"{decimal(total, '.2f')}"
        )
    return (
        f"{what}: the sum of what the embedding, every attention, every feed-forward layer and the biases add to it, "
        "if every norm divides by what it divides by in this pass."
    )


def largest_said(steps: Sequence[tuple[Part, float]]) -> str:
    """Which single heads add or take away most, plain text; "" for no heads. steps: heads with what each adds."""
    named = sorted(steps, key=lambda each: -abs(each[1]))[:MOST_NAMED]
    if not named:
        return ""
    said = [f"{head_named(part)} ({number(value)})" for part, value in named]
    return f"The heads with the largest direct parts: {', '.join(said)}."


def head_named(part: Part) -> str:
    """ "head 3 of layer 2"."""
    assert part.head is not None
    assert part.layer is not None
    cross = " in cross-attention" if part.kind == "cross" else ""
    return f"head {counted(part.head)} of layer {counted(part.layer)}{cross}"
