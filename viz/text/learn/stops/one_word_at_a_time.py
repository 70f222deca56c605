"""The words of the questions how a translation is written: one word after the other, each from all before it."""

from collections.abc import Sequence

from model.measures.learn.order.changed_words import ChangedWords, OtherNumber
from model.measures.learn.order.written_steps import NextToken, PartingStep, WrittenSteps
from viz.sentences.sentence_rows import Row, RowGroup
from viz.text.learn.stops.word_order import shortened
from viz.tokens import counted, markdown_text, percent, position_name, visible

NAME = "One word at a time"
TOO_LONG = "This text has {count} tokens; this question takes texts of up to {most}, because it is translated twice."
NOTHING_WRITTEN = "The model writes no word for this text."
PAPER = (
    "Section 3: “At each step the model is auto-regressive, consuming the previously generated symbols as additional "
    "input when generating the next.” Section 3.2.3 has the cross-attention: queries from the decoder, keys and values "
    "from the encoder. Section 3.4 has the projection: a linear layer and a softmax turn the decoder’s last vector "
    "into the probability of every token."
)
DOOR = "Translate: this step with all its candidates"
LETTER_DOOR = "Translate: this step of the text as it was, with all its candidates"
DOOR_EXPLAINED = "Shows this translation step by step, with every head, beam search and sampling."

LETTER_QUESTION = "“{before}” becomes “{after}”. How many French words change?"
LETTER_SETTING = (
    "The model translates “{text}” as “{french}” Now it gets “{other}” Only one letter has changed, so the English "
    "may be wrong."
)
NO_LETTER = "This text has no word that the model knows both with an “s” at its end and without."
LETTER_ANSWERS = (
    "No French word changes: “{other_french}”",
    "1 of {all} French words changes: “{other_french}”",
    "{count} of {all} French words change: “{other_french}”",
)
PARTED = (
    "The two translations first differ at token {step}: {other_token} goes from {other_before} to {other_after}, and "
    "{token} from {token_before} to {token_after}. The decoder reads the token that it writes there before it chooses "
    "the next."
)
NOT_PARTED = "At every step the same token stays the likeliest, though its probability changes."
STEP = "Step through the new translation"

LOOK_QUESTION = "What comes in place of {first} when the decoder may not look at {source}?"
LOOK_SETTING = (
    "“{text}” is being translated. The decoder chooses {first} ({probability}) as its first token. It looks at the "
    "source words by **cross-attention**, and gives {share} of that to {source}."
)
LOOK_OPTIONS = ("Still {first}, as likely or likelier", "Still {first}, but less likely", "Another token")
LOOK_ANSWERS = (
    "Still {first}, at {after} instead of {probability}.",
    "Still {first}, but at {after} instead of {probability}.",
    "Another token, {other} ({other_after}): {first} falls from {probability} to {after}.",
)
LOOK_STAYS = (
    "The encoder has mixed some of {source} into the vectors of the other words, and the decoder still sees those. It "
    "appends {first} and starts again: {steps} rounds for this sentence."
)
LOOK_GOES = (
    "The vectors of the other words tell the decoder too little of {source} here. It appends one token and starts "
    "again: {steps} rounds for this sentence."
)
EVEN = "To write {first}, the heads spread their attention: {source} gets most, but that is {share}."
NO_CHOICE = "To write its first token here, the decoder looks at no word most."
CLICK = "Click a French word to see what was looked at, and which other tokens could have stood there."
NOT_SHOWN = "The links appear with the answer"
UNWRITTEN = "Not written yet"
CANDIDATES = "probability of the next token"
CANDIDATES_WITHOUT = "probability of the next token without “{source}”"
CANDIDATES_ALT = "A bar for each of the likeliest next tokens."

FORCE_QUESTION = "Token {step} becomes {second} instead of {first}. How many other words change?"
FORCE_SETTING = (
    "{second} came second, with {second_probability} against {first_probability}. The decoder is given it as if it had "
    "written it, and goes on from there."
)
NO_FORCE = "At no step of this translation do two candidates go on writing."
FORCE_ANSWERS = (
    "No other word changes: “{other_french}”",
    "1 other word changes: “{other_french}”",
    "{count} other words change: “{other_french}”",
)
FORCE_CHANGED = (
    "The source text is the same, and so is what the encoder made of it. But the decoder also reads the words that it "
    "has written, and one of them is different."
)
FORCE_SAME = "The decoder reads a different word of its own here, but the same words stay the likeliest after it."
FORCE_OTHER = "Take the second candidate at another step"
FORCED_ROW, OWN_ROW = "with the second candidate at token {step}", "as the model writes it"


def token_name(token: str) -> str:
    """ "“rouge”", escaped."""
    return f"“{markdown_text(visible(token.strip() or token))}”"


def range_name(counts: range) -> str:
    """ "None", "1 word", "3 or 4 words", "5 words or more"."""
    first, last = counts[0], counts[-1]
    if last > 10**5:
        return f"{first} words or more"
    if first == last:
        return f"{first} word" + ("s" if first > 1 else "") if first else "None"
    return f"{first} {'or' if last == first + 1 else 'to'} {last} words"


def counted_answer(answers: Sequence[str], count: int) -> str:
    """The sentence for none, one, or several changed words."""
    return answers[min(count, len(answers) - 1)]


def letter_words(text: str, change: OtherNumber, french: Sequence[str], changed: ChangedWords) -> dict[str, str]:
    """Everything that the first round names, but for where the translations part."""
    return {
        "before": markdown_text(change.before),
        "after": markdown_text(change.after),
        "text": shortened(text),
        "other": shortened(change.text),
        "french": shortened(french[0]),
        "other_french": shortened(french[1]),
        "count": str(changed.count),
        "all": str(max(len(changed.first), len(changed.second))),
    }


def parted(parting: PartingStep | None) -> str:
    """Where two translations part, and what the two tokens' probabilities are there."""
    if parting is None:
        return NOT_PARTED
    return PARTED.format(
        step=counted(parting.step),
        token=token_name(parting.tokens[0]),
        other_token=token_name(parting.tokens[1]),
        token_before=percent(parting.before[0], 1),
        token_after=percent(parting.after[0], 1),
        other_before=percent(parting.before[1], 1),
        other_after=percent(parting.after[1], 1),
    )


def letter_rows(texts: Sequence[str], changed: ChangedWords, french: Sequence[str], *, seen: bool) -> list[RowGroup]:
    """Both sentences over their translations; the changed words are marked once they may be seen."""
    first = Row(label=texts[0], text=french[0], marked=changed.gone if seen else ())
    second = Row(label=texts[1], text=french[1] if seen else None, marked=changed.new if seen else ())
    return [RowGroup(title="", rows=[first]), RowGroup(title="", rows=[second])]


def look_words(
    written: WrittenSteps, link: tuple[str, float], text: str, without: tuple[float, NextToken]
) -> dict[str, str]:
    """Everything that the second round names.

    link: source word, weight. without: the first token's probability where that word is hidden, and what is likeliest
    there.
    """
    source, share = link
    first, (after, other) = written.steps[0][0], without
    return {
        "text": shortened(text),
        "source": token_name(source),
        "share": percent(share),
        "first": token_name(first.token),
        "probability": percent(first.probability, 1),
        "after": percent(after, 1),
        "other": token_name(other.token),
        "other_after": percent(other.probability, 1),
        "steps": str(len(written.steps)),
    }


def look_outcome(written: WrittenSteps, *, after: float, stays: bool) -> int:
    """The place in LOOK_OPTIONS of what happened."""
    return 2 if not stays else int(after < written.steps[0][0].probability)


def force_words(written: WrittenSteps, step: int, other: str, count: int) -> dict[str, str]:
    """Everything that the third round names."""
    first, second = written.steps[step][:2]
    return {
        "step": counted(step),
        "first": token_name(first.token),
        "second": token_name(second.token),
        "first_probability": percent(first.probability, 1),
        "second_probability": percent(second.probability, 1),
        "other_french": shortened(other),
        "count": str(count),
    }


def force_rows(french: str, changed: ChangedWords | None, other: str | None, step: int) -> list[RowGroup]:
    """The translation as it was, and the other one; changed words are marked. None: not to be seen yet."""
    own = Row(label=OWN_ROW, text=french, marked=() if changed is None else changed.gone)
    forced = Row(label=FORCED_ROW.format(step=counted(step)), text=other, marked=() if changed is None else changed.new)
    return [RowGroup(title="", rows=[own]), RowGroup(title="", rows=[forced])]


def step_name(written: WrittenSteps, step: int) -> str:
    """ "1 · Tu → Vous (40.5 %)": a token, and the one that came second, plain text."""
    first, second = written.steps[step][:2]
    name = position_name(step, first.token.strip() or first.token)
    return f"{name} → {visible(second.token.strip() or second.token)} ({percent(second.probability, 1)})"


def candidate_names(candidates: Sequence[NextToken]) -> list[str]:
    """ "1 · rouge", plain text."""
    return [position_name(rank, each.token.strip() or each.token) for rank, each in enumerate(candidates)]


def candidates_without(source: str) -> str:
    """What the bars are where no head looks at a source word, plain text."""
    return CANDIDATES_WITHOUT.format(source=visible(source))
