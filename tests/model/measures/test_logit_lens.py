"""What each layer would have said, and sampling that goes on where it stood."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from model import available_checkpoints, load_checkpoint
from model.decoding.steps import sampler
from model.measures.logit_lens import layer_predictions, lens_logits, ranks, token_probabilities
from tests import tiny
from tests.folders import make_folders

TEXT = "the dog bit the man . a cat saw"


@pytest.mark.parametrize("order", ["pre", "post"])
@pytest.mark.parametrize("position", [-1, 3])
def test_the_last_layer_of_the_lens_says_what_the_model_says(order, position):
    checkpoint = tiny.checkpoint("decoder", norm_order=order)
    trace = checkpoint.trace(TEXT)
    logits = lens_logits(checkpoint.model, trace.decoder, position)
    assert logits.shape == (2, 80)
    assert torch.allclose(logits[-1], trace.logits[position], atol=1e-6)
    assert not torch.allclose(logits[0], logits[1], atol=1e-2)


def test_a_layer_of_the_lens_is_the_last_norm_and_the_token_table_by_hand():
    checkpoint = tiny.checkpoint("decoder", norm_order="pre")
    stack = checkpoint.trace(TEXT).decoder
    weights = checkpoint.model.state_dict()
    stream = stack.blocks[0].stream_out[-1].double()
    centred = stream - stream.mean()
    normed = centred / (centred.square().mean() + checkpoint.config.norm_epsilon).sqrt()
    normed = normed * weights["decoder.norm.weight"].double() + weights["decoder.norm.bias"].double()
    by_hand = weights["embedding.weight"].double() @ normed
    assert torch.allclose(lens_logits(checkpoint.model, stack)[0].double(), by_hand, atol=1e-5)


def test_the_lens_of_every_family_of_decoders_ends_with_the_models_own_logits(folders):
    for name in ("gpt2", "llama", "gemma2", "gpt-neox"):
        checkpoint = load_checkpoint(folders / name, device="cpu")
        trace: Any = checkpoint.trace("the dog bit the man .")
        assert torch.allclose(lens_logits(checkpoint.model, trace.decoder)[-1], trace.logits[-1], atol=1e-5)


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
