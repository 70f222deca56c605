"""Lines, small matrices, the split into heads and the script of a broken run: they hold the numbers given."""

import math
import subprocess
import sys

import numpy as np
import pytest

from model import Edits, load_checkpoint
from model.measures.comparison import stream_distances
from tests.running import ROOT
from tests.viz.charts.test_figures import contrast
from viz.charts.causes.comparison import MOST_SIGNED
from viz.charts.lines import DASHES, line_chart
from viz.charts.number_matrices import joined_chart, matrix_table, split_chart
from viz.export.edited_script import edited_script
from viz.theme import DARK, LIGHT, colour_at


def rows(chart) -> list[dict]:
    return chart.to_dict()["data"]["values"]


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_lines_hold_their_values_and_differ_in_dash_and_colour(theme):
    chart = line_chart(["1", "2"], {"a": [1.0, math.inf], "b": np.array([3.0, 4.0])}, ("layer", "value"), theme=theme)
    points = [(row["line"], row["place"], row["value"]) for row in rows(chart)]
    assert points == [("a", "1", 1.0), ("a", "2", None), ("b", "1", 3.0), ("b", "2", 4.0)]
    lines = chart.to_dict()["layer"][0]["encoding"]
    assert lines["strokeDash"]["scale"]["range"] == [list(dash) for dash in DASHES[:2]]
    assert lines["color"]["scale"] == {"domain": ["a", "b"], "range": list(theme.heads[:2])}


def test_lines_over_numbers_stand_on_logarithmic_axes():
    drawn = line_chart([2, 4], {"a": [1.0, 2.0]}, ("d_k", "spread"), log=True).to_dict()
    for encoding in (layer["encoding"] for layer in drawn["layer"]):
        assert encoding["x"]["scale"]["type"] == encoding["y"]["scale"]["type"] == "log"
        assert encoding["color"]["legend"] is None, "one line needs no legend"


def test_lines_refuse_what_does_not_fit():
    with pytest.raises(ValueError, match="each of 2 places"):
        line_chart(["1", "2"], {"a": [1.0]}, ("", ""))
    with pytest.raises(ValueError, match="wanted 1 to 4"):
        line_chart(["1"], {name: [1.0] for name in "abcde"}, ("", ""))


@pytest.mark.parametrize(("weights", "most"), [(True, 1), (False, 3.5)])
def test_a_small_matrix_shows_every_number_and_keeps_all_digits(weights, most):
    numbers = np.array([[1 / 3, -math.inf], [-3.5, 0.0]])
    table = matrix_table("Step", numbers, ["q1", "q2"], ["k1", "k2"], weights=weights)
    assert (table["title"], table["columns"], [row["name"] for row in table["rows"]]) == (
        "Step",
        ["k1", "k2"],
        ["q1", "q2"],
    )
    cells = [cell for row in table["rows"] for cell in row["cells"]]
    assert [cell["text"] for cell in cells] == ["0.333", "−∞", "−3.5", "0"]
    assert [cell["number"] for cell in cells] == [1 / 3, None, -3.5, 0.0]
    assert cells[0]["exact"] == f"Step: q1, k1: {1 / 3!r}"
    assert (table["signed"], table["most"]) == (not weights, most)


def test_a_small_matrix_of_zeros_can_be_drawn_and_one_without_names_cannot():
    assert matrix_table("", np.zeros((1, 1)), ["q1"], ["k1"])["most"] == 1
    with pytest.raises(ValueError, match="wanted"):
        matrix_table("", np.zeros((1, 2)), ["q1"], ["k1"])


@pytest.mark.parametrize("make", [joined_chart, split_chart])
def test_the_cut_leaves_every_coordinate_where_it_was(make):
    joined = np.arange(12.0).reshape(3, 4)
    cells = rows(make(joined))
    assert [cell["number"] for cell in cells] == list(range(12))
    assert [cell["coordinate"] for cell in cells] == list(range(1, 13))
    assert [(cell["head"], cell["within"]) for cell in cells[3:5]] == [("1", 4), ("2", 1)]


def test_a_coordinate_far_from_0_carries_its_sign_where_a_cell_has_room():
    joined = np.array([[-8.0, 8.0, -1.9], [2.0, -2.0, 0.0]])
    drawn = split_chart(joined).to_dict()
    assert [cell["sign"] for cell in drawn["data"]["values"]] == ["−", "+", "", "+", "−", ""]
    (signs,) = [layer for layer in drawn["layer"] if layer["mark"]["type"] == "text"]
    assert signs["encoding"]["text"]["field"] == "sign"
    assert {cell["sign"] for cell in rows(split_chart(np.ones((1, MOST_SIGNED + 1))))} == {""}


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_the_sign_of_a_coordinate_can_be_read_on_its_colour(theme):
    drawn = split_chart(np.linspace(-3, 3, 41)[None], theme=theme).to_dict()
    (cells,) = [layer for layer in drawn["layer"] if layer["mark"]["type"] == "rect"]
    scale = cells["encoding"]["color"]["scale"]
    assert scale["interpolate"] == "rgb"
    stops = list(zip(scale["domain"], scale["range"], strict=True))
    values = drawn["data"]["values"]
    assert min(contrast(cell["ink"], colour_at(stops, cell["number"])) for cell in values) >= 4.5
    (signs,) = [layer for layer in drawn["layer"] if layer["mark"]["type"] == "text"]
    assert signs["encoding"]["color"] == {"field": "ink", "scale": None, "type": "nominal"}


def test_the_script_of_a_broken_run_prints_how_far_the_stream_moved():
    text, edits = "It's \"good\" '''\n{text} 😀", Edits(scale=1.0, unpositioned=frozenset({"encoder"}))
    script = edited_script("sentiment", text, edits, labels=True)
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    checkpoint = load_checkpoint("sentiment")
    stacks = [checkpoint.trace(text, edits=each).encoder for each in (Edits(), edits)]
    streams = [[block.stream_out for block in stack.blocks] for stack in stacks if stack is not None]
    lines = [f"encoder, layer {at}: the stream moved by {far:.6f}" for at, far in enumerate(stream_distances(*streams))]
    assert [line.removesuffix(" of its length") for line in output.splitlines()[:4]] == lines
    assert output.splitlines()[-1] == str(checkpoint.classify(text, edits=edits))


def test_the_script_of_an_encoder_decoder_gives_both_runs_the_same_target():
    script = edited_script("translate-en-fr", "A cat.", Edits(scale=1.0), writes=True)
    checks = "\nassert before.decoder.ids.tolist() == after.decoder.ids.tolist()\n"
    run = subprocess.run([sys.executable, "-c", script + checks], capture_output=True, text=True, check=True, cwd=ROOT)
    assert run.stdout.count("decoder, layer") == 3
