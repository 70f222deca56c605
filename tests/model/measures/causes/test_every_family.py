"""What is removed is exactly what was there, and what is put in gives exactly the other answer, in every family."""

from typing import Any

import numpy as np
import pytest
import torch

from model import Edits, HeadSite, SublayerSite, load_checkpoint
from model.measures.causes.answers import said_of
from model.measures.causes.patching import stream_patching
from model.measures.causes.resumed_pass import attention_at, attention_sites, final_of_streams, stack_at
from model.measures.outcome import answers_otherwise, outcome_of, outcome_value
from tests import tiny
from tests.folders import KINDS, make_folders

EVERY = [*KINDS, "own"]
CLOSE = 1e-5


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {folder.name: folder for folder in make_folders(tmp_path_factory.mktemp("checkpoints"))}


def traced(checkpoint: Any, text: str = tiny.TEXT) -> Any:
    return checkpoint.trace(text, target="a cat" if checkpoint.config.is_encoder_decoder else None)


def module_at(checkpoint: Any, site: SublayerSite) -> Any:
    return getattr(getattr(checkpoint.model, site.stack).blocks[site.layer], f"{site.sublayer}_attention")


@pytest.mark.parametrize("kind", EVERY)
def test_muting_a_head_takes_exactly_its_projected_context_out_of_its_layer(kind, folders):
    checkpoint = load_checkpoint(folders[kind], device="cpu")
    trace = traced(checkpoint)
    for site in attention_sites(trace):
        own, weight = attention_at(trace, site), module_at(checkpoint, site).output.weight.detach()
        width = own.context.shape[-1]
        for head, context in enumerate(own.context):
            muted = Edits(muted=frozenset([HeadSite(site.stack, site.layer, head, site.sublayer)]))
            after = attention_at(checkpoint.trace_again(trace, muted), site).output
            part = context @ weight[:, head * width : (head + 1) * width].T
            torch.testing.assert_close(own.output - after, part, atol=CLOSE, rtol=1e-4)


@pytest.mark.parametrize("kind", EVERY)
def test_with_all_heads_muted_an_attention_gives_the_bias_alone(kind, folders):
    checkpoint = load_checkpoint(folders[kind], device="cpu")
    trace = traced(checkpoint)
    for site in attention_sites(trace):
        heads = range(len(attention_at(trace, site).context))
        every = Edits(muted=frozenset(HeadSite(site.stack, site.layer, head, site.sublayer) for head in heads))
        output, bias = (
            attention_at(checkpoint.trace_again(trace, every), site).output,
            module_at(checkpoint, site).output.bias,
        )
        expected = torch.zeros(output.shape[-1]) if bias is None else bias.detach()
        torch.testing.assert_close(output, expected.expand_as(output))


@pytest.mark.parametrize("kind", EVERY)
def test_patching_everything_from_another_pass_gives_its_answer(kind, folders, monkeypatch):
    monkeypatch.setattr("model.tokenizer.MASKS", ("the",))  # this vocabulary has no mask of its own
    checkpoint = load_checkpoint(folders[kind], device="cpu")
    trace, donor = traced(checkpoint), traced(checkpoint, "the cat saw the man .")
    outcome = outcome_of(checkpoint, trace)
    name = "decoder" if trace.encoder is None else "encoder"
    for layer in range(len(getattr(trace, name).blocks)):
        site = SublayerSite(name, layer, "self")
        every = stack_at(donor, site).blocks[layer].stream_in[None]
        (state,) = final_of_streams(checkpoint.model, trace, site, every)
        said = said_of(checkpoint.model, outcome, trace, state)
        number = said.distance if outcome.kind == "stream" else said.probability
        assert number[0] == pytest.approx(outcome_value(outcome, trace, donor), abs=CLOSE)
        assert bool(said.turned[0]) == answers_otherwise(outcome, donor)
    changed = stream_patching(checkpoint, trace, donor)[name]
    assert np.abs(np.ptp(changed.distance if outcome.kind == "stream" else changed.logit)) > 1e-4, "the texts differ"
