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

LLAMA: dict[str, Any] = {"vocab_size": 90, "hidden_size": 24, "num_attention_heads": 6, "num_hidden_layers": 3}
LLAMA |= {"intermediate_size": 40, "max_position_embeddings": 64, "bos_token_id": 1, "eos_token_id": 2}
LLAMA |= {"num_key_value_heads": 3}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
LLAMA3 |= {"original_max_position_embeddings": 32, "rope_theta": 500.0}
GEMMA = LLAMA | {"head_dim": 6, "num_attention_heads": 4, "num_key_value_heads": 2}
GEMMA3_ROPE = {
    "full_attention": {"rope_type": "linear", "factor": 4.0, "rope_theta": 3000.0},
    "sliding_attention": {"rope_type": "default", "rope_theta": 70.0},
}
NEOX: dict[str, Any] = {"vocab_size": 90, "hidden_size": 24, "num_attention_heads": 3, "num_hidden_layers": 3}
NEOX |= {"intermediate_size": 40, "max_position_embeddings": 64, "hidden_dropout": 0.0}
NEO: dict[str, Any] = {"vocab_size": 90, "hidden_size": 24, "num_heads": 3, "num_layers": 3, "window_size": 7}
NEO |= {"attention_types": [[["global", "local", "local"], 1]], "max_position_embeddings": 64}
NEO |= {"bos_token_id": 1, "eos_token_id": 1}

FULL, SLIDING = "full_attention", "sliding_attention"
WINDOWED = [SLIDING, FULL, SLIDING]

DECODERS: list[tuple[str, dict[str, Any]]] = [
    ("LlamaForCausalLM", LLAMA),
    ("LlamaForCausalLM", LLAMA | {"num_key_value_heads": 1, "attention_bias": True, "mlp_bias": True}),
    ("LlamaForCausalLM", LLAMA | {"num_key_value_heads": 6, "head_dim": 10, "tie_word_embeddings": True}),
    ("LlamaForCausalLM", LLAMA | {"rope_parameters": LLAMA3, "save_max_shard_size": "20KB"}),
    ("LlamaForCausalLM", LLAMA | {"rope_parameters": {"rope_type": "linear", "factor": 2.5, "rope_theta": 200.0}}),
    ("MistralForCausalLM", LLAMA | {"sliding_window": 9}),
    ("MistralForCausalLM", LLAMA | {"sliding_window": None, "hidden_act": "gelu"}),
    ("Qwen2ForCausalLM", LLAMA | {"eos_token_id": [2, 3]}),
    ("Qwen2ForCausalLM", LLAMA | {"use_sliding_window": True, "sliding_window": 8, "max_window_layers": 1}),
    ("Qwen3ForCausalLM", LLAMA | {"head_dim": 8, "attention_bias": True}),
    (
        "Qwen3ForCausalLM",
        LLAMA | {"head_dim": 8, "use_sliding_window": True, "sliding_window": 5, "max_window_layers": 2},
    ),
    ("GemmaForCausalLM", GEMMA),
    ("GemmaForCausalLM", GEMMA | {"num_key_value_heads": 1, "hidden_act": "gelu"}),
    ("Gemma2ForCausalLM", GEMMA | {"sliding_window": 6, "query_pre_attn_scalar": 50, "attn_logit_softcapping": 3.0}),
    ("Gemma2ForCausalLM", GEMMA | {"final_logit_softcapping": None, "attn_logit_softcapping": None}),
    ("Gemma3ForCausalLM", GEMMA | {"sliding_window": 6, "layer_types": [SLIDING, SLIDING, FULL]}),
    ("Gemma3ForCausalLM", GEMMA | {"num_hidden_layers": 7, "sliding_window": 5, "rope_parameters": GEMMA3_ROPE}),
    ("GPTNeoXForCausalLM", NEOX),
    ("GPTNeoXForCausalLM", NEOX | {"use_parallel_residual": False, "attention_bias": False}),
    ("GPTNeoXForCausalLM", NEOX | {"rope_parameters": {"rope_theta": 300.0, "partial_rotary_factor": 0.5}}),
    ("GPTNeoForCausalLM", NEO),
    ("GPTNeoForCausalLM", NEO | {"intermediate_size": 20, "tie_word_embeddings": False}),
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
