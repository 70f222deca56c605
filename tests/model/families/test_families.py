"""Foreign checkpoints on our Transformer: every number of every layer is the reference's."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers.processors import TemplateProcessing
from transformers.models.t5.modeling_t5 import T5Attention

from model import CheckpointError, InputError, load_checkpoint
from model.positions import RelativePositions
from tests import reference, tiny
from tests.kinds import BART, BERT, DISTILBERT, GEMMA, GEMMA3_ROPE, GPT2, LLAMA, LLAMA3, MARIAN, NEO, NEOX, T5

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
    ("GPT2LMHeadModel", GPT2 | {"scale_attn_by_inverse_layer_idx": True}),
    ("GPT2LMHeadModel", GPT2 | {"scale_attn_by_inverse_layer_idx": True, "scale_attn_weights": False}),
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

BOTH: list[tuple[str, dict[str, Any]]] = [
    ("BartForConditionalGeneration", BART),
    ("BartForConditionalGeneration", BART | {"scale_embedding": True, "activation_function": "relu"}),
    ("BartForConditionalGeneration", BART | {"tie_word_embeddings": False}),
    ("BartModel", BART),
    ("MarianMTModel", MARIAN),
    ("MarianMTModel", MARIAN | {"scale_embedding": True, "activation_function": "swish"}),
    ("MarianMTModel", MARIAN | {"share_encoder_decoder_embeddings": False}),
    ("T5ForConditionalGeneration", T5),
    ("T5ForConditionalGeneration", T5 | {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}),
    ("T5ForConditionalGeneration", T5 | {"feed_forward_proj": "gated-silu", "relative_attention_num_buckets": 8}),
    ("T5Model", T5 | {"relative_attention_max_distance": 30}),
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


@pytest.mark.parametrize(("kind", "fields"), BOTH, ids=names(BOTH))
def test_every_number_of_an_encoder_and_its_decoder_is_that_of_the_reference(kind, fields, tmp_path):
    theirs = reference.make(kind, tmp_path, **fields)
    inputs = {"input_ids": reference.ids(45, 88), "decoder_input_ids": [2, *reference.ids(41, 88, seed=1)]}
    reference.assert_same_model(theirs, inputs)


def test_padding_inside_a_text_moves_the_positions_of_roberta_as_in_the_reference(tmp_path):
    theirs = reference.make("RobertaForMaskedLM", tmp_path, **BERT, type_vocab_size=1, pad_token_id=5)
    reference.assert_same_model(theirs, {"input_ids": [5, 5, 8, 9, 5, 10, 11, 5]})


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_with_in_full(dtype, tmp_path):
    theirs = reference.make("GPT2LMHeadModel", tmp_path, dtype=dtype, **GPT2)
    reference.assert_same_model(theirs, {"input_ids": reference.ids(20, 90)})


def test_scores_that_the_reference_upcasts_are_the_same_numbers(tmp_path):
    fields = GPT2 | {"reorder_and_upcast_attn": True, "scale_attn_by_inverse_layer_idx": True}
    theirs, ids = reference.make("GPT2LMHeadModel", tmp_path, **fields), reference.ids(20, 90)
    trace: Any = load_checkpoint(tmp_path, device="cpu").trace_ids(ids)
    output, _ = theirs.run(input_ids=ids)
    for layer, block in enumerate(trace.decoder.blocks):
        reference.assert_same(block.stream_in, output.hidden_states[layer][0], f"stream before layer {layer}")
    reference.assert_same(trace.logits, output.logits[0], "logits")


# Files as older versions wrote them


def rewritten(folder: Path, drop: tuple[str, ...] = (), **changes: Any) -> None:
    """Change the config of a saved model."""
    path = folder / "config.json"
    fields = {name: value for name, value in json.loads(path.read_text()).items() if name not in drop}
    path.write_text(json.dumps(fields | changes))


def renamed(folder: Path, rename: Callable[[str], str], **more: torch.Tensor) -> None:
    """Store a saved model's tensors under other names, and more of them."""
    path = folder / "model.safetensors"
    save_file({rename(name): tensor for name, tensor in load_file(path).items()} | more, path)


OLD = [
    ("LlamaForCausalLM", LLAMA | {"rope_parameters": LLAMA3}, {
        "rope_theta": 500.0, "rope_scaling": {name: value for name, value in LLAMA3.items() if name != "rope_theta"},
    }),
    ("LlamaForCausalLM", LLAMA | {"rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 70.0}}, {
        "rope_theta": 70.0, "rope_scaling": {"type": "linear", "factor": 2.0},
    }),
    ("LlamaForCausalLM", LLAMA | {"num_key_value_heads": 6}, {"num_key_value_heads": None, "head_dim": None}),
    ("GPTNeoXForCausalLM", NEOX | {"rope_parameters": {"rope_theta": 300.0, "partial_rotary_factor": 0.5}}, {
        "rotary_pct": 0.5, "rotary_emb_base": 300,
    }),
    ("Gemma3ForCausalLM", GEMMA | {"sliding_window": 6, "num_hidden_layers": 7, "rope_parameters": GEMMA3_ROPE}, {
        "rope_theta": 3000.0, "rope_local_base_freq": 70.0, "rope_scaling": {"rope_type": "linear", "factor": 4.0},
        "layer_types": None, "sliding_window_pattern": 6,
    }),
    ("GemmaForCausalLM", GEMMA, {"hidden_act": "gelu"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "fields", "old"), OLD, ids=[f"{kind}-{number}" for number, (kind, *_) in enumerate(OLD)]
)
def test_old_spellings_of_a_config_mean_the_same(kind, fields, old, tmp_path):
    theirs = reference.make(kind, tmp_path, **fields)
    rewritten(tmp_path, drop=("rope_parameters",), **old)
    reference.assert_same_model(theirs, {"input_ids": reference.ids(45, 90)})


@pytest.mark.parametrize(("kind", "fields", "prefix"), [
    ("GPT2LMHeadModel", GPT2, "transformer."),
    ("BertModel", BERT, ""),
    ("BartForConditionalGeneration", BART, "model."),
    ("LlamaForCausalLM", LLAMA | {"tie_word_embeddings": True}, "model."),
])  # fmt: skip
def test_names_are_found_with_and_without_their_prefix(kind, fields, prefix, tmp_path):
    theirs = reference.make(kind, tmp_path, **fields)
    renamed(tmp_path, lambda name: name.removeprefix(prefix) if prefix else f"bert.{name}")
    more = {"decoder_input_ids": [2, 7, 9]} if "Bart" in kind else {}
    reference.assert_same_model(theirs, {"input_ids": reference.ids(12, 90), **more})


OLD_NORM = {"weight": "gamma", "bias": "beta"}


def test_the_first_names_of_bert_s_norms_are_known(tmp_path):
    theirs = reference.make("BertForMaskedLM", tmp_path, **BERT)
    old = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    renamed(
        tmp_path, lambda name: next((name.replace(new, before) for new, before in old.items() if new in name), name)
    )
    reference.assert_same_model(theirs, {"input_ids": reference.ids(12, 90)})


def test_buffers_and_second_copies_of_a_shared_table_are_passed_over(tmp_path):
    theirs = reference.make("T5ForConditionalGeneration", tmp_path / "t5", **T5)
    table = load_file(tmp_path / "t5" / "model.safetensors")["shared.weight"]
    copies = {f"{side}.embed_tokens.weight": table.clone() for side in ("encoder", "decoder")}
    useless = {"decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight": torch.zeros(32, 3)}
    renamed(tmp_path / "t5", str, **copies, **useless)
    inputs = {"input_ids": reference.ids(12, 90), "decoder_input_ids": [0, 4, 5]}
    reference.assert_same_model(theirs, inputs)
    theirs = reference.make("GPT2LMHeadModel", tmp_path / "gpt2", **GPT2)
    mask = torch.ones(1, 1, 64, 64, dtype=torch.bool).tril()
    renamed(
        tmp_path / "gpt2",
        str,
        **{"transformer.h.0.attn.bias": mask, "transformer.h.0.attn.masked_bias": torch.ones(())},
    )
    reference.assert_same_model(theirs, {"input_ids": reference.ids(12, 90)})


def test_the_encoder_of_t5_alone_is_an_encoder(tmp_path):
    theirs = reference.make("T5EncoderModel", tmp_path, **T5)
    assert reference.assert_same_model(theirs, {"input_ids": reference.ids(45, 90)}).logits is None


@pytest.mark.parametrize("causal", [False, True])
def test_the_buckets_of_distances_are_those_of_t5(causal):
    positions = RelativePositions(tiny.config(heads=2), causal=causal)
    offset = torch.arange(-300, 301)[None, :]
    theirs = T5Attention._relative_position_bucket(offset, not causal, num_buckets=32, max_distance=128)
    assert torch.equal(positions.buckets(offset), theirs)


@pytest.mark.parametrize(("kind", "fields"), [
    ("T5ForConditionalGeneration", T5), ("BartForConditionalGeneration", BART | {"forced_eos_token_id": None}),
    ("GPT2LMHeadModel", GPT2), ("LlamaForCausalLM", LLAMA),
])  # fmt: skip
def test_greedy_decoding_writes_what_the_reference_writes(kind, fields, tmp_path):
    theirs = reference.make(kind, tmp_path, **fields)
    tiny.tokenizer().save(tmp_path / "tokenizer.json")
    checkpoint = load_checkpoint(tmp_path, device="cpu")
    source = list(checkpoint.tokenizer.encode("the dog bit the man").ids)
    how = {"do_sample": False, "num_beams": 1, "max_new_tokens": 12, "use_cache": False}
    written = theirs.model.generate(torch.tensor([source]), **how)[0].tolist()
    before = 1 if checkpoint.config.architecture == "encoder-decoder" else len(source)
    assert list(checkpoint.generate("the dog bit the man", max_tokens=12).token_ids) == written[before:]


def test_a_target_is_read_without_the_end_that_it_predicts(tmp_path):
    reference.make("T5ForConditionalGeneration", tmp_path, **T5)
    ended = tiny.tokenizer().backend
    ended.post_processor = TemplateProcessing(single="$A [UNK]", special_tokens=[("[UNK]", 1)])
    ended.save(str(tmp_path / "tokenizer.json"))
    ended.post_processor = TemplateProcessing(single="$A", special_tokens=[])
    trace: Any = load_checkpoint(tmp_path, device="cpu").trace("the dog", target="the man")
    assert trace.encoder.ids.tolist()[-1] == 1
    assert trace.decoder.ids.tolist() == [0, *ended.encode("the man").ids]


# What is refused


REFUSED = [
    ("GPT2LMHeadModel", GPT2, {"scale_attn_by_inverse_layer_idx": 1}, "scale_attn_by_inverse_layer_idx: found '1'"),
    ("GPT2LMHeadModel", GPT2, {"reorder_and_upcast_attn": "yes"}, "reorder_and_upcast_attn: found 'yes', expected"),
    ("GPT2LMHeadModel", GPT2, {"n_embd": "24"}, "n_embd: found '24', expected a whole number from 1"),
    ("GPT2LMHeadModel", GPT2, {"activation_function": "quick"}, "activation_function: found 'quick', expected one of"),
    ("BertModel", BERT, {"position_embedding_type": "relative_key"}, "position_embedding_type: found 'relative_key'"),
    ("BertModel", BERT, {"hidden_size": None}, "hidden_size: found 'None'"),
    ("LlamaForCausalLM", LLAMA, {"rope_parameters": {"rope_type": "yarn"}}, "rope_type: found 'yarn', expected one of"),
    ("Qwen2ForCausalLM", LLAMA, {"layer_types": ["chunked_attention"] * 3}, "layer_types: found"),
    ("GemmaForCausalLM", GEMMA, {"use_bidirectional_attention": True}, "use_bidirectional_attention: found 'True'"),
    ("T5ForConditionalGeneration", T5, {"feed_forward_proj": "gated-tanh"}, "feed_forward_proj: found 'gated-tanh'"),
    ("MarianMTModel", MARIAN, {"decoder_vocab_size": 91}, "decoder_vocab_size: found '91'"),
    ("GPT2LMHeadModel", GPT2, {"model_type": "mamba"}, "model_type: models of type mamba cannot be opened; "),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "fields", "change", "complaint"), REFUSED, ids=[complaint[:40] for *_, complaint in REFUSED]
)
def test_what_a_config_says_and_we_do_not_follow_is_refused_by_its_name(kind, fields, change, complaint, tmp_path):
    reference.make(kind, tmp_path, **fields)
    rewritten(tmp_path, **change)
    with pytest.raises(CheckpointError, match=f"^config.json: {re.escape(complaint)}") as caught:
        load_checkpoint(tmp_path, device="cpu")
    assert "\n" not in str(caught.value)


def test_a_tensor_of_another_head_is_named(tmp_path):
    reference.make("BertForQuestionAnswering", tmp_path, **BERT)
    with pytest.raises(CheckpointError, match=r"^model.safetensors: qa_outputs.bias: found a tensor"):
        load_checkpoint(tmp_path, device="cpu")


def test_a_missing_tensor_is_named(tmp_path):
    reference.make("GPT2LMHeadModel", tmp_path, **GPT2)
    path = tmp_path / "model.safetensors"
    tensors = load_file(path)
    del tensors["transformer.h.1.attn.c_attn.bias"]
    save_file(tensors, path)
    with pytest.raises(CheckpointError, match=r"^model.safetensors: h.1.attn.c_attn.bias: found nothing"):
        load_checkpoint(tmp_path, device="cpu")


def test_a_checkpoint_without_a_tokenizer_traces_ids_and_says_why_it_reads_no_text(tmp_path):
    reference.make("MarianMTModel", tmp_path, **MARIAN)
    checkpoint = load_checkpoint(tmp_path, device="cpu")
    assert checkpoint.trace_ids([5, 6], [89]).encoder is not None
    with pytest.raises(InputError, match=r"has no tokenizer.json, so no text can be read"):
        checkpoint.trace("the dog")


def test_segments_come_from_the_tokenizer_s_pair(tmp_path):
    theirs = reference.make("BertModel", tmp_path, **BERT)
    paired = tiny.tokenizer().backend
    paired.post_processor = TemplateProcessing(single="$A", pair="$A:0 $B:1", special_tokens=[])
    paired.save(str(tmp_path / "tokenizer.json"))
    paired.post_processor = TemplateProcessing(single="$A", special_tokens=[])
    trace: Any = load_checkpoint(tmp_path, device="cpu").trace("the dog", pair="the man")
    segments = list(trace.encoder.segments)
    assert 0 < sum(segments) < len(segments)
    output, _ = theirs.run(input_ids=trace.encoder.ids.tolist(), token_type_ids=segments)
    reference.assert_same(trace.encoder.final, output.last_hidden_state[0], "final")
