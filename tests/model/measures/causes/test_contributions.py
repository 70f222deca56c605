"""Parts of the answer's logit: they sum to it, and a part that is taken away is missing from it."""

import math
from typing import Any

import pytest
import torch

from model import Edits, HeadSite, available_checkpoints, load_checkpoint
from model.measures.causes.contributions import logit_parts, runner_up, through_word_head
from model.measures.causes.stream_parts import Part
from model.measures.outcome import outcome_of, rows_of
from model.output_heads import MaskedLMHead
from model.trace import Trace
from tests import tiny
from tests.folders import KINDS, make_folders

SUMS = [kind for kind in [*KINDS, "own"] if kind != "bert-bare"]  # which gives no answer


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


@pytest.fixture(autouse=True)
def mask(monkeypatch):
    """This vocabulary has no mask of its own."""
    monkeypatch.setattr("model.tokenizer.MASKS", ("the",))


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


@pytest.mark.parametrize("kind", [kind for kind in SUMS if kind not in ("bart", "marian", "t5")])
def test_the_parts_sum_to_the_lead_over_the_runner_up(kind, folders):
    checkpoint = load_checkpoint(folders.get(kind, kind), device="cpu")
    trace, other = traced(checkpoint), runner_up(checkpoint, traced(checkpoint))
    outcome, logits = outcome_of(checkpoint, trace), rows_of(trace)
    assert logits is not None
    assert other is not None
    first, second, *_ = logits[outcome.rows[0]].double().sort(descending=True).values.tolist()
    if (cap := checkpoint.config.logit_cap) is not None:
        first, second = (cap * math.atanh(value / cap) for value in (first, second))
    parts = logit_parts(checkpoint, trace, other)
    largest = max(map(abs, parts.values()))
    assert sum(parts.values()) == pytest.approx(first - second, abs=1e-4 * max(1, largest))


@torch.no_grad()
def test_a_head_for_masked_words_is_read_by_rows_and_a_constant_that_give_what_it_says():
    head = MaskedLMHead(tiny.config(activation="relu"))
    tiny.randomised(head)
    read = tiny.normal(3, 16, dtype=torch.float64)
    rows, constant = through_word_head(head, tiny.normal(3, 16, seed=1, dtype=torch.float64), read)
    said = head.double()(read)
    expected = (said * tiny.normal(3, 16, seed=1, dtype=torch.float64)).sum(dim=-1).mean()
    assert float((rows * read).sum(dim=-1).mean()) + constant == pytest.approx(float(expected), rel=1e-6)


def test_what_gives_no_answer_is_refused_and_so_is_another_answer_beside_several(folders):
    bare = load_checkpoint(folders["bert-bare"], device="cpu")
    with pytest.raises(ValueError, match="gives no answer"):
        logit_parts(bare, traced(bare))
    assert runner_up(bare, traced(bare)) is None
    both = load_checkpoint(folders["bart"], device="cpu")
    with pytest.raises(ValueError, match="but there are"):
        logit_parts(both, traced(both), 3)
