"""A second text that is worth comparing with the first, where nobody has typed one."""

import re

from viz.text.swapped_halves import FUNCTION_WORD, swapped_halves
from viz.text.swapped_spans import swapped_spans

# One word for another, in sentences of the app's own lists: the smallest change that changes what is said.
SUBSTITUTES = {
    "tired": "wide",
    "large": "small",
    "red": "green",
    "girl": "boy",
    "France": "Italy",
    "sons": "daughters",
    "forest": "city",
    "cup": "bag",
    "wolf": "mother",
}
WORD = re.compile(r"(?<![\[<])\b\w+\b(?![\]>])")  # no mask


def second_text(text: str) -> str:
    """The text with one word changed, its halves swapped, or two of its words exchanged; a single word twice."""
    for word, other in SUBSTITUTES.items():
        if re.search(rf"\b{word}\b", text):
            return re.sub(rf"\b{word}\b", other, text)
    if swapped := swapped_halves(text):
        return swapped
    words = sorted(WORD.finditer(text), key=lambda match: (is_function_word(match[0]), -len(match[0]), match.start()))
    different = [match for match in words if match[0].lower() != words[0][0].lower()]
    if not different:
        return f"{text} {text}"
    return swapped_spans(text, words[0].span(), different[0].span())


def is_function_word(word: str) -> bool:
    """Whether it is one of those that say little by themselves."""
    return FUNCTION_WORD.fullmatch(word.lower()) is not None
