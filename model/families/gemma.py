"""Gemma 1, 2 and 3 (arXiv 2403.08295, 2408.00118, 2503.19786): Llama's parts with scaled embeddings.

Of the weight of every norm, one less is stored.
"""

from typing import Any

from torch import Tensor

from model.config import Config
from model.families import llama
from model.families.family import ACTIVATIONS, Family, Fields, Source, Table
from model.families.rotary import FULL, SLIDING, rotary, windows

GELU = ACTIVATIONS | {"gelu": "gelu-tanh"}  # its first configs say gelu and mean the approximation


def common(fields: Fields, stored: frozenset[str]) -> dict[str, Any]:
    """What all three have in common."""
    fields.only("use_bidirectional_attention", False)
    width = fields.size("head_dim", default=256)
    biased = fields.flag("attention_bias", default=False)
    return llama.sizes(Fields(dict(fields.values) | {"head_dim": width}), stored) | {
        "activation": fields.choice("hidden_activation", "hidden_act", choices=GELU, default="gelu_pytorch_tanh"),
        "projection_bias": biased,
        "output_bias": biased,
        "scale_embeddings": True,
    }


def read_gemma(fields: Fields, stored: frozenset[str]) -> Config:
    """The config of GemmaForCausalLM."""
    found = common(fields, stored)
    return Config(**found | rotary(fields, found["head_size"]))


def later(fields: Fields, stored: frozenset[str], every: int) -> dict[str, Any]:
    """What Gemma 2 and 3 have in common; one layer in ``every`` sees all, unless the config says which."""
    found = common(fields, stored)
    types = [SLIDING if (layer + 1) % every else FULL for layer in range(found["layers"])]
    return (
        found
        | windows(fields, found["layers"], types, fields.size("sliding_window", default=4096))
        | {"norm_order": "both", "score_scale": fields.number("query_pre_attn_scalar", default=256.0) ** -0.5}
    )


def cap(fields: Fields, name: str, default: float | None) -> float | None:
    """A soft cap: null means none, and an absent one the default."""
    return fields.optional_number(name) if name in fields.values else default


def read_gemma2(fields: Fields, stored: frozenset[str]) -> Config:
    """The config of Gemma2ForCausalLM."""
    found = later(fields, stored, every=2)
    caps = {
        "score_cap": cap(fields, "attn_logit_softcapping", 50.0),
        "logit_cap": cap(fields, "final_logit_softcapping", 30.0),
    }
    return Config(**found | rotary(fields, found["head_size"]) | caps)


def read_gemma3(fields: Fields, stored: frozenset[str]) -> Config:
    """The config of Gemma3ForCausalLM: windowed layers rotate by a base of their own, and without scaling."""
    found = later(fields, stored, every=fields.size("sliding_window_pattern", default=6))
    local = rotary(Fields({**fields.values, "rope_theta": None}), found["head_size"], kind=SLIDING)
    nested = any(isinstance(one, dict) for one in (fields.values.get("rope_parameters") or {}).values())
    base = local["rotary_base"] if nested else fields.number("rope_local_base_freq", default=10_000.0)
    if nested and found.get("windowed_layers"):
        Fields({"rope_type": local["rotary_scaling"]}).only("rope_type", "none", why="windowed layers do not scale")
    return Config(
        **found
        | rotary(fields, found["head_size"], base=1_000_000.0, kind=FULL)
        | {
            "rotary_window_base": base,
            "query_key_norm": True,
            "score_cap": cap(fields, "attn_logit_softcapping", None),
            "logit_cap": cap(fields, "final_logit_softcapping", None),
        }
    )


def one_more(tensor: Tensor, config: Config) -> Tensor:
    """A norm's weight, of which one less is stored."""
    return tensor.float() + 1


def norms(names: dict[str, str]) -> Table:
    """Norms under these names."""
    return {ours: Source(theirs, one_more) for ours, theirs in names.items()}


def table(config: Config, stored: frozenset[str]) -> Table:
    """The names of Gemma."""
    return {**llama.ATTENTION, **norms(llama.NORMS)}


BLOCK, LAYER = llama.BLOCK, llama.LAYER
FOUR_NORMS = llama.NORMS | {
    f"{BLOCK}.self_residual.norm_after": f"{LAYER}.post_attention_layernorm",
    f"{BLOCK}.feed_forward_residual.norm": f"{LAYER}.pre_feedforward_layernorm",
    f"{BLOCK}.feed_forward_residual.norm_after": f"{LAYER}.post_feedforward_layernorm",
}


def table_of_four(config: Config, stored: frozenset[str]) -> Table:
    """The names of Gemma 2 and 3."""
    return {**llama.ATTENTION, **norms(FOUR_NORMS)}


FAMILIES = (
    Family(model_types=("gemma",), config=read_gemma, table=table, prefixes=("model.",)),
    Family(model_types=("gemma2",), config=read_gemma2, table=table_of_four, prefixes=("model.",)),
    Family(model_types=("gemma3_text",), config=read_gemma3, table=table_of_four, prefixes=("model.",)),
)
