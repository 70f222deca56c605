"""Measures of heads in the explorer's grid: names, order, numbers, and what the browser is sent."""

import csv
import io
import json

import numpy as np
import pytest

from model import load_checkpoint
from model.checkpoint import CHECKPOINTS
from model.edits.sites import SublayerSite
from model.measures.causes.flow import added_lengths, attention_module
from model.measures.causes.resumed_pass import attention_at
from model.measures.head_kinds import KINDS
from model.measures.head_scores.score_file import read_head_scores
from viz.charts.head_statistics import TITLES
from viz.explorer import head_measures
from viz.explorer.head_measures import HeadMeasure, largest_magnitude, ranks, value_text
from viz.explorer.view import MEASURES, OVER_TEXTS, STATISTICS, View
from viz.export.data_files import measures_csv
from viz.text.head_kind_tables import NAMES

NAN = float("nan")


def of(values: list[list[float]]) -> HeadMeasure:
    return HeadMeasure(name="entropy", group="this text", label="a", said="b", values=np.array(values))


def test_every_measure_that_can_be_made_can_be_chosen_and_no_other():
    shape = np.zeros((1, 1))
    made = [
        *head_measures.of_statistics(dict.fromkeys(TITLES, shape)),
        *head_measures.of_excess(dict.fromkeys(KINDS, shape)),
        *head_measures.of_moved(shape),
        *head_measures.of_muting(shape, signed=True),
    ]
    assert tuple(TITLES) == STATISTICS
    names = {"", *(measure.name for measure in made), *(f"{OVER_TEXTS}{kind}" for kind in NAMES)}
    assert names == set(MEASURES)
    with pytest.raises(ValueError, match="measure"):
        View(measure="importance")


def test_the_head_with_most_comes_first_of_equals_the_earlier_and_those_without_a_number_last():
    assert ranks(np.array([[0.5, NAN, -1], [2, 0.5, 0]])) == [(1, 0), (0, 0), (1, 1), (1, 2), (0, 2), (0, 1)]


def test_of_effects_the_one_with_the_largest_size_comes_first():
    (effects,) = head_measures.of_muting(np.array([[0.5, NAN, -1], [2, 0.5, 0]]), signed=True)
    assert effects.to_message()["by_size"]
    assert effects.values[0, 0] == -0.5, "an answer that gains without the head loses less than nothing"
    assert head_measures.of_muting(np.array([[0.5]]), signed=False)[0].values[0, 0] == 0.5
    found = ranks(effects.values, by_size=effects.by_size)
    assert found == [(1, 0), (0, 2), (0, 0), (1, 1), (1, 2), (0, 1)]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.125, "0.13"), (-0.125, "−0.13"), (0.42, "0.42"), (3.14, "3.1"), (12.5, "13"), (0, "0.00"), (NAN, "")],
)
def test_a_number_has_three_figures_at_most(value, text):
    assert value_text(value) == text


def test_what_rounds_to_nothing_has_no_sign():
    assert [value_text(value) for value in (-0.004, 0.004, -0.006)] == ["0.00", "0.00", "−0.01"]


def test_a_whole_bar_is_the_largest_magnitude():
    assert largest_magnitude(np.array([[0.5, -2.0], [NAN, 1.0]])) == 2
    assert largest_magnitude(np.array([[0.004, -0.0149]])) == 1, "all are next to 0"
    assert largest_magnitude(np.array([[0.004, -0.0151]])) == 0.0151
    assert largest_magnitude(np.zeros((2, 2))) == largest_magnitude(np.full((2, 2), NAN)) == 1


def test_the_browser_gets_plain_numbers_and_null_for_none():
    message = of([[0.123456, NAN]]).to_message()
    assert json.loads(json.dumps(message, allow_nan=False))["values"] == [[0.1235, None]]


def test_measures_over_texts_are_scores_less_nulls_of_the_file():
    scores = read_head_scores(CHECKPOINTS / "stories")
    assert scores is not None
    measures = {measure.name: measure for measure in head_measures.of_scores(scores, "decoder")}
    table = scores.kinds["decoder"]["induction"]
    assert np.array_equal(measures["texts.induction"].values, table.scores - table.nulls)
    assert not head_measures.of_scores(scores, "encoder")


def test_what_a_head_adds_is_as_long_as_its_part_of_the_output_projection():
    checkpoint, site = load_checkpoint("sentiment"), SublayerSite("encoder", 1, "self")
    module, attention = attention_module(checkpoint.model, site), attention_at(checkpoint.trace("a good film"), site)
    lengths = added_lengths(module, attention).numpy()
    weight, width = module.output.weight.detach().numpy(), 16
    for head in range(8):
        added = attention.context[head].numpy() @ weight[:, head * width : (head + 1) * width].T
        assert lengths[head] == pytest.approx(np.sqrt((added**2).sum(axis=1)).mean(), rel=1e-5)


def test_a_file_has_a_line_for_every_head_and_a_column_for_every_measure():
    rows = list(
        csv.DictReader(io.StringIO(measures_csv([of([[0.1, NAN], [3.0, 4.0]])], "encoder").decode("utf-8-sig")))
    )
    assert [(row["layer"], row["head"], row["entropy"]) for row in rows] == [
        ("0", "0", "0.1"), ("0", "1", ""), ("1", "0", "3.0"), ("1", "1", "4.0"),
    ]  # fmt: skip
    with pytest.raises(ValueError, match="found none"):
        measures_csv([], "encoder")
