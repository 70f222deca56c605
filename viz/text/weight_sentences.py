"""What the page says in words and single numbers about the weights on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
from jaxtyping import Float

from viz.tokens import ROUNDING, counted, list_of, markdown_text, percent, visible

HELP = (
    "The weights are added up over all queries, by the place of the key: the query itself, its neighbours, the first "
    "token, the last token, or the token that receives most. The sentence names the largest of these sums, as a "
    "share of all weight. Tokens that the picture hides are not counted; tokens that it merges count as one."
)
LONGEST_OUTPUT, KEPT_BEFORE = 80, 20  # characters of a model's own text in a sentence; before two of them part
NO_WORDS = "no words, only special tokens"
NOTABLY = 0.25  # of all weight: below, a head "spreads" its attention


@dataclass(frozen=True)
class MostAttended:
    """What most weight goes to, and the share of all weight that goes there."""

    target: str
    share: float


def mean_of_heads(weights: Float[np.ndarray, "head query key"], heads: Sequence[int]) -> Float[np.ndarray, "query key"]:
    """The mean of some heads, in float32; one head comes back bit for bit. ValueError without a head to show."""
    if weights.ndim != 3 or not heads or not set(heads) <= set(range(len(weights))):
        raise ValueError(
            f"heads {list(heads)} of weights with shape {weights.shape}, wanted heads of (head, query, key)"
        )
    return weights[list(heads)].mean(axis=0, dtype=np.float64).astype(np.float32)


def where_it_looks(
    weights: Float[np.ndarray, "query key"], keys: Sequence[str], *, one_text: bool = True, unit: str = "token"
) -> MostAttended:
    """The relation between query and key that takes the most weight, summed over all queries.

    Candidates: the token itself and its neighbours (where queries and keys are one text), the first and the last
    token, and the one token that most is attended to. Where two take the same, the earlier in that order.

    The share is of all that the queries give, each 1 in all, to keys that are left out of ``weights`` too.

    keys: their names, "5 · slow". unit: what a key is called, a word where tokens were merged.
    """
    rows, columns = np.indices(weights.shape)
    column_sums = weights.sum(axis=0)
    favourite = int(column_sums.argmax())
    near = {
        f"the {unit} itself": weights[rows == columns].sum(),
        f"the previous {unit}": weights[rows - 1 == columns].sum(),
        f"the next {unit}": weights[rows + 1 == columns].sum(),
    }
    shares = (near if one_text else {}) | {
        f"the first {unit}": column_sums[0],
        f"the last {unit}": column_sums[-1],
        f"{unit} {keys[favourite]}": column_sums[favourite],
    }
    target = max(shares, key=lambda name: float(shares[name]))
    return MostAttended(target, float(shares[target]) / len(weights))


def sentence(
    weights: Float[np.ndarray, "query key"],
    keys: Sequence[str],
    *,
    layer: int,
    heads: Sequence[int],
    every: bool = False,
    one_text: bool = True,
    unit: str = "token",
) -> str:
    """ "Head 2 of layer 3 gives 71 % of its attention to the previous token."; of several heads, their mean.

    every: whether no other head is in the layer. keys, one_text and unit as for ``where_it_looks``.
    Markdown: what came from the tokens is escaped.
    """
    who, gives, spreads, its = (f"Head {list_of(heads)} of layer {counted(layer)}", "gives", "spreads", "its")
    if len(heads) > 1:
        who = f"On average, the {len(heads)} heads of layer {counted(layer)}{'' if every else ' that are on'}"
        gives, spreads, its = "give", "spread", "their"
    if len(keys) == 1:
        given = float(weights.mean())
        share, left = ("all", "there is") if given > 1 - ROUNDING else (f"{percent(given)} of", "that is shown")
        return f"{who} {gives} {share} {its} attention to the only {unit} {left}."
    look = where_it_looks(weights, keys, one_text=one_text, unit=unit)
    target, share = markdown_text(look.target), percent(look.share)
    if look.share >= NOTABLY:
        return f"{who} {gives} {share} of {its} attention to {target}."
    return f"{who} {spreads} {its} attention; the largest part, {share}, goes to {target}."


def kept_tokens(tokens: int, dropped: int) -> str:
    """What of the text the model did not read; nothing where it read everything."""
    return (
        f" Kept {tokens} of {tokens + dropped} tokens: the text is longer than the model can read." if dropped else ""
    )


def prediction(probabilities: Mapping[str, float]) -> tuple[str, float]:
    """The most probable label and its probability."""
    label = max(probabilities, key=lambda name: probabilities[name])
    return label, probabilities[label]


def change(before: Mapping[str, float], after: Mapping[str, float]) -> str:
    """ "positive 93.9 % → 18.1 %, now negative 81.9 %": the label that was most probable, and the one that now is.

    With two decimals where one would not tell the two apart.
    """
    label, probability = prediction(before)
    now, _ = prediction(after)
    turned = "" if now == label else f", now {visible(now)} {percent(after[now], 1)}"
    one_digit, two_digits = ([percent(share, digits) for share in (probability, after[label])] for digits in (1, 2))
    old, new = one_digit if len(set(one_digit)) > 1 else two_digits
    return f"{visible(label)} {old} → {new}{turned}"


def text_line(text: str) -> str:
    """A model's own text in one line; in brackets that there is none, where its tokens have no text."""
    return " ".join(text.split()) or f"({NO_WORDS})"


def quoted(text: str) -> str:
    """A model's own text as a sentence cites it; what there is in its place, where it is empty."""
    return f"“{text}”" if text else NO_WORDS


def shortened(text: str) -> str:
    """A text of which a sentence or a button's outcome has no room for more than the beginning."""
    if len(text) <= LONGEST_OUTPUT:
        return text
    return f"{text[:LONGEST_OUTPUT].rpartition(' ')[0] or text[:LONGEST_OUTPUT]} …"


def where_they_differ(old: str, new: str) -> tuple[str, str]:
    """Two texts; where one is too long for a line, both from a few words before they part."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False))
    parting = sum(1 for _ in same)
    start = old.rfind(" ", 0, max(0, parting - KEPT_BEFORE)) + 1
    if max(len(old), len(new)) <= LONGEST_OUTPUT or not start:
        return shortened(old), shortened(new)
    return f"… {shortened(old[start:])}", f"… {shortened(new[start:])}"


def outcome(probabilities: Mapping[str, float]) -> str:
    """ "positive 93.4 %"."""
    label, probability = prediction(probabilities)
    return f"{visible(label)} {percent(probability, 1)}"
