"""A sentence with its halves in the other order, and where the word of a token stands in a text."""

import re
from collections.abc import Iterator, Sequence

BUT = re.compile(r",?\s+but\s+", re.IGNORECASE)
QUOTATION_MARK = re.compile('["“”„«»]')
COMMA = re.compile(r"\s*[,;]\s+(?:(?:and|or|so|yet|while|although)\s+)?", re.IGNORECASE)
SENTENCE = re.compile(r"\S.*?(?:[.!?…]+(?=\s|$)|$)", re.DOTALL)
END = re.compile(r"[\s.!?…]*$")
# Words that are written with a capital at the beginning of a sentence alone.
FUNCTION_WORD = re.compile(
    "a|an|the|this|that|these|those|it|he|she|we|they|you|there|here|my|your|his|her|our|their|its|in|on|at|to|for|"
    "from|with|without|by|of|about|over|under|after|before|during|through|until|since|because|despite|when|while|"
    "where|if|as|although|though|unless|both|either|neither|each|every|any|another|such|all|some|most|many|much|more|"
    "few|several|no|not|none|nobody|nothing|everybody|everyone|everything|somebody|someone|something|anyone|anything|"
    "one|two|three|what|who|which|how|why|is|are|was|were|do|does|did|has|have|had|can|could|would|should|so|too|"
    "very|only|even|just|still|yet|also|perhaps|maybe|sometimes|often|never|always|now|then"
)
# Those of opinions, unless a capital follows, as in a title: "Great Expectations".
OPINION = re.compile(
    "good|great|nice|fine|bad|poor|best|worst|beautiful|lovely|wonderful|brilliant|terrible|awful|boring|dull|slow|"
    "long|short|funny|sad|well|badly"
)
VERB = r"(?:is|are|was|were|has|had|have|does|do|did|can|could|will|would|may|might|should|must)"
NAMED = re.compile(rf"\b(?:the|this|that|my|your|his|her|our|their)(?: \w+){{1,3}}?(?= {VERB}\b|$)", re.IGNORECASE)
IT = re.compile(r"\bit\b", re.IGNORECASE)


def swapped_halves(text: str) -> str | None:
    """The text with the halves of one sentence exchanged, at "but" or else at a comma; None where there is neither.

    A noun that an "it" of the other half stands for keeps its place before it: "The film was slow, but I loved it."
    becomes "I loved the film, but it was slow."
    """
    sentences = [(match.start(), match.end()) for match in SENTENCE.finditer(text)]
    for start, end in sentences:
        broken = ends_quoted(text[:start]) or ends_quoted(text[:end])  # a quotation goes on beyond it
        swapped = None if broken else swapped_sentence(text[start:end], text)
        if swapped is not None:
            return text[:start] + swapped + text[end:]
    return None


def swapped_sentence(sentence: str, text: str) -> str | None:
    """The same for one sentence of a text, which shows how its words are written elsewhere."""
    last = END.search(sentence)
    assert last is not None
    body, end = sentence[: last.start()], last[0]
    place = next(unquoted(BUT, body), None) or most_central(unquoted(COMMA, body), body)
    if place is None:
        return None
    first, second = body[: place.start()].strip(), body[place.end() :].strip()
    if not re.search(r"\w", first) or not re.search(r"\w", second):
        return None
    second, first = name_first(second, beginning_lowered(first, text))
    return second[0].upper() + second[1:] + place[0] + first + end


def ends_quoted(text: str) -> bool:
    """Whether a quotation is open at the end."""
    return len(QUOTATION_MARK.findall(text)) % 2 == 1


def unquoted(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """The matches outside of quotations, which would be torn apart."""
    return (match for match in pattern.finditer(text) if not ends_quoted(text[: match.start()]))


def most_central(matches: Iterator[re.Match[str]], text: str) -> re.Match[str] | None:
    """The match nearest to the middle; None where there is none."""
    return min(matches, key=lambda match: abs(match.start() + match.end() - len(text)), default=None)


def beginning_lowered(half: str, text: str) -> str:
    """Without the capital that the first word had for its place alone; what is all in capitals keeps them."""
    word = re.match(r"\w+", half)
    if word is None or not is_lowered(word[0], half, text):
        return half
    loud = half.isupper() if len(word[0]) == 1 else not word[0][1:].islower()
    return half if loud else half[0].lower() + half[1:]


def is_lowered(word: str, half: str, text: str) -> bool:
    """Whether the word that begins a half has a small letter elsewhere: it is no name, and not the pronoun "I"."""
    small = word.lower()
    if small == "i":
        return False
    if FUNCTION_WORD.fullmatch(small) or re.search(rf"(?<!\w){re.escape(small)}(?!\w)", text):
        return True
    return OPINION.fullmatch(small) is not None and not re.match(r"\W*[A-Z]", half[len(word) :])


def name_first(first: str, second: str) -> tuple[str, str]:
    """The halves in their new order; an "it" of the first and the noun of the second change places, if each is one."""
    pronouns, names = list(IT.finditer(first)), list(NAMED.finditer(second))
    if len(pronouns) != 1 or len(names) != 1 or IT.search(second) or NAMED.search(first):
        return first, second
    pronoun, name = pronouns[0], names[0]
    return (
        first[: pronoun.start()] + name[0] + first[pronoun.end() :],
        second[: name.start()] + "it" + second[name.end() :],
    )


def word_span(
    spans: Sequence[tuple[int, int] | None], words: Sequence[int | None] | None, place: int
) -> tuple[int, int] | None:
    """Where in the text the word of a token stands: of all its pieces; None for a token that was not typed."""
    if not 0 <= place < len(spans) or spans[place] is None:
        return None
    same = [
        span
        for other, span in enumerate(spans)
        if span is not None and (other == place or (words is not None and words[other] == words[place] is not None))
    ]
    return min(start for start, _ in same), max(end for _, end in same)
