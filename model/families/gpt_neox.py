"""GPT-NeoX (Black et al. 2022) and Pythia, which is built like it."""

from functools import partial
from typing import Any

from torch import Tensor

from model.config import Config, expect
from model.families.family import ACTIVATIONS, Family, Fields, Source, Table, has_tied_head
from model.families.rotary import BASE, rotary


def read(fields: Fields, stored: frozenset[str]) -> Config:
    """The config of GPTNeoXForCausalLM."""
    fields.only("is_causal", True)
    vocabulary, width = fields.size("vocab_size"), fields.size("hidden_size")
    heads, biased = fields.size("num_attention_heads"), fields.flag("attention_bias", default=True)
    fields.only("head_dim", width // heads)
    return Config(
        architecture="decoder",
        vocabulary=vocabulary,
        width=width,
        heads=heads,
        layers=fields.layers("num_hidden_layers"),
        hidden=fields.size("intermediate_size"),
        max_length=fields.size("max_position_embeddings", default=2048),
        projection_bias=biased,
        output_bias=biased,
        norm_order="parallel" if fields.flag("use_parallel_residual", default=True) else "pre",
        norm_epsilon=fields.number("layer_norm_eps", default=1e-5),
        activation=fields.choice("hidden_act", choices=ACTIVATIONS, default="gelu"),
        scale_embeddings=False,
        tie_embeddings=has_tied_head(stored, "embed_out") and has_tied_head(stored, "lm_head"),
        start_id=fields.token_id("bos_token_id", vocabulary=vocabulary),
        end_id=fields.token_id("eos_token_id", vocabulary=vocabulary),
        **rotation(fields, max(1, width // heads)),
    )


def rotation(fields: Fields, head_width: int) -> dict[str, Any]:
    """Its own names for what others call rope_theta and partial_rotary_factor; a file may have both, if they agree."""
    base, share = fields.number("rotary_emb_base", default=BASE), fields.number("rotary_pct", default=0.25)
    for name, value in (("rope_theta", base), ("partial_rotary_factor", share)):
        expect(fields.number(name, default=value) == value, name, fields.values.get(name), f"{value:g}, as elsewhere")
    return rotary(fields, head_width, base=base, share=share)


def third(number: int, tensor: Tensor, config: Config) -> Tensor:
    """The queries, keys or values of a weight or a bias that holds all three inside every head."""
    return tensor.unflatten(0, (config.heads, 3, config.head_width))[:, number].flatten(0, 1)


BLOCK, LAYER = "decoder.blocks.{}", "layers.{}"


def table(config: Config, stored: frozenset[str]) -> Table:
    """The names of GPT-NeoX."""
    return {
        "embedding": "embed_in",
        f"{BLOCK}.self_residual.norm": f"{LAYER}.input_layernorm",
        f"{BLOCK}.self_attention.query": Source(f"{LAYER}.attention.query_key_value", partial(third, 0)),
        f"{BLOCK}.self_attention.key": Source(f"{LAYER}.attention.query_key_value", partial(third, 1)),
        f"{BLOCK}.self_attention.value": Source(f"{LAYER}.attention.query_key_value", partial(third, 2)),
        f"{BLOCK}.self_attention.output": f"{LAYER}.attention.dense",
        f"{BLOCK}.feed_forward_residual.norm": f"{LAYER}.post_attention_layernorm",
        f"{BLOCK}.feed_forward.inner": f"{LAYER}.mlp.dense_h_to_4h",
        f"{BLOCK}.feed_forward.outer": f"{LAYER}.mlp.dense_4h_to_h",
        "decoder.norm": "final_layer_norm",
        "projection": "embed_out" if "embed_out.weight" in stored else "lm_head",
    }


FAMILY = Family(
    name="GPT-NeoX",
    model_types=("gpt_neox",),
    config=read,
    table=table,
    prefixes=("gpt_neox.",),
    ignored=(r"layers\.\d+\.attention\.(bias|rotary_emb\.inv_freq)",),
)
