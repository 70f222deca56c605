"""The charts of the question what holds a stack up: their numbers, read back."""

import numpy as np
import pytest

from viz.charts.learn.norm_rows import norm_rows
from viz.charts.learn.verdict_pairs import verdict_pairs
from viz.theme import DARK, LIGHT


def rows_of(chart: dict) -> list[dict]:
    return chart["data"]["values"]


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_every_cell_of_a_norms_rows_is_a_number_of_its_step(theme):
    steps = {"before": np.array([1.0, -2.0, 3.0]), "after": np.array([0.5, -0.5, 0.0])}
    chart = norm_rows(steps, theme=theme).to_dict()
    (layer,) = chart["layer"]
    numbers = {(row["name"], row["place"]): row["number"] for row in rows_of(chart)}
    assert numbers == {(name, place): step[place] for name, step in steps.items() for place in range(3)}
    scale = layer["encoding"]["color"]["scale"]
    assert (scale["domain"][0], scale["domain"][-1]) == (-3, 3)
    assert scale["range"][len(scale["range"]) // 2] == theme.background


def test_rows_of_different_widths_are_refused():
    with pytest.raises(ValueError, match="wanted one width"):
        norm_rows({"before": np.zeros(3), "after": np.zeros(2)})


def test_each_sentence_has_its_bar_before_and_after():
    names, before, after = ["one", "two", "one"], [0.9, 0.2, 0.5], [0.4, 0.45, 0.5]
    layers = verdict_pairs(names, before, after, ("with", "without"), "probability").to_dict()["layer"]
    bars = [rows_of(layer) for layer in layers if layer["mark"]["type"] == "bar"]
    assert [[row["share"] for row in bar] for bar in bars] == [before, after]
    assert [row["name"] for row in bars[0]] == names
    assert len({row["place"] for row in bars[0]}) == 3  # of one name, two sentences are two


def test_what_is_to_be_guessed_is_not_in_the_chart():
    layers = verdict_pairs(["one"], [0.9], None, ("with", "without"), "probability").to_dict()["layer"]
    assert len([layer for layer in layers if layer["mark"]["type"] == "bar"]) == 1
    with pytest.raises(ValueError, match="names came with"):
        verdict_pairs(["one"], [0.9, 0.1], None, ("with", "without"), "probability")
