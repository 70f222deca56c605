"""The words of the questions whether a model notices that words change places."""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from model.measures.learn.order.two_verdicts import TwoVerdicts
from model.measures.positions.swapped_order import places_to_swap
from model.trace import StackTrace
from viz.sentences.sentence_rows import Row, RowGroup
from viz.text.learn.model_answers import LABELS, OTHER_WRONG, answer_name
from viz.text.swapped_halves import swapped_halves, word_span
from viz.text.swapped_spans import swapped_spans
from viz.tokens import decimal, markdown_text, percent, visible

NAME = "Does it notice if words change places?"
LONGEST, LONGEST_NAME = 90, 44  # characters of a text in a sentence, and over a bar
MOST_TOKENS = 64  # whose words can be swapped with their neighbours
LEAST_POINTS = 0.1
HAIR = 0.02  # a difference of two probabilities that is no notice, whatever answer wins
NO_ORDER = "This text has no two different words that could change places."
ORDER_QUESTION = "What does the model say when the same words stand in another order?"
ORDER_SETTING = "It calls this text {answer}, {first}. In the other order: “{other}”"
ORDER_OPTIONS = (
    "Another answer wins",
    "Falls by over 10, still wins",
    "Falls by 2 to 10 points",
    "Stays within 2 points",
    "Rises by more than 2 points",
)
ORDER_ANSWERS = (
    "It notices: {answer} falls from {first} to {second}, and another answer wins.",
    "It notices: {answer} falls from {first} to {second}.",
    "It notices a little: {answer} falls from {first} to {second}.",
    "It hardly notices: {answer} goes from {first} to {second}.",
    "It notices: {answer} rises from {first} to {second}.",
)
ORDER_BY_A_HAIR = (
    "It hardly notices: {answer} falls from {first} to {second}. Another answer wins, for the two are nearly even."
)
ORDER_SENTENCE = "Both texts hold the same words. The order alone makes a difference of {apart}."
NEIGHBOURS = "Swap two neighbours instead"
NO_NEIGHBOURS = "None"
BARE_QUESTION = "Without positions, how far apart are the verdicts on the two orders?"
BARE_SETTING = (
    "Here the model is not told the **position** of any word. Where it is told, the verdicts are {first} and {second}."
)
NO_POSITIONS = "This model has no positions that could be left out."
BARE_OPTIONS = ("More than 10 points", "1 to 10 points", "Below 1 point, not equal", "They are equal")
BARE_ANSWERS = (
    "Far apart: {answer} {bare_first} and {bare_second}.",
    "A few points: {answer} {bare_first} and {bare_second}.",
    "Less than a point: {answer} {bare_first} and {bare_second}.",
    "They are equal: {answer} {bare_first} in both orders.",
)
BARE_EQUAL = (
    "With positions they are {apart} apart. Attention adds up the values of all words, and a sum does not depend on "
    "the order of its terms."
)
BARE_OTHER_TOKENS = (
    "Without positions the order is lost, but the two texts are not cut into the same tokens, and that makes the "
    "difference."
)
BARE_MASK = "Each word of this model sees only some of the others, so that its mask tells the order without positions."
SHIFT = "Move all positions on by"
SHIFTED_TO = "The words now stand at positions {first} to {last}."
BEYOND = " The longest text that this model reads ends at position {limit}, so it was not trained with these."
SHIFTED_BARS = ("This order, {by} positions later", "The other order, {by} positions later")
FRENCH_QUESTION = "The encoder reads the words without positions. How many of the {all} French words get lost?"
FRENCH_SETTING = (
    "This question goes to {model}, because it writes. It translates “{first}” as “{plain_first}” Now its encoder "
    "reads the same words, and is not told which one stands where."
)
FRENCH_OPTIONS = ("None", "1 word", "2 words", "3 or more")
FRENCH_ANSWERS = (
    "None of the {all} is lost: “{bare_first}”",
    "1 of {all} is lost: “{bare_first}”",
    "{count} of {all} are lost: “{bare_first}”",
)
FRENCH_SAME = "The other order, “{second}”, gets the same sentence: the decoder looks at the same vectors for both."
FRENCH_TWO = "The other order, “{second}”, gets “{bare_second}”"
FRENCH_LOST = " Without positions, the model does not know the order of the words, so it guesses."
FRENCH_LONG = (
    "This text has {count} tokens; the question takes texts of up to {most}, because it is translated four times."
)
NO_FRENCH = "The model writes no word for this text."
FRENCH_SHIFT = "With positions again: move those of the source words on by"
FRENCH_GROUPS = ("With positions", "Without positions", "All source positions {by} later")
PAPER = (
    "Section 3.5, “Positional Encoding”: “Since our model contains no recurrence and no convolution, in order for the "
    "model to make use of the order of the sequence, we must inject some information about the relative or absolute "
    "position of the tokens in the sequence.” The authors chose sinusoids because PE(pos + k) is a linear function of "
    "PE(pos), which is a rotation of each pair of a sine and a cosine, and because they may allow texts longer than "
    "those of training."
)
BARS = ("This order", "The other order")
BARE_BARS = ("This order, without positions", "The other order, without positions")
BARS_ALT = "A bar for each pass of the model: the probability of its answer."
WAVES_ALT = "Four coordinates of the position vectors, over the positions of this text."
WAVES = "What is added to each word: four of the {width} coordinates of its position vector."
NO_WAVES = "This model adds no vectors for positions. It rotates queries and keys, or adds a bias to the scores."
HANDS_ALT = "Clocks, one for each pair of a sine and a cosine, with the hands of the first words before and after."
HANDS_NAMES = ("as they were", "{by} later")
HANDS = (
    "Each pair of a sine and a cosine is the hand of a clock, drawn for the first {count} positions. The shift rotates "
    "all hands of a clock by the same angle."
)
ORDER_DOOR = "Positions: how far every word’s vector moves"
ORDER_DOOR_EXPLAINED = "Swaps two words, with positions and without, and shows the sinusoids and their rotations."
BREAK_DOOR = "Break the formula: no positions"
BREAK_DOOR_EXPLAINED = "Shows the attention of every head with positions and without."
FRENCH_DOOR = "Translate: this sentence, word by word"
FRENCH_DOOR_EXPLAINED = "Shows which source words the model looks at for each word of its translation."


def other_order(text: str, stack: StackTrace, has_same_tokens: Callable[[str], bool]) -> str | None:
    """The text with its halves, or else two of its words, exchanged; None where it has neither.

    One whose tokens are the same comes before one that is cut into others.
    """
    orders = [order for order in (swapped_halves(text), two_words_swapped(text, stack)) if order not in (None, text)]
    return next((order for order in orders if order and has_same_tokens(order)), orders[0] if orders else None)


def two_words_swapped(text: str, stack: StackTrace) -> str | None:
    """The text with the first and the last of its words that can change places exchanged."""
    places = places_to_swap(stack)
    if places is None or stack.spans is None:
        return None
    spans = [word_span(stack.spans, stack.words, place) for place in places]
    if None in spans or spans[0] == spans[1]:
        return None
    return swapped_spans(text, *spans)  # type: ignore[arg-type]


def neighbours_swapped(text: str, stack: StackTrace) -> dict[str, str]:
    """The text with two neighbouring words exchanged, for each two different ones, by "1 · The ⇄ film"; plain text."""
    if stack.spans is None:
        return {}
    spans, words = stack.spans[:MOST_TOKENS], (stack.words or (None,) * len(stack.spans))[:MOST_TOKENS]
    whole = {word_span(spans, words, place) for place in range(len(spans))}
    of_words = sorted(span for span in whole if span is not None and re.search(r"\w", text[slice(*span)]))
    swapped = {
        f"{place + 1} · {' ⇄ '.join(visible(text[slice(*span)].strip()) for span in two)}": swapped_spans(text, *two)
        for place, two in enumerate(pairwise(of_words))
    }
    return {name: order for name, order in swapped.items() if order != text}


def shortened(text: str, longest: int = LONGEST) -> str:
    """As much of a text as a sentence holds, escaped."""
    return markdown_text(cut(text, longest))


def cut(text: str, longest: int) -> str:
    """The same in plain text."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 2].rsplit(maxsplit=1)[0]} …"


def words(plain: TwoVerdicts, bare: TwoVerdicts, other: str, *, width: int) -> dict[str, str]:
    """Everything that the sentences of the first two rounds name."""
    shares = {"first": plain.first, "second": plain.second, "bare_first": bare.first, "bare_second": bare.second}
    texts = {
        "answer": answer_name(plain.answer),
        "other": shortened(other),
        "width": str(width),
        "apart": apart_name(plain),
    }
    return texts | {name: percent(share, 1) for name, share in shares.items()}


def order_answer(plain: TwoVerdicts, right: int) -> str:
    """The form of the answer. right: of which of ``ORDER_OPTIONS`` it is."""
    return ORDER_BY_A_HAIR if right == 0 and plain.apart < HAIR else ORDER_ANSWERS[right]


def apart_name(verdicts: TwoVerdicts) -> str:
    """ "76.0 points", "less than 0.1 points": the difference of the percentages that are shown."""
    if 100 * verdicts.apart < LEAST_POINTS:
        return f"less than {LEAST_POINTS} points"
    first, second = (round(100 * share, 1) for share in (verdicts.first, verdicts.second))
    return f"{decimal(max(LEAST_POINTS, abs(first - second)), '.1f')} points"


def other_wrong(verdicts: TwoVerdicts, other: str, labels: Sequence[str]) -> str:
    """That the model is wrong about the other order, where its label is known."""
    label, others = LABELS.get(other), [each for each in labels if each != verdicts.answer]
    wrong = label == verdicts.answer and not verdicts.same_answer and len(others) == 1
    return OTHER_WRONG.format(label=label) if wrong else ""


def bare_option(bare: TwoVerdicts) -> int:
    """The option that names how far apart the verdicts are; the furthest comes first."""
    return len(BARE_OPTIONS) - 1 - bare.distance


def bare_sentence(bare: TwoVerdicts, *, same_tokens: bool) -> str:
    """Why the verdicts without positions are equal, or are not."""
    return BARE_EQUAL if bare.distance == 0 else BARE_MASK if same_tokens else BARE_OTHER_TOKENS


def bar_name(name: str, text: str) -> str:
    """ "This order: The film was slow, but I loved it.", plain text."""
    return f"{name}: {visible(cut(text, LONGEST_NAME), LONGEST_NAME)}"


def shifted_sentence(shift: int, tokens: int, limit: int) -> str:
    """Where the words stand once their positions are shifted, counted from 0; limit: tokens of the longest text."""
    last = shift + tokens - 1
    sentence = SHIFTED_TO.format(first=f"{shift:,}", last=f"{last:,}")
    return sentence + (BEYOND.format(limit=f"{limit - 1:,}") if last >= limit else "")


def french_words(
    model: str, texts: Sequence[str], plain: Sequence[str], bare: Sequence[str], lost: Sequence[bool]
) -> dict[str, str]:
    """Everything that the sentences of the third round name. lost: for each word of the first translation."""
    by_name = {"": texts, "plain_": plain, "bare_": bare}
    orders = ("first", "second")
    names = {
        prefix + order: shortened(text)
        for prefix, two in by_name.items()
        for order, text in zip(orders, two, strict=True)
    }
    return names | {"model": markdown_text(model), "all": str(len(lost)), "count": str(sum(lost))}


def french_option(count: int) -> int:
    """The place in FRENCH_OPTIONS of so many lost words."""
    return min(count, len(FRENCH_OPTIONS) - 1)


def french_sentence(bare: Sequence[str], count: int) -> str:
    """What the other order becomes, and why words are lost."""
    return (FRENCH_SAME if bare[0] == bare[1] else FRENCH_TWO) + (FRENCH_LOST if count else "")


def french_groups(
    texts: Sequence[str],
    translations: Mapping[str, Sequence[str | None]],
    marked: Mapping[str, Sequence[bool]],
) -> list[RowGroup]:
    """The two orders under each heading, each over its translation; None is one that may not be seen yet.

    marked: by heading, the words of the first order's translation that are marked.
    """
    return [
        RowGroup(
            title=title,
            rows=[
                Row(label=text, text=french, marked=() if place else marked.get(title, ()))
                for place, (text, french) in enumerate(zip(texts, two, strict=True))
            ],
        )
        for title, two in translations.items()
    ]
