"""What the player of a training is drawn from: curves, head scores and the heads' pictures at every snapshot."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from model.trace import Trace
from model.training.watched.head_pictures import HeadPictures, character_of, right_answers
from model.training.watched.history import History
from model.training.watched.language_film import LanguageFilm
from model.training.watched.learning_run import MOST_STEPS
from viz.explorer.packing import quantised
from viz.tokens import visible

UNKNOWN = "?"  # stands for a guess that is no character
SECONDS = 10.0  # that a whole training takes in the player
# What is drawn of the heads unless somebody chose otherwise, by the task.
KINDS = {
    "induction": ("previous_token", "induction"),
    "copy": ("previous_token", "answer"),
    "reverse": ("previous_token", "answer"),
    "sort": ("previous_token", "answer"),
    "text": ("previous_token", "induction"),
    "language": ("previous_token", "induction"),
}
SEEN = 0.05  # how far above chance a head must be at the end to be named
EVERY_KIND = ("previous_token", "induction", "copying", "answer")


class HeadLine(NamedTuple):
    """One head's score of a kind at every snapshot, with its null."""

    kind: str
    site: tuple[int, int]
    scores: list[float]
    nulls: list[float]

    @property
    def excess(self) -> float:
        """How far the last score is above its null."""
        return self.scores[-1] - self.nulls[-1]

    @property
    def is_seen(self) -> bool:
        """Whether the head does this more than by chance, and more than with random weights, as far as one can see."""
        return min(self.excess, self.excess - (self.scores[0] - self.nulls[0])) >= SEEN

    def to_message(self) -> dict[str, Any]:
        """Plain values, as the browser takes them."""
        return self._asdict() | {"seen": self.is_seen}


def head_line(history: History | LanguageFilm, kind: str) -> HeadLine:
    """Of the head whose score is furthest above its null at the last snapshot."""
    scores = [score[kind] for step in history.steps if (score := history.at(step).scores) is not None]
    excess = scores[-1].scores - scores[-1].nulls
    layer, head = (int(place) for place in np.unravel_index(excess.argmax(), excess.shape))
    of_head = [[float(side[layer, head]) for side in (each.scores, each.nulls)] for each in scores]
    return HeadLine(kind, (layer, head), [score for score, _ in of_head], [null for _, null in of_head])


def run_data(name: str, history: History, pictures: HeadPictures, last: int) -> dict[str, Any]:
    """One training. name: what stands above it; pictures: of the snapshots, in the order of the steps.

    last: the step at which the axis of time ends.
    """
    settings, change, steps = history.settings, history.sudden_change(), history.steps
    if pictures.weights.shape[0] != len(steps):
        raise ValueError(f"pictures of {pictures.weights.shape[0]} snapshots, wanted one for each of {len(steps)}")
    guesses = [[character_of(history, int(guess)) for guess in row] for row in pictures.guesses]
    right = right_answers(settings.task, pictures.text)
    return measured_data(name, history, pictures.weights, last) | {
        "change": None if change is None else change.__dict__,
        "tokens": [visible(character) for character in pictures.text],
        "guesses": [[visible(guess or UNKNOWN) for guess in row] for row in guesses],
        "hits": [
            [None if wanted is None else guess == wanted for guess, wanted in zip(row, right, strict=True)]
            for row in guesses
        ],
    }


def measured_data(
    name: str, history: History | LanguageFilm, weights: Float[np.ndarray, "snapshot layer head query key"], last: int
) -> dict[str, Any]:
    """What is drawn of any training: its curves, the scores of its heads, and their pictures."""
    return {
        "name": name,
        "last": last,
        "layers": weights.shape[1],
        "heads": weights.shape[2],
        "curve": {
            field: [getattr(moment, field) for moment in history.moments] for field in ("step", "loss", "accuracy")
        },
        "steps": history.steps,
        "lines": [head_line(history, kind).to_message() for kind in EVERY_KIND],
        "weights": base64.b64encode(quantised(weights).tobytes()).decode(),
        "written": None,
    }


def language_data(name: str, film: LanguageFilm, traces: Sequence[Trace]) -> dict[str, Any]:
    """The training of a language model. traces: of one text by every snapshot, in the order of the steps."""
    stack, tokenizer = traces[0].text_stack, film.checkpoint(film.steps[0]).tokenizer
    following = [*stack.ids.tolist()[1:], None]
    guesses = [[int(guess) for guess in trace.logits.argmax(dim=-1)] for trace in traces if trace.logits is not None]
    weights = np.stack([trace.text_stack.weights().numpy() for trace in traces])
    return measured_data(name, film, weights, film.last.step) | {
        "change": None,
        "tokens": [visible(token) for token in stack.tokens or ()],
        "guesses": [[visible(piece or UNKNOWN) for piece in tokenizer.pieces(row)] for row in guesses],
        "hits": [
            [None if wanted is None else guess == wanted for guess, wanted in zip(row, following, strict=True)]
            for row in guesses
        ],
        "written": [film.prompt + film.written[step] for step in film.steps],
    }


def player_data(runs: Sequence[Mapping[str, Any]], names: Mapping[str, str], task: str, key: str) -> dict[str, Any]:
    """The player of one training, or of two side by side.

    names: the words of its controls; those of the kinds of heads by their names. key: what is shown; another one has it
    begin anew.
    """
    return {"runs": list(runs), "names": dict(names), "seconds": SECONDS, "shown": list(KINDS[task]), "key": key}


def place_of(step: int | float, last: int) -> float:
    """Where a step stands on the axis of time, 0 to 1: logarithmic, with step 0 at its beginning."""
    return float(np.log2(1 + min(step, MOST_STEPS)) / np.log2(1 + last))
