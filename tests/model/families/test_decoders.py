"""Configs of decoders from elsewhere, old, new, sparse and contradictory: read as the reference reads them, or refused.

Here the reference reads the changed config.json too, so that its defaults and its precedence are what is compared with.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file

from model import CheckpointError, load_checkpoint
from tests import reference

SIZES: dict[str, Any] = {"vocab_size": 90, "hidden_size": 24, "intermediate_size": 40, "max_position_embeddings": 64}
LLAMA = SIZES | {"num_hidden_layers": 3, "num_attention_heads": 6, "num_key_value_heads": 3}
LLAMA |= {"bos_token_id": 1, "eos_token_id": 2}
WINDOWED = LLAMA | {"use_sliding_window": True, "sliding_window": 8, "max_window_layers": 1}
GEMMA = LLAMA | {"head_dim": 6, "num_attention_heads": 4, "num_key_value_heads": 2, "sliding_window": 7}
GEMMA2 = GEMMA | {"attn_logit_softcapping": 3.0, "query_pre_attn_scalar": 30}
GEMMA3 = GEMMA | {"num_hidden_layers": 7}
NEOX = SIZES | {"hidden_size": 48, "num_hidden_layers": 2, "num_attention_heads": 3}
NEO: dict[str, Any] = {"vocab_size": 90, "hidden_size": 24, "num_heads": 3, "num_layers": 4, "window_size": 7}
NEO |= {"attention_types": [[["global", "local"], 2]], "max_position_embeddings": 64}
NEO |= {"bos_token_id": 1, "eos_token_id": 1}

BASE: dict[str, dict[str, Any]] = {
    "LlamaForCausalLM": LLAMA,
    "MistralForCausalLM": LLAMA | {"sliding_window": 8},
    "Qwen2ForCausalLM": WINDOWED,
    "Qwen3ForCausalLM": WINDOWED | {"head_dim": 8},
    "GemmaForCausalLM": GEMMA,
    "Gemma2ForCausalLM": GEMMA2,
    "Gemma3ForCausalLM": GEMMA3,
    "GPTNeoXForCausalLM": NEOX,
    "GPTNeoForCausalLM": NEO,
}
ROTATING = [kind for kind in BASE if kind != "GPTNeoForCausalLM"]
ONE_ROTATION = [kind for kind in ROTATING if kind not in ("Gemma3ForCausalLM", "GPTNeoXForCausalLM")]
GONE = ...  # in place of a value: the config has no such field

LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
FULL, SLIDING = "full_attention", "sliding_attention"
ROTATIONS: list[dict[str, Any]] = [
    {"rope_parameters": GONE},
    {"rope_parameters": GONE, "rope_theta": 300},
    {"rope_parameters": {"rope_type": "default"}, "rope_theta": 300.0},
    {"rope_parameters": {"rope_theta": 77.0}, "rope_theta": 300.0},
    {"rope_parameters": GONE, "rope_theta": 300.0, "rope_scaling": {"type": "linear", "factor": 2.5}},
    {"rope_parameters": {"rope_theta": 77.0}, "rope_scaling": {"rope_type": "linear", "factor": 2.0}},
    {"rope_parameters": {"rope_theta": 77.0}, "rope_scaling": {}},
    {"rope_parameters": LLAMA3, "rope_theta": 500.0},
    {"rope_parameters": LLAMA3 | {"original_max_position_embeddings": 20}, "rope_theta": 500.0},
    {"rope_parameters": LLAMA3 | {"rope_theta": 90.0}, "original_max_position_embeddings": 11},
]
CHANGES: dict[str, list[dict[str, Any]]] = {
    "LlamaForCausalLM": [
        {"head_dim": GONE}, {"head_dim": None}, {"hidden_act": GONE}, {"hidden_act": "gelu_fast"},
        {"rms_norm_eps": GONE}, {"rms_norm_eps": 1e-2}, {"eos_token_id": [4, 5]}, {"sliding_window": 5},
        {"max_position_embeddings": 200_000_000}, {"pretraining_tp": 2},
    ],
    "MistralForCausalLM": [
        {"sliding_window": GONE}, {"sliding_window": None}, {"sliding_window": 1}, {"sliding_window": 45},
        {"layer_types": [SLIDING] * 3},
    ],
    "Qwen2ForCausalLM": [
        {"layer_types": GONE}, {"layer_types": GONE, "max_window_layers": 0},
        {"layer_types": GONE, "max_window_layers": GONE}, {"layer_types": GONE, "use_sliding_window": False},
        {"layer_types": GONE, "sliding_window": None}, {"layer_types": GONE, "sliding_window": GONE},
        {"layer_types": [SLIDING, FULL, SLIDING]}, {"attention_bias": False},
    ],
    "Qwen3ForCausalLM": [{"layer_types": GONE}, {"attention_bias": GONE}],
    "GemmaForCausalLM": [
        {"hidden_act": "gelu"}, {"hidden_act": GONE}, {"hidden_act": "relu", "hidden_activation": "relu"},
        {"hidden_act": "gelu", "hidden_activation": "gelu_pytorch_tanh"}, {"hidden_act": "relu"},
    ],
    "Gemma2ForCausalLM": [
        {"hidden_activation": "gelu"}, {"hidden_activation": GONE, "hidden_act": "relu"}, {"layer_types": GONE},
        {"layer_types": [FULL] * 3}, {"sliding_window": GONE}, {"attn_logit_softcapping": None},
        {"attn_logit_softcapping": GONE}, {"final_logit_softcapping": GONE}, {"final_logit_softcapping": None},
        {"query_pre_attn_scalar": GONE},
    ],
    "Gemma3ForCausalLM": [
        {"layer_types": GONE}, {"layer_types": GONE, "sliding_window_pattern": 3}, {"final_logit_softcapping": 2.0},
        {"rope_parameters": GONE}, {"rope_parameters": {FULL: None, SLIDING: None}},
        {"rope_parameters": GONE, "rope_theta": 3000.0, "rope_local_base_freq": 30.0},
        {"rope_parameters": GONE, "rope_theta": 300.0, "rope_scaling": {"rope_type": "linear", "factor": 8.0}},
        {"rope_parameters": {SLIDING: {"rope_type": "default", "rope_theta": 20.0}}, "rope_theta": 40.0},
        {"rope_parameters": {FULL: LLAMA3 | {"rope_theta": 200.0, "original_max_position_embeddings": 20}}},
    ],
    "GPTNeoXForCausalLM": [
        {"rope_parameters": GONE}, {"rope_parameters": GONE, "rotary_pct": 0.5, "rotary_emb_base": 300},
        {"rope_parameters": GONE, "rotary_pct": 1.0},
        {"rope_parameters": GONE, "rotary_emb_base": 300, "rope_theta": 300.0},
        {"rope_parameters": {"rope_type": "default", "partial_rotary_factor": 0.5}, "rotary_pct": 0.25},
        {"rope_parameters": GONE, "rope_scaling": {"type": "linear", "factor": 3.0}},
        {"use_parallel_residual": False}, {"layer_norm_eps": 1e-2},
    ],
    "GPTNeoForCausalLM": [
        {"attention_layers": GONE}, {"attention_types": GONE}, {"window_size": 1}, {"window_size": 100},
        {"attention_types": [[["global"], 1], [["local"], 3]], "attention_layers": GONE},
    ],
}  # fmt: skip
READ = [(kind, change) for kind in ONE_ROTATION for change in ROTATIONS]
READ += [(kind, change) for kind, changes in CHANGES.items() for change in changes]

UNKNOWN: list[tuple[dict[str, Any], str]] = [
    ({"rope_parameters": {"rope_type": "yarn", "factor": 2.0}}, "rope_type: found 'yarn', expected one of"),
    ({"rope_scaling": {"type": "dynamic", "factor": 2.0}}, "type: found 'dynamic', expected one of"),
    ({"rope_parameters": {"rope_type": "linear"}}, "factor: found 'None', expected a number"),
    ({"rope_parameters": {FULL: {"rope_theta": 90.0}}}, "rope_parameters: found"),
    ({"rope_parameters": [1]}, "rope_parameters: found '[1]', expected an object"),
    ({"partial_rotary_factor": 0.5}, "partial_rotary_factor: found '0.5', expected 1"),
    ({"rope_parameters": {"partial_rotary_factor": 0.5}}, "partial_rotary_factor: found '0.5', expected 1"),
    ({"is_causal": False}, "is_causal: found 'False', expected True"),
    ({"num_key_value_heads": 5}, "num_key_value_heads: found '5', expected a divisor of"),
    ({"head_dim": 5}, "head_dim: found '5', expected an even number"),
]
NOT_FOLLOWED: dict[str, list[tuple[dict[str, Any], str]]] = {
    "LlamaForCausalLM": [
        ({"rope_parameters": LLAMA3 | {"high_freq_factor": 1.0}}, "high_freq_factor: found '1.0', expected above"),
        ({"rope_interleaved": True}, "rope_interleaved: found 'True'"),
        ({"layer_types": [SLIDING] * 3}, "layer_types: found"),
    ],
    "MistralForCausalLM": [({"layer_types": [FULL] * 3}, "layer_types: found")],
    "Qwen2ForCausalLM": [
        ({"use_sliding_window": False}, "layer_types: found"),
        ({"layer_types": [SLIDING] * 2}, "layer_types: found"),
        ({"layer_types": GONE, "max_window_layers": "2"}, "max_window_layers: found '2', expected a whole number"),
        ({"use_mrope": True}, "use_mrope: found 'True', expected False"),
    ],
    "GemmaForCausalLM": [
        ({"hidden_act": "relu", "hidden_activation": "silu"}, "hidden_activation: found 'silu'"),
        ({"use_bidirectional_attention": True}, "use_bidirectional_attention: found 'True'"),
    ],
    "Gemma2ForCausalLM": [({"sliding_window": None}, "layer_types: found")],
    "Gemma3ForCausalLM": [
        ({"use_bidirectional_attention": True}, "use_bidirectional_attention: found 'True'"),
        ({"attn_logit_softcapping": 2.0}, "attn_logit_softcapping: found '2.0', expected nothing"),
        ({"rope_parameters": {"rope_theta": 90.0}}, "rope_parameters: found"),
        ({"rope_parameters": GONE, "rope_scaling": {"type": "linear", "factor": 2.0}}, "rope_scaling: found"),
        ({"rope_parameters": {SLIDING: {"rope_type": "linear", "factor": 2.0}}}, "rope_parameters: sliding_attention"),
    ],
    "GPTNeoXForCausalLM": [
        ({"rope_parameters": GONE, "rope_theta": 300.0}, "rope_theta: found '300.0', expected 10000"),
        ({"rope_parameters": GONE, "rotary_pct": 0.2}, "partial_rotary_factor or rotary_pct: found '0.2'"),
        ({"head_dim": 8}, "head_dim: found '8', expected 16"),
        ({"is_causal": False}, "is_causal: found 'False'"),
    ],
    "GPTNeoForCausalLM": [
        ({"attention_layers": ["local"] * 4}, "attention_layers: found"),
        ({"attention_types": [["local", 3]]}, "attention_types: found"),
        ({"attention_types": [[["global", "local"], 200]]}, "attention_types: found"),
        ({"attention_types": GONE, "attention_layers": ["wide"] * 4}, "attention_layers: found"),
    ],
}
REFUSED = [(kind, change, complaint) for kind in ONE_ROTATION for change, complaint in UNKNOWN]
REFUSED += [(kind, change, complaint) for kind, cases in NOT_FOLLOWED.items() for change, complaint in cases]


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> dict[str, reference.Reference]:
    """One model of each kind; every test writes its config anew."""
    return {kind: reference.make(kind, tmp_path_factory.mktemp(kind), **fields) for kind, fields in BASE.items()}


@pytest.fixture(scope="module")
def configs(saved) -> dict[str, dict[str, Any]]:
    """The configs of these models as they were saved."""
    return {kind: json.loads((one.folder / "config.json").read_text()) for kind, one in saved.items()}


def write(folder: Path, config: dict[str, Any], change: dict[str, Any]) -> None:
    fields = {name: value for name, value in (config | change).items() if value is not GONE}
    (folder / "config.json").write_text(json.dumps(fields))


def names(cases: list[Any]) -> list[str]:
    return [f"{kind}-{'-'.join(change)}-{number}" for number, (kind, change, *_) in enumerate(cases)]


@pytest.mark.parametrize(("kind", "change"), READ, ids=names(READ))
def test_a_config_means_what_it_means_to_the_reference(kind, change, saved, configs):
    write(saved[kind].folder, configs[kind], change)
    reference.assert_same_model(reference.reread(saved[kind]), {"input_ids": reference.ids(45, 90)})


@pytest.mark.parametrize(("kind", "change", "complaint"), REFUSED, ids=names(REFUSED))
def test_what_is_not_followed_is_refused_by_its_name(kind, change, complaint, saved, configs):
    write(saved[kind].folder, configs[kind], change)
    with pytest.raises(CheckpointError, match=f"^config.json: {re.escape(complaint)}") as caught:
        load_checkpoint(saved[kind].folder, device="cpu")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("kind", ["LlamaForCausalLM", "Gemma3ForCausalLM", "GPTNeoXForCausalLM"])
def test_half_precision_rounds_the_weights_and_nothing_else(kind, dtype, tmp_path):
    theirs = reference.make(kind, tmp_path, dtype=dtype, save_max_shard_size="20KB", **BASE[kind])
    assert len(list(tmp_path.glob("model-*.safetensors"))) > 1
    reference.assert_same_model(theirs, {"input_ids": reference.ids(45, 90)})


@pytest.mark.parametrize("kind", ["LlamaModel", "Qwen3Model", "Gemma3TextModel", "GPTNeoXModel", "GPTNeoModel"])
def test_a_model_without_a_head_is_read(kind, tmp_path):
    fields = {"LlamaModel": LLAMA, "Qwen3Model": WINDOWED, "Gemma3TextModel": GEMMA3, "GPTNeoXModel": NEOX}
    theirs = reference.make(kind, tmp_path, **fields.get(kind, NEO))
    reference.assert_same_model(theirs, {"input_ids": reference.ids(45, 90)})


@pytest.mark.parametrize("tie", [True, False, GONE])
def test_a_stored_head_is_used_whatever_the_config_says_of_tying(tie, tmp_path):
    theirs = reference.make("LlamaForCausalLM", tmp_path, **LLAMA, tie_word_embeddings=False)
    write(tmp_path, json.loads((tmp_path / "config.json").read_text()), {"tie_word_embeddings": tie})
    reference.assert_same_model(theirs, {"input_ids": reference.ids(45, 90)})


def test_heads_of_keys_default_to_those_of_each_class(tmp_path):
    fields = LLAMA | {"hidden_size": 32, "num_attention_heads": 16}
    for kind, heads in (("LlamaForCausalLM", 16), ("MistralForCausalLM", 8), ("GemmaForCausalLM", 16)):
        theirs = reference.make(kind, tmp_path / kind, **fields | {"num_key_value_heads": heads, "head_dim": 2})
        write(theirs.folder, json.loads((theirs.folder / "config.json").read_text()), {"num_key_value_heads": GONE})
        reference.assert_same_model(reference.reread(theirs), {"input_ids": reference.ids(45, 90)})


def test_the_weight_of_a_norm_in_gemma_is_one_more_than_is_stored(tmp_path):
    reference.make("GemmaForCausalLM", tmp_path, **GEMMA)
    stored = load_file(tmp_path / "model.safetensors")["model.layers.0.input_layernorm.weight"]
    model: Any = load_checkpoint(tmp_path, device="cpu").model
    assert torch.equal(model.decoder.blocks[0].self_residual.norm.weight, stored + 1)
    assert transformers.GemmaConfig(**GEMMA).rms_norm_eps == model.config.norm_epsilon
