"""Which words of a sentence are not in another, in their order."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

WORD = re.compile(r"\w+(?:[-'’]\w+)*['’]?")
LAST_WORD = re.compile(r"(\w+)(\W*)$")


@dataclass(frozen=True, kw_only=True)
class ChangedWords:
    """The words of two sentences, and for each of the second's whether it is new.

    count: how many words of the longer one are not in the other, in order (by the longest matching runs).
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    new: tuple[bool, ...]
    count: int


def changed_words(first: str, second: str) -> ChangedWords:
    """Words alone are compared, without punctuation, whatever their case."""
    words = [tuple(WORD.findall(text)) for text in (first, second)]
    lower = [[word.lower() for word in each] for each in words]
    blocks = SequenceMatcher(None, lower[0], lower[1], autojunk=False).get_matching_blocks()
    kept = {block.b + place for block in blocks for place in range(block.size)}
    count = max(map(len, words)) - len(kept)
    return ChangedWords(
        first=words[0], second=words[1], new=tuple(place not in kept for place in range(len(words[1]))), count=count
    )


def other_number(text: str) -> str | None:
    """The text with an "s" added to its last word, or taken off where it ends in one; None where it ends in no word.

    It is only a change of one letter: whether English has that word is for the reader to judge.
    """
    last = LAST_WORD.search(text)
    if last is None or not last[1].isalpha() or not last[1].isascii() or len(last[1]) < 2:
        return None
    word = last[1][:-1] if last[1].endswith("s") and not last[1].endswith("ss") else f"{last[1]}s"
    return text[: last.start()] + word + last[2]
