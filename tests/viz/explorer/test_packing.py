"""What the explorer sends to the browser, and the rules by which both sides turn weights into what is shown."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests import tiny
from viz.explorer import View, html_page, show
from viz.explorer.attention_kinds import Kind, Text, kinds_of
from viz.explorer.layout import THUMB_SIDE
from viz.explorer.packing import is_whole, pack, pack_layer, pooled, quantised, split_streams, unpack, unpack_layer
from viz.explorer.view import (
    TokenGroup,
    drawn_weights,
    exact_row,
    groups_of,
    largest_of,
    shown_numbers,
    strength,
)

BYTE = 0.004  # the largest error of a weight that was one byte on its way


def trace_of(architecture: str) -> Any:
    target = {"target": "a cat saw the old dog !"} if architecture == "encoder-decoder" else {}
    return tiny.checkpoint(architecture).trace("the dog bit the man .", **target)


def random_kind(queries: int, keys: int, *, causal: bool = False, **facts: Any) -> Kind:
    """Two layers of three heads with random rows, and whatever facts about one text."""
    scores = np.random.default_rng(queries).normal(size=(2, 3, queries, keys)) * 2
    scores = np.where(np.tril(np.ones((queries, keys))) > 0, scores, -np.inf) if causal else scores
    weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    text = Text(stack="encoder", tokens=tuple(map(str, range(keys))), **facts)
    asks = text if queries == keys else Text(stack="decoder", tokens=tuple(map(str, range(queries))))
    layers = tuple(layer.astype(np.float32) for layer in weights)
    return Kind(name="encoder", queries=asks, keys=text, weights=layers, causal=causal)


# Kinds


def test_every_architecture_has_its_kinds_of_attention_with_the_traces_own_weights():
    assert list(kinds_of(trace_of("encoder"))) == ["encoder"]
    assert list(kinds_of(trace_of("decoder"))) == ["decoder"]
    trace = trace_of("encoder-decoder")
    kinds = kinds_of(trace)
    assert list(kinds) == ["encoder", "decoder", "cross"]
    for name, expected in (
        ("encoder", trace.encoder.weights()),
        ("decoder", trace.decoder.weights()),
        ("cross", trace.decoder.cross_weights()),
    ):
        assert np.array_equal(np.stack(kinds[name].weights), expected.numpy())
    assert kinds["cross"].queries.tokens == trace.decoder.tokens
    assert kinds["cross"].keys.tokens == trace.encoder.tokens
    assert [kind.causal for kind in kinds.values()] == [False, True, False]


def test_a_trace_of_ids_shows_the_ids():
    with torch.no_grad():
        trace = tiny.transformer("decoder")(tiny.ids(4))
    assert kinds_of(trace)["decoder"].keys.tokens == tuple(map(str, tiny.ids(4).tolist()))


# Packing


@pytest.mark.parametrize("architecture", tiny.ARCHITECTURES)
def test_what_is_unpacked_differs_from_the_trace_by_less_than_a_byte_can_say(architecture):
    kinds = kinds_of(trace_of(architecture))
    packed = pack(kinds)
    content = unpack(packed)
    assert is_whole(packed)
    assert set(content.layers) == {(name, layer) for name, kind in kinds.items() for layer in range(kind.layers)}
    for (name, layer), weights in content.layers.items():
        assert np.abs(weights - kinds[name].weights[layer]).max() <= BYTE


@pytest.mark.parametrize(("queries", "keys", "causal"), [(1, 1, False), (1, 1, True), (5, 70, False), (70, 70, True)])
def test_any_shape_comes_back(queries, keys, causal):
    kind = random_kind(queries, keys, causal=causal)
    weights = unpack(pack({"encoder": kind})).layers["encoder", 1]
    assert weights.shape == kind.weights[1].shape
    assert np.abs(weights - kind.weights[1]).max() <= BYTE


def test_a_causal_layer_takes_half_the_cells():
    causal = pack({"encoder": random_kind(64, 64, causal=True)})
    whole = pack({"encoder": random_kind(64, 64)})
    assert len(causal) < 0.7 * len(whole)


@given(st.floats(0, 1, width=32))
def test_a_weight_as_a_byte_is_the_nearest_square(weight):
    (byte,) = quantised(np.array([weight], np.float32))
    nearest = min(range(256), key=lambda root: abs(root / 255 - np.sqrt(np.float64(weight))))
    assert abs(int(byte) - nearest) <= (0 if abs(np.sqrt(np.float64(weight)) * 255 % 1 - 0.5) > 1e-4 else 1)


def test_beyond_the_limit_layers_come_one_by_one():
    kind = random_kind(40, 40)
    packed = pack({"encoder": kind}, limit=1000, name="a")
    (header,) = split_streams(packed)[0]["kinds"]
    assert not is_whole(packed)
    assert header["layers_at"] == []
    layer = pack_layer(kind, 1, name="a")
    assert split_streams(layer)[0]["name"] == "a"
    assert np.abs(unpack_layer(layer, header) - kind.weights[1]).max() <= BYTE


def test_thumbnails_are_every_head_then_the_means_and_a_long_text_keeps_the_largest_of_each_block():
    kind = random_kind(100, 100)
    tiles = unpack(pack({"encoder": kind})).thumbs["encoder"]
    weights = np.stack(kind.weights).astype(np.float64)
    means = [*weights.mean(axis=1), *weights.mean(axis=0)]
    edges = [block * 100 // THUMB_SIDE for block in range(THUMB_SIDE)] + [100]
    for tile, matrix in zip(tiles, [*weights.reshape(-1, 100, 100), *means], strict=True):
        for row, column in ((0, 0), (3, 17), (31, 31)):
            block = matrix[edges[row] : edges[row + 1], edges[column] : edges[column + 1]]
            assert abs(tile[row, column] - block.max()) <= BYTE


def test_a_short_text_is_its_own_thumbnail():
    kind = random_kind(7, 7)
    assert np.array_equal(pooled(kind.weights[0]), kind.weights[0])


def test_hostile_tokens_are_sent_as_they_are_printed():
    tokens = ("<b>", "\u202e", "a" * 200, "😀", "\x00", "</script>")
    kind = Kind(
        name="encoder",
        queries=Text(stack="encoder", tokens=tokens),
        keys=Text(stack="encoder", tokens=tokens),
        weights=(np.full((1, 6, 6), 1 / 6, np.float32),),
        causal=False,
    )
    sent = split_streams(pack({"encoder": kind}))[0]["texts"]["encoder"]["tokens"]
    assert sent == ["<b>", "U+202E", "a" * 23 + "…", "😀", "U+0000", "</script>"]


# What a view shows


def test_a_plain_view_shows_the_traces_own_floats():
    kind = random_kind(6, 6)
    numbers = shown_numbers(kind, View(layer=1, off=frozenset({(1, 0), (0, 2)})))
    assert numbers.heads == (1, 2)
    assert np.array_equal(numbers.weights, kind.weights[1][[1, 2]])
    expected = kind.weights[1][[1, 2]].astype(np.float64).mean(axis=0).astype(np.float32)
    assert np.array_equal(numbers.mean, expected)


def test_special_tokens_leave_and_what_is_left_is_made_whole_where_that_is_asked():
    kind = random_kind(4, 4, special=(True, False, False, True))
    hidden = shown_numbers(kind, View(special="hidden"))
    assert np.array_equal(hidden.weights, kind.weights[0][:, 1:3, 1:3])
    renormalised = shown_numbers(kind, View(special="renormalised")).weights
    assert np.allclose(renormalised.sum(axis=-1), 1, atol=1e-6)
    part = kind.weights[0][:, 1:3, 1:3].astype(np.float64)
    assert np.allclose(renormalised, part / part.sum(axis=-1, keepdims=True), atol=1e-6)


def test_a_row_with_nothing_left_stays_0():
    kind = random_kind(3, 3, special=(True, False, False))
    kind.weights[0][:, 1] = [1, 0, 0]
    assert (shown_numbers(kind, View(special="renormalised")).weights[:, 0] == 0).all()


def test_word_pieces_merge_by_the_sum_over_keys_and_the_mean_over_queries():
    text = Text(stack="encoder", tokens=("un", "##likely", "film"), words=(0, 0, 1))
    weights = np.array([[[0.5, 0.3, 0.2], [0.1, 0.1, 0.8], [0.25, 0.25, 0.5]]], np.float32)
    kind = Kind(name="encoder", queries=text, keys=text, weights=(weights,), causal=False)
    numbers = shown_numbers(kind, View(words=True))
    assert numbers.queries == (TokenGroup(0, 1, "unlikely"), TokenGroup(2, 2, "film"))
    assert np.allclose(numbers.weights[0], [[(0.8 + 0.2) / 2, (0.2 + 0.8) / 2], [0.5, 0.5]])


def test_words_of_two_segments_and_tokens_without_a_word_do_not_merge():
    tokens = ("[CLS]", "a", "[SEP]", "a", "##b")
    text = Text(stack="encoder", tokens=tokens, words=(None, 0, None, 0, 0), segments=(0, 0, 0, 1, 1))
    labels = [group.label for group in groups_of(text, words=True)]
    assert labels == ["[CLS]", "a", "[SEP]", "ab"]


@pytest.mark.parametrize(
    ("segments", "rows", "columns"), [("AB", [0, 1], [2, 3]), ("BA", [2, 3], [0, 1]), ("BB", [2, 3], [2, 3])]
)
def test_a_pair_of_segments_shows_queries_of_the_one_and_keys_of_the_other(segments, rows, columns):
    kind = random_kind(4, 4, segments=(0, 0, 1, 1))
    numbers = shown_numbers(kind, View(segments=segments))
    assert [group.first for group in numbers.queries] == rows
    assert np.array_equal(numbers.weights, kind.weights[0][:, rows][:, :, columns])


def test_the_threshold_and_the_largest_few_leave_out_the_rest():
    weights = np.array([[0.5, 0.1, 0.3, 0.1], [0.25, 0.25, 0.25, 0.25]], np.float32)
    assert drawn_weights(weights, View(threshold=0.2))[0].tolist() == pytest.approx([0.5, 0, 0.3, 0])
    assert (drawn_weights(weights, View(top=2)) > 0).tolist() == [
        [True, False, True, False],
        [True, True, False, False],
    ]


@pytest.mark.parametrize(("scale", "expected"), [("linear", [0, 0.01, 1]), ("root", [0, 0.1, 1]), ("log", [0, 0.5, 1])])
def test_a_scale_runs_from_0_to_full_strength(scale, expected):
    weights = np.array([0, 0.01, 1]) * 0.5
    assert strength(weights, View(scale=scale), 0.5).tolist() == pytest.approx(expected)


def test_full_colour_is_weight_1_or_the_largest_shown():
    weights = np.array([[[0.2, 0.4]], [[0.1, 0.3]]], np.float32)
    assert largest_of(weights, View(maximum="one")) == [1, 1]
    assert largest_of(weights, View(maximum="shared")) == pytest.approx([0.4, 0.4])
    assert largest_of(weights, View(maximum="head")) == pytest.approx([0.4, 0.3])


def test_an_exact_row_reads_back_bit_for_bit():
    kind = random_kind(5, 5)
    row = exact_row(kind, View(layer=1, off=frozenset({(1, 1)})), 3)
    assert np.array_equal(np.array(row["heads"]["2"], np.float32), kind.weights[1][2, 3])
    assert not any("e" in weight for weight in row["mean"])


@pytest.mark.parametrize(
    ("view", "query"),
    [(View(layer=2), 0), (View(off=frozenset({(0, 0), (0, 1), (0, 2)})), 0), (View(), 5), (View(special="hidden"), 0)],
)
def test_a_row_that_is_not_shown_is_refused(view, query):
    with pytest.raises(ValueError, match="view"):
        exact_row(random_kind(5, 5, special=(True, False, False, False, False)), view, query)


# A view from elsewhere


def test_a_view_travels_to_the_browser_and_back():
    view = View(attention="cross", layer=3, off=frozenset({(0, 1), (3, 2)}), query=2, words=True, threshold=0.5)
    assert View.from_message(view.to_message()) == view
    assert View.from_message({}) == View()
    assert View.from_message({"unknown": 1}) == View()


@pytest.mark.parametrize(
    "message",
    [
        None,
        [],
        "view",
        {"layer": -1},
        {"layer": 1.5},
        {"layer": True},
        {"layer": 10**9},
        {"query": "0"},
        {"off": "0.1"},
        {"off": [[0]]},
        {"off": [[0, "1"]]},
        {"off": [[0, [1]]]},
        {"attention": "<b>"},
        {"attention": ["encoder"]},
        {"words": 1},
        {"threshold": float("nan")},
        {"threshold": 2},
        {"threshold": "0"},
        {"scale": None},
    ],
)
def test_a_view_that_no_control_could_set_is_refused(message):
    with pytest.raises(ValueError, match="expected"):
        View.from_message(message)


# Pages of their own


def test_a_page_holds_its_tokens_as_data_and_asks_nothing_of_anybody():
    checkpoint = tiny.checkpoint("encoder")
    page = html_page(checkpoint.trace("the </script><img src=x> dog"), title="</title><script>")
    assert page.count("</script>") == 4
    assert "<img" not in page
    assert "</title><script>" not in page
    assert "default-src 'none'" in page


def test_a_notebook_shows_the_page_in_a_frame():
    shown_in_cell = show(trace_of("decoder"))._repr_html_()
    assert shown_in_cell.startswith("<iframe srcdoc=")
    assert "<!doctype" not in shown_in_cell, "it is escaped"
