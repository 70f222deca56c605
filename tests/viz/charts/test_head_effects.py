"""The grid of heads: its numbers, its words and its colours, read back out of the chart."""

import numpy as np
import pytest

from viz.charts.head_effects import CHOSEN, effect_grid
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
    assert rows[1, 2]["colour"] == theme.above[-1]
    assert rows[1, 0]["colour"] == theme.background
    red, _, blue = (int(rows[0, 0]["colour"][place : place + 2], 16) for place in (1, 3, 5))
    assert red > blue, "orange, where the answer needs the head"
    assert [rows[site]["said"] for site in SAID] == list(SAID.values())
    (parameter,) = spec["params"]
    assert (parameter["name"], parameter["value"]) == (CHOSEN, [{"layer": 1, "head": 2}])
    assert spec["layer"][0]["encoding"]["y"]["sort"] == ["2", "1"], "the first layer is at the bottom"


def test_sizes_without_a_sign_begin_at_the_pages_colour():
    spec = effect_grid(np.abs(EFFECTS), SAID, signed=False).to_dict()
    rows = rows_of(spec)
    assert rows[1, 2]["colour"] == LIGHT.weights[-1]
    assert rows[1, 0]["text"] == "0.0"
    assert rows[0, 0]["text"] == "25.0"


def test_where_all_effects_are_small_the_picture_is_pale():
    rows = rows_of(effect_grid(EFFECTS / 100, SAID, signed=True).to_dict())
    assert rows[1, 2]["colour"] not in (LIGHT.above[-1], LIGHT.background)
    large = rows_of(effect_grid(EFFECTS, SAID, signed=True).to_dict())
    assert large[0, 1]["colour"] not in (rows[0, 1]["colour"], LIGHT.above[-1])


def test_many_heads_have_no_room_for_numbers():
    many = np.zeros((2, 20))
    spec = effect_grid(many, dict.fromkeys(np.ndindex(2, 20), "x"), signed=True).to_dict()
    assert [layer["mark"]["type"] for layer in spec["layer"]] == ["rect", "rect"], "cells, and the ring"
    spec = effect_grid(many, dict.fromkeys(np.ndindex(2, 20), "x"), signed=True, muted={(0, 3)}).to_dict()
    assert [layer["mark"]["type"] for layer in spec["layer"]] == ["rect", "text", "rect"], "the cross has to be seen"


def test_words_for_other_heads_are_refused():
    with pytest.raises(ValueError, match="words for 1 heads"):
        effect_grid(EFFECTS, {(0, 0): "x"}, signed=True)
