"""Encoders with decoders from elsewhere: configs old, new and contradictory, tables stored once, twice or apart.

The reference reads the changed files too, so that its defaults and its precedence are what is compared with.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers.processors import TemplateProcessing
from torch import Tensor

from model import CheckpointError, load_checkpoint
from tests import reference, tiny
from tests.kinds import BART, MARIAN, T5

SIDES = ("encoder", "decoder")
GONE = ...  # in place of a value: the config has no such field
GATED = T5 | {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}
BASE: dict[str, tuple[str, dict[str, Any]]] = {
    "bart": ("BartForConditionalGeneration", BART),
    "marian": ("MarianMTModel", MARIAN),
    "t5": ("T5ForConditionalGeneration", T5),
    "flan": ("T5ForConditionalGeneration", GATED),
}
INPUTS = {"input_ids": reference.ids(45, 88), "decoder_input_ids": [2, *reference.ids(41, 88, seed=1)]}

BART_OR_MARIAN: list[dict[str, Any]] = [
    {"scale_embedding": True}, {"scale_embedding": GONE}, {"activation_function": GONE},
    *({"activation_function": name} for name in ("relu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh", "swish")),
    {"d_model": GONE, "hidden_size": 24}, {"d_model": 24, "hidden_size": 24},
    {"encoder_layers": GONE, "num_hidden_layers": 2},
    {"encoder_attention_heads": GONE, "num_attention_heads": 4}, {"encoder_attention_heads": 6},
    {"decoder_attention_heads": 12}, {"tie_word_embeddings": GONE}, {"pad_token_id": None}, {"is_decoder": True},
    {"eos_token_id": [2, 3]}, {"decoder_start_token_id": GONE},
]  # fmt: skip
T5_OR_FLAN: list[dict[str, Any]] = [
    {"layer_norm_epsilon": GONE}, {"layer_norm_epsilon": 1e-2}, {"pad_token_id": None}, {"n_positions": GONE},
    {"relative_attention_num_buckets": GONE}, {"relative_attention_max_distance": GONE},
    {"relative_attention_max_distance": 20}, {"num_layers": GONE, "num_hidden_layers": 2}, {"num_hidden_layers": 2},
    {"num_heads": GONE, "num_attention_heads": 3}, {"d_kv": GONE, "head_dim": 6}, {"is_decoder": True},
    {"decoder_start_token_id": GONE},
    *({"tie_word_embeddings": tie, "scale_decoder_outputs": scale}
      for tie in (True, False, None, GONE) for scale in (True, False, GONE)),
]  # fmt: skip
CHANGES: dict[str, list[dict[str, Any]]] = {
    "bart": [
        *BART_OR_MARIAN,
        {"normalize_before": False, "add_final_layer_norm": False, "normalize_embedding": True},
        {"static_position_embeddings": False, "extra_pos_embeddings": 2, "add_bias_logits": False},
    ],
    "marian": [
        *BART_OR_MARIAN, {"decoder_vocab_size": GONE}, {"decoder_vocab_size": None}, {"max_position_embeddings": GONE},
        {"max_position_embeddings": 45}, {"share_encoder_decoder_embeddings": GONE},
        {"normalize_embedding": False, "static_position_embeddings": True, "bad_words_ids": [[89]], "num_beams": 6},
    ],
    "t5": [
        *T5_OR_FLAN,
        *({"feed_forward_proj": name, "dense_act_fn": GONE, "is_gated_act": GONE}
          for name in (GONE, "relu", "gelu", "gelu_new", "silu", "swish")),
        {"dense_act_fn": "gelu_new"}, {"feed_forward_proj": "gated-gelu", "is_gated_act": False},
    ],
    "flan": [
        *T5_OR_FLAN,
        *({"feed_forward_proj": name, "dense_act_fn": GONE, "is_gated_act": GONE}
          for name in ("gated-gelu", "gated-gelu_new", "gated-silu", "gated-relu")),
        {"dense_act_fn": "gelu"}, {"feed_forward_proj": "relu"},
    ],
}  # fmt: skip
READ = [(kind, change) for kind, changes in CHANGES.items() for change in changes]

UNKNOWN: list[tuple[dict[str, Any], str]] = [
    ({"normalize_before": True}, "normalize_before: found 'True', expected False"),
    ({"add_final_layer_norm": True}, "add_final_layer_norm: found 'True', expected False"),
    ({"is_encoder_decoder": False}, "is_encoder_decoder: found 'False', expected True"),
    ({"activation_function": "tanh"}, "activation_function: found 'tanh', expected one of"),
    ({"encoder_attention_heads": 5}, "encoder_attention_heads: found '5', expected a divisor of d_model 24"),
    ({"decoder_attention_heads": 7}, "decoder_attention_heads: found '7', expected a divisor of d_model 24"),
    ({"num_attention_heads": 6}, "num_attention_heads: found '6', expected 3"),
    ({"hidden_size": 48}, "hidden_size: found '48', expected 24"),
    ({"decoder_layers": GONE}, "decoder_layers: found 'None', expected a whole number"),
    ({"decoder_start_token_id": 90}, "decoder_start_token_id: found '90', expected an id below 90"),
]
NOT_FOLLOWED: dict[str, list[tuple[dict[str, Any], str]]] = {
    "bart": [
        *UNKNOWN,
        ({"normalize_embedding": False}, "normalize_embedding: found 'False', expected True"),
        ({"static_position_embeddings": True}, "static_position_embeddings: found 'True', expected False"),
        ({"extra_pos_embeddings": 0}, "extra_pos_embeddings: found '0', expected 2"),
    ],
    "marian": [
        *UNKNOWN,
        ({"normalize_embedding": True}, "normalize_embedding: found 'True', expected False"),
        ({"static_position_embeddings": False}, "static_position_embeddings: found 'False', expected True"),
        ({"decoder_vocab_size": 91}, "decoder_vocab_size: found '91', expected 90"),
        ({"share_encoder_decoder_embeddings": 1}, "share_encoder_decoder_embeddings: found '1', expected true or"),
    ],
    "t5": [
        ({"feed_forward_proj": "gated-tanh"}, "feed_forward_proj: found 'gated-tanh', expected one of"),
        ({"dense_act_fn": "tanh"}, "dense_act_fn: found 'tanh', expected one of"),
        ({"relative_attention_num_buckets": 30}, "relative_attention_num_buckets: found '30', expected a multiple"),
        ({"relative_attention_max_distance": 16}, "relative_attention_max_distance: found '16', expected more than"),
        ({"num_attention_heads": 6}, "num_attention_heads: found '6', expected 3"),
        ({"num_hidden_layers": 1}, "num_hidden_layers: found '1', expected 2"),
        ({"head_dim": 3}, "head_dim: found '3', expected 6"),
        ({"scale_decoder_outputs": 1}, "scale_decoder_outputs: found '1', expected true or false"),
    ],
}
REFUSED = [(kind, change, complaint) for kind, cases in NOT_FOLLOWED.items() for change, complaint in cases]


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> dict[str, reference.Reference]:
    """One model of each kind; every test writes its config anew."""
    return {
        name: reference.make(kind, tmp_path_factory.mktemp(name), **fields) for name, (kind, fields) in BASE.items()
    }


@pytest.fixture(scope="module")
def configs(saved) -> dict[str, dict[str, Any]]:
    """The configs of these models as they were saved."""
    return {name: json.loads((one.folder / "config.json").read_text()) for name, one in saved.items()}


def write(folder: Path, config: dict[str, Any], change: dict[str, Any]) -> None:
    fields = {name: value for name, value in (config | change).items() if value is not GONE}
    (folder / "config.json").write_text(json.dumps(fields))


def change_config(folder: Path, **change: Any) -> None:
    write(folder, json.loads((folder / "config.json").read_text()), change)


def change_tensors(folder: Path, change: Callable[[dict[str, Tensor]], dict[str, Tensor]]) -> None:
    path = folder / "model.safetensors"
    save_file({name: tensor.clone() for name, tensor in change(load_file(path)).items()}, path, {"format": "pt"})


def names(cases: list[Any]) -> list[str]:
    return [f"{kind}-{'-'.join(change)}-{number}" for number, (kind, change, *_) in enumerate(cases)]


@pytest.mark.parametrize(("kind", "change"), READ, ids=names(READ))
def test_a_config_means_what_it_means_to_the_reference(kind, change, saved, configs):
    write(saved[kind].folder, configs[kind], change)
    reference.assert_same_model(reference.reread(saved[kind]), INPUTS)


@pytest.mark.parametrize(("kind", "change", "complaint"), REFUSED, ids=names(REFUSED))
def test_what_is_not_followed_is_refused_by_its_name(kind, change, complaint, saved, configs):
    write(saved[kind].folder, configs[kind], change)
    with pytest.raises(CheckpointError, match=f"^config.json: {re.escape(complaint)}") as caught:
        load_checkpoint(saved[kind].folder, device="cpu")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("kind", BASE)
def test_half_precision_rounds_the_weights_and_nothing_else(kind, dtype, tmp_path):
    class_name, fields = BASE[kind]
    theirs = reference.make(class_name, tmp_path, dtype=dtype, save_max_shard_size="20KB", **fields)
    assert len(list(tmp_path.glob("model-*.safetensors"))) > 1
    reference.assert_same_model(theirs, INPUTS)


def test_biases_of_distances_reach_beyond_the_last_bucket(tmp_path):
    theirs = reference.make("T5ForConditionalGeneration", tmp_path, **T5)
    far = {"input_ids": reference.ids(190, 90), "decoder_input_ids": reference.ids(170, 90, seed=1)}
    reference.assert_same_model(theirs, far)


# Token tables: stored once, several times, or apart


HELD = [(kind, kept) for kind in ("bart", "marian", "t5") for kept in ((0,), (1,), (2,), (1, 2), (0, 1, 2))]


@pytest.mark.parametrize(("kind", "kept"), HELD)
def test_one_token_table_may_be_stored_under_any_of_its_names(kind, kept, tmp_path):
    class_name, fields = BASE[kind]
    theirs = reference.make(class_name, tmp_path, **fields)
    prefix = "" if kind == "t5" else "model."
    tables = [f"{prefix}{name}.weight" for name in ("shared", "encoder.embed_tokens", "decoder.embed_tokens")]

    def store(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        table = tensors.pop(tables[0])
        return tensors | {tables[number]: table for number in kept}

    change_tensors(tmp_path, store)
    reference.assert_same_model(theirs, INPUTS)
    reference.assert_same_model(reference.reread(theirs), INPUTS)


SPOILT: dict[str, Callable[[Tensor], Tensor]] = {
    "one number": lambda table: table.index_fill(0, torch.tensor([7]), 0.5),
    "a row less": lambda table: table[:-1],
    "half precision": lambda table: table.half(),
    "eight bits": lambda table: table.to(torch.float8_e4m3fn),
}


@pytest.mark.parametrize("kind", ["bart", "marian", "t5"])
@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_a_second_table_that_is_no_copy_is_refused_by_its_name(kind, spoil, tmp_path):
    class_name, fields = BASE[kind]
    reference.make(class_name, tmp_path, **fields)
    prefix = "" if kind == "t5" else "model."
    second = f"{prefix}decoder.embed_tokens.weight"
    change_tensors(tmp_path, lambda tensors: tensors | {second: spoil(tensors[f"{prefix}shared.weight"])})
    complaint = f"model.safetensors: {second}: found other numbers than in {prefix}shared.weight, expected the same."
    with pytest.raises(CheckpointError, match=f"^{re.escape(complaint)}$"):
        load_checkpoint(tmp_path, device="cpu")


def test_no_token_table_at_all_is_refused_by_its_first_name(tmp_path):
    reference.make("T5ForConditionalGeneration", tmp_path, **T5)
    change_tensors(tmp_path, lambda tensors: {name: one for name, one in tensors.items() if name != "shared.weight"})
    with pytest.raises(CheckpointError, match=r"^model.safetensors: shared.weight: found nothing"):
        load_checkpoint(tmp_path, device="cpu")


APART: list[tuple[str, dict[str, Any]]] = [
    ("BartForConditionalGeneration", BART | {"tie_word_embeddings": False}),
    ("BartModel", BART | {"tie_word_embeddings": False}),
    ("MarianMTModel", MARIAN | {"tie_word_embeddings": False}),
    ("MarianMTModel", MARIAN | {"share_encoder_decoder_embeddings": False}),
    ("MarianMTModel", MARIAN | {"share_encoder_decoder_embeddings": False, "tie_word_embeddings": False}),
    ("MarianModel", MARIAN | {"share_encoder_decoder_embeddings": False}),
]


@pytest.mark.parametrize(("kind", "fields"), APART)
def test_each_side_uses_its_own_table_where_they_are_apart(kind, fields, tmp_path):
    theirs = reference.make(kind, tmp_path, **fields)
    reference.assert_same_model(theirs, INPUTS)
    model: Any = load_checkpoint(tmp_path, device="cpu").model
    assert not torch.equal(model.embedding.weight, model.target_embedding.weight)


@pytest.mark.parametrize("kind", ["BartModel", "MarianModel", "T5Model"])
def test_a_model_without_a_head_predicts_through_its_table(kind, tmp_path):
    fields = T5 if kind == "T5Model" else BART if kind == "BartModel" else MARIAN
    trace: Any = reference.assert_same_model(reference.make(kind, tmp_path, **fields), INPUTS)
    table = load_file(tmp_path / "model.safetensors")["shared.weight"]
    scale = 24**-0.5 if kind == "T5Model" else 1.0
    reference.assert_same(trace.logits, scale * trace.decoder.final @ table.T, "logits")


@pytest.mark.parametrize("kind", BASE)
@pytest.mark.parametrize("tie", [True, False, GONE])
def test_a_stored_head_is_used_whatever_the_config_says_of_tying(kind, tie, tmp_path):
    class_name, fields = BASE[kind]
    theirs = reference.make(class_name, tmp_path, **fields)
    prefix = "" if kind in ("t5", "flan") else "model."
    head = tiny.normal(90, 24, seed=5)

    def store(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        copies = {f"{prefix}{side}.embed_tokens.weight": tensors[f"{prefix}shared.weight"] for side in SIDES}
        return tensors | copies | {"lm_head.weight": head}

    change_tensors(tmp_path, store)
    change_config(tmp_path, tie_word_embeddings=tie)
    trace: Any = reference.assert_same_model(reference.reread(theirs), INPUTS)
    model: Any = load_checkpoint(tmp_path, device="cpu").model
    assert torch.equal(model.projection.weight, head)
    assert trace.logits.shape == (42, 90)


def test_stored_sinusoids_and_remnants_of_conversion_are_passed_over(tmp_path):
    theirs = reference.make("MarianMTModel", tmp_path / "marian", **MARIAN)
    sinusoids = theirs.model.model.encoder.embed_positions.weight
    positions = {f"model.{side}.embed_positions.weight": sinusoids for side in SIDES}
    change_tensors(tmp_path / "marian", lambda tensors: tensors | positions)
    reference.assert_same_model(theirs, INPUTS)
    theirs = reference.make("BartForConditionalGeneration", tmp_path / "bart", **BART)
    versions = {f"model.{side}.version": torch.ones(1) for side in SIDES}
    change_tensors(tmp_path / "bart", lambda tensors: tensors | versions)
    reference.assert_same_model(theirs, INPUTS)


OTHER_HEADS = [
    ("BartForSequenceClassification", BART, "model.safetensors: classification_head.dense.bias: found a tensor"),
    ("BartForQuestionAnswering", BART, "model.safetensors: qa_outputs.bias: found a tensor"),
    ("BartForCausalLM", BART, "config.json: is_encoder_decoder: found 'False', expected True"),
    ("MarianForCausalLM", MARIAN, "config.json: is_encoder_decoder: found 'False', expected True"),
    ("T5ForSequenceClassification", T5, "model.safetensors: classification_head.dense.bias: found a tensor"),
    ("T5ForTokenClassification", T5, "model.safetensors: classifier.bias: found a tensor"),
    ("T5ForQuestionAnswering", T5, "model.safetensors: qa_outputs.bias: found a tensor"),
]


@pytest.mark.parametrize(("kind", "fields", "complaint"), OTHER_HEADS, ids=[kind for kind, *_ in OTHER_HEADS])
def test_another_head_is_refused_by_its_name(kind, fields, complaint, tmp_path):
    reference.make(kind, tmp_path, **fields)
    with pytest.raises(CheckpointError, match=f"^{re.escape(complaint)}"):
        load_checkpoint(tmp_path, device="cpu")


IDS = {"pad_id": "pad_token_id", "start_id": "decoder_start_token_id", "end_id": "eos_token_id"}


@pytest.mark.parametrize("kind", ["bart", "marian", "t5"])
def test_tokens_that_a_config_does_not_name_are_those_of_its_class(kind, tmp_path):
    class_name, fields = BASE[kind]
    theirs = reference.make(class_name, tmp_path, **fields | {"vocab_size": 58_101})
    change_config(tmp_path, **dict.fromkeys(IDS.values(), GONE))
    config = load_checkpoint(tmp_path, device="cpu").config
    default = type(theirs.model.config)()
    expected = {ours: getattr(default, name, None) for ours, name in IDS.items()}
    expected["start_id"] = default.pad_token_id if kind == "t5" else expected["start_id"]
    assert {name: getattr(config, name) for name in IDS} == expected


# Text: what the decoder reads and writes


def with_tokenizer(folder: Path, template: str) -> None:
    """Store the tiny tokenizer beside a model; ``template`` says what it adds: "$A" is the text."""
    backend = tiny.tokenizer().backend
    special = [(name, backend.token_to_id(name)) for name in ("[PAD]", "[UNK]") if name in template]
    backend.post_processor = TemplateProcessing(single=template, special_tokens=special)
    backend.save(str(folder / "tokenizer.json"))
    backend.post_processor = TemplateProcessing(single="$A", special_tokens=[])


@pytest.mark.parametrize("template", ["$A [UNK]", "[PAD] $A [UNK]", "$A"])
@pytest.mark.parametrize("kind", BASE)
def test_a_target_is_read_as_the_reference_shifts_its_labels(kind, template, tmp_path):
    class_name, fields = BASE[kind]
    theirs = reference.make(class_name, tmp_path, **fields | {"eos_token_id": 1})
    with_tokenizer(tmp_path, template)
    checkpoint = load_checkpoint(tmp_path, device="cpu")
    labels = list(checkpoint.tokenizer.encode("the man .").ids)
    labels += [] if labels[-1] == 1 else [1]
    shifted = theirs.model.prepare_decoder_input_ids_from_labels(labels=torch.tensor([labels]))[0]
    trace: Any = checkpoint.trace("the dog", target="the man .")
    assert torch.equal(trace.decoder.ids, shifted)
    assert trace.decoder.spans[-1] == (8, 9)
    reference.assert_same(
        trace.logits, theirs.run(input_ids=trace.encoder.ids.tolist(), labels=labels)[0].logits[0], "logits"
    )


def greedy(theirs: reference.Reference, source: list[int], count: int) -> list[int]:
    """What the library writes after the start token; no token is forced or forbidden."""
    how = {"do_sample": False, "num_beams": 1, "max_new_tokens": count, "use_cache": False}
    plain = {"forced_eos_token_id": None, "forced_bos_token_id": None, "bad_words_ids": None}
    return theirs.model.generate(torch.tensor([source]), **how, **plain)[0, 1:].tolist()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", BASE)
def test_greedy_decoding_writes_what_the_reference_writes_and_ends_where_it_ends(kind, seed, tmp_path):
    class_name, fields = BASE[kind]
    theirs = reference.make(class_name, tmp_path, seed=seed, **fields | {"eos_token_id": 89, "pad_token_id": 89})
    theirs.model.generation_config.forced_eos_token_id = None
    with_tokenizer(tmp_path, "$A")
    checkpoint = load_checkpoint(tmp_path, device="cpu")
    source = list(checkpoint.tokenizer.encode("the dog bit the man").ids)
    written = greedy(theirs, source, 12)
    assert list(checkpoint.generate("the dog bit the man", max_tokens=12).token_ids) == written
    theirs.model.generation_config.eos_token_id = written[-1]
    change_config(tmp_path, eos_token_id=written[-1])
    ended = greedy(theirs, source, 30)
    generated = load_checkpoint(tmp_path, device="cpu").generate("the dog bit the man", max_tokens=30)
    assert ended[-1] == written[-1]
    assert len(ended) <= 12
    assert list(generated.token_ids) == ended
    decoder: Any = generated.trace.decoder
    assert decoder.ids.tolist() == [checkpoint.config.start_id, *ended[:-1]]


def test_a_text_without_a_target_is_traced_with_what_greedy_decoding_says(tmp_path):
    reference.make("MarianMTModel", tmp_path, **MARIAN | {"eos_token_id": 88})
    with_tokenizer(tmp_path, "$A")
    checkpoint = load_checkpoint(tmp_path, device="cpu")
    written = checkpoint.generate("the dog", max_tokens=63).token_ids
    trace: Any = checkpoint.trace("the dog")
    assert trace.decoder.ids.tolist() == [89, *written[:-1]]
