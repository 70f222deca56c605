"""Sentences about edited weights."""

import pytest

from viz.text.edited_weights import Look, sentence, suggestion, title

LOOK = Look(site=(1, 3), query="slow", key="not*", before=0.041, after=0.9)


@pytest.mark.parametrize(
    ("kind", "before", "after", "said"),
    [
        ("label", 0.9, 0.2, "the verdict “bad” goes from 90.0 % to 20.0 %."),
        ("label", 0.9, 0.895, "the verdict “bad” hardly changes."),
        ("stream", 0.0, 0.3, "the last vectors move by 30.0 % of their length."),
        ("stream", 0.0, 0.001, "the last vectors hardly move."),
    ],
)
def test_the_title_says_what_becomes_of_the_answer(kind, before, after, said):
    found = title(LOOK, 1, 1, kind, "bad", before, after).replace("\u00a0", " ")
    assert found == f"If “slow” looks at “not\\*” with 90 %, {said}"


def test_several_weights_are_counted():
    assert title(None, 12, 1, "label", "bad", 0.9, 0.2).startswith("With 12 weights of one head set, ")
    assert title(None, 12, 3, "label", "bad", 0.9, 0.2).startswith("With 12 weights of 3 heads set, ")


def test_the_sentence_says_where_and_how_far_the_stream_moved():
    assert sentence(LOOK, (1, 3), 0.125, turned=True).replace("\u00a0", " ") == (
        "In layer 2, head 4, the weight was 4.1 %. Another answer is likelier now. The stream after the last layer "
        "moves by 12.5 % of its length."
    )


def test_the_suggestion_says_what_would_happen():
    said, what_to_do = suggestion(LOOK, "label", "bad", 0.9, 0.2, turned=True)
    assert said.replace("\u00a0", " ") == (
        "If “slow” looked at “not\\*” alone, the verdict “bad” would go from 90.0 % to 20.0 %, and another would be "
        "likelier."
    )
    assert what_to_do.replace("\u00a0", " ").startswith("In layer 2, head 4, the weight is 4.1 %. Drag a cell")
    moved, _ = suggestion(LOOK, "stream", "", 0.0, 0.2, turned=False)
    assert moved.replace("\u00a0", " ").endswith("alone, the last vectors would move by 20.0 % of their length.")
