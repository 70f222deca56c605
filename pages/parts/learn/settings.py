"""Where on the path somebody stands, and what was guessed there."""

from collections.abc import Collection
from dataclasses import dataclass

from pages.parts.state.codec import PageState
from pages.parts.state.fields import OF_TEXT, address_field, whole, word_like

STOPS, MOST_ROUNDS = 12, 3
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


STATE = PageState(settings=Path)
