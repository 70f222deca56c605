"""What is said of heads by what becomes of the answer without them. Layers and heads count from 0, and show from 1."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from viz.export.share_picture import Bar
from viz.tokens import counted, decimal, markdown_text, percent

SHOWN = 0.001  # the smallest change that a rounded number shows
LEAST = 0.01  # a change of probability, or of the last vectors, that somebody would see
ANSWERS = {
    "label": "the verdict “{}”",
    "next": "the next token “{}”",
    "masked": "the masked word “{}”",
    "output": "the probability of the model’s own output",
    "stream": "the last vectors",
}
Changes = Float[np.ndarray, "layer head"]


def head_named(site: tuple[int, int]) -> str:
    """ "head 4 of layer 2"."""
    return f"head {counted(site[1])} of layer {counted(site[0])}"


def answer_named(kind: str, name: str) -> str:
    """What the answer is, Markdown. kind: of the outcome."""
    return ANSWERS[kind].format(markdown_text(name))


def points(change: float) -> str:
    """ "−22.9 points": a change of probability."""
    return f"{decimal(100 * change, '+.1f')} points"


def goes(kind: str, before: float, after: float) -> str:
    """ "goes from 93.9 % to 71.0 %"."""
    if kind == "stream":
        return f"move by {percent(after, 1)} of their length"
    return f"goes from {percent(before, 1)} to {percent(after, 1)}"


def title(kind: str, name: str, before: float, site: tuple[int, int], after: float, *, turned: bool) -> str:
    """What the head that matters most does, Markdown."""
    change = after if kind == "stream" else after - before
    if abs(change) < LEAST and not turned:
        return "No single head changes this answer."
    other = ", and another is likelier" if turned and kind in ("label", "next", "masked") else ""
    return f"Without {head_named(site)}, {answer_named(kind, name)} {goes(kind, before, after)}{other}."


def sentence(kind: str, name: str, changes: Changes, needed: int | None) -> str:
    """How that compares with the other heads, Markdown.

    needed: how many heads keep the answer, all others muted; None where that is not known, or nothing could change.
    """
    sizes = np.abs(changes)
    large = int((sizes >= LEAST).sum())
    most, median = float(sizes.max()), float(np.median(sizes))
    if large == 0:
        answer = answer_named(kind, name)
        size = size_said(kind, most) if most >= SHOWN else f"as much as {size_said(kind, SHOWN)}"
        more = "more than " if most >= SHOWN else ""
        parts = [f"Muted alone, none of the {sizes.size} heads changes {answer} by {more}{size}."]
    else:
        heads = "1 head changes" if large == 1 else f"{large} heads change"
        threshold = "1 %" if kind == "stream" else "1 point"
        parts = [
            f"Of {sizes.size} heads, muted one at a time, {heads} it by {threshold} or more; the median head changes "
            f"it by {size_said(kind, median)}."
        ]
    if needed is not None:
        enough = (
            "Muting even the heads with the smallest effect gives another answer"
            if needed == sizes.size
            else f"The {needed} heads with the largest effect are enough"
        )
        enough = "Even with every head muted, the answer stays" if needed == 0 else enough
        enough = "The head with the largest effect is enough" if needed == 1 else enough
        tail = "." if needed in (0, sizes.size) else ": with all others muted, the answer stays."
        parts.append(f"{enough}{tail}")
    return " ".join(parts)


def size_said(kind: str, size: float) -> str:
    """ "22.9 points", or of the last vectors "12 %"."""
    return percent(size, 1) if kind == "stream" else f"{100 * size:.1f} points"


def cell_said(kind: str, site: tuple[int, int], before: float, after: float, *, turned: bool) -> str:
    """What a cell of the picture says, plain text."""
    name = f"layer {counted(site[0])}, head {counted(site[1])}"
    if not np.isfinite(after):
        return f"{name}: not measured yet"
    if kind == "stream":
        return f"{name}: without it, the last vectors move by {percent(after, 2)} of their length"
    other = "; another answer is likelier" if turned else ""
    return f"{name}: {percent(before, 2)} → {percent(after, 2)} without it, {points(after - before)}{other}"


def direct(part: float, total: float, other: str | None = None) -> str:
    """ "It adds +0.42 directly to the answer's logit, which is 3.10. …", Markdown. other: the runner-up of a lead."""
    what = "logit" if other is None else f"lead over “{markdown_text(other)}”"
    return (
        f"It adds {decimal(part, '+.2f')} directly to the answer's {what}, which is {decimal(total, '.2f')}. What else "
        "changes without it comes by way of later layers."
    )


def bars(kind: str, before: float, without: Changes, order: Sequence[tuple[int, int]], most: int = 6) -> list[Bar]:
    """The heads with the largest effect, the largest first."""
    changes = without if kind == "stream" else without - before
    chosen = list(reversed(order))[:most]
    longest = max((abs(float(changes[site])) for site in chosen), default=0.0) or 1.0
    return [
        Bar(
            name=f"layer {counted(site[0])}, head {counted(site[1])}",
            length=abs(float(changes[site])) / longest,
            label=percent(float(changes[site]), 1) if kind == "stream" else points(float(changes[site])),
        )
        for site in chosen
    ]
