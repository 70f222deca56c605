"""What the browser's editor is given: numbers read back out of it."""

import base64

import numpy as np
import pytest

from viz.charts.causes.weight_editor import HIDDEN, MASKED, MOST, SEEN, answer_panel, editor_figure
from viz.explorer.attention_kinds import Text


def text(count: int) -> Text:
    return Text(stack="decoder", tokens=tuple(f"word{place}" for place in range(count)))


def test_the_matrix_and_the_mask_are_read_back():
    base = np.random.default_rng(0).random((3, 3), np.float32)
    mask = np.tril(np.ones((3, 3), bool))
    figure = editor_figure(base, mask, text(3), text(3), [(1, 0, 0.5, True)], (1, 0), hidden=[1])
    assert np.array_equal(np.frombuffer(base64.b64decode(figure["base"]), "<f4").reshape(3, 3), base)
    allowed = np.frombuffer(base64.b64decode(figure["mask"]), np.uint8).reshape(3, 3)
    assert allowed.tolist() == [[SEEN, HIDDEN, MASKED], [SEEN, HIDDEN, MASKED], [SEEN, HIDDEN, SEEN]]
    assert figure["cells"] == [[1, 0, 0.5, True]]
    assert figure["cut"] == ""


def test_of_a_long_text_an_excerpt_around_the_cell_is_drawn_with_whole_rows():
    base = np.random.default_rng(0).random((90, 70), np.float32)
    figure = editor_figure(base, base > 0.5, text(90), text(70), [], (60, 5))
    places = [token["place"] for token in figure["rows"]]
    assert len(places) == MOST
    assert 60 in places
    assert [token["place"] for token in figure["columns"]] == list(range(MOST))
    sent = np.frombuffer(base64.b64decode(figure["base"]), "<f4").reshape(MOST, 70)
    assert np.array_equal(sent, base[places])
    assert figure["cut"] == "The text is long: the picture shows queries 41–80 of 90 and keys 1–40 of 70."


def test_tokens_that_come_again_have_their_places_in_their_names():
    again = Text(stack="encoder", tokens=("the", "cat", "the"))
    figure = editor_figure(np.ones((3, 3), np.float32) / 3, np.ones((3, 3), bool), again, again, [], (0, 0))
    for side in ("rows", "columns"):
        assert [(token["text"], token["place"]) for token in figure[side]] == [
            ("1 · the", 0),
            ("cat", 1),
            ("3 · the", 2),
        ]


def test_texts_of_another_length_are_refused():
    with pytest.raises(ValueError, match="weights of shape"):
        editor_figure(np.ones((2, 2)), np.ones((2, 2), bool), text(3), text(2), [], (0, 0))


def test_the_answer_says_both_probabilities_and_one_where_nothing_is_edited():
    both = answer_panel("Verdict", ["positive"], np.array([0.25]), np.array([0.5]), edited=True)
    assert both["rows"] == [{"name": "positive", "before": 0.25, "after": 0.5, "said": "25.0\u00a0% → 50.0\u00a0%"}]
    one = answer_panel("Verdict", ["positive"], np.array([0.25]), np.array([0.25]), edited=False)
    assert one["rows"][0]["said"] == "25.0\u00a0%"
