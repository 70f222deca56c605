"""T5 (Raffel et al. 2020), version 1.0 and 1.1, and Flan-T5, which is built like the latter."""

from typing import Any

from model.config import Config
from model.families.family import Family, Fields, Table, first_stored, tied

# Activation and whether it is gated; version 1.1 writes gated-gelu and means the tanh approximation.
FEED_FORWARD = {
    "relu": ("relu", False),
    "gelu": ("gelu", False),
    "gelu_new": ("gelu-tanh", False),
    "silu": ("silu", False),
    "gated-gelu": ("gelu-tanh", True),
    "gated-gelu_new": ("gelu-tanh", True),
    "gated-relu": ("relu", True),
    "gated-silu": ("silu", True),
}


def read(fields: Fields, stored: frozenset[str]) -> Config:
    """The config of T5ForConditionalGeneration, T5Model and T5EncoderModel."""
    vocabulary, heads = fields.size("vocab_size"), fields.size("num_heads", "num_attention_heads")
    kinds = {name: name for name in FEED_FORWARD}
    activation, gated = FEED_FORWARD[fields.choice("feed_forward_proj", choices=kinds, default="relu")]
    return Config(
        architecture="encoder-decoder" if any(name.startswith("decoder.block.") for name in stored) else "encoder",
        vocabulary=vocabulary,
        width=fields.size("d_model", "hidden_size"),
        heads=heads,
        layers=fields.layers("num_layers", "num_hidden_layers"),
        hidden=fields.size("d_ff"),
        max_length=fields.size("n_positions", default=512),
        head_size=fields.size("d_kv"),
        score_scale=1.0,
        projection_bias=False,
        output_bias=False,
        positions="relative",
        relative_buckets=fields.size("relative_attention_num_buckets", default=32),
        relative_distance=fields.size("relative_attention_max_distance", default=128),
        norm="rms",
        norm_order="pre",
        norm_epsilon=fields.number("layer_norm_epsilon", default=1e-6),
        activation=activation,
        gated=gated,
        hidden_bias=False,
        scale_embeddings=False,
        pooling="none",
        **output(fields, stored, vocabulary),
    )


def output(fields: Fields, stored: frozenset[str], vocabulary: int) -> dict[str, Any]:
    """What concerns the decoder and what it says.

    ``tie_word_embeddings: false`` means two things in version 1.1: a head of its own, and no scaling of what it reads.
    Newer files spell the second out, and may say true of the first all the same; the stored head decides.
    """
    scaled = fields.flag("scale_decoder_outputs", "tie_word_embeddings", default=True)
    pad_id = fields.token_id("pad_token_id", vocabulary=vocabulary, default=0) or 0
    return {
        "decoder_layers": fields.layers("num_decoder_layers", default=fields.layers("num_layers", "num_hidden_layers")),
        "tie_embeddings": tied(stored, "lm_head"),
        "output_scale": fields.size("d_model", "hidden_size") ** -0.5 if scaled else 1.0,
        "pad_id": pad_id,
        "start_id": fields.token_id("decoder_start_token_id", vocabulary=vocabulary, default=pad_id),
        "end_id": fields.token_id("eos_token_id", vocabulary=vocabulary, default=min(1, vocabulary - 1)),
    }


def side(name: str, *, gated: bool) -> dict[str, str]:
    """The names of one stack."""
    block, layers = f"{name}.blocks.{{}}", f"{name}.block.{{}}.layer"
    last = 2 if name == "decoder" else 1
    kinds = {"self": ("0", "SelfAttention")} | ({"cross": ("1", "EncDecAttention")} if name == "decoder" else {})
    found = {
        f"{name}.positions.table": f"{name}.block.0.layer.0.SelfAttention.relative_attention_bias",
        f"{name}.norm": f"{name}.final_layer_norm",
        f"{block}.feed_forward.inner": f"{layers}.{last}.DenseReluDense.{'wi_0' if gated else 'wi'}",
        f"{block}.feed_forward.gated": f"{layers}.{last}.DenseReluDense.wi_1",
        f"{block}.feed_forward.outer": f"{layers}.{last}.DenseReluDense.wo",
        f"{block}.feed_forward_residual.norm": f"{layers}.{last}.layer_norm",
    }
    for ours, (number, theirs) in kinds.items():
        for part in ("query", "key", "value", "output"):
            found[f"{block}.{ours}_attention.{part}"] = f"{layers}.{number}.{theirs}.{part[0]}"
        found[f"{block}.{ours}_residual.norm"] = f"{layers}.{number}.layer_norm"
    return found


TOKENS = ("shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight")


def table(config: Config, stored: frozenset[str]) -> Table:
    """The names of T5; its one token table may be stored under several."""
    return {
        **side("encoder", gated=config.gated),
        **side("decoder", gated=config.gated),
        "embedding.weight": first_stored(stored, *TOKENS),
        "projection": "lm_head",
    }


FAMILY = Family(
    model_types=("t5",),
    config=read,
    table=table,
    ignored=(
        r"shared\.weight",
        r"(encoder|decoder)\.embed_tokens\.weight",
        r"decoder\.block\.0\.layer\.1\.EncDecAttention\.relative_attention_bias\.weight",
    ),
)
