"""GPT-2 (Radford et al. 2019) and its distillation."""

from functools import partial

from torch import Tensor

from model.config import Config
from model.families.family import ACTIVATIONS, Family, Fields, Source, Table, has_tied_head


def read(fields: Fields, stored: frozenset[str]) -> Config:
    """The config of GPT2LMHeadModel or GPT2Model."""
    fields.only("add_cross_attention", False)
    fields.only("is_causal", True)
    fields.flag("reorder_and_upcast_attn", default=False)  # scores in float32, which ours are in any case
    width, vocabulary = fields.size("n_embd", "hidden_size"), fields.size("vocab_size")
    return Config(
        architecture="decoder",
        vocabulary=vocabulary,
        width=width,
        heads=fields.size("n_head", "num_attention_heads"),
        layers=fields.layers("n_layer", "num_hidden_layers"),
        hidden=fields.size("n_inner", default=4 * width),
        max_length=fields.size("n_positions", "max_position_embeddings", "n_ctx", default=1024),
        score_scale=None if fields.flag("scale_attn_weights", default=True) else 1.0,
        score_scale_by_layer=fields.flag("scale_attn_by_inverse_layer_idx", default=False),
        positions="learned",
        norm_order="pre",
        norm_epsilon=fields.number("layer_norm_epsilon", default=1e-5),
        activation=fields.choice("activation_function", choices=ACTIVATIONS, default="gelu_new"),
        scale_embeddings=False,
        tie_embeddings=has_tied_head(stored, "lm_head"),
        start_id=fields.token_id("bos_token_id", vocabulary=vocabulary),
        end_id=fields.token_id("eos_token_id", vocabulary=vocabulary),
    )


def transposed(tensor: Tensor, config: Config) -> Tensor:
    """A weight that is stored as (in, out)."""
    return tensor.t()


def third(number: int, tensor: Tensor, config: Config) -> Tensor:
    """The queries, keys or values of a weight (in, out) or a bias that holds all three side by side."""
    return tensor.chunk(3, dim=-1)[number].t()


ATTENTION = "decoder.blocks.{}.self_attention"
TABLE: Table = {
    "embedding": "wte",
    "decoder.positions.table": "wpe",
    "decoder.blocks.{}.self_residual.norm": "h.{}.ln_1",
    f"{ATTENTION}.query": Source("h.{}.attn.c_attn", partial(third, 0)),
    f"{ATTENTION}.key": Source("h.{}.attn.c_attn", partial(third, 1)),
    f"{ATTENTION}.value": Source("h.{}.attn.c_attn", partial(third, 2)),
    f"{ATTENTION}.output": Source("h.{}.attn.c_proj", transposed),
    "decoder.blocks.{}.feed_forward_residual.norm": "h.{}.ln_2",
    "decoder.blocks.{}.feed_forward.inner": Source("h.{}.mlp.c_fc", transposed),
    "decoder.blocks.{}.feed_forward.outer": Source("h.{}.mlp.c_proj", transposed),
    "decoder.norm": "ln_f",
    "projection": "lm_head",
}


def table(config: Config, stored: frozenset[str]) -> Table:
    """The names of GPT-2."""
    return TABLE


FAMILY = Family(
    name="GPT-2",
    model_types=("gpt2",),
    config=read,
    table=table,
    prefixes=("transformer.",),
    ignored=(r"h\.\d+\.attn\.bias",),
)
