"""The bars of tokens and the rollout by layer: their numbers, read back out of the charts."""

import numpy as np
import pytest

from viz.charts.causes.token_measures import BAR, CHOSEN, layer_shares, token_bars
from viz.text.causes.token_measures import MEASURES, OMISSION
from viz.theme import DARK, LIGHT

TOKENS = ("a", 'b"\\', "c")
VALUES = {name: np.array([0.2, 0.5, 0.3]) for name in MEASURES} | {
    "integrated": np.array([-1.0, 3.0, 0.0]),
    OMISSION: np.array([np.nan, 0.4, -0.1]),
}


def bars_of(spec):
    bars = spec["layer"][1]["data"]["values"]
    return {(bar["measure"], bar["position"]): bar for bar in bars}


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_every_number_is_a_bar_on_the_scale_of_its_column(theme):
    spec = token_bars(TOKENS, VALUES, range(3), chosen=1, theme=theme).to_dict()
    bars = bars_of(spec)
    for column, (name, values) in enumerate((name, VALUES[name]) for name in MEASURES):
        lowest, highest = min(0.0, np.nanmin(values)), max(0.0, np.nanmax(values))
        unit = BAR / (highest - lowest)
        for at, value in enumerate(values):
            if np.isnan(value):
                assert (name, at) not in bars
                continue
            bar = bars[name, at]
            assert bar["value"] == value
            assert bar["end"] - bar["start"] == pytest.approx(abs(value) * unit)
            assert bar["start"] == pytest.approx(column + (min(value, 0.0) - lowest) * unit)
    assert bars["attention", 1]["colour"] == theme.weights[-1], "the largest of its column"
    assert bars["integrated", 1]["colour"] == theme.above[-1]
    assert len({bars["integrated", at]["colour"] for at in (0, 1, 2)}) == 3


def test_every_row_says_its_numbers_and_carries_its_position():
    spec = token_bars(TOKENS, VALUES, [0, 2], chosen=2).to_dict()
    rows = spec["layer"][0]["data"]["values"]
    assert [row["position"] for row in rows] == [0, 2]
    assert "attention, rolled out: 30.0" in rows[1]["said"]
    assert {position for _, position in bars_of(spec)} == {0, 2}
    pick = next(parameter for parameter in spec["params"] if parameter["name"] == CHOSEN)
    assert pick["value"] == [{"position": 2}]


def test_beside_every_bar_stands_its_number():
    spec = token_bars(TOKENS, VALUES, range(3)).to_dict()
    numbers = spec["layer"][2]
    assert numbers["encoding"]["text"]["field"] == "number"
    said = {(row["measure"], row["position"]): row["number"] for row in numbers["data"]["values"]}
    assert [said["attention", at] for at in range(3)] == ["20.0", "50.0", "30.0"]
    assert [said["integrated", at] for at in range(3)] == ["−1.00", "+3.00", "0.00"]
    assert [said[OMISSION, at] for at in (1, 2)] == ["+40.0", "−10.0"]
    assert (OMISSION, 0) not in said


def test_values_of_other_tokens_are_refused():
    with pytest.raises(ValueError, match="values for 2 tokens"):
        token_bars(TOKENS[:2], VALUES, [0])
    with pytest.raises(ValueError, match="shares of 3 tokens"):
        layer_shares(TOKENS[:2], np.ones((2, 3)), [0])


def test_every_share_is_a_cell_of_its_layer():
    shares = np.array([[0.0, 1.0, 0.25], [0.5, 0.25, 0.25]])
    spec = layer_shares(TOKENS, shares, [0, 2]).to_dict()
    cells = {(int(row["layer"]) - 1, row["position"]): row for row in spec["data"]["values"]}
    assert {place: cell["share"] for place, cell in cells.items()} == {
        (layer, at): shares[layer, at] for layer in (0, 1) for at in (0, 2)
    }
    assert cells[0, 0]["colour"] == LIGHT.background
    assert cells[1, 0]["said"].replace("\u00a0", " ") == "a: 50.0 % after layer 2"
