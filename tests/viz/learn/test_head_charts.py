"""The charts of the questions about heads: they hold the numbers that they are given, and hide them until the guess."""

import json

import numpy as np
import pytest

from tests.viz.charts.test_figures import contrast
from viz.charts.learn.heads.head_cut import MOST as MOST_POSITIONS
from viz.charts.learn.heads.head_cut import head_cut_chart
from viz.charts.learn.heads.head_grid import MUTED, head_grid
from viz.charts.learn.heads.muted_heads import muted_heads_chart
from viz.charts.learn.heads.row import MOST, row_chart
from viz.charts.learn.heads.verdicts import UNKNOWN, verdict_chart
from viz.theme import DARK, LIGHT

THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
TOKENS = ("the", "film", "the", "<b>")
WEIGHTS = np.array([0.1, 0.25, 0.6, 0.05])


def rows(chart) -> list[dict]:
    """What the first layer draws."""
    spec = chart.to_dict()
    return spec.get("data", spec["layer"][0].get("data"))["values"]


def marks(chart) -> list[str]:
    return [layer["mark"]["type"] for layer in chart.to_dict()["layer"]]


def test_a_row_has_a_bar_for_every_token_and_marks_query_and_key():
    chart = row_chart(TOKENS, WEIGHTS, 1, key=2)
    assert [(row["place"], row["token"], row["weight"]) for row in rows(chart)] == [
        (place, token, weight) for place, (token, weight) in enumerate(zip(TOKENS, WEIGHTS.tolist(), strict=True))
    ]
    assert [row["place"] for row in rows(chart) if row["asks"]] == [1]
    assert [row["place"] for row in rows(chart) if row["marked"]] == [2]
    assert rows(chart)[2]["said"] == "60\u00a0%"


def test_a_hidden_row_draws_no_weight():
    hidden, seen = row_chart(TOKENS, WEIGHTS, 1, hidden=True), row_chart(TOKENS, WEIGHTS, 1, key=2)
    assert len(marks(hidden)) == len(marks(seen)) - 2
    assert {(row["weight"], row["said"], row["marked"]) for row in rows(hidden)} == {(0, "", False)}


def test_a_long_row_keeps_the_largest_weights_and_sums_the_others():
    weights = np.random.default_rng(0).dirichlet(np.ones(300))
    chart = rows(row_chart([f"w{place}" for place in range(300)], weights, 7, key=int(weights.argmax())))
    kept = {row["place"] for row in chart[:-1]}
    assert set(np.argsort(weights)[-MOST:].tolist()) | {5, 6, 7, 8, 9} == kept
    assert chart[-1]["token"] == f"{300 - len(kept)} others"
    assert sum(row["weight"] for row in chart) == pytest.approx(1)


def test_a_row_of_another_length_is_refused():
    with pytest.raises(ValueError, match="4 tokens came with 3"):
        row_chart(TOKENS, WEIGHTS[:3], 0)


@THEMES
def test_verdicts_hold_their_shares_and_hide_what_is_not_known(theme):
    chart = verdict_chart(["plain", "muted"], [0.9392, None], "probability", even=0.5, theme=theme)
    assert [(row["name"], row["share"], row["said"]) for row in rows(chart)] == [
        ("plain", 0.9392, "93.9\u00a0%"),
        ("muted", None, UNKNOWN),
    ]
    _, line, *gaps, number, name = chart.to_dict()["layer"]
    assert line["data"]["values"] == [{"even": 0.5}]
    for gap, text in zip(gaps, (number, name), strict=True):  # no line through a text
        assert (gap["mark"]["stroke"], gap["encoding"]) == (theme.background, text["encoding"])
    assert len(verdict_chart(["plain"], [0.2], "p").to_dict()["layer"]) == 3
    with pytest.raises(ValueError, match="1 names came with 2"):
        verdict_chart(["plain"], [0.2, 0.3], "p")


@THEMES
def test_a_grid_shades_heads_by_their_shares_and_crosses_out_the_muted(theme):
    shares = np.array([[0.0, 0.5, 1.0], [0.2, 0.0, 0.9]])
    cells = rows(head_grid(shares, {(0, 2), (1, 0)}, theme=theme))
    assert [cell["share"] for cell in cells] == shares.ravel().tolist()
    assert [(cell["layer"], cell["head"]) for cell in cells if cell["mark"] == MUTED] == [(1, 3), (2, 1)]
    assert (cells[0]["fill"], cells[2]["fill"]) == (theme.weights[0], theme.weights[-1])
    assert all(contrast(cell["fill"], cell["ink"]) >= 4.5 for cell in cells)


def test_a_hidden_grid_is_of_one_colour_and_its_tooltips_name_no_share():
    chart = head_grid(np.array([[0.0, 0.5]]), (), hidden=True)
    assert {(cell["fill"], cell["share"]) for cell in rows(chart)} == {(LIGHT.weights[0], 0)}
    assert "said" not in json.dumps(chart.to_dict()["layer"])
    with pytest.raises(ValueError, match="wanted some of 1 layers with 2 heads"):
        head_grid(np.zeros((1, 2)), {(1, 0)})


def test_the_curve_has_a_point_for_every_number_of_muted_heads():
    shares, stays = np.array([0.9, 0.95, 0.3]), np.array([True, True, False])
    chart = muted_heads_chart(shares, stays, 1, "probability")
    points = [(row["count"], row["share"], row["answer"]) for row in rows(chart)]
    assert points == [(0, 0.9, "the same answer"), (1, 0.95, "the same answer"), (2, 0.3, "another answer")]
    assert chart.to_dict()["layer"][-1]["data"]["values"][0]["said"] == "1 muted: 95.0\u00a0%"
    hidden = muted_heads_chart(shares, stays, 1, "p", hidden=True)
    assert [row["share"] for row in rows(hidden)] == [0.9]
    assert "0.95" not in json.dumps(hidden.to_dict())
    with pytest.raises(ValueError, match="3 chosen"):
        muted_heads_chart(shares, stays, 3, "p")


@THEMES
def test_the_cut_names_the_token_of_every_cell(theme):
    origins = np.array([[[0, 0], [1, 0]], [[0, 1], [1, 1]]])
    cells = rows(head_cut_chart(origins, ("the", " film"), theme=theme))
    assert [(cell["head"], cell["position"], cell["token"]) for cell in cells] == [
        (1, 1, "the"), (1, 2, "the"), (2, 1, "film"), (2, 2, "film"),
    ]  # fmt: skip
    assert cells[1]["cell"] == "head 1, position 2"
    assert cells[1]["holds"] == "head 2 of “the”"
    assert all(contrast(cell["fill"], cell["ink"]) >= 4.5 for cell in cells)


def test_a_long_cut_shows_the_first_positions():
    origins = np.zeros((3, 40, 2), int)
    cells = rows(head_cut_chart(origins, ["w"] * 40))
    assert {cell["position"] for cell in cells} == set(range(1, MOST_POSITIONS + 1))
    with pytest.raises(ValueError, match="40 positions came with 2"):
        head_cut_chart(origins, ["w"] * 2)
