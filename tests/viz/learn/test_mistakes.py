"""The words and pictures of the page Mistakes: they hold the numbers that they are given, and say them."""

from typing import Any

import numpy as np
import pytest

from model.measures.learn.mistakes.catalogue import MISTAKES, usable
from model.measures.learn.mistakes.effect import Curves, Effect, Tables, subject_of
from tests import tiny
from viz.charts.learn.mistakes import MOST_SHOWN, mistake_lines, mistake_tables
from viz.text.learn.mistakes import SAME, SAME_TITLE, UNFIT, WORDS, first_tokens, sentence, title

LABELS = ("negative", "positive")
CURVES = Curves(places=(0, 1, 2, 3), right=np.array([64, 62.12, 57.4, 52.2]), wrong=np.array([64, -0.29, -8.04, -6.4]))


def plain(text: str) -> str:
    return text.replace("\u00a0", " ")


def test_the_lines_are_those_given():
    rows = mistake_lines(CURVES, ("distance", "product")).to_dict()["data"]["values"]
    assert [row["value"] for row in rows if row["line"] == "wrong"] == CURVES.wrong.tolist()
    assert [row["value"] for row in rows if row["line"] == "right"] == CURVES.right.tolist()


def test_the_matrices_are_the_first_cells_of_those_given():
    right, wrong = np.arange(100.0).reshape(10, 10), -np.arange(100.0).reshape(10, 10)
    names = [str(place) for place in range(10)]
    pair = mistake_tables(Tables(right=right, wrong=wrong), names, names, weights=False)
    assert [table["title"] for table in pair] == ["Wrong", "Right"]
    for table, matrix in zip(pair, (wrong, right), strict=True):
        numbers = [[cell["number"] for cell in row["cells"]] for row in table["rows"]]
        assert numbers == matrix[:MOST_SHOWN, :MOST_SHOWN].tolist()
    assert pair[1]["rows"][1]["cells"][2]["text"] == "12"


def test_weights_have_two_decimals_and_the_scale_of_weights():
    matrix = np.full((2, 2), 0.5)
    pair = mistake_tables(Tables(right=matrix, wrong=matrix), ["a", "b"], ["a", "b"], weights=True)
    assert (pair[0]["rows"][0]["cells"][0]["text"], pair[0]["most"], pair[0]["signed"]) == ("0.50", 1, False)


def test_a_title_says_from_where_to_where_the_answer_moves():
    moved = Effect(picture=CURVES, answers=(0.939, 0.437), label=1)
    assert plain(title(WORDS["norm"], moved, LABELS)) == (
        "Post-norm in place of pre-norm moves the answer from 93.9 % positive to 43.7 %: the verdict turns."
    )
    still = Effect(picture=CURVES, answers=(0.6, 0.6004), label=0)
    assert plain(title(WORDS["mask"], still, LABELS)) == (
        "A mask broadcast over heads leaves the answer at 60.0 % negative."
    )


def test_the_sentence_about_the_sign_gives_both_rows_of_products():
    told = sentence(WORDS["sign"], Effect(picture=CURVES), ())
    assert "is 64, −0.3, −8.0 and −6.4, in place of 64, 62.1, 57.4 and 52.2." in told
    assert title(WORDS["sign"], Effect(picture=CURVES), ()).endswith("from 62.1 to −0.3.")


def test_a_row_that_may_look_at_nothing_is_said_with_its_weight_and_the_error_of_float16():
    tables = Tables(right=np.zeros((4, 4)), wrong=np.full((4, 4), 0.25))
    told = plain(sentence(WORDS["billion"], Effect(picture=tables, error="it <overflows>"), ()))
    assert "gives 25.0 % to each of 4 tokens" in told
    assert "it \\<overflows\\>" in told


def test_the_heads_of_a_view_are_said_with_the_tokens_that_they_hold():
    tables = Tables(right=np.array([[1.0, 2, 3]]), wrong=np.array([[1.0, 1, 2]]))
    assert "first 2 tokens, in place of a part of each of the 3" in sentence(WORDS["view"], Effect(picture=tables), ())
    assert title(WORDS["view"], Effect(picture=tables), ()) == (
        "With `view` alone, head 1 holds numbers of 2 tokens in place of 3."
    )


def test_every_mistake_has_its_words_and_says_why_another_model_does_not_show_it():
    assert list(WORDS) == list(MISTAKES)
    decoder: Any = tiny.config("decoder", positions="learned")
    assert set(UNFIT) == set(MISTAKES) - set(usable(decoder))
    assert len({words.name for words in WORDS.values()}) == len(WORDS)


@pytest.mark.parametrize(("read", "count", "note"), [(128, 12, ""), (128, 300, "the first 128 of 300 tokens")])
def test_a_text_that_is_cut_is_said_to_be(read, count, note):
    assert note in first_tokens(read, count)
    assert bool(note) == bool(first_tokens(read, count))


@pytest.mark.parametrize("name", ["mask", "view", "reshape"])
@pytest.mark.parametrize(("heads", "tokens", "same"), [(1, 4, True), (2, 1, True), (2, 4, False)])
def test_with_one_head_or_one_token_nothing_can_be_mixed_up(name, heads, tokens, same):
    model = tiny.transformer(labels=LABELS, norm_order="pre", heads=heads)
    effect = MISTAKES[name].effect(subject_of(model, tiny.ids(tokens).tolist()))
    assert (title(WORDS[name], effect, LABELS) == SAME_TITLE) == same
    assert (sentence(WORDS[name], effect, LABELS) == SAME) == same
