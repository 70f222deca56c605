"""Sentences about edited weights."""

import pytest

from viz.text.causes.edited_weights import Look, nothing_to_suggest, sentence, suggestion, title

LOOK = Look(site=(1, 3), query="“slow”", key="“not\\*”", before=0.041, after=0.9)


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
    assert title(None, 12, 1, "label", "bad", 0.9, 0.2).startswith("With other weights for 12 queries of one head, ")
    assert title(None, 12, 3, "label", "bad", 0.9, 0.2).startswith("With other weights for 12 queries of 3 heads, ")


def test_the_sentence_says_where_and_how_far_the_stream_moved():
    assert sentence(LOOK, (1, 3), 0.125).replace("\u00a0", " ") == (
        "In layer 2, head 4, the weight was 4.1 %. The stream after the last layer moves by 12.5 % of its length."
    )


def test_the_suggestion_says_what_would_happen():
    said, what_to_do = suggestion(LOOK, "label", "bad", 0.9, 0.2, turned=True)
    assert said.replace("\u00a0", " ") == (
        "If “slow” looked at “not\\*” alone, the verdict “bad” would go from 90.0 % to 20.0 %, and another would be "
        "likelier."
    )
    assert what_to_do.replace("\u00a0", " ").startswith(
        "Of the weights of layer 2, head 4 that were tried, this one changes the answer most; it is 4.1 % now. Drag a "
    )
    moved, _ = suggestion(LOOK, "stream", "", 0.0, 0.2, turned=False)
    assert moved.replace("\u00a0", " ").endswith("alone, the last vectors would move by 20.0 % of their length.")


def test_a_head_of_which_no_weight_matters_is_said_to_be_one():
    look = Look(site=(0, 1), query="“a”", key="“b”", before=0.2, after=1.0)
    _, why = nothing_to_suggest(look, "label", "bad", 0.998, 0.998)
    assert why.startswith("The most that one does: “a” looking at “b” alone changes it by less than 0.1 points. Try")
    said, why = nothing_to_suggest(look, "label", "bad", 0.998, 0.996)
    assert said == "In layer 1, head 2, no single weight that was tried changes the verdict “bad” much."
    assert why.replace("\u00a0", " ").startswith(
        "The most that one does: with “a” looking at “b” alone, it goes from 99.8 %"
    )


def test_the_likeliest_answer_is_named_where_it_is_another():
    said = sentence(None, (1, 3), 0.5, now=("␣it", 0.496)).replace("\u00a0", " ").replace("\\", "")
    assert said.startswith("In layer 2, head 4. The likeliest answer is “␣it” now, with 49.6 %. The stream after")


def test_the_stream_is_named_where_there_are_two_and_other_edited_heads_are_counted():
    said = sentence(None, (1, 3), 0.5, heads=3, whose="decoder’s ").replace("\u00a0", " ")
    assert (
        said
        == "In layer 2, head 4 and 2 others. The decoder’s stream after the last layer moves by 50.0 % of its length."
    )
