"""Which heads of an encoder look from a pronoun to what it stands for.

Clark et al. 2019, "What Does BERT Look At?", section 4.2, for pronouns with given candidates: a head names the
candidate whose last word (the head word of most English noun phrases) gets most of the pronoun's weight. Beside it the
best of three rules that know the places alone. Null: the answers are those of other rows of the same set.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int

from model.checkpoint import Checkpoint
from model.errors import InputError
from model.measures.head_scores.gold_hits import Hits, HitsByName, added_hits
from model.measures.head_scores.syntax import encoder_of, of_words
from model.training.data.corpora import lines

DIRECTIONS = ("from pronoun to candidate",)
RULES = ("nearest candidate", "first candidate", "last candidate")
TWINS = 12  # neighbours that are variants of one sentence stay on one side: six of them at most, in these sets

Span = tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class PronounQuestion:
    """A text, the characters of a pronoun in it and of its candidates, and which of them is right.

    other_answer: that of another row, for the null.
    """

    text: str
    pronoun: Span
    candidates: tuple[Span, ...]
    answer: int
    other_answer: int = 0


def read_questions(path: Path) -> Iterator[PronounQuestion]:
    """The rows of a file of JSON lines that have an answer. Raises InputError naming the file and the line."""
    for number, line in enumerate(lines(path), start=1):
        try:
            question = question_of(json.loads(line))
        except (KeyError, TypeError, ValueError, IndexError, RecursionError):
            raise InputError(f"{path.name}: line {number} holds no pronoun with candidates.") from None
        if question is not None:
            yield question


def question_of(row: dict) -> PronounQuestion | None:
    """One row; None where no candidate is right."""
    if row["answer"] is None:
        return None
    candidates = tuple((int(start), int(end)) for start, end, *_ in row["candidates"])
    start, end = row["pronoun"]
    question = PronounQuestion(
        text=str(row["text"]), pronoun=(int(start), int(end)), candidates=candidates, answer=int(row["answer"])
    )
    if not 0 <= question.answer < len(candidates):
        raise ValueError("an answer that is no candidate")
    return question


def last_word(text: str, span: Span) -> Span:
    """The characters of the last word of a phrase."""
    start, end = span
    return end - len(text[start:end].split()[-1]), end


def candidate_weights(
    checkpoint: Checkpoint, question: PronounQuestion
) -> Float[np.ndarray, "layer head candidate"] | None:
    """What the pronoun gives to the last word of every candidate; None where one of these has no token."""
    words = [question.pronoun, *(last_word(question.text, span) for span in question.candidates)]
    weights, with_token = of_words(encoder_of(checkpoint, question.text), words)
    return weights[:, :, 0, 1:] if with_token.all() else None


def question_hits(weights: Float[np.ndarray, "layer head candidate"], question: PronounQuestion) -> Hits:
    """Which heads and rules are right about one pronoun."""
    named = weights.argmax(axis=-1)[None]
    return Hits(
        questions=1,
        heads=(named == question.answer).astype(np.int64),
        permuted=(named == question.other_answer % len(question.candidates)).astype(np.int64),
        rules=(by_place(question) == question.answer).astype(np.int64),
    )


def by_place(question: PronounQuestion) -> Int[np.ndarray, " rule"]:
    """The candidates that RULES name."""
    starts = np.array([start for start, _ in question.candidates])
    gaps = [max(start - question.pronoun[1], question.pronoun[0] - end) for start, end in question.candidates]
    return np.array([np.argmin(gaps), starts.argmin(), starts.argmax()])


def in_halves(rows: Sequence[PronounQuestion]) -> tuple[list[PronounQuestion], list[PronounQuestion]]:
    """What to choose the head by, and what to report: blocks in turn, with the answers of other rows of the half."""
    halves = [[row for number, row in enumerate(rows) if number // TWINS % 2 == half] for half in (0, 1)]
    first, second = (with_other_answers(half) for half in halves)
    return first, second


def with_other_answers(rows: Sequence[PronounQuestion]) -> list[PronounQuestion]:
    """The rows, each with the answer of another one."""
    order = np.random.default_rng(0).permutation(len(rows))
    return [
        PronounQuestion(**vars(row) | {"other_answer": rows[other].answer})
        for row, other in zip(rows, order.tolist(), strict=True)
    ]


def coreference_hits(
    checkpoint: Checkpoint,
    name: str,
    rows: Iterable[PronounQuestion],
    *,
    stopped: Callable[[], bool] = lambda: False,
) -> Iterator[HitsByName]:
    """The counts so far, after each of these rows of the set ``name``; a row that cannot be read adds nothing."""
    totals: HitsByName = {}
    for row in rows:
        if stopped():
            return
        try:
            weights = candidate_weights(checkpoint, row)
        except InputError:
            continue
        if weights is not None:
            totals = added_hits(totals, {name: question_hits(weights, row)})
            yield totals
