"""What heads do over many texts, in words: against scores worked out by hand."""

import numpy as np
import pytest

from model.measures.head_scores.gold_hits import GoldScore
from model.measures.head_scores.score_file import Example, HeadScores, KindTable
from viz.text import head_kind_tables as words


def table(scores: list[list[float]], nulls: float, **more) -> KindTable:
    errors = np.full(np.shape(scores), 0.01)
    return KindTable(
        texts=9, queries=80, scores=np.array(scores), nulls=np.full(np.shape(scores), nulls), errors=errors, **more
    )


def scores(**kinds: KindTable) -> HeadScores:
    return HeadScores(
        command="", counts={"a.txt, kinds": 9}, stopped=False, kinds={"encoder": kinds}, texts={4: "the old film"},
        syntax=(), coreference=(),
    )  # fmt: skip


PREVIOUS = table([[0.1, 0.9], [0.6, 0.1]], 0.1, examples=(
    Example(layer=0, head=1, text=4, query=2, key=1, weight=0.97, query_token=" film", key_token=" old"),
))  # fmt: skip
NEXT = table([[0.1, 0.12], [0.1, 0.1]], 0.1)


def gold(accuracy: float, baseline: float, questions: int = 400) -> GoldScore:
    return GoldScore(
        name="nsubj", direction="back", questions=questions, layer=0, head=1, accuracy=accuracy, null=0.1,
        rule="offset +1", baseline=baseline,
    )  # fmt: skip


def test_a_row_has_the_strongest_head_its_null_and_how_many_lie_above_it():
    rows = words.kind_rows({"next_token": NEXT, "previous_token": PREVIOUS}, {4: "the old film"})
    assert rows[0] == {
        "kind": "previous token",
        "heads above null": "2 of 4",
        "strongest head": "layer 1, head 2",
        "score": 0.9,
        "null": 0.1,
        "standard error": 0.01,
        "queries": 80,
        "an example": "“␣film” looks at “␣old” with 0.97 in “the old film”",
    }
    assert rows[1]["heads above null"] == "0 of 4"
    assert rows[1]["an example"] == ""


def test_the_summary_counts_heads_above_their_null_and_names_the_strongest_of_the_rarest_kind():
    assert words.summary("encoder", {"previous_token": PREVIOUS, "next_token": NEXT}) == (
        "Encoder self-attention: of 4 heads, above the null lie 2 for previous token. The strongest for previous token "
        "is layer 1, head 2: 0.90 beside a null of 0.10."
    )
    assert words.summary("encoder", {"next_token": NEXT}).endswith("no head lies above the null of any kind.")


def test_one_head_is_said_with_its_numbers_or_that_it_is_of_no_kind():
    both = scores(previous_token=PREVIOUS, next_token=NEXT)
    assert words.above_null_said(both, "encoder", 1, 0) == (
        "Over 9 texts of a.txt, this head lies above the null for previous token (0.60 beside a null of 0.10)."
    )
    assert words.above_null_said(both, "encoder", 0, 0).endswith("what it does in one text may be of that text.")
    assert words.above_null_said(both, "cross", 0, 0) == words.above_null_said(both, "encoder", 2, 0) == ""


@pytest.mark.parametrize(
    ("accuracy", "baseline", "questions", "beats"),
    [(0.5, 0.4, 400, True), (0.5, 0.4, 300, False), (0.4, 0.5, 400, False), (0.4, 0.4, 400, False)],
)
def test_a_head_beats_the_rule_by_two_standard_errors_of_the_difference(accuracy, baseline, questions, beats):
    """0.1 beside 2 · √((0.9 − 0.01) / 400) = 0.094, and beside 2 · √(0.89 / 300) = 0.109."""
    assert gold(accuracy, baseline, questions).beats_rule == beats


def test_the_strongest_head_is_one_above_its_null_where_there_is_any():
    errors = np.array([[0.2, 0.01]])
    among = KindTable(texts=2, queries=9, scores=np.array([[0.9, 0.5]]), nulls=np.full((1, 2), 0.3), errors=errors)
    assert among.strongest == (0, 1)
    assert NEXT.strongest == (0, 1)
    assert PREVIOUS.example_of(0, 1) is not None
    assert PREVIOUS.example_of(1, 0) is None


def test_comparisons_are_counted_and_those_that_a_head_wins_come_first():
    assert words.gold_summary([gold(0.2, 0.4), gold(0.5, 0.3)], "Grammar") == (
        "Grammar: the best head beats the best fixed rule in 1 of 2 comparisons: nsubj (50.0 % against 30.0 %)."
    )
    rows = words.gold_rows([gold(0.2, 0.4), gold(0.5, 0.3)])
    assert [(row["right"], row["rule is right"], row["head beats rule"]) for row in rows] == [
        (50, 30, "yes"),
        (20, 40, "no"),
    ]
