"""What is said of two passes side by side, A and B. Layers and heads count from 0, and show from 1."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from viz.export.share_picture import Bar
from viz.text.causes.head_effects import answer_named, goes, head_named, points
from viz.tokens import counted, markdown_text, percent, position_name, visible

ALIKE = 0.01  # distances that differ by less are called the same
LEAST = 0.0005  # a distance that a rounded number shows
SAME_TEXTS = "The two texts are the same: every difference is 0."
SAME_PASSES = "No head looks elsewhere: every difference is 0."
ONE_PARTNER = "Only one token has a partner in the other text, so that there is little to compare."
ONE_TOKEN = "One token can only look at itself."
BY_CHANCE, BELOW_CHANCE = ", as much as by chance", ", less than by chance"
NOTHING = {"stream": "the stream at any one token", "heads": "any one head", "weights": "the weights of any one head"}
LESS = "the answer of A changes by less than 0.1 points"
NO_OTHER = {
    "stream": "of the tokens that have a partner, no other changes it more, in any layer",
    "heads": "no other head changes it more",
    "weights": "the weights of no other head change it more",
}
WRONG_WAY = "It makes A’s answer likelier; what speaks against that answer in B is in no one of these parts."
OTHER_LIST = "The head beside it above is that whose weights differ least on this text alone; it need not be here."
HARDLY = 0.01  # a difference of two probabilities that is next to none
Site = tuple[int, int]
Distances = Float[np.ndarray, "layer head"]
Rows = list[dict[str, str]]


def title(site: Site, distance: float, keys: tuple[str, str], model: str = "", *, by_chance: float) -> str:
    """What the head does that is furthest from its partner, Markdown.

    keys: the token to which the head gives most, in A and in B. model: the second, where partners were sought.
    by_chance: the distance, if the head looked at its keys in random order.
    """
    beside = BY_CHANCE if abs(by_chance - distance) < ALIKE else BELOW_CHANCE if distance < by_chance else ""
    if model and distance >= LEAST:
        return (
            f"Of all heads, {head_named(site)} is least like any of {markdown_text(model)}: the one that comes nearest "
            f"on this text has {percent(distance)} of its attention elsewhere{beside}."
        )
    if distance < LEAST:
        return SAME_PASSES
    name = f"Layer {counted(site[0])}, head {counted(site[1])}"
    first, second = keys
    moves = f"{percent(distance)} of its attention moves{beside}."
    if first == second:
        return f"{name} looks elsewhere most: {moves}"
    return f"{name} looks most at {first} in A and at {second} in B: {moves}"


def sentence(distances: Distances, by_chance: float, alone: tuple[int, int], unit: str, attention: str = "") -> str:
    """How that compares with chance and the other heads, and how many tokens have no partner, Markdown.

    by_chance: the distance of the head that is furthest from its partner, if that looked at its keys in random order.
    attention: which one it is, where the model has several.
    """
    of = f" of the {attention}" if attention else ""
    half = int((distances >= 0.5).sum())
    heads = "no head has" if half == 0 else "1 head has" if half == 1 else f"{half} heads have"
    said = (
        f"Of {distances.size} heads{of}, {heads} half of the attention elsewhere in B, or more; the median head has "
        f"{percent(float(np.median(distances)))}."
    )
    if distances.max() >= LEAST:
        said += (
            f" By chance, with its weights in B shuffled, the head that differs most would have {percent(by_chance)}."
        )
    without = [f"{count} of {name}" for count, name in zip(alone, "AB", strict=True) if count]
    return f"{said} Without a partner: {' and '.join(without)} ({unit})." if without else said


def edited_and_muted(site: Site) -> str:
    """That weights of a head were set which is muted."""
    return f"{head_named(site).capitalize()} is muted, too: what was set of its weights changes nothing."


def answers(first: tuple[str, str], second: tuple[str, str]) -> str:
    """ "Verdict: A positive 93.9 %, B negative 81.9 %."; of answers of two kinds each with its own. Markdown.

    first, second: what kind of answer it is, and the answer; both "" where a model says nothing.
    """
    if first == second == ("", ""):
        return ""
    if first[0] == second[0]:
        return f"{first[0]}: A {markdown_text(first[1])}, B {markdown_text(second[1])}."
    words = [f"{name.lower()} {markdown_text(said)}" if name else "says nothing" for name, said in (first, second)]
    return f"A: {words[0]}. B: {words[1]}."


def cell_said(site: Site, partner: Site, distance: float) -> str:
    """What a cell of the picture says, plain text."""
    name = f"layer {counted(site[0])}, head {counted(site[1])}"
    beside = "" if site == partner else f", beside layer {counted(partner[0])}, head {counted(partner[1])} of B"
    return f"{name}{beside}: {percent(distance, 2)} of the attention is elsewhere"


def beside_chance(by_chance: float) -> str:
    """What follows a distance, plain text."""
    return f"; by chance {percent(by_chance)}"


def unit_label(units: tuple[int | None, int | None], names: tuple[Sequence[str], Sequence[str]]) -> str:
    """ "4 · slow"; "4 · slow | 5 · fast" of partners that differ; "5 · fast (B alone)"."""
    known = [(unit, side[unit]) for unit, side in zip(units, names, strict=True) if unit is not None]
    if len(known) == 1:
        return f"{position_name(*known[0])} ({'B' if units[0] is None else 'A'} alone)"
    (first, name), (_, other) = known
    if name.strip().lower() == other.strip().lower():
        return position_name(first, name)
    return f"{position_name(first, name)} | {visible(other)}"


def alike_sentence(site: Site, model: str, mean: float, texts: int, *, beside: bool = False) -> str:
    """What the list of similar heads is, Markdown. beside: whether one of them was sought to stand beside this one."""
    over = "this text" if texts == 1 else f"{texts} texts, this one and examples"
    said = (
        f"Most similar to {head_named(site)} in the mean over {over}, of the heads of {markdown_text(model)}; the "
        f"average head has a similarity of {percent(mean)}."
    )
    return f"{said} {OTHER_LIST}" if beside else said


def alike_said(site: Site, similarity: float, chance: float) -> str:
    """ "layer 2, head 4: similarity 91 %, by chance 40 %", plain text."""
    name = f"layer {counted(site[0])}, head {counted(site[1])}"
    return f"{name}: similarity {percent(similarity, 1)}, by chance {percent(chance, 1)}"


def patch_said(kind: str, what: str, before: float, after: float) -> str:
    """What a cell of the effect matrix says, plain text. what: "layer 2, head 3" or "layer 2, 4 · slow"."""
    if not np.isfinite(after):
        return f"{what}: nothing from B stands here"
    if kind == "stream":
        return f"{what}: with it from B, the last vectors move by {percent(after, 2)} of their length"
    return f"{what}: {percent(before, 2)} → {percent(after, 2)} with it from B, {points(after - before)}"


def patch_sentence(
    kind: str,
    named: str,
    part: str,
    most: tuple[str, float],
    against: tuple[str, float],
    before: float,
    in_second: float | None = None,
) -> str:
    """The part with which the answer changes most, Markdown.

    part: "stream", "heads" or "weights". most, against: the part that changes the answer most, and the one with which
    it is least likely, each with the number that it makes. in_second: the probability of A's answer in B, where it is
    known.
    """
    what, after = most
    if not np.isfinite(after) or abs(after - before) < LEAST:
        small = "the last vectors move by less than 0.1 %" if kind == "stream" else LESS
        return f"With {NOTHING[part]} from B, {small}."
    answer = answer_named(kind, named)
    said = f"With {markdown_text(what)} from B, {answer} {goes(kind, before, after)}: {NO_OTHER[part]}."
    if in_second is not None:
        said = f"{said} {carried_said(before, after, in_second)}".strip()
        if abs(in_second - before) < HARDLY:
            return said
    if kind == "stream" or after < before or (in_second is not None and in_second > before):
        return said
    if before - against[1] < LEAST:
        return f"{said} {WRONG_WAY}"
    return f"{said} The other way, {markdown_text(against[0])} does most: the answer {goes(kind, before, against[1])}."


def carried_said(before: float, after: float, in_second: float) -> str:
    """How much of the difference of A's answer in A and in B a part carries, Markdown; each as a probability."""
    there = f"in B, this answer has {percent(in_second, 1)}"
    if abs(after - in_second) < LEAST:
        return f"That is all of the difference: {there}."
    if (after - before) * (in_second - before) < 0:
        return f"That is away from B: {there}."
    if abs(in_second - before) < HARDLY:
        return f"There is little to carry: {there}."
    return f"I{there[1:]}."


def token_rows(
    names: tuple[Sequence[str], Sequence[str]],
    pairs: Sequence[tuple[int, int]],
    added: tuple[Sequence[bool], Sequence[bool]],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Each token of two texts as it is drawn, with what is said of it: which one it is, and its partner."""
    partners = dict(pairs), {second: first for first, second in pairs}
    rows: list[list[dict[str, Any]]] = [[], []]
    for side in (0, 1):
        for place, name in enumerate(names[side]):
            other = partners[side].get(place)
            beside = "no partner" if other is None else f"partner {position_name(other, names[1 - side][other])}"
            said = f"{'AB'[side]} {position_name(place, name)}, {beside}"
            rows[side].append({"name": visible(name), "said": said, "special": added[side][place]})
    return rows[0], rows[1]


def head_rows(distances: Distances, partners: Int[np.ndarray, "layer head 2"], order: Sequence[Site]) -> Rows:
    """A table of the heads in this order."""
    rows = []
    for site in order:
        beside = tuple(map(int, partners[site]))
        names = [f"layer {counted(place[0])}, head {counted(place[1])}" for place in (site, beside)]
        rows.append({"head in A": names[0], "head in B": names[1], "attention elsewhere": percent(distances[site], 1)})
    return rows


def bars(distances: Distances, order: Sequence[Site], most: int = 6) -> list[Bar]:
    """The heads that are furthest from their partners, the furthest first."""
    longest = float(distances.max()) or 1.0
    return [
        Bar(
            name=f"layer {counted(site[0])}, head {counted(site[1])}",
            length=float(distances[site]) / longest,
            label=percent(float(distances[site])),
        )
        for site in order[:most]
    ]
