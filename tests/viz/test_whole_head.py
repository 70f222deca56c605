"""What the browser draws a whole head from: exact numbers, an excerpt of long texts, names that say what is there."""

import base64
import json
from typing import Any

import numpy as np
import pytest

from model.measures.whole_head import WholeHead, whole_head
from tests import tiny
from viz.excerpts import excerpt
from viz.explorer.attention_kinds import Kind, kinds_of
from viz.walkthrough.whole_head import MOST, STEP, whole_head_figure


def head_and_kind(architecture: str = "encoder", length: int = 8, kind: str = "", **changes: Any) -> tuple[Any, Any]:
    """The third head of the second layer, on so many tokens."""
    checkpoint = tiny.checkpoint(architecture, max_length=256, **changes)
    targets = [2, 7, 11] if architecture == "encoder-decoder" else None
    trace = checkpoint.trace_ids([4 + place % 60 for place in range(length)], targets)
    kinds = kinds_of(trace)
    name = kind or next(iter(kinds))
    stack = trace.encoder if name == "encoder" else trace.decoder
    attention = getattr(stack.blocks[1], "cross_attention" if name == "cross" else "self_attention")
    return whole_head(attention, 2), kinds[name]


def figure_of(head: WholeHead, kind: Kind, *place: int, **options: Any) -> Any:
    """As it arrives in the browser."""
    return json.loads(json.dumps(whole_head_figure(head, kind.queries, kind.keys, *place, **options), allow_nan=False))


def numbers(figure: Any, name: str, columns: int) -> np.ndarray:
    """A matrix as the browser reads it."""
    return np.frombuffer(base64.b64decode(figure["matrices"][name]), "<f4").reshape(-1, columns)


@pytest.mark.parametrize("architecture", ["encoder", "decoder"])
def test_every_number_arrives_exactly(architecture):
    head, kind = head_and_kind(architecture)
    figure = figure_of(head, kind)
    for name in ("query", "key", "value", "context"):
        assert np.array_equal(numbers(figure, name, figure["headWidth"]), getattr(head, name))
    for name in ("products", "scores", "weights"):
        assert np.array_equal(numbers(figure, name, figure["sent"]), getattr(head, name))
    assert [token["place"] for token in figure["rows"]] == list(range(8))


@pytest.mark.parametrize("place", [(0, 0), (99, 3), (50, 119)])
def test_of_a_long_text_an_excerpt_around_the_weight_arrives_and_is_said(place):
    head, kind = head_and_kind("decoder", 120)
    figure = figure_of(head, kind, *place)
    rows, columns = ([token["place"] for token in figure[side]] for side in ("rows", "columns"))
    assert len(rows) == len(columns) == MOST
    assert (rows[figure["chosen"][0]], columns[figure["chosen"][1]]) == place
    assert np.array_equal(numbers(figure, "weights", MOST), head.weights[np.ix_(rows, columns)])
    assert np.array_equal(numbers(figure, "key", figure["headWidth"]), head.key[columns])
    assert (
        f"queries {rows[0] + 1}–{rows[-1] + 1} of 120 and keys {columns[0] + 1}–{columns[-1] + 1} of 120"
        in figure["cut"]
    )
    assert len(json.dumps(figure)) < 150_000


def test_a_knob_needs_every_key_of_a_long_text():
    head, kind = head_and_kind("encoder", 120)
    figure = figure_of(head, kind, 99, 60, knob=True)
    assert (figure["sent"], figure["columns"][0]["place"]) == (120, figure["first"])
    rows = slice(figure["rows"][0]["place"], figure["rows"][0]["place"] + MOST)
    assert np.array_equal(numbers(figure, "products", 120), head.products[rows])


def test_an_excerpt_holds_its_token_and_stays_within_the_text():
    for length in (1, 63, 64, 65, 512):
        for around in range(length):
            places = excerpt(length, around, MOST, STEP)
            assert 0 <= places.start <= around < places.stop <= length
            assert places.stop - places.start == min(length, MOST)


@pytest.mark.parametrize(
    ("changes", "formula"),
    [
        ({}, "softmax(QKᵀ / √dₖ + mask) · V = context"),
        ({"positions": "alibi"}, "softmax(QKᵀ / √dₖ + bias + mask) · V = context"),
        ({"score_cap": 3.0}, "softmax(cap(QKᵀ / √dₖ) + mask) · V = context"),
        ({"score_scale": 1.0}, "softmax(QKᵀ + mask) · V = context"),
        ({"score_scale": 0.1}, "softmax(QKᵀ · 0.1 + mask) · V = context"),
    ],
)
def test_the_formula_is_that_of_the_model(changes, formula):
    figure = figure_of(*head_and_kind("decoder", **changes))
    assert "".join(piece["text"] for piece in figure["formula"]) == formula
    assert {piece["part"] for piece in figure["formula"]} - {""} <= set(figure["titles"])
    assert ("bias" in figure["matrices"]) == ("bias" in formula)


def test_cross_attention_names_two_texts():
    head, kind = head_and_kind("encoder-decoder", kind="cross")
    figure = figure_of(head, kind, 2, 7)
    assert (len(figure["rows"]), len(figure["columns"]), figure["chosen"]) == (3, 8, [2, 7])


def test_until_a_weight_is_chosen_the_largest_is_marked():
    head, kind = head_and_kind()
    row, column = figure_of(head, kind)["chosen"]
    assert head.weights[row, column] == head.weights.max()


def test_texts_of_another_length_are_refused():
    head, kind = head_and_kind()
    other = head_and_kind(length=5)[1]
    with pytest.raises(ValueError, match=r"weights of shape \(8, 8\), wanted \(5, 5\)"):
        figure_of(head, other)
    assert figure_of(head, kind)
