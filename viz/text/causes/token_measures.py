"""What is said of tokens by five measures of what they are worth to an answer, and of how far these agree."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float

from model.measures.causes.rank_agreement import RankAgreement
from viz.text.causes.head_effects import answer_named
from viz.text.swapped_halves import FUNCTION_WORD
from viz.tokens import counted, decimal, markdown_text, percent, visible

OMISSION = "left out"
# By name: the heading of its column in two lines, and what it is in a sentence.
MEASURES: Mapping[str, tuple[tuple[str, str], str]] = {
    "attention": (("attention", "rolled out"), "attention, rolled out"),
    "moved": (("size of what", "is moved"), "the size of what attention moves"),
    "gradient": (("attention ×", "gradient"), "attention × gradient"),
    "integrated": (("integrated", "gradients"), "integrated gradients"),
    OMISSION: (("points lost", "without it"), "the effect of leaving it out"),
}
SIGNED = ("integrated", OMISSION)
FEWEST = 5  # tokens: with fewer, even the same order comes by chance more often than ``SURE``
ALIKE = 0.01  # of the largest: numbers closer than that are equal to the eye
SURE = 0.05  # a probability by chance below this is no chance
WELL = 0.6  # τ from which two orders are much alike: four pairs of five stand in the same order
IN_PART = 0.2  # τ from which they are alike at all: three pairs of five


def title(
    attention: str | None,
    omission: str | None,
    agreement: RankAgreement,
    *,
    against: bool = False,
    elsewhere: bool = False,
) -> str:
    """Which token attention points at, and on which the answer depends; Markdown.

    attention, omission: the tokens that are first by these measures, as ``token_named``; None where no token is.
    against: whether the answer gains without the second. elsewhere: whether most attention is on one that cannot be
    left out.
    """
    said = title_of_all(attention, omission, agreement, against=against)
    return f"Of the tokens that can be left out, {said[0].lower()}{said[1:]}" if elsewhere and attention else said


def title_of_all(attention: str | None, omission: str | None, agreement: RankAgreement, *, against: bool) -> str:
    """The same where attention's largest share is among these tokens."""
    if omission is None:
        hardly = "leaving out any one token hardly changes this answer"
        return f"L{hardly[1:]}." if attention is None else f"Attention looks most at {attention}, but {hardly}."
    if attention == omission:
        alike = agrees(agreement) or too_few(agreement) or (agreement.is_known and is_well(agreement))
        also = "" if alike else ", but order the other tokens differently"
        it = ", which speaks against the answer" if against else ""
        return f"Attention and effect both put {attention} first{it}{also}."
    looks = "at all tokens alike" if attention is None else f"most at {attention}"
    depends = f"{omission} counts most, against the answer" if against else f"the answer depends most on {omission}"
    return f"Attention looks {looks}, but {depends}."


def row_names(tokens: Sequence[str], places: Sequence[int], longest: int) -> dict[int, str]:
    """What stands beside the rows of these tokens: "5 · good" where the text has it several times."""
    names = {at: visible(tokens[at], longest) for at in places}
    return {at: f"{counted(at)} · {name}" if list(tokens).count(tokens[at]) > 1 else name for at, name in names.items()}


def most_elsewhere(token: str) -> str:
    """That attention's largest share is on a token that cannot be left out, Markdown. token: as ``token_named``."""
    return f"The largest share of the attention, rolled out, is on {token}, which cannot be left out."


def times_of(tokens: Sequence[str], words: Sequence[int | None], at: int) -> int:
    """How often a word that says something by itself is among the tokens; once, what is none, or a piece of one.

    words: the word of each token; empty where nobody knows.
    """
    whole = [
        token.strip("␣ ").lower() if words and words.count(word) == 1 else ""
        for token, word in zip(tokens, words or [None] * len(tokens), strict=True)
    ]
    is_word = whole[at].isalnum() and FUNCTION_WORD.fullmatch(whole[at]) is None
    return whole.count(whole[at]) if is_word else 1


def said_again(token: str, times: int) -> str:
    """That a token is there several times, Markdown. token: as ``token_named``."""
    return f"{token} is there {times} times, and each was left out alone."


def nearly_sure_said(before: float) -> str:
    """Why no token's effect is large, Markdown."""
    return f"At {percent(before, 1)} the answer is nearly sure, and one token less hardly makes it less so."


def piece_said(token: str) -> str:
    """That a token is part of a word, Markdown. token: as ``token_named``."""
    return f"{token} is a piece of a word; each piece is left out by itself."


def rolled_out_otherwise(token: str, *, residual: bool) -> str:
    """Which token comes first if attention is rolled out in the other way, Markdown. residual: whether that has it."""
    way = "with the residual stream" if residual else "without the residual stream"
    return f"Rolled out {way} (below), attention puts {token} first."


def first_of(values: Float[np.ndarray, " token"], places: Sequence[int], least: float = 0.0) -> int | None:
    """The place with the largest size; None where all sizes are alike, or none is as large as ``least``."""
    sizes = {at: abs(float(values[at])) for at in places if np.isfinite(values[at])}
    most = max(sizes.values(), default=0.0)
    if most <= least or (len(sizes) > 1 and most - min(sizes.values()) <= ALIKE * most):
        return None
    return max(sizes, key=lambda at: sizes[at])


def too_few(agreement: RankAgreement) -> bool:
    """Whether so few tokens can be compared that no order would say anything."""
    return agreement.tokens < FEWEST


def agrees(agreement: RankAgreement) -> bool:
    """Whether two orders are alike, beyond chance."""
    return agreement.is_known and agreement.tau > 0 and agreement.probability < SURE


def without_it(kind: str, name: str, token: str, before: float, after: float) -> str:
    """ "Without “loved”, the verdict “positive” goes from 93.9 % to 18.1 %": Markdown. token: as ``token_named``."""
    return f"Without {token}, {answer_named(kind, name)} goes from {percent(before, 1)} to {percent(after, 1)}"


def is_well(agreement: RankAgreement) -> bool:
    """Whether τ, as it is read beside the word, is that of two orders that are much alike."""
    return round(agreement.tau, 2) >= WELL


def degree(agreement: RankAgreement) -> str:
    """How far an order is another: "well", "in part", "weakly", "in reverse", or not beyond chance."""
    if agreement.probability >= SURE:
        return f"no more than chance could bring over {agreement.tokens} tokens"
    if agreement.tau < 0:
        return "in reverse"
    return "well" if is_well(agreement) else "in part" if round(agreement.tau, 2) >= IN_PART else "weakly"


def numbers_said(agreement: RankAgreement) -> str:
    """ "Kendall's τ = 0.71, p = 0.002": plain text."""
    chance = agreement.probability
    said = "p < 0.001" if chance < 0.001 else f"p = {decimal(chance, '.2g')}"
    return f"Kendall's τ = {decimal(agreement.tau, '.2f')}, {said}"


def agreement_line(name: str, agreement: RankAgreement, *, signed: bool = False) -> str:
    """ "Attention, rolled out: well (Kendall's τ = 0.71, p = 0.002).": Markdown. signed: whether signs count."""
    heading = MEASURES[name][1] + (", signs and all" if signed else ", by size" if name in SIGNED else "")
    if too_few(agreement):
        said = "too few tokens to tell"
    else:
        known = agreement.is_known
        said = f"{degree(agreement)} ({numbers_said(agreement)})" if known else no_order(agreement)
    return f"{heading[0].upper()}{heading[1:]}: {markdown_text(said)}."


def no_order(agreement: RankAgreement) -> str:
    """Why the order by a measure cannot be compared with that by leaving out."""
    if agreement.equal[1]:
        return "leaving out any one of the tokens changes the answer by as much, so there is no order to compare with"
    return "by it all tokens count the same, so there is no order to compare"


def sentence(effect: str, agreement: RankAgreement, best: tuple[str, RankAgreement] | None) -> str:
    """How far attention is an account of the answer; Markdown.

    effect: of ``without_it``. best: the other measure that agrees best with leaving out, once all are known.
    """
    if too_few(agreement):
        return f"{effect}. The text has too few tokens to compare two orders: {agreement.tokens}."
    if not agreement.is_known:
        return f"{effect}. Attention cannot be compared with that: {no_order(agreement)}."
    parts = [
        f"{effect}. Of the {agreement.tokens} tokens that can be left out, the orders by attention and by the size of "
        f"the effect agree {degree(agreement)} ({numbers_said(agreement)})."
    ]
    if best is not None and agrees(best[1]):
        tau = decimal(best[1].tau, ".2f")
        parts.append(f"Of the other measures, {MEASURES[best[0]][1]} comes nearest to the effect (τ = {tau}).")
    elif best is not None and not agrees(agreement):
        parts.append(f"None of the other measures agrees beyond what chance could bring over {best[1].tokens} tokens.")
    return " ".join(parts)


def value_said(name: str, value: float) -> str:
    """ "12.3 %", "+0.42 of the logit", "75.8 points lost": plain text."""
    if not np.isfinite(value):
        return "not measured" if name == OMISSION else "not measured yet"
    if name == OMISSION:
        return lost_said(value)
    return f"{decimal(value, '+.3f')} of the logit" if name in SIGNED else percent(value, 1)


def lost_said(effect: float) -> str:
    """ "70.1 points lost", "7.1 points gained": plain text."""
    return f"{decimal(100 * abs(effect), '.1f')} points {'gained' if effect < 0 else 'lost'}"


def share_label(effect: float, attention: float) -> str:
    """ "70.1 points lost, 27.4 % of the attention": plain text."""
    return f"{lost_said(effect)}, {percent(attention, 1)} of the attention"


def row_said(token: str, values: Mapping[str, float]) -> str:
    """What a row of the picture says, plain text."""
    parts = [f"{MEASURES[name][1]}: {value_said(name, value)}" for name, value in values.items()]
    return f"{visible(token)}: {'; '.join(parts)}"


def rollout_said(token: str, shares: Float[np.ndarray, " layer"]) -> str:
    """How much of a token stands where the answer is read, after each layer, Markdown. token: as ``token_named``."""
    listed = ", ".join(percent(float(share), 1) for share in shares)
    after = "after layer 1" if len(shares) == 1 else f"after layers 1 to {len(shares)}"
    return f"{token}, whose row is marked in the picture above, {after}: {listed}."


def progress_said(measured: str, done: int, of: int) -> str:
    """How far a measure is, Markdown. of: 0 where the number of steps is not known before."""
    if measured == OMISSION:
        return f"Leaving one token out after the other: {done} of {of}."
    return f"Integrating the gradients: {done} steps so far."


def completeness(total: float, difference: float) -> str:
    """What the integrated gradients sum to, plain text."""
    return (
        f"The integrated gradients sum to {decimal(total, '+.4f')}; the logit of the text differs from that of zero "
        f"vectors by {decimal(difference, '+.4f')}. Exact integrals would give the same; these are sums over steps."
    )
