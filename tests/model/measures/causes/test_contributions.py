"""Parts of the answer's logit: they sum to it, and a part that is taken away is missing from it."""

from typing import Any

import pytest
import torch

from model import Edits, HeadSite, available_checkpoints, load_checkpoint
from model.measures.causes.contributions import logit_parts
from model.measures.causes.stream_parts import Part
from model.measures.outcome import outcome_of, rows_of
from model.trace import Trace
from tests import tiny
from tests.folders import KINDS, make_folders

NO_SUM = {
    "bert",
    "bert-classifier",
    "roberta",
    "distilbert",
    "bert-bare",
}  # an activation lies in between, or no answer
SUMS = [kind for kind in [*KINDS, "own"] if kind not in NO_SUM]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {folder.name: folder for folder in make_folders(tmp_path_factory.mktemp("checkpoints"))}


def traced(checkpoint: Any, text: str = tiny.TEXT) -> Trace:
    return checkpoint.trace(text, target="a cat" if checkpoint.config.is_encoder_decoder else None)


def mean_logit(checkpoint: Any, before: Trace, after: Trace) -> float:
    """The answer's in a trace's own logits, before a cap."""
    outcome, logits = outcome_of(checkpoint, before), rows_of(after)
    assert logits is not None
    chosen = torch.stack(
        [logits[row, answer] for row, answer in zip(outcome.rows, outcome.answers, strict=True)]
    ).double()
    if (cap := checkpoint.config.logit_cap) is not None:
        chosen = cap * (chosen / cap).atanh()
    return float(chosen.mean())


@pytest.mark.parametrize("kind", [*SUMS, *available_checkpoints()])
def test_the_parts_sum_to_the_logit(kind, folders):
    checkpoint = load_checkpoint(folders.get(kind, kind), device="cpu")
    trace = traced(checkpoint)
    parts, expected = logit_parts(checkpoint, trace), mean_logit(checkpoint, trace, trace)
    largest = max(map(abs, parts.values()))
    assert sum(parts.values()) == pytest.approx(expected, abs=1e-4 * max(1, largest))
    heads = {(part.layer, part.head) for part in parts if part.kind == "self"}
    decoder = checkpoint.config.of_decoder() if checkpoint.config.is_encoder_decoder else checkpoint.config
    assert len(heads) == decoder.layers * decoder.heads


def test_the_last_heads_of_a_model_without_norms_are_missed_by_what_they_add():
    checkpoint = tiny.checkpoint("decoder", norm_order="pre", layers=1)
    decoder = checkpoint.model.decoder
    for parameter in decoder.blocks[0].feed_forward.parameters():
        torch.nn.init.zeros_(parameter)
    decoder.norm = torch.nn.Identity()
    trace = traced(checkpoint)
    parts = logit_parts(checkpoint, trace)
    for head in range(4):
        muted = checkpoint.trace_again(trace, Edits(muted=frozenset([HeadSite("decoder", 0, head)])))
        missing = mean_logit(checkpoint, trace, trace) - mean_logit(checkpoint, trace, muted)
        assert parts[Part("self", 0, head)] == pytest.approx(missing, abs=1e-5)


@pytest.mark.parametrize("kind", sorted(NO_SUM))
def test_what_is_no_sum_is_refused(kind, folders, monkeypatch):
    monkeypatch.setattr("model.tokenizer.MASKS", ("the",))  # this vocabulary has no mask of its own
    checkpoint = load_checkpoint(folders[kind], device="cpu")
    with pytest.raises(ValueError, match=r"gives no answer|a layer with an activation"):
        logit_parts(checkpoint, traced(checkpoint))
