"""The charts of words, senses and units hold the numbers that they were given, and the words fit what is measured."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from model.measures.learn.nearest_rows import Neighbour, WordRow
from viz.charts.learn.embedding_row import MOST_TOKENS, row_strip, token_id_chart, token_window
from viz.charts.learn.sense_table import SenseRow, sense_table
from viz.charts.learn.unit_grid import MOST_UNITS, unit_grid
from viz.charts.learn.word_bars import BarGroup, word_bars
from viz.text.learn.stops import feed_forward, neighbours, words_as_vectors
from viz.theme import DARK, LIGHT

THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
HOSTILE = "<b>$x$</b>"


def values(chart, layer: int) -> list[dict]:
    """The rows of a layer, which Altair puts at the chart where all layers have the same."""
    drawn = chart.to_dict()
    return drawn["layer"][layer].get("data", drawn.get("data"))["values"]


@THEMES
def test_bars_hold_their_numbers_and_name_noise(theme):
    groups = [
        BarGroup(title="here", words=["a", HOSTILE], numbers=[0.8, 0.3], chance=0.4),
        BarGroup(title="there", words=["a"], numbers=[0.2]),
        BarGroup(title="nowhere", words=[], numbers=[]),
    ]
    chart = word_bars(groups, "cosine", theme=theme)
    rows = values(chart, 0)
    assert [(row["group"], row["word"], row["number"], row["noise"]) for row in rows] == [
        ("here", "a", 0.8, False),
        ("here", HOSTILE, 0.3, True),
        ("there", "a", 0.2, False),
    ]
    assert [row["shown"] for row in rows] == ["0.80", "0.30  noise", "0.20"]
    assert [row["title"] for row in values(chart, 3)] == ["here", "there", "nowhere"]
    assert [row["chance"] for row in values(chart, 4)] == [0.4, 0.4]
    assert len({row["y"] for row in rows + values(chart, 3)}) == 6, "nothing is drawn over another"


def test_bars_refuse_what_does_not_fit():
    with pytest.raises(ValueError, match="2 words came with 1 numbers"):
        word_bars([BarGroup(title="", words=["a", "b"], numbers=[1.0])], "cosine")


@THEMES
def test_tokens_stand_over_their_ids_around_the_place(theme):
    tokens, ids = [f"t{at}" for at in range(30)], [1000 + at for at in range(30)]
    for place, beside in ((None, [23]), (0, [23]), (14, [11, 12]), (29, [23])):
        chart = token_id_chart(tokens, ids, place, theme=theme)
        rows = values(chart, 0)
        assert [sign["tokens"] for sign in values(chart, 3)] == beside, "no text is cut without a sign"
        assert len(rows) == MOST_TOKENS
        assert all(row["id"] == f"{1000 + row['position'] - 1:,}" for row in rows)
        assert [row["position"] - 1 for row in rows if row["marked"]] == ([] if place is None else [place])
    assert list(token_window(1, 0)) == [0]
    with pytest.raises(ValueError, match="2 tokens came with 1 ids"):
        token_id_chart(["a", "b"], [1], 0)


@THEMES
def test_a_strip_holds_every_number_of_the_row(theme):
    row = np.array([0.5, -2.0, 0.0])
    drawn = row_strip(row, "a row", theme=theme).to_dict()
    assert [cell["number"] for cell in drawn["data"]["values"]] == row.tolist()
    domain = drawn["encoding"]["color"]["scale"]["domain"]
    assert (domain[0], domain[-1]) == (-2.0, 2.0)
    row_strip(np.zeros(3), "nothing", theme=theme).to_dict()


ROWS = [SenseRow(sentence=HOSTILE, sense=0), SenseRow(sentence="two", sense=1), SenseRow(sentence="own", sense=None)]
NEAREST = np.array([[1, 1], [0, 2], [0, 1]])


@THEMES
def test_a_table_of_senses_holds_every_nearest_sentence(theme):
    chart = sense_table(("first", "second"), ROWS, NEAREST, theme=theme)
    headings, sentences, cells = (values(chart, layer) for layer in (0, 1, 2))
    assert [row["text"] for row in headings] == ["first", "second", "the sentence above"]
    assert [row["text"] for row in sentences] == [f"1  {HOSTILE}", "2  two", "3  own"]
    assert [[cell["nearest"] - 1 for cell in cells[at : at + 2]] for at in (0, 2, 4)] == NEAREST.tolist()
    assert [cell["own"] for cell in cells] == [False] * 6
    assert [row["text"] for row in values(chart, 4)] == ["start", "layer 1"]


def test_a_sentence_near_its_own_sense_is_ticked():
    rows = [SenseRow(sentence=each, sense=sense) for each, sense in (("a", 0), ("b", 0), ("c", 1))]
    cells = values(sense_table(("x", "y"), rows, np.array([[1], [2], [0]])), 2)
    assert [cell["shown"] for cell in cells] == ["2 ✓", "3", "1"]


def test_before_the_guess_no_cell_is_in_the_chart():
    chart = sense_table(("first", "second"), ROWS, None)
    assert len(chart.to_dict()["layer"]) == 2
    assert "nearest" not in str(chart.to_dict())
    with pytest.raises(ValueError, match="3 sentences came with 2"):
        sense_table(("first", "second"), ROWS, NEAREST[:2])


@THEMES
def test_a_grid_lights_the_active_units(theme):
    numbers = np.array([0.5, -0.1, 0.0, 2.0])
    rows = values(unit_grid(numbers, 4, marked=3, theme=theme), 0)
    assert [row["value"] for row in rows] == numbers.tolist()
    assert [row["active"] for row in rows] == [True, False, False, True]
    assert [row["unit"] for row in rows if row["marked"]] == [4]


def test_a_grid_before_the_guess_tells_nothing():
    drawn = unit_grid(None, 1024, marked=3).to_dict()
    assert len(drawn["layer"]) == 1
    cells = drawn["data"]["values"]
    assert len({(cell["row"], cell["column"]) for cell in cells}) == 1024
    assert not any(cell["active"] or cell["value"] for cell in cells)


def test_a_grid_draws_no_more_units_than_it_has_room_for():
    assert len(values(unit_grid(np.ones(11_008), 11_008), 0)) == MOST_UNITS
    with pytest.raises(ValueError, match="3 values came for 4"):
        unit_grid(np.ones(3), 4)


@pytest.mark.parametrize("units", [*range(1, 60), 512, 1024, 3072])
def test_the_options_for_a_count_are_all_counts_once(units):
    groups = feed_forward.counts_to_guess(units)
    assert [count for group in groups for count in group] == list(range(units + 1))
    assert 2 <= len(groups) <= 6
    names = [feed_forward.count_name(group, units) for group in groups]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("layers", range(1, 49))
def test_the_options_for_a_layer_are_all_layers_once(layers):
    groups = neighbours.layer_groups(layers)
    assert [layer for group in groups for layer in group] == list(range(1, layers + 1))
    assert len(groups) <= 5
    assert max(len(neighbours.group_name(group)) for group in groups) <= 30


def test_the_curves_run_as_far_below_0_as_the_words_say():
    curves = {"gelu": nn.GELU(), "gelu-tanh": nn.GELU(approximate="tanh"), "silu": nn.SiLU()}
    grid = torch.linspace(-4, 0, 40_001, dtype=torch.float64)
    assert set(curves) == set(feed_forward.LEAST)
    for name, least in feed_forward.LEAST.items():
        assert math.isclose(float(curves[name](grid).min()), -least, abs_tol=0.005)


def word_row(*cosines: float) -> WordRow:
    near = tuple(
        Neighbour(word="w" * 12 + str(at), cosine=cosine, noise=cosine < 0.4) for at, cosine in enumerate(cosines)
    )
    return WordRow(word="word", token_id=7, row=np.ones(4), neighbours=near, chance=0.4)


def test_the_words_count_the_noise_and_options_stay_short():
    rows = {"one": word_row(0.9, 0.5, 0.3), "two": word_row(0.3, 0.2, 0.1)}
    names = words_as_vectors.asked_words(
        "word", rows, words_as_vectors.model_names({"one": "translates", "two": "x: y"})
    )
    assert "4 of the 6 words" in names["noise"]
    assert names["model"] == "the model that translates"
    assert names["others"].startswith("The model that x has")
    assert words_as_vectors.option(rows["one"].neighbours) == "wwwwwwwwwwww0, wwwwwwwwwwww1"
    near = (Neighbour(word="w" * 90, cosine=1.0, noise=False),)
    assert len(words_as_vectors.option(near)) <= 30


def test_models_that_do_the_same_are_called_by_their_names():
    names = words_as_vectors.model_names({"a": "translates", "b": "translates", "c": "judges texts: bad / good"})
    assert names == {"a": "a", "b": "b", "c": "the model that judges texts"}


def test_a_strip_says_by_what_its_row_is_multiplied():
    assert (
        words_as_vectors.strip_title(word_row(1.0), 16_000, 2.0)
        == "row 7 of 16,000: 4 numbers, each multiplied by √4 = 2.0"
    )
    assert words_as_vectors.strip_title(word_row(1.0), 16_000, 1.0) == "row 7 of 16,000: 4 numbers"
