"""The effect matrix: its numbers, its signs, and what does not fit together."""

import numpy as np
import pytest

from viz.charts.causes.patched_answers import CHANGE, patch_grid
from viz.theme import LIGHT

EFFECTS = np.array([[0.4, -0.2, np.nan], [0.0, 0.01, -0.3]])
SAID = {site: str(site) for site in np.ndindex(2, 3)}


def test_every_cell_holds_its_number_and_the_larger_ones_their_sign():
    chart = patch_grid(EFFECTS, SAID, ["1 · a", "2 · b", "3 · c"], "position", signed=True).to_dict()
    cells = {(row["layer"], row["head"]): row for row in chart["data"]["values"]}
    numbers = [np.nan if cells[site]["effect"] is None else cells[site]["effect"] for site in np.ndindex(2, 3)]
    np.testing.assert_array_equal(np.reshape(numbers, (2, 3)), EFFECTS)
    assert [cells[site]["sign"] for site in np.ndindex(2, 3)] == ["+", "−", "", "", "", "−"]
    assert cells[0, 2]["text"] == ""
    assert cells[1, 2]["column name"] == "3 · c"


def test_blue_is_where_the_answer_becomes_likelier_and_the_legend_says_so():
    chart = patch_grid(EFFECTS, SAID, ["1 · a", "2 · b", "3 · c"], "position", signed=True).to_dict()
    colours = {(row["layer"], row["head"]): row["colour"] for row in chart["data"]["values"]}
    assert colours[0, 0] == LIGHT.above[-1]
    red, _, blue = (int(colours[0, 1][place : place + 2], 16) for place in (1, 3, 5))
    assert red > blue, "orange where it becomes less likely"
    scale = chart["layer"][-1]["encoding"]["color"]
    assert scale["legend"]["title"] == CHANGE
    assert (scale["scale"]["domain"][0], scale["scale"]["domain"][-1]) == (-40, 40)
    assert (scale["scale"]["range"][0], scale["scale"]["range"][-1]) == (LIGHT.below[-1], LIGHT.above[-1])


def test_names_and_words_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="2 names"):
        patch_grid(EFFECTS, SAID, ["1 · a", "2 · b"], "position", signed=True)
