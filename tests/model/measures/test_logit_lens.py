"""What each layer would have said, and sampling that goes on where it stood."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from model import available_checkpoints, load_checkpoint
from model.decoding.steps import sampler
from model.measures.logit_lens import (
    has_lens,
    layer_predictions,
    lens_logits,
    lens_picture,
    ranks,
    token_probabilities,
)
from tests import tiny
from tests.folders import KINDS, make_folders

TEXT = "the dog bit the man . a cat saw"


@pytest.mark.parametrize("order", ["pre", "post"])
@pytest.mark.parametrize("position", [-1, 3])
def test_the_last_layer_of_the_lens_says_what_the_model_says(order, position):
    checkpoint = tiny.checkpoint("decoder", norm_order=order)
    trace = checkpoint.trace(TEXT)
    logits = lens_logits(checkpoint.model, trace.decoder, position)
    assert logits.shape == (3, 80)
    assert torch.allclose(logits[-1], trace.logits[position], atol=1e-6)
    assert not torch.allclose(logits[0], logits[1], atol=1e-2)


def by_hand(checkpoint: Any, stream: torch.Tensor) -> torch.Tensor:
    """The last norm and the token table, in float64."""
    weights = checkpoint.model.state_dict()
    centred = stream.double() - stream.double().mean()
    normed = centred / (centred.square().mean() + checkpoint.config.norm_epsilon).sqrt()
    normed = normed * weights["decoder.norm.weight"].double() + weights["decoder.norm.bias"].double()
    return weights["embedding.weight"].double() @ normed


def test_a_depth_of_the_lens_is_the_last_norm_and_the_token_table_by_hand():
    checkpoint = tiny.checkpoint("decoder", norm_order="pre")
    stack, weights = checkpoint.trace(TEXT).decoder, checkpoint.model.state_dict()
    logits = lens_logits(checkpoint.model, stack)
    assert torch.allclose(logits[1].double(), by_hand(checkpoint, stack.blocks[0].stream_out[-1]), atol=1e-5)
    position = torch.arange(16)
    angle = (len(stack.ids) - 1) / 10000 ** ((position - position % 2) / 16)
    sinusoid = torch.where(position % 2 == 0, angle.sin(), angle.cos())
    embedding = weights["embedding.weight"][stack.ids[-1]] * 16**0.5 + sinusoid
    assert torch.allclose(logits[0].double(), by_hand(checkpoint, embedding), atol=1e-4)


def test_the_lens_of_every_family_of_decoders_ends_with_the_models_own_logits(folders):
    for name in ("gpt2", "llama", "gemma2", "gpt-neox"):
        checkpoint = load_checkpoint(folders / name, device="cpu")
        trace: Any = checkpoint.trace("the dog bit the man .")
        assert torch.allclose(lens_logits(checkpoint.model, trace.decoder)[-1], trace.logits[-1], atol=1e-5)


@pytest.mark.parametrize("kind", [kind for kind in [*KINDS, "own"] if kind != "bert-bare"])
def test_the_last_row_of_the_picture_is_what_every_family_says_itself(kind, folders, monkeypatch):
    monkeypatch.setattr("model.tokenizer.MASKS", ("the",))  # this vocabulary has no mask of its own
    checkpoint = load_checkpoint(folders / kind, device="cpu")
    trace: Any = checkpoint.trace(TEXT)
    picture, own = lens_picture(checkpoint.model, trace.output_stack), trace.logits.double().softmax(dim=-1)
    assert picture.ids.shape == (len(trace.output_stack.blocks) + 1, len(trace.output_stack.ids), 2)
    last = picture.probabilities[-1]
    if checkpoint.config.labels:  # its classifier reads the first token, or the mean
        last, own = (last[:1] if picture.pooled is None else picture.pooled.probabilities[-1]), own[None]
    assert torch.allclose(last.double(), own.topk(2, dim=-1).values, atol=1e-5)


def test_the_first_row_of_the_picture_is_the_embedding_read_by_hand_at_every_position():
    checkpoint = tiny.checkpoint("decoder", norm_order="pre")
    stack = checkpoint.trace(TEXT).decoder
    picture = lens_picture(checkpoint.model, stack)
    for position, vector in enumerate(stack.embedding.token + stack.embedding.position):
        shares = by_hand(checkpoint, vector).softmax(dim=-1)
        assert picture.ids[0, position].tolist() == shares.argsort(descending=True)[:2].tolist()
        assert picture.probabilities[0, position, 0] == pytest.approx(float(shares.max()), abs=1e-5)


def test_a_classifier_that_reads_the_mean_is_applied_to_each_position_and_to_the_mean():
    checkpoint = tiny.checkpoint("encoder", labels=("no", "yes", "perhaps"))
    stack, weights = checkpoint.trace(TEXT).encoder, checkpoint.model.state_dict()
    picture, layer = lens_picture(checkpoint.model, stack), stack.blocks[0].stream_out
    shares = (layer @ weights["classifier.weight"].T + weights["classifier.bias"]).softmax(dim=-1)
    assert torch.allclose(picture.probabilities[1], shares.topk(2).values, atol=1e-5)
    mean = (layer.mean(dim=0) @ weights["classifier.weight"].T + weights["classifier.bias"]).softmax(dim=-1)
    assert picture.pooled is not None
    assert torch.allclose(picture.pooled.probabilities[1], mean.topk(2).values[None], atol=1e-5)


def test_a_model_without_a_head_has_no_lens(folders):
    bare = load_checkpoint(folders / "bert-bare", device="cpu")
    assert not has_lens(bare.model)
    with pytest.raises(ValueError, match="no head"):
        lens_picture(bare.model, bare.trace(TEXT).output_stack)


def test_a_rank_is_the_place_in_the_sorted_list():
    logits = tiny.normal(3, 80)
    order = logits.argsort(dim=-1, descending=True)
    for token in (0, 17, 79):
        places = [order[layer].tolist().index(token) + 1 for layer in range(3)]
        assert ranks(logits, token).tolist() == places


def test_a_written_tokens_probability_is_that_of_a_pass_that_ends_before_it():
    checkpoint = tiny.checkpoint("decoder")
    ids = tiny.ids(9)
    probabilities = token_probabilities(checkpoint.trace_ids(ids.tolist()).logits, ids, 4)
    for place, probability in zip(range(4, 9), probabilities, strict=True):
        logits = checkpoint.trace_ids(ids[:place].tolist()).logits
        assert float(probability) == pytest.approx(float(F.softmax(logits[-1], dim=-1)[ids[place]]), rel=1e-4)


def test_a_draw_after_some_tokens_is_the_draw_of_a_run_from_the_start():
    distributions = [tiny.normal(80, seed=seed) * seed for seed in range(12)]
    straight = sampler(5)
    drawn = [straight(logits) for logits in distributions]
    assert len(set(drawn)) > 3
    for place in (0, 1, 7, 11):
        later = sampler(5, earlier=place)
        assert [later(logits) for logits in distributions[place:]] == drawn[place:]


def test_sampling_goes_on_after_written_tokens_as_it_went_before():
    checkpoint = tiny.checkpoint("decoder")
    options = {"method": "sample", "seed": 3, "temperature": 1.5, "top_p": 0.9}
    whole = checkpoint.generate("the dog", 10, **options).token_ids
    rest = checkpoint.generate("the dog", 6, written=whole[:4], **options).token_ids
    assert whole[:4] + rest == whole


def test_checkpoints_are_listed_by_architecture_without_their_weights(tmp_path, monkeypatch):
    make_folders(tmp_path)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("[]")
    monkeypatch.setattr("model.checkpoint.CHECKPOINTS", tmp_path)
    assert "broken" in available_checkpoints()
    decoders = available_checkpoints("decoder")
    assert {"gpt2", "llama", "gemma3", "gpt-neo"} <= set(decoders)
    assert not {"bert", "bart", "own", "broken"} & set(decoders)
    assert {"bart", "marian", "t5"} == set(available_checkpoints("encoder-decoder"))
    (tmp_path / "gpt2" / "config.json").write_text("[]")
    assert set(decoders) - {"gpt2"} == set(available_checkpoints("decoder"))


def test_the_predictions_of_every_layer_are_those_of_a_sort_in_numpy():
    logits = torch.randn(3, 7, generator=torch.Generator().manual_seed(2))
    predictions = layer_predictions(logits, 4, 5)
    exponentials = np.exp(logits.numpy().astype(np.float64))
    shares = exponentials / exponentials.sum(axis=1, keepdims=True)
    order = np.argsort(-shares, axis=1)
    assert predictions.ids.tolist() == order[:, :5].tolist()
    assert np.allclose(predictions.probabilities, np.take_along_axis(shares, order[:, :5], axis=1), atol=1e-6)
    assert np.allclose(predictions.of_token, shares[:, 4], atol=1e-6)
    assert predictions.ranks.tolist() == [row.tolist().index(4) + 1 for row in order]


def test_a_vocabulary_smaller_than_the_places_is_listed_whole():
    assert layer_predictions(torch.zeros(2, 3), 0, 5).ids.shape == (2, 3)
