"""Llama (Touvron et al. 2023) and those built like it: Mistral, Qwen2, Qwen3, SmolLM."""

from typing import Any

from model.config import Config
from model.families.family import ACTIVATIONS, Family, Fields, Table, tied
from model.families.rotary import FULL, SLIDING, rotary, windows


def sizes(fields: Fields, stored: frozenset[str]) -> dict[str, Any]:
    """What all of them have in common; Gemma takes it from here."""
    vocabulary, width = fields.size("vocab_size"), fields.size("hidden_size")
    heads = fields.size("num_attention_heads")
    return {
        "architecture": "decoder",
        "vocabulary": vocabulary,
        "width": width,
        "heads": heads,
        "kv_heads": fields.size("num_key_value_heads", default=heads),
        "head_size": fields.size("head_dim", default=max(1, width // heads)),
        "layers": fields.layers("num_hidden_layers"),
        "hidden": fields.size("intermediate_size"),
        "max_length": min(fields.size("max_position_embeddings", default=2048, largest=1 << 40), 1_000_000),
        "projection_bias": False,
        "output_bias": False,
        "norm": "rms",
        "norm_order": "pre",
        "norm_epsilon": fields.number("rms_norm_eps", default=1e-6),
        "gated": True,
        "hidden_bias": False,
        "scale_embeddings": False,
        "tie_embeddings": tied(stored, "lm_head"),
        "start_id": fields.token_id("bos_token_id", vocabulary=vocabulary),
        "end_id": fields.token_id("eos_token_id", vocabulary=vocabulary),
    }


def read_llama(fields: Fields, stored: frozenset[str]) -> Config:
    """The config of LlamaForCausalLM."""
    common, biased = sizes(fields, stored), fields.flag("attention_bias", default=False)
    return Config(
        **common
        | rotary(fields, common["head_size"])
        | {
            "activation": fields.choice("hidden_act", choices=ACTIVATIONS, default="silu"),
            "projection_bias": biased,
            "output_bias": biased,
            "hidden_bias": fields.flag("mlp_bias", default=False),
        }
    )


def read_mistral(fields: Fields, stored: frozenset[str]) -> Config:
    """The config of MistralForCausalLM: a window in every layer, unless it is null."""
    common = sizes(fields, stored)
    window = fields.optional_size("sliding_window") if "sliding_window" in fields.values else 4096
    return Config(
        **common
        | rotary(fields, common["head_size"])
        | windows(fields, common["layers"], [SLIDING] * common["layers"], window)
        | {"activation": fields.choice("hidden_act", choices=ACTIVATIONS, default="silu")}
    )


def read_qwen(fields: Fields, stored: frozenset[str]) -> dict[str, Any]:
    """What Qwen2 and Qwen3 have in common: a window in the later layers, where windows are on."""
    common = sizes(fields, stored)
    first, count = fields.values.get("max_window_layers", 28), common["layers"]
    first = first if type(first) is int else 28
    types = [SLIDING if layer >= first else FULL for layer in range(count)]
    on = fields.flag("use_sliding_window", default=False)
    window = fields.size("sliding_window", default=4096) if on else None
    return (
        common
        | rotary(fields, common["head_size"])
        | windows(fields, count, types, window)
        | {"activation": fields.choice("hidden_act", choices=ACTIVATIONS, default="silu")}
    )


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
    Family(model_types=(name,), config=read, table=table, prefixes=("model.",))
    for name, read in {
        "llama": read_llama,
        "mistral": read_mistral,
        "qwen2": read_qwen2,
        "qwen3": read_qwen3,
    }.items()
)
