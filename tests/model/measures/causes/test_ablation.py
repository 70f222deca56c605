"""The answer without a head, an attention, a weight: what whole passes with the edit that names it say, one by one."""

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
import torch

from model import Checkpoint, Edits, HeadSite, Overwrite, SublayerSite, available_checkpoints, load_checkpoint
from model.measures.causes import resumed_pass
from model.measures.causes.ablation import (
    attention_ablation,
    cumulative_ablation,
    head_ablation,
    mean_contexts,
    weight_ablation,
)
from model.measures.causes.answers import Said
from model.measures.causes.resumed_pass import attention_at, attention_sites
from model.measures.outcome import Outcome, answers_otherwise, outcome_of, outcome_value, rows_of
from model.trace import Trace
from tests import tiny
from tests.folders import KINDS, make_folders

KIND_NAMES = [*KINDS, "own"]
CLOSE = 1e-5
MUTED = Edits(muted=frozenset([HeadSite("encoder", 0, 1), HeadSite("decoder", 0, 1)]))


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {folder.name: folder for folder in make_folders(tmp_path_factory.mktemp("checkpoints"))}


def traced(checkpoint: Checkpoint, edits: Edits = Edits()) -> Trace:  # noqa: B008 -- frozen
    return checkpoint.trace(tiny.TEXT, target="a cat" if checkpoint.config.is_encoder_decoder else None, edits=edits)


def expect_said(said: Said, at: tuple[int, ...], outcome: Outcome, before: Trace, after: Trace) -> None:
    """What a whole pass says, computed from its logits here."""
    if outcome.kind == "stream":
        assert said.distance[at] == pytest.approx(outcome_value(outcome, before, after), abs=CLOSE)
        assert np.isnan(said.probability[at])
        return
    rows = rows_of(after)
    assert rows is not None
    logits = rows.double().numpy()[list(outcome.rows)]
    chosen = logits[np.arange(len(logits)), list(outcome.answers)]
    logarithms = chosen - np.log(np.exp(logits - logits.max(-1, keepdims=True)).sum(-1)) - logits.max(-1)
    assert said.probability[at] == pytest.approx(outcome_value(outcome, before, after), abs=CLOSE)
    assert bool(said.turned[at]) == answers_otherwise(outcome, after)
    assert said.logit[at] == pytest.approx(chosen.mean(), abs=CLOSE * max(1, np.abs(logits).max()))
    assert said.log_probability[at] == pytest.approx(logarithms.sum(), abs=CLOSE * max(1, np.abs(logits).max()))
    shares = np.exp(logits - logits.max(-1, keepdims=True))
    own = shares[np.arange(len(logits)), list(outcome.answers)]
    odds = np.log(own / (shares.sum(-1) - own)).mean()
    assert said.log_odds[at] == pytest.approx(odds, abs=1e-4 * max(1, np.abs(logits).max()))
    assert np.isnan(said.distance[at])


@pytest.mark.parametrize("kind", KIND_NAMES)
@pytest.mark.parametrize("baseline", ["zero", "mean"])
def test_each_head_is_muted_as_its_edit_mutes_it(kind, baseline, folders):
    checkpoint = load_checkpoint(folders[kind], device="cpu")
    trace = traced(checkpoint)
    ablation = head_ablation(checkpoint, trace, baseline=baseline)
    assert list(ablation.after) == attention_sites(trace)
    assert ablation.outcome == outcome_of(checkpoint, trace)
    expect_said(ablation.before, (), ablation.outcome, trace, trace)
    for site, said in ablation.after.items():
        heads = attention_at(trace, site).context.shape[0]
        assert said.probability.shape == (heads,)
        for head in range(heads):
            one = frozenset([HeadSite(site.stack, site.layer, head, site.sublayer)])
            edits = Edits(muted=one) if baseline == "zero" else Edits(averaged=one)
            expect_said(said, (head,), ablation.outcome, trace, checkpoint.trace_again(trace, edits))


@pytest.mark.parametrize("kind", KIND_NAMES)
def test_each_attention_is_muted_as_its_edit_mutes_it(kind, folders):
    checkpoint = load_checkpoint(folders[kind], device="cpu")
    trace = traced(checkpoint)
    ablation = attention_ablation(checkpoint, trace)
    assert list(ablation.after) == attention_sites(trace)
    for site, said in ablation.after.items():
        after = checkpoint.trace_again(trace, Edits(muted_layers=frozenset([site])))
        expect_said(said, (), ablation.outcome, trace, after)


@pytest.mark.parametrize("kind", ["gpt2", "llama", "bert-classifier", "marian", "t5"])
def test_each_weight_is_removed_as_its_edit_removes_it(kind, folders):
    checkpoint = load_checkpoint(folders[kind], device="cpu")
    trace = traced(checkpoint)
    for place in attention_sites(trace)[-2:]:
        site = HeadSite(place.stack, place.layer, 1, place.sublayer)
        cells = attention_at(trace, place).weights[1].nonzero()
        said = weight_ablation(checkpoint, trace, site, cells)
        assert len(said.probability) == len(cells) > 1
        for number in (0, len(cells) // 2, len(cells) - 1):
            query, key = cells[number].tolist()
            removed = Edits(overwritten=frozenset([Overwrite(site, query, key, 0.0)]))
            after = checkpoint.trace_again(trace, removed)
            expect_said(said, (number,), outcome_of(checkpoint, trace), trace, after)


@pytest.mark.parametrize("name", available_checkpoints())
def test_bundled_models_lose_a_head_on_top_of_other_edits(name):
    checkpoint = load_checkpoint(name, device="cpu")
    stack = checkpoint.config.architecture.rpartition("-")[2]
    kept = Edits(
        muted=frozenset([HeadSite(stack, 0, 1)]),
        temperature=2.0,
        without_residual=frozenset([SublayerSite(stack, 1, "self")]),
    )
    trace = traced(checkpoint, kept)
    ablation = head_ablation(checkpoint, trace, edits=kept)
    for layer in (0, 2):
        two = frozenset([*kept.muted, HeadSite(stack, layer, 3)])
        edits = Edits(muted=two, temperature=2.0, without_residual=kept.without_residual)
        after = checkpoint.trace_again(trace, edits)
        expect_said(ablation.after[SublayerSite(stack, layer, "self")], (3,), ablation.outcome, trace, after)


@pytest.mark.parametrize("kind", ["gpt2", "bert", "bert-classifier", "bert-bare", "t5"])
def test_heads_are_muted_one_after_the_other(kind, folders):
    checkpoint = load_checkpoint(folders[kind], device="cpu")
    kept = Edits(temperature=1.5)
    trace = traced(checkpoint, kept)
    heads = [HeadSite(site.stack, site.layer, 1, site.sublayer) for site in reversed(attention_sites(trace))]
    said = cumulative_ablation(checkpoint, trace, heads, edits=kept)
    assert said.turned.shape == (len(heads) + 1,)
    for count in (0, 1, len(heads)):
        after = checkpoint.trace_again(trace, Edits(temperature=1.5, muted=frozenset(heads[:count])))
        expect_said(said, (count,), outcome_of(checkpoint, trace), trace, after)


def test_batches_give_what_one_batch_gives(monkeypatch):
    checkpoint = tiny.checkpoint("encoder-decoder")
    trace = traced(checkpoint)
    whole = head_ablation(checkpoint, trace)
    monkeypatch.setattr(resumed_pass, "BATCH_BYTES", 1)
    assert resumed_pass.rows_at_once(checkpoint.model, trace) == 1
    for site, said in head_ablation(checkpoint, trace).after.items():
        np.testing.assert_allclose(said.log_probability, whole.after[site].log_probability, atol=CLOSE)


def test_the_mean_over_other_texts_takes_the_place_of_a_head():
    checkpoint = tiny.checkpoint(labels=("no", "yes"))
    texts = ("a cat saw the dog", "it was not good")
    reference = mean_contexts(checkpoint, map(checkpoint.trace, texts))
    site = SublayerSite("encoder", 1, "self")
    contexts = [attention_at(checkpoint.trace(text), site).context for text in texts]
    means = torch.cat(contexts, dim=1).mean(dim=1)
    torch.testing.assert_close(reference[site], means)

    trace: Any = traced(checkpoint)
    said = head_ablation(checkpoint, trace, baseline="reference", reference=reference).after[site]
    block, read = checkpoint.model.encoder.blocks[1], trace.encoder.blocks[1]
    context = read.self_attention.context.clone()
    context[2] = means[2]
    with torch.no_grad():  # by hand, after the last attention of this post-norm model
        stream = block.self_residual.norm(
            read.stream_in + block.self_attention.output(context.transpose(0, 1).flatten(1))
        )
        stream = block.feed_forward_residual.norm(stream + block.feed_forward(stream).output)
        logits = checkpoint.model.classifier(stream.mean(dim=0))
    answer = outcome_of(checkpoint, trace).answers[0]
    assert said.logit[2] == pytest.approx(float(logits[answer]), abs=CLOSE)


def held(checkpoint: Checkpoint, heads: list[HeadSite], means: Mapping[SublayerSite, torch.Tensor]) -> ExitStack:
    """Within it, these heads give their means whatever they look at: put in before each output projection."""
    hooks = ExitStack()
    for head in heads:
        block = getattr(checkpoint.model, head.stack).blocks[head.layer]
        mean = means[SublayerSite(head.stack, head.layer, head.attention)][head.head]
        part = slice(head.head * len(mean), (head.head + 1) * len(mean))

        def replaced(_: Any, arguments: tuple[torch.Tensor], part: slice = part, mean: torch.Tensor = mean) -> Any:
            joined = arguments[0].clone()
            joined[..., part] = mean
            return (joined,)

        output = getattr(block, f"{head.attention}_attention").output
        hooks.callback(output.register_forward_pre_hook(replaced).remove)
    return hooks


@pytest.mark.parametrize("kind", ["gpt2", "bert-classifier", "bert-bare", "t5", "bart"])
def test_means_over_other_texts_take_the_place_of_several_heads(kind, folders, monkeypatch):
    checkpoint = load_checkpoint(folders[kind], device="cpu")
    trace = traced(checkpoint)
    reference = {
        site: torch.randn(attention_at(trace, site).context.shape[::2], generator=torch.Generator().manual_seed(number))
        for number, site in enumerate(attention_sites(trace))
    }
    heads = [HeadSite(site.stack, site.layer, 1, site.sublayer) for site in reversed(attention_sites(trace))]
    said = cumulative_ablation(checkpoint, trace, heads, baseline="reference", reference=reference)
    for count in (0, 1, 2, len(heads)):
        with held(checkpoint, heads[:count], reference):
            after = checkpoint.trace_again(trace)
        expect_said(said, (count,), outcome_of(checkpoint, trace), trace, after)
    monkeypatch.setattr(resumed_pass, "BATCH_BYTES", 1)
    batches = cumulative_ablation(checkpoint, trace, heads, baseline="reference", reference=reference)
    np.testing.assert_allclose(batches.log_probability, said.log_probability, atol=CLOSE)


def test_what_contradicts_itself_is_refused():
    checkpoint = tiny.checkpoint(labels=("no", "yes"))
    trace = traced(checkpoint)
    for baseline, reference in (("median", None), ("reference", None), ("zero", {})):
        with pytest.raises(ValueError, match="baseline"):
            head_ablation(checkpoint, trace, baseline=baseline, reference=reference)
    with pytest.raises(ValueError, match="no pass of tiny"):
        mean_contexts(checkpoint, [])
    with pytest.raises(ValueError, match="no cross-attention"):
        attention_at(trace, SublayerSite("encoder", 0, "cross"))
    with pytest.raises(ValueError, match="no decoder"):
        attention_at(trace, SublayerSite("decoder", 0, "self"))
