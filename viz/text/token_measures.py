"""What is said of tokens by five measures of what they are worth to an answer, and of how far these agree."""

from collections.abc import Mapping

import numpy as np

from model.measures.causes.rank_agreement import RankAgreement
from viz.text.head_effects import answer_named
from viz.tokens import decimal, markdown_text, percent, visible

OMISSION = "left out"
# By name: the heading of its column in two lines, and what it is in a sentence.
MEASURES: Mapping[str, tuple[tuple[str, str], str]] = {
    "attention": (("attention", "rolled out"), "attention, rolled out"),
    "moved": (("size of what", "is moved"), "the size of what attention moves"),
    "gradient": (("attention ×", "gradient"), "attention × gradient"),
    "integrated": (("integrated", "gradients"), "integrated gradients"),
    OMISSION: (("effect of", "leaving out"), "the effect of leaving it out"),
}
SIGNED = ("integrated", OMISSION)
SURE = 0.05  # a probability by chance below this is no chance
WELL = 0.6  # τ from which two orders are much alike: four pairs of five stand in the same order


def title(attention: str, omission: str, agreement: RankAgreement, *, same: bool) -> str:
    """Which token attention points at, and on which the answer depends; Markdown.

    attention, omission: the tokens that are first by these measures; same: whether they stand at one position.
    """
    first, second = named(attention), named(omission)
    if same:
        also = "" if agrees(agreement) else ", but on the other tokens they differ"
        return f"Attention and effect both put {first} first{also}."
    return f"Attention looks most at {first}, but the answer depends most on {second}."


def named(token: str) -> str:
    """The token in quotation marks, Markdown."""
    return f"“{markdown_text(visible(token))}”"


def agrees(agreement: RankAgreement) -> bool:
    """Whether two orders are alike, beyond chance."""
    return agreement.is_known and agreement.tau > 0 and agreement.probability < SURE


def without_it(kind: str, name: str, token: str, before: float, after: float) -> str:
    """ "Without “loved”, the verdict “positive” goes from 93.9 % to 18.1 %": Markdown."""
    return f"Without {named(token)}, {answer_named(kind, name)} goes from {percent(before, 1)} to {percent(after, 1)}"


def degree(agreement: RankAgreement) -> str:
    """How far an order is another: "well", "in part", "no better than by chance", "in reverse"."""
    if agreement.probability >= SURE:
        return "no better than by chance"
    if agreement.tau < 0:
        return "in reverse"
    return "well" if agreement.tau >= WELL else "in part"


def numbers_said(agreement: RankAgreement) -> str:
    """ "Kendall's τ = 0.71, p = 0.002": plain text."""
    chance = agreement.probability
    said = "p < 0.001" if chance < 0.001 else f"p = {decimal(chance, '.2g')}"
    return f"Kendall's τ = {decimal(agreement.tau, '.2f')}, {said}"


def agreement_line(name: str, agreement: RankAgreement) -> str:
    """ "Integrated gradients: well (Kendall's τ = 0.71, p = 0.002).": Markdown."""
    heading = MEASURES[name][1]
    said = f"{degree(agreement)} ({numbers_said(agreement)})" if agreement.is_known else "too few tokens to compare"
    return f"{heading[0].upper()}{heading[1:]}: {markdown_text(said)}."


def sentence(effect: str, agreement: RankAgreement, best: tuple[str, RankAgreement] | None) -> str:
    """How far attention is an account of the answer; Markdown.

    effect: of ``without_it``. best: the other measure that agrees best with leaving out, once all are known.
    """
    if not agreement.is_known:
        return f"{effect}. The text has too few tokens to compare two orders: {agreement.tokens}."
    parts = [
        f"{effect}. Over all {agreement.tokens} tokens, the orders by attention and by effect agree "
        f"{degree(agreement)} ({numbers_said(agreement)})."
    ]
    if best is not None and agrees(best[1]):
        tau = decimal(best[1].tau, ".2f")
        parts.append(f"Of the other measures, {MEASURES[best[0]][1]} comes nearest to the effect (τ = {tau}).")
    elif best is not None and not agrees(agreement):
        parts.append("None of the other measures does better.")
    return " ".join(parts)


def value_said(name: str, value: float) -> str:
    """ "12.3 %", "+0.42 of the logit", "+75.8 points lost": plain text."""
    if not np.isfinite(value):
        return "not measured" if name == OMISSION else "not measured yet"
    if name == OMISSION:
        return f"{decimal(100 * value, '+.1f')} points"
    return f"{decimal(value, '+.3f')} of the logit" if name in SIGNED else percent(value, 1)


def row_said(token: str, values: Mapping[str, float]) -> str:
    """What a row of the picture says, plain text."""
    parts = [f"{MEASURES[name][1]}: {value_said(name, value)}" for name, value in values.items()]
    return f"{visible(token)}: {'; '.join(parts)}"


def completeness(total: float, difference: float) -> str:
    """What the integrated gradients sum to, plain text."""
    return (
        f"The integrated gradients sum to {decimal(total, '+.4f')}; the logit of the text differs from that of zero "
        f"vectors by {decimal(difference, '+.4f')}."
    )
