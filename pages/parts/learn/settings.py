"""Where on the path somebody stands, and what was guessed there."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from pages.parts.state.codec import PageState
from pages.parts.state.fields import OF_TEXT, address_field, whole, word_like
from pages.parts.state.selection import EXAMPLES


@dataclass(frozen=True)
class Opening:
    """The model and the text with which a stop opens, where nobody has chosen others."""

    checkpoint: str
    text: str


OPENINGS = {
    "where_it_looks": Opening("sentiment", EXAMPLES[0]),
    "looking_and_mattering": Opening("sentiment", EXAMPLES[0]),
    "word_order": Opening("sentiment", EXAMPLES[0]),
    "words_as_vectors": Opening("sentiment", EXAMPLES[0]),
    "whole_head": Opening("sentiment", EXAMPLES[0]),
    "heads_needed": Opening("sentiment", EXAMPLES[4]),
    "neighbours": Opening("stories", "He counted his money on the bank of the river."),
    "stack": Opening("sentiment", EXAMPLES[0]),
    "feed_forward": Opening("translate-en-fr", EXAMPLES[0]),
    "blindfold": Opening(
        "stories", "Once upon a time there was a little girl who lived with her mother in a small house."
    ),
    "one_word_at_a_time": Opening("translate-en-fr", "The cat is tired."),
    "recurrent_network": Opening(
        "sentiment",
        "We went in without knowing anything about it, and for the first hour nothing seemed to happen: two brothers "
        "repair a boat, their father says little, and it rains. Then a letter comes, and everything that we had taken "
        "for boredom was waiting. I left in tears.",
    ),
}  # by the modules of the stops, in the order of the path
STOPS, MOST_ROUNDS = len(OPENINGS), 3
OPTIONS = "abcdef"  # names of the options of a guess, in their order
GUESS = rf"[0-9]{{1,2}}(\.[2-{MOST_ROUNDS}])?[{OPTIONS}]"
KNOB = r"[a-z0-9.,_-]{0,40}"
# What changes nothing in a question: recorded trainings and measurements read no text, eight sentences only the model.
WHATEVER = {
    "7": OF_TEXT - {"checkpoint"},
    **dict.fromkeys(("10", "10.2", "12.2", "12.3"), OF_TEXT),
}


def guesses_left(guesses: str, changed: Collection[str]) -> str:
    """The guesses at questions that stay the same when these values change."""
    asked_anew = OF_TEXT & set(changed)
    every = (guess for guess in guesses.split("_") if guess)
    return "_".join(guess for guess in every if asked_anew <= WHATEVER.get(guess[:-1], frozenset()))


@dataclass(frozen=True, kw_only=True)
class Path:
    """A stop of the path, counted from 1; the round of its questions, from 1; and the guesses.

    guesses: "1a_2b_2.2c": the option guessed at stop 1, at stop 2, and in the second round of stop 2. Those at
    questions that read the text are of this text.
    knob: what a stop's own control is set to, "" as it opens. Its stop alone reads it.
    """

    stop: int = address_field(1, whole(1, STOPS))
    round: int = address_field(1, whole(1, MOST_ROUNDS), reset_by={"stop"})
    guesses: str = address_field("", word_like(rf"({GUESS}(_{GUESS})*)?"), reset_by=OF_TEXT, left=guesses_left)
    knob: str = address_field("", word_like(KNOB), reset_by=OF_TEXT | {"stop", "round"})

    @property
    def guess(self) -> str:
        """The option guessed at this stop and round; "" where none was."""
        return self.by_question.get(self.question, "")

    @property
    def question(self) -> str:
        """What stands before the option in ``guesses``."""
        return f"{self.stop}" if self.round == 1 else f"{self.stop}.{self.round}"

    @property
    def by_question(self) -> dict[str, str]:
        """The options guessed, by ``question``."""
        return {guess[:-1]: guess[-1] for guess in self.guesses.split("_") if guess}

    @property
    def guesses_elsewhere(self) -> str:
        """``guesses`` without those at this stop."""
        return "_".join(
            question + guess
            for question, guess in self.by_question.items()
            if question.partition(".")[0] != str(self.stop)
        )

    def with_guess(self, option: str) -> str:
        """``guesses`` once this option is guessed here."""
        guesses = self.by_question | {self.question: option}
        return "_".join(question + guessed for question, guessed in guesses.items())


def opening_at(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """The model and the text with which the chosen stop opens."""
    opening = tuple(OPENINGS.values())[chosen.get("stop", Path.stop) - 1]
    return {"checkpoint": opening.checkpoint, "text": opening.text}


STATE = PageState(settings=Path, opening_at=opening_at)
