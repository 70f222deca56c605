"""A second text that is worth comparing with the first, where nobody has typed one."""

import re
from typing import NamedTuple

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


class SecondText(NamedTuple):
    """Such a text. how: it is the first with …, plain text."""

    text: str
    how: str


def second_text(text: str) -> SecondText:
    """The text with one word changed, its halves swapped, or two of its words exchanged; a single word twice."""
    for word, other in SUBSTITUTES.items():
        if re.search(rf"\b{word}\b", text):
            return SecondText(re.sub(rf"\b{word}\b", other, text), f"with “{other}” in place of “{word}”")
    if swapped := swapped_halves(text):
        return SecondText(swapped, "with its halves swapped")
    words = sorted(WORD.finditer(text), key=lambda match: (is_function_word(match[0]), -len(match[0]), match.start()))
    different = [match for match in words if match[0].lower() != words[0][0].lower()]
    if not different:
        return SecondText(f"{text} {text}", "written twice")
    first, second = words[0], different[0]
    return SecondText(
        swapped_spans(text, first.span(), second.span()), f"with “{first[0]}” and “{second[0]}” exchanged"
    )


def is_function_word(word: str) -> bool:
    """Whether it is one of those that say little by themselves."""
    return FUNCTION_WORD.fullmatch(word.lower()) is not None
