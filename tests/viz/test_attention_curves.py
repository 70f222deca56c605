"""What the large picture of a sentence is drawn from."""

import numpy as np
import pytest

from model import load_checkpoint
from tests.first_example import FOUND, LOVED
from viz.explorer.attention_kinds import Kind, kinds_of
from viz.sentences.attention_curves import MOST, sentence_figure
from viz.theme import DARK


def kind_of(text: str, name: str = "sentiment") -> Kind:
    return next(iter(kinds_of(load_checkpoint(name).trace(text)).values()))


def marks(kind: Kind, key: int | None = None) -> np.ndarray:
    marked = np.zeros(kind.weights[0].shape[1:], bool)
    if key is not None:
        marked[:, key] = True
    return marked


def test_the_numbers_are_those_of_the_head_and_the_named_key_has_their_mean():
    kind = kind_of("The film was slow, but I loved it.")
    weights = kind.weights[FOUND[0]][FOUND[1]]
    figure = sentence_figure(kind, *FOUND, marks(kind, LOVED), key=LOVED, theme=DARK)
    assert np.abs(np.array(figure["weights"]) - weights).max() <= 1e-6
    assert figure["mean"]
    assert figure["note"] == f"{100 * weights[:, LOVED].mean():.0f}\u00a0%"
    assert (figure["finding_key"], figure["cut"], figure["marked"][0]) == (LOVED, "", [LOVED])
    assert figure["colours"]["page"] == DARK.background


@pytest.mark.parametrize(("key", "first"), [(None, 1), (0, 1), (80, 51), (119, 61)])
def test_of_a_long_text_the_part_around_the_named_key_is_drawn_and_said(key, first):
    kind = kind_of("good " * 120)
    figure = sentence_figure(kind, 3, 3, marks(kind, key), key=key)
    assert len(figure["rows"]) == len(figure["columns"]) == MOST
    assert figure["cut"].startswith(f"The picture shows words {first}–{first + MOST - 1} of 120.")
    assert figure["rows"][0]["place"] == first - 1
    assert figure["weights"][0][0] == pytest.approx(float(kind.weights[3][3][first - 1, first - 1]), abs=1e-6)
    if key is not None:
        assert figure["columns"][figure["finding_key"]]["place"] == key


def test_pieces_of_a_word_stand_together_without_their_marks():
    kind = kind_of("unforgettably odd")
    words = sentence_figure(kind, 0, 0, marks(kind))["rows"]
    assert len(words) > 2
    assert [word["joined"] for word in words] == [False] + [True] * (len(words) - 2) + [False]
    assert "".join(word["text"] for word in words) == "unforgettablyodd"


def test_a_head_that_is_not_there_and_marks_of_another_shape_are_refused():
    kind = kind_of("A film.")
    with pytest.raises(ValueError, match="4 layers of 8 heads"):
        sentence_figure(kind, 4, 0, marks(kind))
    with pytest.raises(ValueError, match=r"wanted \(3, 3\)"):
        sentence_figure(kind, 0, 0, np.zeros((2, 2), bool))
