"""What the page on positions says in words."""

from collections.abc import Sequence
from contextlib import suppress

import numpy as np
from jaxtyping import Float

from model.measures.positions.swapped_order import SAME, TwoOrders
from model.trace import StackTrace
from viz.export.share_picture import Bar
from viz.text.head_findings import token_name
from viz.text.swapped_spans import swapped_spans
from viz.tokens import counted, decimal, markdown_text, percent, visible

Pair = Float[np.ndarray, "2"]

NOTHING_ADDED = (
    "This checkpoint adds no position vectors: equal tokens enter the first layer as equal vectors. “How to read "
    "this” says what it does instead, and “Schemes side by side” draws it."
)

SCHEMES = {
    "sinusoidal": "adds a fixed vector of sines and cosines, one for each position, to every token's vector",
    "sinusoidal-halves": (
        "adds a fixed vector for the position, all sines before all cosines, to every token's vector"
    ),
    "learned": "adds a vector that training found for the position to every token's vector",
    "counted": ("adds a vector that training found for the place among the non-padding tokens to every token's vector"),
    "rotary": (
        "adds nothing to the tokens' vectors: it rotates every query and key by an angle that grows with the "
        "position, so that their product depends on the distance between them"
    ),
    "relative": (
        "adds nothing to the tokens' vectors: it adds to every score a number that training found for the distance "
        "from query to key"
    ),
    "alibi": (
        "adds nothing to the tokens' vectors: it lowers every score by a slope times the distance from query to key"
    ),
    "none": "gets no information about positions; only a mask, where it has one, tells it which tokens came before",
}

ADDS = frozenset({"sinusoidal", "sinusoidal-halves", "learned", "counted"})  # a vector to every token's
OF_THE_PAPER = "The formula is that of the paper; this checkpoint does not use it."
BESIDE_FORMULA = {
    "sinusoidal": "This checkpoint adds the vectors of this formula; training does not change them.",
    "sinusoidal-halves": (
        "This checkpoint adds the vectors of this formula, all sines before all cosines; training does not change them."
    ),
    "learned": f"{OF_THE_PAPER} It adds vectors that training found: choose “this checkpoint” to draw them.",
    "counted": f"{OF_THE_PAPER} It adds vectors that training found: choose “this checkpoint” to draw them.",
    "rotary": f"{OF_THE_PAPER} It adds no vectors; it rotates queries and keys by angles that grow with the position.",
    "relative": f"{OF_THE_PAPER} It adds no vectors, but a number that training found to every score.",
    "alibi": f"{OF_THE_PAPER} It adds no vectors, but a number that falls with the distance to every score.",
    "none": f"{OF_THE_PAPER} It has no positions at all.",
}

BEYOND = {
    "sinusoidal": (
        "The formula gives a vector for any position, and the products still depend only on the distance. But the "
        "slow waves reach values that no shorter text has, and training never met these values."
    ),
    "learned": "The table ends: it has no vector for later positions, and longer texts are cut.",
    "rotary": (
        "Each further position rotates queries and keys by the same angle, at any length. The slow rotations reach "
        "angles between query and key that training never met, unless they are scaled down."
    ),
    "alibi": (
        "The bias keeps falling along the same line, at any length. ALiBi was designed for this: train short, test "
        "long."
    ),
    "relative": "All distances beyond the last bucket share its number.",
    "none": "This checkpoint has no positions, so its scheme sets no limit.",
}
FAMILY = {"sinusoidal-halves": "sinusoidal", "counted": "learned"}

SIDE_BY_SIDE = (
    "Each picture shows what a scheme adds to the score of a query and a key (before the softmax) where the content "
    "is the same at every position: blue raises the score, orange lowers it. Only the two positions make a "
    "difference."
)
TITLES = {
    "sinusoidal": "Sinusoidal",
    "learned": "Learned",
    "rotary": "Rotary",
    "alibi": "ALiBi",
    "relative": "Relative bias",
}
DOES = {
    "sinusoidal": (
        "A fixed vector is added to each token's vector. The picture shows the product of two such vectors, divided "
        "by √width. A real score also contains products of a position and a content."
    ),
    "learned": "The same, with vectors that training finds. Equal distances need not give equal products.",
    "rotary": (
        "Queries and keys are rotated by the angles of their positions. The picture shows how the rotation changes "
        "the score of a query and a key whose coordinates are all 1."
    ),
    "alibi": (
        "The bias is minus the distance, times the head's slope. It is not learned and does not depend on the content."
    ),
    "relative": (
        "Training finds one number for each head and bucket. Each short distance has its own bucket; longer "
        "distances share buckets, which grow wider."
    ),
}
ORIGIN = {
    "sinusoidal": "Vaswani et al. 2017, section 3.5",
    "learned": "Gehring et al. 2017",
    "rotary": "Su et al. 2021",
    "alibi": "Press et al. 2022",
    "relative": "Raffel et al. 2020 (T5)",
}


LONGEST_QUOTED = 21  # characters of a text that stands in a title twice
TWO_ORDERS_HELP = (
    "Two tokens are swapped, and the model reads both orders. Each token's vector after the last layer is compared "
    "with its vector in the other order; the difference is given as a share of its length. Without positions, the "
    "same model adds no position vectors and no biases, and rotates nothing. The swapped tokens are the first and "
    "the last word that occur once in the text; words of three letters or more that do not begin the text are "
    "preferred."
)


WITH, WITHOUT = "with positions", "without positions"
BARS = "The largest change of a token's last vector from one order to the other, as a share of its length."
HIDES = {
    "mask": ", because the mask shows each token only the tokens before it",
    "window": ", because a window hides from each token the tokens far before it",
    "": "",
}


def finding(two: TwoOrders, stack: StackTrace, text: str | None) -> tuple[str, str]:
    """What the order of two tokens matters to this model: a title, and a sentence with its numbers. Markdown.

    text: that the stack read; None where it is not at hand.
    """
    told, swapped = two.told_apart, _swapped(two, stack, text)
    if text is None or swapped is None:
        one, other = (_token(stack, place) for place in two.places)
        matter = f"swapping {one} and {other} {'matters' if told else 'changes nothing'} for this model"
    else:
        one, other = (f"“{markdown_text(each)}”" for each in (text.strip(), swapped))
        matter = f"this model {'tells' if told else 'cannot tell'} {one} from {other}"
    return f"{'Even without' if told else 'Without'} positions, {matter}.", _numbers(two, stack)


def _numbers(two: TwoOrders, stack: StackTrace) -> str:
    """How far the vectors are apart in both orders, and which token's vector is furthest."""
    one, other = (_token(stack, place) for place in two.places)
    if two.told_apart:
        share, token = _most(two.unplaced, stack)
        without = f"the tokens' last vectors still change by up to {share} of their length, most at {token}"
        without += HIDES[two.hides]
    else:
        least = percent(max(two.unplaced), 3).replace("<\u00a0", "less than ")
        near = f" (to {least} of its length)" if max(two.unplaced) > 0 else ""
        without = f"every token's last vector stays as it was{near}"
    placed = ""
    if two.placed is not None:
        share, token = _most(two.placed, stack)
        placed = f"; with positions, they change by up to {share}, most at {token}"
    return f"{one} and {other} change places. Without positions, {without}{placed}."


def _most(changes: Sequence[float], stack: StackTrace) -> tuple[str, str]:
    """The largest change, and its token: with its place where it stands in the text twice."""
    most = changes.index(max(changes))
    names = list(stack.names())
    place = f" (token {counted(most)})" if names.count(names[most]) > 1 else ""
    return percent(changes[most], 1), f"{_token(stack, most)}{place}"


def bars(two: TwoOrders) -> list[Bar]:
    """How far the vectors are apart in both orders, with positions and without."""
    largest = {name: max(changes) for name, changes in changes_of(two).items()}
    longest = max(*largest.values(), SAME)
    return [Bar(name=name, length=number / longest, label=percent(number, 1)) for name, number in largest.items()]


def changes_of(two: TwoOrders) -> dict[str, tuple[float, ...]]:
    """How far each token's last vector moves, with positions, if the model has any, and without."""
    return ({} if two.placed is None else {WITH: two.placed}) | {WITHOUT: two.unplaced}


def _token(stack: StackTrace, place: int) -> str:
    """A token in quotation marks, as Markdown."""
    return f"“{markdown_text(token_name(stack.names()[place]))}”"


def _swapped(two: TwoOrders, stack: StackTrace, text: str | None) -> str | None:
    """The text in the other order, where it is short, alone, and the tokens are known by their characters."""
    spans = [stack.spans[place] if stack.spans is not None else None for place in two.places]
    if text is None or len(text) > LONGEST_QUOTED or any(stack.segments or ()) or spans[0] is None or spans[1] is None:
        return None
    with suppress(ValueError):  # tokens of one character's bytes
        return swapped_spans(text, spans[0], spans[1]).strip()
    return None


def answer(scheme: str) -> str:
    """How a checkpoint of this scheme knows the order, in one sentence."""
    return f"This checkpoint {SCHEMES[scheme]}."


def twice(token: str, one: int, other: int, before: float, after: float) -> str:
    """What positions do to a token that a text holds twice: its two vectors' distance, before and after. Markdown."""
    return (
        f"“{markdown_text(visible(token))}” stands at positions {one} and {other}, counted from 0. Its two vectors are "
        f"{before:.4g} apart before the positions are added, and {after:.4g} apart afterwards."
    )


def beyond(scheme: str) -> str:
    """What happens to a text that is longer than those the model was trained on."""
    return BEYOND[FAMILY.get(scheme, scheme)]


def number_of(scheme: str, own: bool) -> str:
    """Where the numbers of a scheme come from."""
    if own:
        return "This checkpoint's own."
    return "As initialised, before any training." if scheme in ("learned", "relative") else "From its formula."


def same_products(spread: float, largest: float) -> str:
    """Whether distance alone decides the product of two positions."""
    if spread <= 1e-9 * max(largest, 1.0):
        most = decimal(spread, ".1e")
        return f"The product depends only on the distance: pairs at one distance differ by at most {most}, by rounding."
    return f"The product does not depend only on the distance: pairs at one distance differ by up to {spread:.3g}."


def waves(shortest: float, longest: float, width: int) -> str:
    """How far apart the waves of the formula are."""
    return (
        f"The first pair completes a turn in 2π ≈ {shortest:.2f} positions, the last pair of {width:,} dimensions in "
        f"{longest:,.0f}; the limit for wider models is 10000·2π ≈ 62,832. On a logarithmic axis, the wavelengths lie "
        "on a straight line."
    )


def shift_words(pair: int, position: int, shift: int, angle: float) -> str:
    """What a shift does to one pair."""
    return (
        f"Pair {pair} holds the sine in dimension {2 * pair} and the cosine in dimension {2 * pair + 1}. From position "
        f"{position} to {position + shift} the pair rotates by {angle:.4g}°. It rotates by the same angle between any "
        f"two positions that are {shift} apart:"
    )


def shift_latex(matrix: Float[np.ndarray, "2 2"], before: Pair, rotated: Pair) -> tuple[str, str]:
    """The matrix, and its product with a pair, for KaTeX: two lines, so that a phone has room."""
    rows = r" \\ ".join(f"{one:.6f} & {other:.6f}" for one, other in matrix)
    columns = (r" \\ ".join(f"{value:.6f}" for value in pair) for pair in (before, rotated))
    start, end = (rf"\begin{{bmatrix}} {column} \end{{bmatrix}}" for column in columns)
    return rf"M = \begin{{bmatrix}} {rows} \end{{bmatrix}}", f"M {start} = {end}"


def shift_exactly(matrix: Float[np.ndarray, "2 2"], before: Pair, rotated: Pair, after: Pair) -> str:
    """The same numbers in full, as Python."""
    named = {"M": matrix, "before": before, "rotated": rotated, "in_the_table": after}
    return "\n".join(f"{name} = {values.tolist()!r}" for name, values in named.items())


def shift_check(position: int, after: Pair, difference: float, largest: float, positions: int) -> str:
    """What the table holds at the later position, and how well all rotations meet it."""
    sine, cosine = (decimal(value, ".6f") for value in after)
    return (
        f"At position {position} the table holds {sine} and {cosine}: a difference of {decimal(difference, '.1e')}. "
        f"For every pair at the first {positions:,} positions, the difference is at most {decimal(largest, '.1e')}."
    )


def new_numbers(share: float, position: int, longest: int) -> str:
    """What the last position drawn has that training never met."""
    return (
        f"At position {position:,}, {percent(share)} of the numbers lie outside the range of the first {longest:,} "
        "positions. They belong to waves that are too slow to complete a turn within these positions."
    )
