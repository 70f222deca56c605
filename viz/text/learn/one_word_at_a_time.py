"""The words of the questions how a translation is written: one word after the other, each from all before it."""

from collections.abc import Mapping, Sequence

from model.measures.learn.changed_words import ChangedWords
from viz.text.learn.word_order import shortened
from viz.tokens import markdown_text, percent, visible

NAME = "One word at a time"
LETTER_QUESTION = "One letter of the English changes. How many French words change?"
LETTER_SETTING = "“{text}” becomes “{french}” Now the model translates “{other}”"
LETTER_OPTIONS = ("None", "One", "Two", "Three or more")
LETTER_ANSWERS = (
    "No word changes: “{other_french}”",
    "One word changes: “{other_french}”",
    "Two words change: “{other_french}”",
    "{count} of {all} words change: “{other_french}”",
)
LETTER_SENTENCE = (
    "The decoder writes one word after another, and each depends on the whole English text and on the French so far."
)
NO_LETTER = "This text does not end in a word that could get an “s” or lose one."
TOO_LONG = "This text has {count} tokens; this question takes texts of up to {most}, because it is translated twice."
LOOK_QUESTION = "The decoder has written {so_far}. Which English word does it look at to write the next?"
LOOK_SETTING = (
    "It reads its own last word, looks at all English words by **cross-attention**, and chooses the next word."
)
NOTHING_YET = "nothing yet"
LOOK_ANSWER = "To write {word}, it looks at {source}: {share} of its attention."
LOOK_SENTENCE = (
    "{word} is the likeliest token ({probability}), {second} the second ({second_probability}). The decoder appends "
    "{word} and starts again: {steps} rounds for this sentence."
)
EVEN = "To write {word}, the heads spread their attention: {source} gets most, but that is {share}."
PAPER = (
    "Section 3: “At each step the model is auto-regressive, consuming the previously generated symbols as additional "
    "input when generating the next.” Section 3.2.3 has the cross-attention: queries from the decoder, keys and values "
    "from the encoder."
)
OTHER_DOOR = "Translate: every word with its candidates"
OTHER_DOOR_EXPLAINED = "Shows this translation step by step, with beam search and sampling."
READ_OTHER = "Translate the changed sentence instead"
COLUMNS = ("English", "French")
UNSEEN = "?"
CLICK = "Click a French word to see what was looked at, and which other words could have stood there."
CANDIDATES = "probability of the next token"
CANDIDATES_ALT = "A bar for each of the likeliest next tokens."


def french_marked(words: ChangedWords) -> str:
    """The second sentence's words, the new ones in bold, escaped."""
    return " ".join(
        f"**{markdown_text(word)}**" if is_new else markdown_text(word)
        for word, is_new in zip(words.second, words.new, strict=True)
    )


def two_rows(texts: Sequence[str], french: str, other: str | None) -> Mapping[str, list[str]]:
    """Both sentences and their translations, for a table; the second is "?" until it may be seen. Markdown."""
    return dict(
        zip(
            COLUMNS,
            ([shortened(text) for text in texts], [shortened(french), UNSEEN if other is None else other]),
            strict=True,
        )
    )


def letter_words(texts: Sequence[str], translations: Sequence[str], words: ChangedWords) -> dict[str, str]:
    """Everything that the first round names."""
    return {
        "text": shortened(texts[0]),
        "other": shortened(texts[1]),
        "french": shortened(translations[0]),
        "other_french": shortened(translations[1]),
        "count": str(words.count),
        "all": str(max(len(words.first), len(words.second))),
    }


def name(word: str) -> str:
    """ "“rouge”", escaped."""
    return f"“{markdown_text(visible(word))}”"


def look_words(
    target: str,
    source: str,
    share: float,
    candidates: Sequence[tuple[str, float]],
    before: Sequence[str],
    steps: int,
) -> dict[str, str]:
    """Everything that the second round names. candidates: the likeliest two tokens, with their probabilities."""
    second = candidates[1] if len(candidates) > 1 else candidates[0]
    return {
        "word": name(target),
        "source": name(source),
        "share": percent(share),
        "probability": percent(candidates[0][1]),
        "second": name(second[0]),
        "second_probability": percent(second[1]),
        "so_far": f"“{shortened(' '.join(before))}”" if before else NOTHING_YET,
        "steps": str(steps),
    }
