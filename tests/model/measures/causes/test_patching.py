"""A part of one pass in another: everything gives the other's answer, one head what a pass by hand gives."""

from typing import Any

import numpy as np
import pytest
import torch

from model import SublayerSite, load_checkpoint
from model.measures.causes.patching import head_patching, stream_patching, weight_patching
from model.measures.causes.resumed_pass import attention_at
from model.measures.outcome import outcome_of
from tests import tiny
from tests.folders import KINDS, make_folders

OTHER = "The cat saw the man."
CLOSE = 1e-5


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {folder.name: folder for folder in make_folders(tmp_path_factory.mktemp("checkpoints"))}


def pair(checkpoint: Any) -> tuple[Any, Any]:
    """Two passes of texts of one length."""
    target = "a cat" if checkpoint.config.is_encoder_decoder else None
    return checkpoint.trace(tiny.TEXT, target=target), checkpoint.trace(OTHER, target=target)


def probability(trace: Any, row: int, answer: int) -> float:
    return float(trace.logits[row].double().softmax(-1)[answer])


def test_a_stream_patched_with_itself_stays():
    checkpoint = tiny.checkpoint("encoder-decoder")
    trace, _ = pair(checkpoint)
    found = stream_patching(checkpoint, trace, trace)
    before = head_patching(checkpoint, trace, trace).before.probability
    assert {name: said.probability.shape for name, said in found.items()} == {
        name: (2, len(getattr(trace, name).ids)) for name in ("encoder", "decoder")
    }
    for said in found.values():
        np.testing.assert_allclose(said.probability, np.full(said.probability.shape, before), atol=CLOSE)


def test_one_head_from_the_other_pass_is_what_a_pass_by_hand_gives():
    checkpoint = tiny.checkpoint("decoder", norm_order="pre", layers=1)
    trace, donor = pair(checkpoint)
    said = head_patching(checkpoint, trace, donor).after[SublayerSite("decoder", 0, "self")]
    (answer,), block, traced = (
        outcome_of(checkpoint, trace).answers,
        checkpoint.model.decoder.blocks[0],
        trace.decoder.blocks[0],
    )
    for head in range(4):
        context = traced.self_attention.context.clone()
        context[head] = donor.decoder.blocks[0].self_attention.context[head]
        with torch.no_grad():
            stream = traced.stream_in + block.self_attention.output(context.transpose(0, 1).flatten(1))
            stream = stream + block.feed_forward(block.feed_forward_residual.norm(stream)).output
            logits = checkpoint.model.predict(checkpoint.model.decoder.norm(stream))
        expected = float(logits[-1].double().softmax(-1)[answer])
        assert said.probability[head] == pytest.approx(expected, abs=CLOSE)


def test_weights_from_the_other_pass_move_the_own_values():
    checkpoint = tiny.checkpoint("decoder", norm_order="pre", layers=1)
    trace, donor = pair(checkpoint)
    said = weight_patching(checkpoint, trace, donor).after[SublayerSite("decoder", 0, "self")]
    site = SublayerSite("decoder", 0, "self")
    own, other, block = attention_at(trace, site), attention_at(donor, site), checkpoint.model.decoder.blocks[0]
    context = own.context.clone()
    context[1] = other.weights[1] @ own.value[1]
    with torch.no_grad():
        stream = trace.decoder.blocks[0].stream_in + block.self_attention.output(context.transpose(0, 1).flatten(1))
        stream = stream + block.feed_forward(block.feed_forward_residual.norm(stream)).output
        logits = checkpoint.model.predict(checkpoint.model.decoder.norm(stream))
    (answer,) = outcome_of(checkpoint, trace).answers
    assert said.probability[1] == pytest.approx(float(logits[-1].double().softmax(-1)[answer]), abs=CLOSE)


@pytest.mark.parametrize("kind", [*KINDS, "own"])
def test_a_pass_patched_with_itself_stays(kind, folders):
    checkpoint = load_checkpoint(folders[kind], device="cpu")
    trace, _ = pair(checkpoint)
    for measured in (head_patching(checkpoint, trace, trace), weight_patching(checkpoint, trace, trace)):
        for said in measured.after.values():
            for name in ("probability", "logit"):
                before = np.full(said.turned.shape, getattr(measured.before, name))
                np.testing.assert_allclose(getattr(said, name), before, atol=CLOSE)


def test_the_whole_stream_of_another_text_gives_its_answer():
    checkpoint = tiny.checkpoint("decoder", layers=1)
    trace, donor = pair(checkpoint)
    every = stream_patching(checkpoint, trace, donor)["decoder"]
    answer = outcome_of(checkpoint, trace).answers[0]
    assert every.probability[0, 0] == pytest.approx(probability(trace, -1, answer), abs=CLOSE), "the same word"
    assert abs(every.probability[0, 1] - probability(trace, -1, answer)) > 1e-4, "dog, and cat"
    alone = checkpoint.trace_ids([5])
    other = checkpoint.trace_ids([7])
    said = stream_patching(checkpoint, alone, other)["decoder"]
    answer = outcome_of(checkpoint, alone).answers[0]
    assert said.probability[0, 0] == pytest.approx(probability(other, -1, answer), abs=CLOSE)


def test_positions_without_a_place_keep_what_they_had():
    checkpoint = tiny.checkpoint("decoder")
    trace, donor = pair(checkpoint)
    nowhere = [None] * len(trace.decoder.ids)
    for said in head_patching(checkpoint, trace, donor, nowhere).after.values():
        own = head_patching(checkpoint, trace, trace).before.probability
        np.testing.assert_allclose(said.probability, np.full(4, own), atol=CLOSE)
    with pytest.raises(ValueError, match="places"):
        head_patching(checkpoint, trace, donor, [0, 99])
    with pytest.raises(ValueError, match="say which position"):
        head_patching(checkpoint, trace, checkpoint.trace("a cat"))
