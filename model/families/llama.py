"""Llama (Touvron et al. 2023) and those built like it: Mistral, Qwen2, Qwen3, SmolLM."""

from typing import Any

from model.config import LARGEST_SIZE, Config, expect
from model.families.family import ACTIVATIONS, Family, Fields, Table, has_tied_head
from model.families.rotary import BASE, FULL, SLIDING, alike, rotary, sliding_window, windows

KV = "num_key_value_heads"


def sizes(fields: Fields, stored: frozenset[str], *, kv_heads: int | None = None) -> dict[str, Any]:
    """What all of them have in common; Gemma takes it from here. ``kv_heads`` where the config has no such field."""
    fields.only("is_causal", True)
    vocabulary, width = fields.size("vocab_size"), fields.size("hidden_size")
    heads = fields.size("num_attention_heads")
    shared = fields.size(KV, default=heads if KV in fields.values or kv_heads is None else kv_heads)
    expect(heads % shared == 0, KV, shared, f"a divisor of {heads} num_attention_heads")
    return {
        "architecture": "decoder",
        "vocabulary": vocabulary,
        "width": width,
        "heads": heads,
        "kv_heads": shared,
        "head_size": fields.size("head_dim", default=max(1, width // heads)),
        "layers": fields.layers("num_hidden_layers"),
        "hidden": fields.size("intermediate_size"),
        "max_length": min(fields.size("max_position_embeddings", default=2048, largest=1 << 40), LARGEST_SIZE),
        "projection_bias": False,
        "output_bias": False,
        "norm": "rms",
        "norm_order": "pre",
        "norm_epsilon": fields.number("rms_norm_eps", default=1e-6),
        "gated": True,
        "hidden_bias": False,
        "scale_embeddings": False,
        "tie_embeddings": has_tied_head(stored, "lm_head"),
        "start_id": fields.token_id("bos_token_id", vocabulary=vocabulary),
        "end_id": fields.token_id("eos_token_id", vocabulary=vocabulary),
    }


def parts(fields: Fields, stored: frozenset[str], *, kv_heads: int | None = None) -> dict[str, Any]:
    """What those of this file have in common."""
    common = sizes(fields, stored, kv_heads=kv_heads)
    rotation = rotary(fields, common["head_size"], base=fields.number("rope_theta", default=BASE))
    return common | rotation | {"activation": fields.choice("hidden_act", choices=ACTIVATIONS, default="silu")}


def read_llama(fields: Fields, stored: frozenset[str]) -> Config:
    """The config of LlamaForCausalLM."""
    fields.only("rope_interleaved", False)
    common, biased = parts(fields, stored), fields.flag("attention_bias", default=False)
    alike(fields, common["layers"], FULL)
    biases = {"projection_bias": biased, "output_bias": biased}
    return Config(**common | biases | {"hidden_bias": fields.flag("mlp_bias", default=False)})


def read_mistral(fields: Fields, stored: frozenset[str]) -> Config:
    """The config of MistralForCausalLM: a window in every layer, unless it is null."""
    common, window = parts(fields, stored, kv_heads=8), sliding_window(fields)
    kind = SLIDING if window else FULL
    alike(fields, common["layers"], kind)
    return Config(**common | windows(fields, [kind] * common["layers"], window))


def read_qwen(fields: Fields, stored: frozenset[str]) -> dict[str, Any]:
    """What Qwen2 and Qwen3 have in common: a window in the later layers, where windows are on."""
    fields.only("use_mrope", False)
    common = parts(fields, stored, kv_heads=32)
    window = sliding_window(fields) if fields.flag("use_sliding_window", default=False) else None
    first = fields.size("max_window_layers", default=28, least=0)
    types = [SLIDING if window and layer >= first else FULL for layer in range(common["layers"])]
    return common | windows(fields, types, window)


def read_qwen2(fields: Fields, stored: frozenset[str]) -> Config:
    """The config of Qwen2ForCausalLM: biases on queries, keys and values only."""
    return Config(**read_qwen(fields, stored) | {"projection_bias": True})


def read_qwen3(fields: Fields, stored: frozenset[str]) -> Config:
    """The config of Qwen3ForCausalLM: every head's queries and keys are normed; heads are 128 wide unless said."""
    width, biased = fields.size("head_dim", default=128), fields.flag("attention_bias", default=False)
    fields = Fields(dict(fields.values) | {"head_dim": width})
    biases = {"projection_bias": biased, "output_bias": biased}
    return Config(**read_qwen(fields, stored) | biases | {"query_key_norm": True})


BLOCK, LAYER = "decoder.blocks.{}", "layers.{}"
ATTENTION = {
    f"{BLOCK}.self_attention.query": f"{LAYER}.self_attn.q_proj",
    f"{BLOCK}.self_attention.key": f"{LAYER}.self_attn.k_proj",
    f"{BLOCK}.self_attention.value": f"{LAYER}.self_attn.v_proj",
    f"{BLOCK}.self_attention.output": f"{LAYER}.self_attn.o_proj",
    f"{BLOCK}.feed_forward.inner": f"{LAYER}.mlp.gate_proj",
    f"{BLOCK}.feed_forward.gated": f"{LAYER}.mlp.up_proj",
    f"{BLOCK}.feed_forward.outer": f"{LAYER}.mlp.down_proj",
    "embedding": "embed_tokens",
    "projection": "lm_head",
}
NORMS = {
    f"{BLOCK}.self_attention.query_norm": f"{LAYER}.self_attn.q_norm",
    f"{BLOCK}.self_attention.key_norm": f"{LAYER}.self_attn.k_norm",
    f"{BLOCK}.self_residual.norm": f"{LAYER}.input_layernorm",
    f"{BLOCK}.feed_forward_residual.norm": f"{LAYER}.post_attention_layernorm",
    "decoder.norm": "norm",
}


def table(config: Config, stored: frozenset[str]) -> Table:
    """The names of Llama."""
    return {**ATTENTION, **NORMS}


FAMILIES = tuple(
    Family(name=name, model_types=(model_type,), config=read, table=table, prefixes=("model.",))
    for model_type, (name, read) in {
        "llama": ("Llama", read_llama),
        "mistral": ("Mistral", read_mistral),
        "qwen2": ("Qwen 2", read_qwen2),
        "qwen3": ("Qwen 3", read_qwen3),
    }.items()
)
