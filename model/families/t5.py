"""T5 (Raffel et al. 2020), version 1.0 and 1.1, and Flan-T5, which is built like the latter."""

from typing import Any

from model.config import Config, expect
from model.families.family import ACTIVATIONS, Family, Fields, Table, first_stored, has_tied_head

# The words after "gated-" are those of the library, but for this one: version 1.1 means the tanh approximation.
GATED = "gated-"
RENAMED = {"gated-gelu": "gated-gelu_new"}
PROJECTIONS = {kind + name: kind + name for name in ACTIVATIONS for kind in ("", GATED)} | RENAMED


def read(fields: Fields, stored: frozenset[str]) -> Config:
    """The config of T5ForConditionalGeneration, T5Model and T5EncoderModel."""
    vocabulary, heads = fields.size("vocab_size"), fields.size("num_heads", "num_attention_heads")
    width, head_size = fields.size("d_model", "hidden_size"), fields.size("d_kv", "head_dim", default=64)
    layers = fields.layers("num_layers", "num_hidden_layers")
    spelled = {"num_attention_heads": heads, "hidden_size": width, "head_dim": head_size, "num_hidden_layers": layers}
    for name, value in spelled.items():
        fields.only(name, value, why="its other spelling says so")
    return Config(
        architecture="encoder-decoder" if any(name.startswith("decoder.block.") for name in stored) else "encoder",
        vocabulary=vocabulary,
        width=width,
        heads=heads,
        layers=layers,
        max_length=fields.size("n_positions", default=512),
        head_size=head_size,
        score_scale=1.0,
        projection_bias=False,
        output_bias=False,
        norm="rms",
        norm_order="pre",
        norm_epsilon=fields.number("layer_norm_epsilon", default=1e-6),
        scale_embeddings=False,
        pooling="none",
        **distances(fields),
        **feed_forward(fields),
        **output(fields, stored, vocabulary),
    )


def distances(fields: Fields) -> dict[str, Any]:
    """The buckets of distances, which know any length."""
    buckets = fields.size("relative_attention_num_buckets", default=32)
    expect(buckets % 4 == 0, "relative_attention_num_buckets", buckets, "a multiple of 4")
    distance = fields.size("relative_attention_max_distance", default=128)
    expected = f"more than half of {buckets} buckets"
    expect(distance > buckets // 2, "relative_attention_max_distance", distance, expected)
    return {"positions": "relative", "relative_buckets": buckets, "relative_distance": distance}


def feed_forward(fields: Fields) -> dict[str, Any]:
    """The feed-forward layers; the two fields that newer files derive from one outweigh it."""
    kind = fields.choice("feed_forward_proj", choices=PROJECTIONS, default="relu")
    return {
        "hidden": fields.size("d_ff"),
        "activation": fields.choice("dense_act_fn", choices=ACTIVATIONS, default=kind.removeprefix(GATED)),
        "gated": fields.flag("is_gated_act", default=kind.startswith(GATED)),
        "hidden_bias": False,
    }


def output(fields: Fields, stored: frozenset[str], vocabulary: int) -> dict[str, Any]:
    """What concerns the decoder and what it says.

    ``tie_word_embeddings: false`` means two things in version 1.1: a head of its own, and no scaling of what it reads.
    Newer files spell the second out, and may say true of the first all the same; the stored head decides.
    """
    scaled = fields.flag("scale_decoder_outputs", "tie_word_embeddings", default=True)
    pad_id = fields.token_id("pad_token_id", vocabulary=vocabulary, default=0) or 0
    return {
        "decoder_layers": fields.layers("num_decoder_layers", default=fields.layers("num_layers", "num_hidden_layers")),
        "tie_embeddings": has_tied_head(stored, "lm_head"),
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
    names = {
        f"{name}.positions.table": f"{name}.block.0.layer.0.SelfAttention.relative_attention_bias",
        f"{name}.norm": f"{name}.final_layer_norm",
        f"{block}.feed_forward.inner": f"{layers}.{last}.DenseReluDense.{'wi_0' if gated else 'wi'}",
        f"{block}.feed_forward.gated": f"{layers}.{last}.DenseReluDense.wi_1",
        f"{block}.feed_forward.outer": f"{layers}.{last}.DenseReluDense.wo",
        f"{block}.feed_forward_residual.norm": f"{layers}.{last}.layer_norm",
    }
    for ours, (number, theirs) in kinds.items():
        for part in ("query", "key", "value", "output"):
            names[f"{block}.{ours}_attention.{part}"] = f"{layers}.{number}.{theirs}.{part[0]}"
        names[f"{block}.{ours}_residual.norm"] = f"{layers}.{number}.layer_norm"
    return names


TOKENS = ("shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight")


def table(config: Config, stored: frozenset[str]) -> Table:
    """The names of T5; its one token table may be stored under several."""
    return {
        **side("encoder", gated=config.gated),
        **side("decoder", gated=config.gated),
        "embedding.weight": first_stored(stored, *TOKENS, TOKENS[0]),
        "projection": "lm_head",
    }


FAMILY = Family(
    name="T5",
    model_types=("t5",),
    config=read,
    table=table,
    prefixes=("transformer.",),
    ignored=(r"decoder\.block\.0\.layer\.1\.EncDecAttention\.relative_attention_bias\.weight",),
    copies=(r"(encoder|decoder)\.embed_tokens\.weight",),
    prompt="translate English to German: ",  # one of its tasks (Raffel et al. 2020, appendix D)
)
