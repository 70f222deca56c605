"""What a translator looks at to write one word, in words: the title, its numbers, and how the word was chosen."""

from collections.abc import Sequence

from model.measures.cross_attention_links import POINTED
from viz.tokens import counted, percent, quoted

WORD_FOUND = (
    "The page opens at the word whose link departs most from translating word after word. Only words that give one "
    "source word more than half of their weight are considered. Click another word to see its links."
)
HEADS_FOUND = (
    "The heads are those that came closest to alignments made by hand, according to the checkpoint's card. Without "
    "such a record, they are the heads whose weights say most about which word is being written."
)


def how_chosen(*, word: bool, heads: bool) -> str | None:
    """How the word and the heads were found, of those that were; None where somebody chose both."""
    return " ".join(sentence for sentence, measured in ((WORD_FOUND, word), (HEADS_FOUND, heads)) if measured) or None


def reading_name(reading: Sequence[int]) -> str:
    """A reading in words, counted from 1: "layer 3, mean of its heads"."""
    if len(reading) == 2:
        return f"layer {counted(reading[0])}, head {counted(reading[1])}"
    return f"layer {counted(reading[0])}, mean of its heads" if reading else "all layers and heads, mean"


def title(target: str, source: str, weight: float, *, moment: str) -> str:
    """'To write “rouge”, the model looked at “red”.'; plain text, not escaped. moment: "produced" or "read"."""
    begins = f"To write {quoted(target)}" if moment == "produced" else f"One step later, reading {quoted(target)}"
    return f"{begins}, the model looked {'at' if weight > POINTED else 'most at'} {quoted(source)}."


def sentence(target: str, source: str, weight: float, probability: float, pieces: int, reading: Sequence[int]) -> str:
    """The weight, whose it is, and how probable the model found the word; plain text, not escaped.

    pieces: the tokens of the word, whose probability is the product of theirs.
    """
    who = reading_name(reading).replace("l", "L", 1) if reading else "The mean of all layers and heads"
    together = f" (its {pieces} pieces together)" if pieces > 1 else ""
    return (
        f"{who}{',' if len(reading) == 1 else ''} gives {quoted(source)} {percent(weight)} of the weight. "
        f"The model gave {quoted(target)}{together} a probability of {percent(probability, 1)}."
    )


def of_other_moment(target: str, source: str, weight: float, reading: Sequence[int], *, moment: str) -> str:
    """What another reading looks at in the moment that the picture does not show; plain text, not escaped.

    moment: that moment, "produced" or "read".
    """
    when = "While the model writes" if moment == "produced" else "One step later, while the model reads"
    who = reading_name(reading) + ("" if len(reading) == 2 else ",")
    return f"{when} {quoted(target)}, {who} looks at {quoted(source)} with {percent(weight)}."


def picture_caption(reading: Sequence[int], *, moment: str) -> str:
    """Of which moment and which heads the links in the picture are; plain text, not escaped."""
    when = "while a word is written" if moment == "produced" else "one step later, while a word is read"
    return f"Shown: what is looked at {when} ({reading_name(reading)})"
