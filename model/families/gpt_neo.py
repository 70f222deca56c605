"""GPT-Neo (Black et al. 2021): GPT-2 with unscaled scores and a window in every other layer."""

from typing import Any

from model.config import LARGEST_LAYERS, Config, expect
from model.families.family import ACTIVATIONS, Family, Fields, Table, tied


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
        tie_embeddings=tied(stored, "lm_head"),
        start_id=fields.token_id("bos_token_id", vocabulary=vocabulary),
        end_id=fields.token_id("eos_token_id", vocabulary=vocabulary),
    )


def layer_kinds(fields: Fields, layers: int) -> list[str]:
    """ "global" or "local" for every layer, from ``attention_types``: [[kinds, how often], …]."""
    types: Any = fields.values.get("attention_types")
    types = [[["global", "local"], 12]] if types is None else types
    wanted = 'a list like [[["global", "local"], 12]]'
    expect(isinstance(types, list) and len(types) <= LARGEST_LAYERS, "attention_types", types, wanted)
    found: list[str] = []
    for entry in types:
        right = isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], list) and type(entry[1]) is int
        expect(
            right and 0 < entry[1] <= LARGEST_LAYERS and len(entry[0]) <= LARGEST_LAYERS,
            "attention_types",
            types,
            wanted,
        )
        expect(all(kind in ("global", "local") for kind in entry[0]), "attention_types", entry[0], "global or local")
        found += entry[0] * entry[1]
    expect(len(found) == layers, "attention_types", f"{len(found)} layers", f"{layers}, as num_layers says")
    return found


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
    model_types=("gpt_neo",),
    config=read,
    table=table,
    prefixes=("transformer.",),
    ignored=(r"h\.\d+\.attn\.attention\.bias",),
)
