"""Two orders of one text: what is measured against passes over texts that were swapped by hand, and what is said."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from model import Edits, load_checkpoint
from model.measures.positions.swapped_order import TwoOrders, places_to_swap, two_orders
from tests import tiny
from viz.charts.position_charts import order_figure
from viz.text import position_sentences
from viz.tokens import percent

TEXT, SWAPPED = "The dog bit the man", "The man bit the dog"
PLACES = (1, 4)


@pytest.fixture(scope="module")
def sentiment() -> Any:
    return load_checkpoint("sentiment")


def last_vectors(checkpoint: Any, text: str, edits: Edits) -> np.ndarray:
    return checkpoint.trace(text, edits=edits).encoder.final.double().numpy()


@pytest.mark.parametrize("edits", [Edits(), Edits(unpositioned=frozenset({"encoder"}))], ids=["placed", "unplaced"])
def test_the_change_is_that_between_two_texts_that_were_typed(sentiment, edits):
    first, second = (last_vectors(sentiment, text, edits) for text in (TEXT, SWAPPED))
    changes = np.linalg.norm(first - second[[0, 4, 2, 3, 1]], axis=1) / np.linalg.norm(first, axis=1)
    measured: Any = two_orders(sentiment, sentiment.trace(TEXT), "encoder")
    assert measured.places == PLACES
    assert (measured.unplaced if edits.unpositioned else measured.placed) == pytest.approx(changes, abs=1e-5)
    assert not measured.told_apart
    if not edits.unpositioned:
        assert min(measured.placed) > 0.01


def test_a_decoder_tells_the_orders_apart_by_its_mask_alone():
    checkpoint = load_checkpoint("stories")
    trace: Any = checkpoint.trace(TEXT)
    measured: Any = two_orders(checkpoint, trace, "decoder")
    assert measured.told_apart
    title, sentence = position_sentences.finding(measured, trace.decoder, TEXT)
    assert title == f"Even without positions, this model tells “{TEXT}” from “{SWAPPED}”."
    assert "because the mask shows each token only the tokens before it" in sentence


def test_a_model_without_positions_is_measured_as_it_is():
    checkpoint = tiny.checkpoint(positions="none")
    measured: Any = two_orders(checkpoint, checkpoint.trace(TEXT.lower()), "encoder")
    assert measured.placed is None
    assert not measured.told_apart


def test_the_finding_names_both_texts_and_its_numbers(sentiment):
    stack: Any = sentiment.trace(TEXT).encoder
    title, sentence = position_sentences.finding(
        TwoOrders(places=PLACES, placed=(0.01, 0.0, 0.0, 0.0, 0.0512), unplaced=(0.0, 2e-7, 0.0, 0.0, 0.0)), stack, TEXT
    )
    assert title == f"Without positions, this model cannot tell “{TEXT}” from “{SWAPPED}”."
    assert sentence == (
        "“dog” and “man” change places. Without positions, every token's last vector stays as it was (to less than "
        "0.001\u00a0% of its length); with positions, they change by up to 5.1\u00a0%, most at “man”."
    )


def test_both_halves_of_the_finding_are_about_the_same_swap_and_name_a_repeated_token_by_its_place(sentiment):
    stack: Any = sentiment.trace(TEXT).encoder
    two = TwoOrders(places=PLACES, placed=(0.1, 0.2, 0.3, 0.4, 0.1), unplaced=(0.5, 0.1, 0.1, 0.1, 0.1), hides="mask")
    _, sentence = position_sentences.finding(two, stack, TEXT)
    assert sentence == (
        "“dog” and “man” change places. Without positions, the tokens' last vectors still change by up to "
        "50.0\u00a0% of their length, most at “the” (token 1), because the mask shows each token only the tokens "
        "before it; with positions, they change by up to 40.0\u00a0%, most at “the” (token 4)."
    )


def test_of_a_long_text_the_two_words_are_named_alone(sentiment):
    text = "The film was slow, but I loved it."
    stack = sentiment.trace(text).encoder
    measured: Any = two_orders(sentiment, sentiment.trace(text), "encoder")
    title, _ = position_sentences.finding(measured, stack, text)
    assert title == "Without positions, swapping “film” and “loved” changes nothing for this model."


def test_what_was_typed_stays_text_in_the_title(sentiment):
    text = "*dog* bit $man$"
    measured: Any = two_orders(sentiment, sentiment.trace(text), "encoder")
    title, _ = position_sentences.finding(measured, sentiment.trace(text).encoder, text)
    assert r"\*" in title
    assert r"\$" in title


@pytest.mark.parametrize(
    ("text", "places"), [("a", None), ("no no no no", None), ("good film", (0, 1)), ("no no good", (0, 2))]
)
def test_two_tokens_that_differ_are_swapped_where_there_are_two(sentiment, text, places):
    stack = sentiment.trace(text).encoder
    assert places_to_swap(stack) == places
    assert (two_orders(sentiment, sentiment.trace(text), "encoder") is None) == (places is None)


def test_a_text_that_is_too_long_is_not_measured(sentiment, monkeypatch):
    monkeypatch.setattr("model.measures.positions.swapped_order.LONGEST", 4)
    with torch.no_grad():
        assert two_orders(sentiment, sentiment.trace(TEXT), "encoder") is None


def pair() -> tuple[Any, Any]:
    """A tiny encoder with two segments, and its pass over two texts."""
    checkpoint = tiny.checkpoint(segments=2)
    trace: Any = checkpoint.trace_ids(list(range(5, 12)), type_ids=[0, 0, 0, 0, 1, 1, 1])
    stack = replace(trace.encoder, segments=(0, 0, 0, 0, 1, 1, 1))
    return checkpoint, replace(trace, encoder=stack)


def test_of_a_pair_two_tokens_of_one_segment_are_swapped_which_no_encoder_tells_apart_without_positions():
    checkpoint, trace = pair()
    measured: Any = two_orders(checkpoint, trace, "encoder")
    assert measured.places == (0, 3)
    assert not measured.told_apart
    assert max(measured.placed) > 0.01


def test_of_a_pair_with_one_token_in_the_first_text_two_of_the_second_are_swapped():
    _, trace = pair()
    assert places_to_swap(replace(trace.encoder, segments=(0, 1, 1, 1, 1, 1, 1))) == (1, 6)
    alone = [place in (0, 1) for place in range(7)]
    special = tuple(not each for each in alone)
    assert places_to_swap(replace(trace.encoder, special=special, segments=(0, 1, 1, 1, 1, 1, 1))) is None


def test_the_texts_of_a_pair_are_not_quoted_for_their_spans_count_from_the_beginning_of_each():
    _, trace = pair()
    spans = ((0, 4), (5, 9), (9, 10), (10, 11), (0, 4), (5, 9), (9, 10))
    stack = replace(trace.encoder, tokens=("cats", "purr", ".", "!", "dogs", "bark", "?"), spans=spans)
    title, _ = position_sentences.finding(
        TwoOrders(places=(4, 5), placed=(0.0, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0), unplaced=(0.0,) * 7), stack, "cats purr.!"
    )
    assert title == "Without positions, swapping “dogs” and “bark” changes nothing for this model."


def test_an_encoder_with_a_window_tells_the_orders_apart_by_it():
    checkpoint = tiny.checkpoint(window=2, windowed_layers=(0, 1))
    trace: Any = checkpoint.trace(TEXT.lower())
    measured: Any = two_orders(checkpoint, trace, "encoder")
    assert measured.told_apart
    _, sentence = position_sentences.finding(measured, trace.encoder, TEXT.lower())
    assert ", because a window hides from each token the tokens far before it; with" in sentence
    assert "mask" not in sentence


def test_the_bars_are_what_is_measured_for_every_token_and_mark_the_two_that_are_swapped(sentiment):
    stack: Any = sentiment.trace(TEXT).encoder
    measured: Any = two_orders(sentiment, sentiment.trace(TEXT), "encoder")
    placed, unplaced = order_figure(position_sentences.changes_of(measured), stack.tokens, measured.places).data
    assert (placed.name, unplaced.name) == ("with positions", "without positions")
    assert (placed.x, unplaced.x) == (measured.placed, measured.unplaced)
    assert [name.split(" · ")[1] for name in placed.y] == list(stack.tokens)
    assert placed.text[4] == percent(measured.placed[4], 1)


def test_bars_that_are_too_short_to_see_have_their_number_in_the_legend_where_none_stands_beside_them():
    tokens = [f"word{place}" for place in range(40)]
    changes = {"with positions": [0.5] * 40, "without positions": [1e-7] * 39 + [2e-7]}
    placed, unplaced = order_figure(changes, tokens, (0, 39)).data
    assert (placed.name, unplaced.name) == ("with positions", "without positions: <\u00a00.001\u00a0%")


def test_the_swapped_tokens_are_marked():
    figure = order_figure({"with positions": (0.1, 0.2, 0.3)}, ("a", "b", "c"), (0, 2))
    assert [text.startswith("⇄") for text in figure.layout.yaxis.ticktext] == [True, False, True]


def test_the_swapped_tokens_are_named_where_there_is_room_for_few_names():
    tokens = [f"t{place}" for place in range(90)]
    axis = order_figure({"with positions": [0.1] * 90}, tokens, (1, 50)).layout.yaxis
    places = [round(value) for value in axis.tickvals]
    marked = [name for name in axis.ticktext if name.startswith("⇄")]
    assert marked == [f"⇄ {place + 1} · t{place}" for place in (1, 50)]
    assert min(np.diff(places)) >= 4
    assert [name.removeprefix("⇄ ") for name in axis.ticktext] == [f"{place + 1} · t{place}" for place in places]


def test_a_series_of_another_length_is_refused():
    with pytest.raises(ValueError, match="came with 2 tokens"):
        order_figure({"with positions": (0.1,)}, ("a", "b"), (0, 1))
