"""Which words of a sentence are not in another, in their order; and a word with one letter more or less."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

WORD = re.compile(r"\w+(?:[-'’]\w+)*['’]?")
SHORTEST = 3  # letters of a word that gets an "s" or loses one: "it" and "is" are other words with it or without
# Words in which an "s" is no ending, or makes another word.
NO_ENDING = re.compile(
    "this|his|was|has|does|yes|its|thus|hers?|yours?|ours?|theirs?|she|the|they|you|him|them|who|what|that|lets?|all|"
    "and|but|not|ones?"
)


# Words beside one that gets or loses an "s" which would no longer agree with it.
BEFORE = re.compile("an?|one|this|that|each|every|another|these|those|two|three|many|several|few")
AFTER = re.compile("is|are|was|were|has|have|does|do|(is|are|was|were|has|have|does|do)n['’]t")


@dataclass(frozen=True, kw_only=True)
class ChangedWords:
    """The words of two sentences, and for each of them whether the other sentence lacks it.

    count: how many words of the longer one are not in the longest common subsequence of both.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    gone: tuple[bool, ...]
    new: tuple[bool, ...]
    count: int


def changed_words(first: str, second: str) -> ChangedWords:
    """Words alone are compared, without punctuation, whatever their case."""
    words = [tuple(WORD.findall(text)) for text in (first, second)]
    kept = longest_common(*([word.lower() for word in each] for each in words))
    gone, new = (
        tuple(place not in places for place in range(len(each)))
        for each, places in zip(words, ({pair[side] for pair in kept} for side in range(2)), strict=True)
    )
    count = max(map(len, words)) - len(kept)
    return ChangedWords(first=words[0], second=words[1], gone=gone, new=new, count=count)


def longest_common(first: Sequence[str], second: Sequence[str]) -> list[tuple[int, int]]:
    """The places in both of a longest common subsequence (Wagner and Fischer 1974)."""
    lengths = np.zeros((len(first) + 1, len(second) + 1), dtype=int)  # of what both have from these places on
    for one in reversed(range(len(first))):
        for other in reversed(range(len(second))):
            beside = max(lengths[one + 1, other], lengths[one, other + 1])
            lengths[one, other] = lengths[one + 1, other + 1] + 1 if first[one] == second[other] else beside
    one, other, pairs = 0, 0, list[tuple[int, int]]()
    while one < len(first) and other < len(second):
        if first[one] == second[other]:
            pairs.append((one, other))
            one, other = one + 1, other + 1
        elif lengths[one + 1, other] >= lengths[one, other + 1]:
            one += 1
        else:
            other += 1
    return pairs


def counts_to_guess(words: int) -> list[range]:
    """Numbers of changed words to guess among, of a sentence of so many: 0, 1, 2, up to half, more.

    The last has no end that could be reached: a change may make a sentence longer.
    """
    ends = sorted({0, 1, 2, words // 2})
    starts = [0, *(end + 1 for end in ends)]
    return [range(start, end + 1) for start, end in zip(starts, [*ends, 10**6], strict=True)]


class OtherNumber(NamedTuple):
    """A text in which one word has an "s" more or less."""

    text: str
    before: str
    after: str

    @property
    def added(self) -> bool:
        """Whether the "s" is new."""
        return len(self.after) > len(self.before)


def other_number(text: str, is_known: Callable[[str], bool]) -> OtherNumber | None:
    """The text with an "s" added to one word or taken from it; None where none is known both ways.

    It is the last such word beside which none has to agree with it, else the last. is_known: whether a word is one that
    a model knows as a whole. Whether the sentence is still right is for the reader to judge: verbs are not told apart.
    """
    last: OtherNumber | None = None
    matches = list(WORD.finditer(text))
    words = ["", *(match[0].lower() for match in matches), ""]
    for place, match in reversed(list(enumerate(matches, start=1))):
        word = match[0]
        after = word[:-1] if word.endswith("s") else f"{word}s"
        if is_inflected(word) and is_known(word) and is_known(after):
            other = OtherNumber(text[: match.start()] + after + text[match.end() :], word, after)
            if not BEFORE.fullmatch(words[place - 1]) and not AFTER.fullmatch(words[place + 1]):
                return other
            last = last or other
    return last


def lost_words(first: str, second: str) -> tuple[tuple[bool, ...], tuple[bool, ...]]:
    """For each word of a sentence whether the other lacks it, and the same of the other's; the order does not matter.

    A word that comes twice in one and once in the other is lacking once: the last time.
    """
    words = [[word.lower() for word in WORD.findall(text)] for text in (first, second)]
    one, other = (lacking_words(own, others) for own, others in (words, words[::-1]))
    return one, other


def lacking_words(words: Sequence[str], others: Sequence[str]) -> tuple[bool, ...]:
    """For each word whether it comes more often, up to it, than among the others."""
    return tuple(words[: place + 1].count(word) > others.count(word) for place, word in enumerate(words))


def is_inflected(word: str) -> bool:
    """Whether an "s" at its end can be an ending."""
    plain = word.isascii() and word.isalpha() and len(word) >= SHORTEST
    return plain and not NO_ENDING.fullmatch(word.lower()) and not word.endswith("ss")


def others_changed(changed: ChangedWords, beginning: str) -> int:
    """``changed.count`` without the last word of a beginning of the second sentence, if that one is new."""
    place = len(WORD.findall(beginning)) - 1
    return changed.count - (0 <= place < len(changed.new) and changed.new[place])
