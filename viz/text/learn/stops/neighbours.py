"""The words of the question what the neighbours do to a word."""

from collections.abc import Sequence

from model.measures.learn.word_senses import SortedSenses
from viz.tokens import decimal, markdown_text, visible

NAME = "What did the neighbours do to this word?"
QUESTION = "After which layer is every “{word}” for the first time nearest to a “{word}” of the same sense?"
SETTING = (
    "“{word}” means {first} in four sentences and {second} in four. Before layer 1, all eight have the same vector, "
    "but for their positions. {reads}"
)
CAUSAL = "This model reads from left to right, so only the words before “{word}” count."
BOTH_WAYS = "Words before and after “{word}” count."
ANSWER = "After layer {layer} of {layers}, for the first time, all {count} are nearest to one of their own sense."
ANSWER_NEVER = "After no layer: {last} of {count} at the end, {most} at most."
SENTENCE = (
    "Before layer 1, {start} of them are, and after the last layer {last}{between}; chance gives {chance}. Is it the "
    "sense that sorts them? Of all {all} ways to split the sentences into two fours, {good} so many right."
    "{alike}{yours}"
)
ONE_GOOD, MORE_GOOD = "only that by sense has", "{} have"
ALIKE = " On average, two of the vectors then have a cosine of {cosine}."
BETWEEN = ", with as few as {count} in between"
YOURS = " In the sentence above, “{word}” ends nearest to one that means {sense}."
NO_WORD = "None of the words {words} is in the sentence above, so it is not among these."
NEVER = "Never all of them"
ONE_LAYER, TWO_LAYERS, MORE_LAYERS = "Layer {first}", "Layer {first} or {last}", "Layers {first} to {last}"
CHOOSE = "Another word with two senses"
CHOSEN = "“{word}”: {counts} of {count} from the start to layer {layers}."
HOW_CHOSEN = (
    "In the picture, each number names the sentence with the nearest vector; a tick says that it has the same sense. "
    "We wrote the sentences. Write one with “{word}” into the bar above, and it is placed as the ninth."
)
OF_BANK = (
    " We chose these eight among twenty, because here all can come right; had we drawn four of each sense by lot, "
    "{mean} of the eight would be right at the end, on average."
)
MEAN_OF_BANK = 7.96  # of 8, at the last layer of stories: counted in tests/pages/learn/test_words_neighbours_units.py
TABLE_ALT = (
    "The sentences in two groups; for the start and after every layer the number of the sentence in which the word’s "
    "vector is nearest, with a tick where it is of the same sense."
)
DOOR, DOOR_EXPLAINED = "One word in two texts", "Shows how far the vectors of a word in two texts of yours come apart."
PAPER = (
    "Section 3.1: every layer reads the vectors that the layer before it wrote, and self-attention lets “each position "
    "attend to all positions in the previous layer” (section 3.2.3)."
)
MOST_OPTIONS = 5  # beside "never"


def layer_groups(layers: int) -> list[range]:
    """The layers, counted from 1, in at most five groups of the same size, but for the last."""
    size = -(-layers // MOST_OPTIONS)
    return [range(first, min(first + size, layers + 1)) for first in range(1, layers + 1, size)]


def group_name(group: range) -> str:
    """ "Layer 3", "Layer 3 or 4", "Layers 4 to 6"."""
    form = (ONE_LAYER, TWO_LAYERS, MORE_LAYERS)[min(len(group), 3) - 1]
    return form.format(first=group[0], last=group[-1])


def answer(senses: SortedSenses, layer: int | None) -> str:
    """After which layer all are sorted, or how many are at most."""
    counts = senses.counts
    if layer is None:
        return ANSWER_NEVER.format(last=counts[-1], count=len(senses.nearest), most=max(counts[1:]))
    return ANSWER.format(layer=layer, layers=len(counts) - 1, count=len(senses.nearest))


def sentence(senses: SortedSenses, chance: float, good: tuple[int, int], yours: str) -> str:
    """The counts behind the answer; and how alike the vectors are at the end, where not all are right there."""
    counts, cosine = senses.counts, float(senses.mean_cosines[-1])
    return SENTENCE.format(
        start=counts[0],
        last=counts[-1],
        between=between(senses.counts, len(senses.nearest)),
        chance=decimal(chance, ".1f"),
        good=ONE_GOOD if good[0] == 1 else MORE_GOOD.format(good[0]),
        all=good[1],
        alike="" if counts[-1] == len(senses.nearest) else ALIKE.format(cosine=decimal(cosine, ".2f")),
        yours=yours,
    )


def between(counts: Sequence[int], all_of_them: int) -> str:
    """ ", with as few as 7 in between": that fewer are sorted after some layer than after one before and at the end."""
    if all_of_them not in counts:
        return ""
    least = min(counts[list(counts).index(all_of_them) :])
    return BETWEEN.format(count=least) if least < counts[-1] else ""


def chosen(word: str, senses: SortedSenses) -> str:
    """ "“bank”: 2, 4, 5, 4, 7, 6, 8 of 8 from the start to layer 6."""
    counts = ", ".join(map(str, senses.counts))
    return CHOSEN.format(word=word, counts=counts, count=len(senses.nearest), layers=len(senses.counts) - 1)


def act(word: str, senses: SortedSenses, *, chosen_from_twenty: bool) -> str:
    """What became of the word that is shown. chosen_from_twenty: whether its sentences were, because they show it."""
    of_bank = OF_BANK.format(mean=decimal(MEAN_OF_BANK, ".2f")) if chosen_from_twenty else ""
    return f"{chosen(word, senses)} {HOW_CHOSEN.format(word=word)}{of_bank}"


def no_word(words: Sequence[str]) -> str:
    """That the text has none of the words."""
    return NO_WORD.format(words=markdown_text(", ".join(f"“{visible(word)}”" for word in words)))
