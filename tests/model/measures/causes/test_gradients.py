"""Gradients against differences of whole passes; integrated gradients against what they have to sum to."""

from typing import Any

import pytest
import torch

from model import Edits, HeadSite, Overwrite, SublayerSite, load_checkpoint
from model.measures.causes.gradients import integrated_gradients, weight_gradients
from model.measures.causes.resumed_pass import attention_at, attention_sites
from model.measures.outcome import outcome_of, rows_of
from model.trace import Trace
from tests import tiny
from tests.folders import KINDS, make_folders

SMALL = 2e-3


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {folder.name: folder for folder in make_folders(tmp_path_factory.mktemp("checkpoints"))}


def traced(checkpoint: Any, edits: Edits = Edits()) -> Trace:  # noqa: B008 -- frozen
    return checkpoint.trace(tiny.TEXT, target="a cat" if checkpoint.config.is_encoder_decoder else None, edits=edits)


def mean_logit(checkpoint: Any, before: Trace, after: Trace) -> float:
    """The answer's, of a trace's own logits."""
    outcome, logits = outcome_of(checkpoint, before), rows_of(after)
    assert logits is not None
    chosen = [logits[row, answer] for row, answer in zip(outcome.rows, outcome.answers, strict=True)]
    return float(torch.stack(chosen).double().mean())


@pytest.mark.parametrize("kind", ["gpt2", "llama", "gemma2", "bert-classifier", "distilbert", "marian", "t5", "own"])
def test_a_gradient_is_the_slope_of_the_logit_over_the_weight(kind, folders, monkeypatch):
    monkeypatch.setattr("model.tokenizer.MASKS", ("the",))  # this vocabulary has no mask of its own
    checkpoint = load_checkpoint(folders[kind], device="cpu")
    trace = traced(checkpoint)
    gradients = weight_gradients(checkpoint, trace)
    assert list(gradients) == attention_sites(trace)
    for place in (attention_sites(trace)[0], attention_sites(trace)[-1]):
        weights = attention_at(trace, place).weights
        head, query, key = (int(index) for index in (gradients[place].abs() * (weights > 2 * SMALL)).nonzero()[-1])
        site, weight = HeadSite(place.stack, place.layer, head, place.sublayer), float(weights[head, query, key])
        ends = [
            mean_logit(
                checkpoint,
                trace,
                checkpoint.trace_again(trace, Edits(overwritten=frozenset([Overwrite(site, query, key, other)]))),
            )
            for other in (max(0.0, weight - SMALL), min(1.0, weight + SMALL))
        ]
        slope = (ends[1] - ends[0]) / (min(1.0, weight + SMALL) - max(0.0, weight - SMALL))
        assert float(gradients[place][head, query, key]) == pytest.approx(slope, rel=0.02, abs=2e-3)


def test_edits_are_kept_in_the_pass_that_is_differentiated():
    checkpoint = tiny.checkpoint("decoder")
    edits = Edits(muted=frozenset([HeadSite("decoder", 1, 2)]))
    gradients = weight_gradients(checkpoint, traced(checkpoint, edits), edits)
    assert not gradients[SublayerSite("decoder", 1, "self")][2].any(), "a muted head's weights change nothing"
    assert gradients[SublayerSite("decoder", 1, "self")][1].any()


@pytest.mark.parametrize("kind", [name for name in [*KINDS, "own"] if name != "bert-bare"])
def test_integrated_gradients_sum_to_the_difference_of_the_logits(kind, folders, monkeypatch):
    monkeypatch.setattr("model.tokenizer.MASKS", ("the",))
    checkpoint = load_checkpoint(folders[kind], device="cpu")
    trace = traced(checkpoint)
    found = integrated_gradients(checkpoint, trace)
    assert found.tokens.shape == trace.text_stack.ids.shape
    assert found.error <= max(0.01 * abs(found.difference), 1e-3)
    with torch.no_grad():  # the end of the path is the pass itself
        table = checkpoint.model.embedding.weight
        before = table.clone()
        table.zero_()
        zeros = checkpoint.trace_again(trace)
        table.copy_(before)
    if checkpoint.config.is_encoder_decoder or checkpoint.config.tie_embeddings:
        return  # the table is also the target's, or the projection's
    expected = mean_logit(checkpoint, trace, trace) - mean_logit(checkpoint, trace, zeros)
    assert found.difference == pytest.approx(expected, abs=1e-4)


def test_in_a_linear_model_every_token_gets_its_own_share():
    checkpoint = tiny.checkpoint(labels=("no", "yes"), layers=1)
    for block in checkpoint.model.encoder.blocks:  # the stream alone reaches the classifier, through norms that scale
        for module in (block.self_attention.output, block.feed_forward):
            for parameter in module.parameters():
                torch.nn.init.zeros_(parameter)
        block.self_residual.norm = block.feed_forward_residual.norm = torch.nn.Identity()
    trace = traced(checkpoint)
    found, answer = integrated_gradients(checkpoint, trace), outcome_of(checkpoint, trace).answers[0]
    assert trace.encoder is not None
    row = checkpoint.model.classifier.weight[answer].detach()
    expected = trace.encoder.embedding.token @ row / len(trace.encoder.ids)
    torch.testing.assert_close(found.tokens, expected, atol=1e-5, rtol=1e-4)


def test_a_model_that_answers_nothing_has_no_gradient_of_an_answer(folders):
    checkpoint = load_checkpoint(folders["bert-bare"], device="cpu")
    for measure in (weight_gradients, integrated_gradients):
        with pytest.raises(ValueError, match="gives no answer"):
            measure(checkpoint, traced(checkpoint))
