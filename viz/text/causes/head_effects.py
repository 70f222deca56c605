"""What is said of heads by what becomes of the answer without them. Layers and heads count from 0, and show from 1."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from viz.export.share_picture import Bar
from viz.tokens import counted, decimal, full_stop, markdown_text, percent, signed

SHOWN = 0.001  # the smallest change that a rounded number shows
LEAST = 0.01  # a change of probability, or of the last vectors, that somebody would see
LEAST_NATS = 0.1  # the same of log-odds
ANSWERS = {
    "label": "the verdict “{}”",
    "next": "the next token “{}”",
    "masked": "the masked word “{}”",
    "output": "the mean probability of the tokens of “{}”",
    "stream": "the last vectors",
}
# What stands in the place of muted heads, unless it is zero; by the choice, and whether it is one head.
IN_PLACE = {
    ("zero", True): "",
    ("zero", False): "",
    ("mean", True): ", with its mean in this text in its place",
    ("mean", False): ", with their means in this text in their place",
    ("reference", True): ", with its mean over the examples in its place",
    ("reference", False): ", with their means over the examples in their place",
}
# What stands there on the page Heads that matter, where every other page has zero.
ZERO_HERE = {
    "zero": "",
    "mean": "On Heads that matter, the mean of each in this text stands in its place.",
    "reference": "On Heads that matter, the mean of each over the examples stands in its place.",
}
NEARLY_SURE, MOVES = 0.95, 0.05  # an answer; a change of its probability that shows what a head does
Changes = Float[np.ndarray, "layer head"]


def head_named(site: tuple[int, int]) -> str:
    """ "head 4 of layer 2"."""
    return f"head {counted(site[1])} of layer {counted(site[0])}"


def muted_named(names: str, count: int) -> str:
    """ "Muted: head 4 of layer 2"."""
    return f"Muted together: {names}" if count > 1 else f"Muted: {names}"


def answer_named(kind: str, name: str) -> str:
    """What the answer is, Markdown. kind: of the outcome."""
    return ANSWERS[kind].format(markdown_text(name))


def odds_named(kind: str, name: str) -> str:
    """The log-odds of what the answer is, Markdown."""
    return (
        f"the mean log-odds of {output_tokens(name)}"
        if kind == "output"
        else f"the log-odds of {answer_named(kind, name)}"
    )


def output_tokens(name: str) -> str:
    """What a decoder beside an encoder wrote, Markdown."""
    return f"the tokens of “{markdown_text(name)}”"


def turned_said(kind: str) -> str:
    """That the answer is no longer the likeliest."""
    return "at least one of them is no longer the likeliest" if kind == "output" else "another is likelier"


def points(change: float) -> str:
    """ "−22.9 points": a change of probability."""
    return f"{signed(100 * change, '+.1f')} points"


def nats(change: float) -> str:
    """ "−1.73 nats": a change of log-odds."""
    return f"{signed(change, '+.2f')} nats"


def goes(kind: str, before: float, after: float, *, in_nats: bool = False) -> str:
    """ "goes from 93.9 % to 71.0 %"; log-odds "go from 2.74 to 1.01"."""
    if in_nats:
        return f"go from {decimal(before, '.2f')} to {decimal(after, '.2f')}"
    if kind == "stream":
        return f"move by {percent(after, 1)} of their length"
    return f"goes from {percent(before, 1)} to {percent(after, 1)}"


def title(
    kind: str,
    name: str,
    before: float,
    site: tuple[int, int],
    after: float,
    *,
    turned: bool,
    in_nats: bool = False,
    whose: str = "",
) -> str:
    """What the head that matters most does, Markdown. before, after: probabilities, or log-odds ``in_nats``.

    whose: the attention that it is of, where there are several.
    """
    change = after if kind == "stream" else after - before
    of = f" of the {whose.partition(',')[0]}" if whose else ""
    if abs(change) < (LEAST_NATS if in_nats else LEAST) and not turned:
        return f"No single head{of} changes this answer by much."
    other = f", and {turned_said(kind)}" if turned and kind != "stream" else ""
    if kind != "stream" and change > 0 and not turned:
        other = ": it works against the answer"
    answer = odds_named(kind, name) if in_nats else answer_named(kind, name)
    return f"Without {head_named(site)}{of}, {answer} {goes(kind, before, after, in_nats=in_nats)}{other}."


def sentence(
    kind: str,
    name: str,
    changes: Changes,
    needed: int | None,
    *,
    in_nats: bool = False,
    whose: str = "",
    back: bool = False,
    lone: bool = False,
    alone: bool = False,
    zero: bool = True,
) -> str:
    """How that compares with the other heads, Markdown.

    needed: how many heads keep the answer, all others muted; None where that is not known, or nothing could change.
    whose: the attention that the heads are of, where there are several. back: whether with fewer heads muted the answer
    is another, so that it comes back. lone: whether it does at that number alone. alone: whether it is another without
    some head alone. zero: whether zero stands in the place of heads; a mean over tokens still tells of them.
    """
    of = f" of {whose}" if whose else ""
    sizes = np.abs(changes)
    large = int((sizes >= (LEAST_NATS if in_nats else LEAST)).sum())
    most, median = float(sizes.max()), float(np.median(sizes))
    if large == 0:
        answer = answer_named(kind, name)
        size = size_said(kind, most, in_nats) if most >= SHOWN else size_said(kind, SHOWN)
        parts = [f"Muted alone, none of the {sizes.size} heads{of} changes {answer} by more than {size}."]
    else:
        heads = "1 head changes" if large == 1 else f"{large} heads change"
        threshold = f"{LEAST_NATS} nats" if in_nats else "1 %" if kind == "stream" else "1 point"
        it = "the last vectors" if kind == "stream" else "it"
        them = "them" if kind == "stream" else "it"
        parts = [
            f"Of {sizes.size} heads{of}, muted one at a time, {heads} {it} by {threshold} or more; the median head "
            f"changes {them} by {size_said(kind, median, in_nats)}."
        ]
    if needed is not None:
        enough = (
            "Muting even the heads with the smallest effect gives another answer"
            if needed == sizes.size
            else f"The {needed} heads with the largest effect, for the answer or against it, are enough"
        )
        none_knows = "" if of or not zero else ", so that no token knows of another"
        enough = f"Even with every head{of} muted{none_knows}, the answer stays" if needed == 0 else enough
        if back:
            parts.append(back_said(needed, lone=lone))
            return " ".join(parts)
        enough = "The head with the largest effect is enough" if needed == 1 else enough
        tail = "" if needed in (0, sizes.size) else ": with all others muted, the answer stays"
        but = ", though without one of them alone it is another" if alone and needed == 0 else ""
        parts.append(f"{enough}{tail}{but}.")
    return " ".join(parts)


def back_said(needed: int, *, lone: bool = False) -> str:
    """That the answer is another with some heads muted, and the same again with more of them.

    lone: whether it is at that number alone, and another with one more and one fewer.
    """
    more = "with all of them muted" if needed == 0 else f"with all but {needed} of them muted"
    only = ", at that number alone" if lone else ""
    return (
        f"Muted one after the other, that with the smallest effect first, they change the answer; {more} it is "
        f"back{only}."
    )


def curve_said(heads: int, measured: int, last: float, *, in_nats: bool = False) -> str:
    """What the curve ends in, and at how many numbers of heads it was measured, plain text. last: with all muted."""
    end = f"the log-odds are {decimal(last, '.2f')}" if in_nats else f"the probability is {percent(last, 1)}"
    said = f"With all {heads} heads muted, {end}."
    return said if measured > heads else f"{said} Measured at {measured} of {heads + 1} numbers of muted heads."


def ceiling_said(before: float) -> str:
    """That a probability can rise less than it can fall, Markdown."""
    return (
        f"From {percent(before, 1)}, no head can raise the probability by more than {100 * (1 - before):.1f} points. "
        "In nats, what speaks for the answer and what speaks against it have the same scale."
    )


def larger_said(site: tuple[int, int], change: float, *, in_nats: bool = False) -> str:
    """That another head than that of a title has the largest effect, Markdown; the answer stays without it."""
    said = nats(change) if in_nats else points(change)
    return f"Without {head_named(site)} the change is larger, {said}, but the answer stays."


def elsewhere_said(kind: str, site: tuple[int, int], whose: str, change: float, *, in_nats: bool = False) -> str:
    """That a head of another attention has the largest effect, Markdown. whose: the attention."""
    said = nats(change) if in_nats else percent(change, 1) if kind == "stream" else points(change)
    return f"Of all attentions, {head_named(site)} of the {whose} has the largest effect: {said}."


def written_said(new: str) -> str:
    """What is written without the head of a title, Markdown."""
    return f"The model then writes “{markdown_text(new)}”{full_stop(new)}"


def mean_said(before: float, after: float, by_zero: float, *, in_nats: bool = False) -> str:
    """What becomes of the answer where the head's mean stands in its place, Markdown; "" where that is much the same.

    by_zero: the answer without the head. Much the same is at least half of that change, in the same direction.
    """
    change, by_mean = by_zero - before, after - before
    if change * by_mean > 0 and abs(by_mean) >= abs(change) / 2:
        return ""
    said = nats(by_mean) if in_nats else points(by_mean)
    least = LEAST_NATS if in_nats else LEAST
    why = ", the other way" if change * by_mean < 0 else ""
    if abs(by_mean) < least:
        why = ": much of what it adds is the same for every token"
    is_none = abs(by_mean) < (0.005 if in_nats else SHOWN / 2)
    return (
        f"Muted means zero in its place; with its mean in this text there, "
        f"{'nothing changes' if is_none else f'the change is {said}'}{why}. Another head may come first that way."
    )


def nearly_sure_said(before: float) -> str:
    """That an answer is so sure that its probability hardly shows what heads do, Markdown."""
    return f"At {percent(before, 1)} a probability can hardly rise: nats of log-odds (below) show what heads do."


def runner_up_said(name: str, other: str, probability: float, margin: float) -> str:
    """What the answer is ahead of, Markdown. margin: of their logits."""
    return (
        f"The runner-up of “{markdown_text(name)}” is “{markdown_text(other)}” with {percent(probability, 1)}; "
        f"its logit is {decimal(margin, '.2f')} lower."
    )


def size_said(kind: str, size: float, in_nats: bool = False) -> str:
    """ "22.9 points", "1.73 nats", or of the last vectors "12 %"."""
    if in_nats:
        return f"{size:.2f} nats"
    return percent(size, 1) if kind == "stream" else f"{100 * size:.1f} points"


def cell_said(
    kind: str, site: tuple[int, int], before: float, after: float, *, turned: bool, in_nats: bool = False
) -> str:
    """What a cell of the picture says, plain text."""
    name = f"layer {counted(site[0])}, head {counted(site[1])}"
    if not np.isfinite(after):
        return f"{name}: not measured yet"
    return f"{name}: {change_said(kind, before, after, turned=turned, in_nats=in_nats)}"


def change_said(
    kind: str, before: float, after: float, *, turned: bool, in_nats: bool = False, without: str = "it"
) -> str:
    """What becomes of the answer without a head, or without several, plain text."""
    if kind == "stream":
        return f"without {without}, the last vectors move by {percent(after, 2)} of their length"
    other = f"; {turned_said(kind)}" if turned else ""
    if in_nats:
        odds = f"{decimal(before, '.2f')} → {decimal(after, '.2f')}"
        return f"log-odds {odds} without {without}, {nats(after - before)}{other}"
    return f"{percent(before, 2)} → {percent(after, 2)} without {without}, {points(after - before)}{other}"


def direct(part: float, total: float, other: str | None = None, *, is_last: bool = False, zero: bool = True) -> str:
    """ "It adds +0.42 directly to the answer's logit, which is 3.10. …", Markdown. other: the runner-up of a lead.

    is_last: whether no layer follows. zero: whether zero stands in the place of a muted head.
    """
    what = "logit" if other is None else f"lead over “{markdown_text(other)}”"
    beside = "" if zero else ", as against zero in its place"
    then = "the rest of its layer and the final norm" if is_last else "the rest of its layer and later layers"
    return (
        f"It adds {decimal(part, '+.2f')} directly to the answer's {what}, which is {decimal(total, '.2f')}{beside}. "
        f"What else changes without it comes by way of {then}."
    )


def bars(
    kind: str, changes: Changes, order: Sequence[tuple[int, int]], most: int = 6, *, in_nats: bool = False
) -> list[Bar]:
    """The heads with the largest effect, the largest first, with their signs."""
    said = nats if in_nats else points
    chosen = list(reversed(order))[:most]
    longest = max((abs(float(changes[site])) for site in chosen), default=0.0) or 1.0
    return [  # blue where the answer needs the head, as everywhere else
        Bar(
            name=f"layer {counted(site[0])}, head {counted(site[1])}",
            length=abs(float(changes[site])) / longest,
            label=percent(float(changes[site]), 1) if kind == "stream" else said(float(changes[site])),
            against=kind != "stream" and bool(changes[site] > 0),
        )
        for site in chosen
    ]
