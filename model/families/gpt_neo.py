"""GPT-Neo (Black et al. 2021): GPT-2 with unscaled scores and a window in every other layer."""

from typing import Any

from model.config import Config, expect
from model.families.family import ACTIVATIONS, Family, Fields, Table, has_tied_head


def read(fields: Fields, stored: frozenset[str]) -> Config:
    """The config of GPTNeoForCausalLM."""
    vocabulary, width = fields.size("vocab_size"), fields.size("hidden_size")
    layers = fields.layers("num_layers", "num_hidden_layers")
    kinds = layer_kinds(fields, layers)
    return Config(
        architecture="decoder",
        vocabulary=vocabulary,
        width=width,
        heads=fields.size("num_heads", "num_attention_heads"),
        layers=layers,
        hidden=fields.size("intermediate_size", default=4 * width),
        max_length=fields.size("max_position_embeddings", default=2048),
        score_scale=1.0,
        projection_bias=False,
        window=fields.size("window_size", default=256),
        windowed_layers=tuple(layer for layer, kind in enumerate(kinds) if kind == "local"),
        positions="learned",
        norm_order="pre",
        norm_epsilon=fields.number("layer_norm_epsilon", default=1e-5),
        activation=fields.choice("activation_function", choices=ACTIVATIONS, default="gelu_new"),
        scale_embeddings=False,
        tie_embeddings=has_tied_head(stored, "lm_head"),
        start_id=fields.token_id("bos_token_id", vocabulary=vocabulary),
        end_id=fields.token_id("eos_token_id", vocabulary=vocabulary),
    )


def layer_kinds(fields: Fields, layers: int) -> list[str]:
    """Whether each layer is "global" or "local", from ``attention_layers`` or, where there is none, the types."""
    types, listed = fields.values.get("attention_types"), fields.values.get("attention_layers")
    if types is not None or listed is None:
        kinds = repeated_kinds(DEFAULT if types is None else types, layers)
        expect(listed in (None, kinds), "attention_layers", listed, "what attention_types says")
        return kinds
    right = isinstance(listed, list) and len(listed) == layers and all(kind in KINDS for kind in listed)
    expect(right, "attention_layers", listed, f"a list of {layers}, each global or local")
    return listed


def repeated_kinds(types: Any, layers: int) -> list[str]:
    """The kinds in ``attention_types``: [[kinds, how often], …]."""
    right = isinstance(types, list) and len(types) <= layers
    kinds: list[str] = []
    for entry in types if right else ():
        right = isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], list) and type(entry[1]) is int
        right = right and 0 < len(entry[0]) * entry[1] <= layers and all(kind in KINDS for kind in entry[0])
        expect(right, "attention_types", types, f"{layers} layers as {DEFAULT}")
        kinds += entry[0] * entry[1]
    expect(len(kinds) == layers, "attention_types", types, f"{layers} layers as {DEFAULT}")
    return kinds


KINDS, DEFAULT = ("global", "local"), [[["global", "local"], 12]]
BLOCK, LAYER = "decoder.blocks.{}", "h.{}"
TABLE: Table = {
    "embedding": "wte",
    "decoder.positions.table": "wpe",
    f"{BLOCK}.self_residual.norm": f"{LAYER}.ln_1",
    f"{BLOCK}.self_attention.query": f"{LAYER}.attn.attention.q_proj",
    f"{BLOCK}.self_attention.key": f"{LAYER}.attn.attention.k_proj",
    f"{BLOCK}.self_attention.value": f"{LAYER}.attn.attention.v_proj",
    f"{BLOCK}.self_attention.output": f"{LAYER}.attn.attention.out_proj",
    f"{BLOCK}.feed_forward_residual.norm": f"{LAYER}.ln_2",
    f"{BLOCK}.feed_forward.inner": f"{LAYER}.mlp.c_fc",
    f"{BLOCK}.feed_forward.outer": f"{LAYER}.mlp.c_proj",
    "decoder.norm": "ln_f",
    "projection": "lm_head",
}


def table(config: Config, stored: frozenset[str]) -> Table:
    """The names of GPT-Neo."""
    return TABLE


FAMILY = Family(
    name="GPT-Neo",
    model_types=("gpt_neo",),
    config=read,
    table=table,
    prefixes=("transformer.",),
    ignored=(r"h\.\d+\.attn\.attention\.bias",),
)
