"""The grid of heads: its numbers, its words and its colours, read back out of the chart."""

import numpy as np
import pytest

from viz.charts.causes.head_effects import CHOSEN, TURNS, effect_grid
from viz.charts.causes.muting_curve import SAYS, muting_curve
from viz.theme import DARK, LIGHT

EFFECTS = np.array([[-0.25, 0.1, 0.0002], [0.0, np.nan, 0.5]])
SAID = {site: f"head {site}" for site in np.ndindex(2, 3)}


def rows_of(spec):
    return {(row["layer"], row["head"]): row for row in spec["data"]["values"]}


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_every_number_stands_in_its_cell_and_colours_follow_its_sign(theme):
    spec = effect_grid(EFFECTS, SAID, signed=True, chosen=(1, 2), muted={(0, 1)}, theme=theme).to_dict()
    rows = rows_of(spec)
    assert {site: row["effect"] for site, row in rows.items() if site != (1, 1)} == {
        site: EFFECTS[site] for site in SAID if site != (1, 1)
    }
    assert [rows[site]["text"] for site in sorted(SAID)] == ["−25.0", "+10.0 ×", "0.0", "0.0", "", "+50.0"]
    assert rows[1, 1]["effect"] is None
    assert rows[1, 1]["colour"] == theme.grid
    assert rows[1, 2]["colour"] == theme.below[-1]
    assert rows[1, 0]["colour"] == theme.background
    red, _, blue = (int(rows[0, 0]["colour"][place : place + 2], 16) for place in (1, 3, 5))
    assert red < blue, "blue, where the answer needs the head"
    assert [rows[site]["said"] for site in SAID] == list(SAID.values())
    (parameter,) = spec["params"]
    assert (parameter["name"], parameter["value"]) == (CHOSEN, [{"layer": 1, "head": 2}])
    assert spec["layer"][0]["encoding"]["y"]["sort"] == ["1", "2"], "the first layer is at the top, as in Explore"


def test_sizes_without_a_sign_begin_at_the_pages_colour():
    spec = effect_grid(np.abs(EFFECTS), SAID, signed=False).to_dict()
    rows = rows_of(spec)
    assert rows[1, 2]["colour"] == LIGHT.weights[-1]
    assert rows[1, 0]["text"] == "0.0"
    assert rows[0, 0]["text"] == "25.0"


def test_where_all_effects_are_small_the_picture_is_pale():
    rows = rows_of(effect_grid(EFFECTS / 100, SAID, signed=True).to_dict())
    assert rows[1, 2]["colour"] not in (LIGHT.below[-1], LIGHT.background)
    large = rows_of(effect_grid(EFFECTS, SAID, signed=True).to_dict())
    assert large[0, 1]["colour"] not in (rows[0, 1]["colour"], LIGHT.below[-1])


def test_a_head_without_which_the_answer_is_another_is_marked_and_the_legend_says_how():
    spec = effect_grid(EFFECTS, SAID, signed=True, turned={(1, 0)}, muted={(1, 0)}).to_dict()
    assert rows_of(spec)[1, 0]["text"] == "0.0 ≠ ×"
    assert spec["layer"][-1]["encoding"]["color"]["legend"]["title"][-1] == TURNS
    unmarked = effect_grid(EFFECTS, SAID, signed=True).to_dict()
    assert TURNS not in unmarked["layer"][-1]["encoding"]["color"]["legend"]["title"]


def test_many_heads_have_no_room_for_numbers():
    many = np.zeros((2, 20))
    spec = effect_grid(many, dict.fromkeys(np.ndindex(2, 20), "x"), signed=True).to_dict()
    assert [layer["mark"]["type"] for layer in spec["layer"]] == ["rect", "rect", "point"], (
        "cells, the ring, the legend"
    )
    spec = effect_grid(many, dict.fromkeys(np.ndindex(2, 20), "x"), signed=True, muted={(0, 3)}).to_dict()
    assert [layer["mark"]["type"] for layer in spec["layer"]] == ["rect", "text", "rect", "point"], (
        "the cross has to be seen"
    )


def test_words_for_other_heads_are_refused():
    with pytest.raises(ValueError, match="words for 1 heads"):
        effect_grid(EFFECTS, {(0, 0): "x"}, signed=True)


@pytest.mark.parametrize(("in_nats", "most", "text"), [(False, 50, "+50.0"), (True, 0.5, "+0.50")])
def test_the_legend_has_the_colours_of_the_cells_in_their_unit(in_nats, most, text):
    spec = effect_grid(EFFECTS, SAID, signed=True, in_nats=in_nats).to_dict()
    scale = spec["layer"][-1]["encoding"]["color"]["scale"]
    assert (scale["domain"][0], scale["domain"][-1]) == (-most, most)
    assert (scale["range"][0], scale["range"][-1]) == (LIGHT.above[-1], LIGHT.below[-1])
    assert rows_of(spec)[1, 2]["text"] == text


def test_the_curve_marks_where_the_answer_becomes_another():
    values, turned = np.array([0.9, 0.6, 0.4, 0.7]), np.array([False, False, True, False])
    layers = muting_curve([0, 10, 20, 48], values, turned, "probability").to_dict()["layer"]
    rows = layers[0]["data"]["values"] if "data" in layers[0] else []
    rows = rows or muting_curve([0, 10, 20, 48], values, turned, "probability").to_dict()["data"]["values"]
    assert [(row["count"], row["value"]) for row in rows] == [(0, 0.9), (10, 0.6), (20, 0.4), (48, 0.7)]
    assert [row["says"] == SAYS[1] for row in rows] == turned.tolist()
    assert layers[2]["data"]["values"][0]["count"] == 20
    assert layers[0]["encoding"]["x"]["type"] == "quantitative"
    assert len(muting_curve([0, 1], values[:2], turned[:2], "probability").to_dict()["layer"]) == 2
    with pytest.raises(ValueError, match="counts"):
        muting_curve([0, 1], values, turned, "probability")
