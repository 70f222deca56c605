"""The waterfall of a logit, its bars read back out of the figure."""

import math
from typing import Any

import pytest

from model import available_checkpoints, load_checkpoint
from model.measures.causes.contributions import LogitStep, logit_parts, logit_steps
from model.measures.causes.stream_parts import Part
from model.measures.outcome import outcome_of, rows_of
from tests import tiny
from tests.folders import KINDS, make_folders
from viz.charts.causes.logit_waterfall import CHOSEN, logit_waterfall
from viz.theme import DARK, LIGHT

ANSWERING = [kind for kind in [*KINDS, "own"] if kind != "bert-bare"]
PARTS = {
    Part("token"): 0.5,
    Part("position"): -0.25,
    Part("self", 0, 0): 1.0,
    Part("self", 0, 1): -0.75,
    Part("self bias", 0): 0.125,
    Part("feed-forward", 0): 2.0,
    Part("self", 1, 0): -3.0,
    Part("self", 1, 1): 0.5,
    Part("self bias", 1): 0.25,
    Part("feed-forward", 1): 1.0,
    Part("norm bias"): -0.5,
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {folder.name: folder for folder in make_folders(tmp_path_factory.mktemp("checkpoints"))}


def rows_in(chart: Any) -> list[dict[str, Any]]:
    layers = chart.to_dict()["layer"]
    return next(layer["data"]["values"] for layer in layers if "row" in layer["data"]["values"][0])


@pytest.mark.parametrize("kind", [*ANSWERING, *available_checkpoints()])
def test_the_bars_of_every_family_sum_to_the_logit(kind, folders, monkeypatch):
    monkeypatch.setattr("model.tokenizer.MASKS", ("the",))  # this vocabulary has no mask of its own
    checkpoint: Any = load_checkpoint(folders.get(kind, kind), device="cpu")
    trace = checkpoint.trace(tiny.TEXT, target="a cat" if checkpoint.config.is_encoder_decoder else None)
    outcome, logits = outcome_of(checkpoint, trace), rows_of(trace)
    assert logits is not None
    said = [float(logits[row, answer]) for row, answer in zip(outcome.rows, outcome.answers, strict=True)]
    if (cap := checkpoint.config.logit_cap) is not None:
        said = [cap * math.atanh(value / cap) for value in said]
    *bars, last = rows_in(logit_waterfall(logit_steps(logit_parts(checkpoint, trace), ("self", 1)), "logit"))
    largest, mean = max(abs(bar["value"]) for bar in bars), sum(said) / len(said)
    assert sum(bar["to"] - bar["from"] for bar in bars) == pytest.approx(mean, abs=1e-4 * max(1, largest))
    assert last["to"] == pytest.approx(mean, abs=1e-4 * max(1, largest))
    assert [bar["from"] for bar in bars] == pytest.approx([0.0, *(bar["to"] for bar in bars[:-1])])


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_each_bar_begins_where_the_one_above_ends_and_says_what_it_is(theme):
    rows = rows_in(logit_waterfall(logit_steps(PARTS, ("self", 1)), "logit", chosen=("self", 1, 0), theme=theme))
    assert [(row["name"], row["value"]) for row in rows] == [
        ("embedding", 0.25),
        ("layer 1, attention", 0.25),
        ("layer 1, feed-forward", 2.0),
        ("layer 2, head 1", -3.0),
        ("layer 2, head 2", 0.5),
        ("layer 2, feed-forward", 1.0),
        ("attention biases", 0.375),
        ("norm biases", -0.5),
        ("= logit", 0.875),
    ]
    assert [row["from"] for row in rows] == [0, 0.25, 0.5, 2.5, -0.5, 0.0, 1.0, 1.375, 0]
    assert [row["text"] for row in rows][2:5] == ["+2.00", "−3.00", "+0.50"]
    assert rows[0]["said"].endswith("what the stream begins with; of the tokens +0.50, of their positions −0.25")
    assert rows[1]["said"].endswith("2 heads together; largest: head 1 +1.00, head 2 −0.75")
    assert [row["edge"] == theme.text for row in rows].index(True) == 3
    assert {(row["kind"], row["layer"], row["head"]) for row in rows[1:4]} == {
        ("self", 0, -1),
        ("feed-forward", -1, -1),
        ("self", 1, 0),
    }


def test_cross_attention_stands_between_self_attention_and_the_feed_forward_layer_of_its_layer():
    parts = {
        Part("cross", 0, 0): 1.0,
        Part("feed-forward", 0): 1.0,
        Part("self", 0, 0): 1.0,
        Part("cross bias", 0): 1.0,
    }
    chart = logit_waterfall(logit_steps(parts, ("cross", 0)), "lead")
    names = ["layer 1, self-attention", "layer 1, cross-attention, head 1", "layer 1, feed-forward", "attention biases"]
    assert [row["name"] for row in rows_in(chart)] == [*names, "= lead"]
    (parameter,) = chart.to_dict()["params"]
    assert parameter["name"] == CHOSEN


def test_no_steps_are_refused():
    with pytest.raises(ValueError, match="no steps"):
        logit_waterfall((), "logit")
    assert LogitStep("embedding", None, None, 1.0, ((Part("token"), 0.5),)).end == 1.5
