"""The script and the table of a text with overwritten weights: run as people run them, and read back."""

import csv
import io
import re

import numpy as np
import pytest

from model import Edits, HeadSite, load_checkpoint
from model.edits import Overwrite
from model.measures.comparison import stream_distances
from model.measures.outcome import outcome_of, outcome_value
from tests.scripts import run_script
from viz.explorer.attention_kinds import kinds_of
from viz.export.weights_csv import HEADER, weights_csv
from viz.export.weights_script import Figures, weights_script

TEXT = "The red house is “big”."
SITES = [
    ("sentiment", HeadSite("encoder", 1, 2)),
    ("stories", HeadSite("decoder", 1, 2)),
    ("translate-en-fr", HeadSite("decoder", 1, 2, "cross")),
]


def figures_of(name: str, edits: Edits, others: Edits) -> Figures:
    checkpoint = load_checkpoint(name)
    before = checkpoint.trace(TEXT, edits=others)
    after, outcome = checkpoint.trace_again(before, edits), outcome_of(checkpoint, before)
    moved = [
        stream_distances([b.stream_out for b in first.blocks], [b.stream_out for b in second.blocks])
        for first, second in ((before.encoder, after.encoder), (before.decoder, after.decoder))
        if first is not None and second is not None
    ]
    both = [outcome_value(outcome, before, trace) for trace in (before, after)]
    return Figures(before=both[0], after=both[1], moved=np.concatenate(moved).tolist())


@pytest.mark.parametrize(("name", "site"), SITES)
def test_the_script_asserts_the_figures_and_fails_where_one_is_another(name, site):
    others = Edits(temperature=1.5)
    edits = Edits(temperature=1.5, overwritten=frozenset([Overwrite(site, 2, 1, 0.9, True)]))
    figures = figures_of(name, edits, others)
    writes = name.startswith("translate")
    ran = run_script(weights_script(name, TEXT, edits, others, figures, writes=writes))
    assert ran.returncode == 0, ran.stderr
    (printed,) = re.findall(r"the answer after: ([\d.]+)", ran.stdout)
    assert float(printed) == pytest.approx(figures.after, abs=1e-5)
    wrong = Figures(before=figures.before, after=figures.after + 0.01, moved=figures.moved)
    ran = run_script(weights_script(name, TEXT, edits, others, wrong, writes=writes))
    assert ran.returncode == 1
    assert "AssertionError: the answer after" in ran.stderr


def test_the_table_has_every_weight_with_all_digits():
    checkpoint = load_checkpoint("sentiment")
    trace = checkpoint.trace(TEXT)
    kind = kinds_of(trace)["encoder"]
    before, after = kind.weights[1][2], kind.weights[0][0]
    content = weights_csv(before, after, kind.queries, kind.keys, {(2, 1): 0.25}).decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(content)))
    assert tuple(rows[0]) == HEADER
    for row in rows:
        place = int(row["query"]), int(row["key"])
        assert np.float32(row["weight_before"]) == before[place]
        assert np.float32(row["weight_after"]) == after[place]
        assert row["overwritten_with"] == ("0.25" if place == (2, 1) else "")


def test_weights_of_another_shape_are_refused():
    kind = kinds_of(load_checkpoint("sentiment").trace(TEXT))["encoder"]
    with pytest.raises(ValueError, match="weights of shapes"):
        weights_csv(kind.weights[0][0][1:], kind.weights[0][0][1:], kind.queries, kind.keys, {})
