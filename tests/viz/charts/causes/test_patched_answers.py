"""The effect matrix: its numbers, its signs, and what does not fit together."""

import numpy as np
import pytest

from viz.charts.causes.patched_answers import patch_grid

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


def test_names_and_words_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="2 names"):
        patch_grid(EFFECTS, SAID, ["1 · a", "2 · b"], "position", signed=True)
