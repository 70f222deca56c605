"""The pictures of the recorded trainings and measurements: every number read back, colours that stay, nothing early."""

import numpy as np
import pytest

from model.measures.learn.records.recurrence import cost_record, training_record
from model.measures.learn.recurrence.gradient_reach import GradientReach
from model.measures.learn.recurrence.recurrent_cost import LENGTHS
from viz.charts.learn.heads.mask_grid import mask_grids
from viz.charts.learn.recurrence.compared_bars import compared_bars
from viz.charts.learn.recurrence.compared_lines import Axis, ModelLine, compared_lines
from viz.charts.learn.recurrence.recurrence_lines import FIELDS, LEAST, accuracy_lines, cost_lines, gradient_lines
from viz.text.learn.stops import recurrent_network as words
from viz.theme import DARK, LIGHT

LINES = [
    ModelLine(name="one", colour="second", values={0: 1.0, 10: 0.25}),
    ModelLine(name="two", colour="accent", values={0: 1.0, 10: 4.0}),
]


def values(chart) -> list[dict]:
    return chart.to_dict()["data"]["values"]


def colours(chart) -> dict:
    layer = chart.to_dict()["layer"][0]
    scale = layer["encoding"]["color"]["scale"]
    return dict(zip(scale["domain"], scale["range"], strict=True))


def domains(chart) -> list:
    encoding = chart.to_dict()["layer"][0]["encoding"]
    return [encoding[side]["scale"]["domain"] for side in "xy"]


def test_lines_hold_every_number():
    rows = values(compared_lines(LINES, Axis(title="x"), Axis(title="y")))
    assert [(row["model"], row["place"], row["value"]) for row in rows] == [
        ("one", 0, 1.0), ("one", 10, 0.25), ("two", 0, 1.0), ("two", 10, 4.0)
    ]  # fmt: skip


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_a_line_keeps_its_colour_and_the_axes_whether_the_other_is_drawn_or_not(theme):
    both, alone = (
        compared_lines(LINES, Axis(title="x"), Axis(title="y"), drawn=d, theme=theme) for d in (None, ["two"])
    )
    assert {row["model"] for row in values(alone)} == {"two"}
    assert colours(both) == colours(alone) == {"one": theme.second, "two": theme.accent}
    assert domains(both) == domains(alone)


def test_lines_refuse_what_a_logarithm_cannot_show_and_names_that_come_twice():
    with pytest.raises(ValueError, match="wanted above 0"):
        compared_lines(
            [ModelLine(name="x", colour="accent", values={1: 0.0})], Axis(title=""), Axis(title="", log=True)
        )
    with pytest.raises(ValueError, match="not all different"):
        compared_lines([LINES[0], LINES[0]], Axis(title=""), Axis(title=""))


def test_gradients_are_drawn_from_the_last_token_back_beside_its_own():
    reach = GradientReach(lstm=(0.0, 0.5, 2.0), transformer=(1.0, 3.0, 4.0))
    rows = values(gradient_lines(reach))
    lstm = {row["place"]: row["value"] for row in rows if row["model"] == words.LSTM}
    transformer = {row["place"]: row["value"] for row in rows if row["model"] == words.TRANSFORMER}
    assert lstm == {0: 1.0, 1: 0.25, 2: LEAST}
    assert transformer == {0: 1.0, 1: 0.75, 2: 0.25}


@pytest.mark.parametrize("what", FIELDS)
def test_costs_are_drawn_as_recorded(what):
    costs = cost_record().costs
    drawn = {(row["model"], row["place"]): row["value"] for row in values(cost_lines(costs, what))}
    assert len(drawn) == 3 * len(LENGTHS)
    for cost in costs:
        number = {
            "forward": cost.forward_ms,
            "training": cost.training_ms,
            "memory": cost.forward_bytes / 1e6,
            "trainingmemory": cost.training_bytes / 1e6,
        }[what]
        assert drawn[words.NAMES[cost.model], cost.tokens] == number


def test_before_the_guess_the_lstm_alone_is_timed():
    chart = cost_lines(cost_record().costs, "forward", models=[words.LSTM])
    assert {row["model"] for row in values(chart)} == {words.LSTM}


def test_every_picture_gives_a_model_the_same_colour():
    reach = GradientReach(lstm=(0.5, 1.0), transformer=(0.5, 1.0))
    bars = compared_bars(["a"], {words.LSTM: [0.1], words.TRANSFORMER: [0.2]}, "share")
    for chart in (
        gradient_lines(reach),
        cost_lines(cost_record().costs, "forward"),
        accuracy_lines(training_record()),
        bars,
    ):
        assert colours(chart)[words.LSTM] == LIGHT.second
        assert colours(chart)[words.TRANSFORMER] == LIGHT.accent


def test_accuracy_is_drawn_over_the_recorded_steps():
    record = training_record()
    rows = values(accuracy_lines(record))
    for model in ("lstm", "transformer"):
        drawn = {row["place"]: row["value"] for row in rows if row["model"] == words.NAMES[model]}
        assert drawn == record.curve(model)


def test_bars_hold_every_share_and_those_of_one_model_alone_before_the_guess():
    shares = {"one": [0.25, 0.5], "two": [0.125, 1.0]}
    rows = values(compared_bars(["a", "b"], shares, "share"))
    assert {(row["model"], row["group"]): row["share"] for row in rows} == {
        ("one", "a"): 0.25,
        ("one", "b"): 0.5,
        ("two", "a"): 0.125,
        ("two", "b"): 1.0,
    }
    assert {row["model"] for row in values(compared_bars(["a", "b"], shares, "share", drawn=["two"]))} == {"two"}


def test_bars_begin_at_nothing_and_long_names_stand_aslant():
    narrow, wide = (
        compared_bars(names, {"one": [0.9] * 4, "two": [0.8] * 4}, "share").to_dict()["layer"][0]["encoding"]
        for names in (["1–128", "129–256", "257–512", "513–2,314"], ["once upon", "a time there", "was", "a girl"])
    )
    assert wide["y"]["scale"]["domain"] == [0, 1]
    assert [each["x"]["axis"]["labelAngle"] for each in (narrow, wide)] == [0, -45]


def test_whole_numbers_on_an_even_axis_are_not_written_as_powers():
    """Vega gives a format of type g as many digits as tell the ticks apart: one, of 0 and 500."""
    lines = [ModelLine(name="a", colour="accent", values={1: 2.0, 2: 500.0})]
    even, log = (
        compared_lines(lines, Axis(title="x"), Axis(title="y", log=log)).to_dict()["layer"][0]["encoding"]["y"]["axis"]
        for log in (False, True)
    )
    assert (even["format"], log["format"]) == (",~f", ",~g")


def test_bars_refuse_groups_of_one_name_and_missing_shares():
    with pytest.raises(ValueError, match="one name"):
        compared_bars(["a", "a"], {"one": [0.1, 0.2], "two": [0.1, 0.2]}, "")
    with pytest.raises(ValueError, match="of two models"):
        compared_bars(["a"], {"one": [0.1, 0.2], "two": [0.1]}, "")


def test_the_grids_show_who_looks_at_what_and_ring_the_answer():
    masks = {"with": np.tril(np.ones((3, 3), bool)), "without": np.ones((3, 3), bool)}
    rows = mask_grids("a b", masks).to_dict()["layer"][0]["data"]["values"]
    for number, (name, mask) in enumerate(masks.items()):
        cells = [row for row in rows if row["grid"] == name]
        seen = [[row["seen"] for row in cells if row["top"] == query] for query in range(3)]
        assert seen == mask.tolist()
        assert [(row["top"], row["left"] - 4 * number) for row in cells if row["answer"]] == [(0, 1), (1, 2)]
    with pytest.raises(ValueError, match="wanted one row"):
        mask_grids("ab", masks)
