"""The words of the question whether a model notices that words change places."""

from collections.abc import Mapping, Sequence

from model.measures.learn.two_verdicts import TwoVerdicts
from model.measures.positions.swapped_order import places_to_swap
from model.trace import StackTrace
from viz.text.learn.answers import answer_name
from viz.text.swapped_halves import swapped_halves, word_span
from viz.text.swapped_spans import swapped_spans
from viz.tokens import markdown_text, percent

NAME = "Does it notice if two words change places?"
LONGEST = 90  # characters of a text in a sentence or a picture
NO_ORDER = "This text has no two different words that could change places."
ORDER_QUESTION = "What does the model say when the same words stand in another order?"
ORDER_SETTING = "It calls this text {answer}, {first}. In the other order: “{other}”"
ORDER_OPTIONS = (
    "The opposite wins",
    "Falls by more than 10 points",
    "Falls by 2 to 10 points",
    "Stays within 2 points",
    "Rises by more than 2 points",
)
ORDER_ANSWERS = (
    "It notices: {answer} falls from {first} to {second}, and loses.",
    "It notices: {answer} falls from {first} to {second}.",
    "It notices a little: {answer} falls from {first} to {second}.",
    "It hardly notices: {answer} goes from {first} to {second}.",
    "It notices: {answer} rises from {first} to {second}.",
)
ORDER_SENTENCE = "Both texts have the same words; only the positions differ, and the model reads them too."
BARE_QUESTION = "Without positions, how far apart are the verdicts on the two orders?"
BARE_SETTING = (
    "A **position vector** is added to every word. Here it is left out, everywhere. With it, the verdicts are {first} "
    "and {second}."
)
BARE_OPTIONS = ("More than 10 points", "1 to 10 points", "Less than 1 point", "They are equal")
BARE_ANSWERS = (
    "Far apart: {answer} {bare_first} and {bare_second}.",
    "A few points: {answer} {bare_first} and {bare_second}.",
    "Less than a point: {answer} {bare_first} and {bare_second}.",
    "They are equal: {answer} {bare_first} in both orders.",
)
BARE_EQUAL = (
    "Attention compares words, not places: its sums have no order. Without positions, the text is a bag of words."
)
BARE_APART = (
    "Attention alone has no order, but the two texts are not cut into the same tokens, or the model has a mask that "
    "tells places apart."
)
FRENCH_QUESTION = "Without positions, are the two French sentences the same?"
FRENCH_SETTING = (
    "This goes to {model}, because it translates. “{first}” and “{second}” have the same words; the encoder reads them "
    "without positions."
)
FRENCH_OPTIONS = ("No, two different sentences", "Yes, the same French for both")
FRENCH_SAME = "The same French for both: “{bare_first}”"
FRENCH_DIFFERENT = "Two different sentences: “{bare_first}” and “{bare_second}”"
FRENCH_SENTENCE = "With positions they are “{plain_first}” and “{plain_second}”"
FRENCH_ALIKE = "Even with positions, both orders of this text have the same translation: “{plain_first}”"
FRENCH_LONG = (
    "This text has {count} tokens; the question takes texts of up to {most}, because it is translated four times."
)
PAPER = (
    "Section 3.5, “Positional Encoding”: “Since our model contains no recurrence and no convolution, in order for the "
    "model to make use of the order of the sequence, we must inject some information about the relative or absolute "
    "position of the tokens in the sequence.” The sinusoids are chosen because the vector of a shifted position is a "
    "rotation of the vector of the position; the page Positions shows that."
)
BARS = ("This order", "The other order")
BARE_BARS = ("This order, without positions", "The other order, without positions")
SHIFTED_BAR = "This order, all positions {by} later"
BARS_ALT = "A bar for each pass of the model: the probability of its answer."
WAVES_ALT = "Four coordinates of the position vectors, over the positions of this text."
WAVES = "What is added to each word: four of the {width} coordinates of its position vector."
NO_WAVES = "This model adds no vectors for positions; it turns queries and keys, or adds a bias to the scores."
SHIFT = "Count the positions from"
SHIFT_HELP = (
    "The first word gets this position in place of 0. Sinusoids have a vector for every position; in training, few "
    "were far from 0."
)
COLUMNS = ("", "with positions", "without positions")
UNSEEN = "?"
ORDER_DOOR = "Positions: how far every word’s vector moves"
ORDER_DOOR_EXPLAINED = "Swaps two words, with positions and without, and shows the sinusoids and their rotations."
BREAK_DOOR = "Break the formula: no positions"
BREAK_DOOR_EXPLAINED = "Shows the attention of every head with positions and without."
FRENCH_DOOR = "Translate: this sentence, word by word"
FRENCH_DOOR_EXPLAINED = "Shows which source words the model looks at for each word of its translation."
OTHER_ORDER_BUTTON = "Read the other order"


def other_order(text: str, stack: StackTrace) -> str | None:
    """The text with its halves, or else two of its words, exchanged; None where it has neither."""
    return swapped_halves(text) or two_words_swapped(text, stack)


def two_words_swapped(text: str, stack: StackTrace) -> str | None:
    """The text with the first and the last of its words that can change places exchanged."""
    places = places_to_swap(stack)
    if places is None or stack.spans is None:
        return None
    spans = [word_span(stack.spans, stack.words, place) for place in places]
    if None in spans or spans[0] == spans[1]:
        return None
    swapped = swapped_spans(text, *spans)  # type: ignore[arg-type]
    return swapped if swapped != text else None


def shortened(text: str) -> str:
    """As much of a text as a sentence holds, escaped."""
    line = " ".join(text.split())
    return markdown_text(line if len(line) <= LONGEST else f"{line[:LONGEST].rsplit(maxsplit=1)[0]} …")


def words(plain: TwoVerdicts, bare: TwoVerdicts | None, other: str, *, width: int) -> dict[str, str]:
    """Everything that the sentences name."""
    shares = {"first": plain.first, "second": plain.second}
    if bare is not None:
        shares |= {"bare_first": bare.first, "bare_second": bare.second}
    texts = {"answer": answer_name(plain.answer), "other": shortened(other), "width": str(width)}
    return texts | {name: percent(share, 1) for name, share in shares.items()}


def table(texts: Sequence[str], plain: Sequence[str], bare: Sequence[str] | None) -> Mapping[str, list[str]]:
    """The four translations, two rows; those without positions are "?" until they may be seen. Plain text."""
    unseen = [UNSEEN] * len(texts)
    return dict(zip(COLUMNS, (list(texts), list(plain), unseen if bare is None else list(bare)), strict=True))
