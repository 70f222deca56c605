"""Explore's chart of all heads over kinds that were measured over many texts: its numbers are those of the file."""

import json
from typing import Any

import pyarrow.ipc
import pytest

from model.checkpoint import CHECKPOINTS
from tests.pages.test_every_page import opened


def chart_rows(app: Any) -> list[dict]:
    assert not app.exception
    sent = app.get("vega_lite_chart")[0].proto.data.data
    return pyarrow.ipc.open_stream(sent).read_all().to_pylist()


@pytest.mark.parametrize(("name", "attention"), [("stories", "decoder"), ("translate-en-fr", "cross")])
def test_a_kind_over_many_texts_is_drawn_as_the_file_has_it_and_stands_in_the_address(name, attention):
    app = opened(checkpoint=name, attention=attention, up="texts.punctuation")
    table = json.loads((CHECKPOINTS / name / "head_scores.json").read_text())["kinds"][attention]["punctuation"]
    rows = chart_rows(app)
    assert len(rows) == len(table["scores"]) * len(table["scores"][0])
    for row in rows:
        layer, head = row["layer"], row["head"]
        excess = table["scores"][layer][head] - table["nulls"][layer][head]
        assert row["texts_punctuation"] == pytest.approx(excess, abs=1e-12)
    assert app.query_params["up"] in ("texts.punctuation", ["texts.punctuation"])
    assert app.selectbox(key="up").value == "texts.punctuation"


def test_a_kind_that_the_file_does_not_have_gives_way():
    app = opened(checkpoint="sentiment", up="texts.delimiter")
    assert not app.exception
    assert app.selectbox(key="up").value != "texts.delimiter"
