"""Gemma 1, 2 and 3 (arXiv 2403.08295, 2408.00118, 2503.19786): Llama's parts with scaled embeddings.

Of the weight of every norm, one less is stored.
"""

from typing import Any

from torch import Tensor

from model.config import Config, expect
from model.families import llama
from model.families.family import ACTIVATIONS, Family, Fields, Source, Table
from model.families.rotary import BASE, FULL, SLIDING, alike, rotary, sliding_window, windows

# The first configs of Gemma say gelu and mean the approximation; those of its successors mean what they say.
GELU = ACTIVATIONS | {"gelu": "gelu-tanh"}
DEFAULT = "gelu_pytorch_tanh"


def common(fields: Fields, stored: frozenset[str], kv_heads: int) -> dict[str, Any]:
    """What all three have in common."""
    fields.only("use_bidirectional_attention", False)
    width = fields.size("head_dim", default=256)
    biased = fields.flag("attention_bias", default=False)
    return llama.sizes(Fields(dict(fields.values) | {"head_dim": width}), stored, kv_heads=kv_heads) | {
        "projection_bias": biased,
        "output_bias": biased,
        "scale_embeddings": True,
    }


def read_gemma(fields: Fields, stored: frozenset[str]) -> Config:
    """The config of GemmaForCausalLM."""
    values = common(fields, stored, kv_heads=16)
    activation = fields.choice("hidden_act", choices=GELU, default=DEFAULT)
    if (other := fields.values.get("hidden_activation")) is not None:  # the library followed it once, and no more
        same = fields.choice("hidden_activation", choices=ACTIVATIONS, default=DEFAULT) == activation
        expect(same, "hidden_activation", other, f"what hidden_act says, {activation}")
    alike(fields, values["layers"], FULL)
    rotation = rotary(fields, values["head_size"], base=fields.number("rope_theta", default=BASE))
    return Config(**values | rotation | {"activation": activation})


def later(fields: Fields, stored: frozenset[str], every: int) -> dict[str, Any]:
    """What Gemma 2 and 3 have in common; one layer in ``every`` sees all, unless the config says which."""
    values = common(fields, stored, kv_heads=4)
    types = [SLIDING if (layer + 1) % every else FULL for layer in range(values["layers"])]
    return (
        values
        | windows(fields, types, sliding_window(fields))
        | {
            "activation": fields.choice("hidden_activation", choices=ACTIVATIONS, default=DEFAULT),
            "norm_order": "both",
            "score_scale": fields.number("query_pre_attn_scalar", default=256.0) ** -0.5,
        }
    )


def cap(fields: Fields, name: str, default: float | None) -> float | None:
    """A soft cap: null means none, and an absent one the default."""
    return fields.optional_number(name) if name in fields.values else default


def read_gemma2(fields: Fields, stored: frozenset[str]) -> Config:
    """The config of Gemma2ForCausalLM."""
    values = later(fields, stored, every=2)
    caps = {
        "score_cap": cap(fields, "attn_logit_softcapping", 50.0),
        "logit_cap": cap(fields, "final_logit_softcapping", 30.0),
    }
    return Config(**values | rotary(fields, values["head_size"], base=fields.number("rope_theta", default=BASE)) | caps)


def read_gemma3(fields: Fields, stored: frozenset[str]) -> Config:
    """The config of Gemma3ForCausalLM: windowed layers rotate by a base of their own, and without scaling."""
    capped = fields.values.get("attn_logit_softcapping")
    expect(capped is None, "attn_logit_softcapping", capped, "nothing: models of this kind have none")
    values = later(fields, stored, every=fields.size("sliding_window_pattern", default=6))
    wide, local = of_kind(fields, FULL), of_kind(fields, SLIDING)
    local_base = fields.number("rope_local_base_freq", default=BASE)
    near = rotary(local, values["head_size"], base=local_base)
    scaled = near["rotary_scaling"] != "none" and "window" in values
    expect(not scaled, f"rope_parameters: {SLIDING}", near["rotary_scaling"], "no scaling in windowed layers")
    return Config(
        **values
        | rotary(wide, values["head_size"], base=fields.number("rope_theta", default=1_000_000.0))
        | {
            "rotary_window_base": near["rotary_base"],
            "query_key_norm": True,
            "logit_cap": cap(fields, "final_logit_softcapping", None),
        }
    )


def of_kind(fields: Fields, kind: str) -> Fields:
    """The config as if all layers were of one kind. The older scaling is for those that see everything."""
    nested, scaling = fields.values.get("rope_parameters") or {}, fields.values.get("rope_scaling") or {}
    right = isinstance(nested, dict) and all(
        name in (FULL, SLIDING) and isinstance(inner, dict | None) for name, inner in nested.items()
    )
    expect(right, "rope_parameters", nested, f"an object for {FULL} and one for {SLIDING}")
    right = isinstance(scaling, dict) and ("rope_type" in scaling or not scaling)
    expect(right, "rope_scaling", scaling, "an object with rope_type in it")
    own = (nested.get(kind) or {}) | (scaling if kind == FULL else {})
    return Fields({**fields.values, "rope_parameters": own, "rope_scaling": None})


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
    Family(name="Gemma", model_types=("gemma",), config=read_gemma, table=table, prefixes=("model.",)),
    Family(name="Gemma 2", model_types=("gemma2",), config=read_gemma2, table=table_of_four, prefixes=("model.",)),
    Family(name="Gemma 3", model_types=("gemma3_text",), config=read_gemma3, table=table_of_four, prefixes=("model.",)),
)
