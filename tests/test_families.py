"""Foreign checkpoints on our Transformer: every number of every layer is the reference's."""

from typing import Any

import pytest
import torch

from tests import reference

GPT2: dict[str, Any] = {"vocab_size": 90, "n_embd": 24, "n_head": 3, "n_layer": 3, "n_positions": 64}
GPT2 |= {"bos_token_id": 1, "eos_token_id": 1}
BERT: dict[str, Any] = {"vocab_size": 90, "hidden_size": 24, "num_attention_heads": 3, "num_hidden_layers": 3}
BERT |= {"intermediate_size": 40, "max_position_embeddings": 64}
DISTILBERT: dict[str, Any] = {"vocab_size": 90, "dim": 24, "n_heads": 3, "n_layers": 3, "hidden_dim": 40}

DECODERS: list[tuple[str, dict[str, Any]]] = [
    ("GPT2LMHeadModel", GPT2),
    ("GPT2LMHeadModel", GPT2 | {"n_inner": 20, "activation_function": "relu", "scale_attn_weights": False}),
    ("GPT2LMHeadModel", GPT2 | {"tie_word_embeddings": False, "layer_norm_epsilon": 1e-3}),
]
ENCODERS: list[tuple[str, dict[str, Any]]] = [
    ("BertModel", BERT),
    ("BertForMaskedLM", BERT | {"hidden_act": "gelu_new"}),
    ("BertForMaskedLM", BERT | {"tie_word_embeddings": False}),
    ("BertForSequenceClassification", BERT | {"num_labels": 4, "layer_norm_eps": 1e-4}),
    ("RobertaModel", BERT | {"type_vocab_size": 1}),
    ("RobertaForMaskedLM", BERT | {"type_vocab_size": 1, "layer_norm_eps": 1e-5}),
    ("RobertaForSequenceClassification", BERT | {"type_vocab_size": 1, "num_labels": 3}),
    ("DistilBertModel", DISTILBERT),
    ("DistilBertForMaskedLM", DISTILBERT | {"activation": "relu"}),
    ("DistilBertForSequenceClassification", DISTILBERT | {"num_labels": 3, "sinusoidal_pos_embds": True}),
]


def names(cases: list[tuple[str, dict[str, Any]]]) -> list[str]:
    return [f"{kind}-{number}" for number, (kind, _) in enumerate(cases)]


@pytest.mark.parametrize(("kind", "fields"), DECODERS, ids=names(DECODERS))
def test_every_number_of_a_decoder_is_that_of_the_reference(kind, fields, tmp_path):
    theirs = reference.make(kind, tmp_path, **fields)
    reference.assert_same_model(theirs, {"input_ids": reference.ids(45, 90)})


@pytest.mark.parametrize(("kind", "fields"), ENCODERS, ids=names(ENCODERS))
def test_every_number_of_an_encoder_is_that_of_the_reference(kind, fields, tmp_path):
    theirs = reference.make(kind, tmp_path, **fields)
    inputs = {"input_ids": reference.ids(40, 90)}
    if fields.get("type_vocab_size", 2) == 2 and "vocab_size" in fields and "dim" not in fields:
        inputs["token_type_ids"] = [0] * 25 + [1] * 15
    reference.assert_same_model(theirs, inputs)


def test_padding_inside_a_text_moves_the_positions_of_roberta_as_in_the_reference(tmp_path):
    theirs = reference.make("RobertaForMaskedLM", tmp_path, **BERT, type_vocab_size=1, pad_token_id=5)
    reference.assert_same_model(theirs, {"input_ids": [5, 5, 8, 9, 5, 10, 11, 5]})


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_with_in_full(dtype, tmp_path):
    theirs = reference.make("GPT2LMHeadModel", tmp_path, dtype=dtype, **GPT2)
    reference.assert_same_model(theirs, {"input_ids": reference.ids(20, 90)})
