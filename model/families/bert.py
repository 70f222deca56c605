"""BERT (Devlin et al. 2018), and MiniLM, which is built like it; RoBERTa takes the encoder from here."""

from typing import Any

from model.config import Config
from model.families.family import ACTIVATIONS, Family, Fields, Source, Table, first_stored, has_tied_head

ACTIVATION_FIELD = "hidden_act"
WORD_HEAD = "cls.predictions"


def sizes(fields: Fields) -> dict[str, Any]:
    """What the encoder's config has in common in all of its family."""
    fields.only("position_embedding_type", "absolute")
    fields.only("is_decoder", False)
    fields.only("add_cross_attention", False)
    return {
        "architecture": "encoder",
        "vocabulary": fields.size("vocab_size"),
        "width": fields.size("hidden_size"),
        "heads": fields.size("num_attention_heads"),
        "layers": fields.layers("num_hidden_layers"),
        "hidden": fields.size("intermediate_size"),
        "segments": fields.size("type_vocab_size", default=2),
        "norm_order": "post",
        "norm_epsilon": fields.number("layer_norm_eps", default=1e-12),
        "embedding_norm": True,
        "activation": fields.choice(ACTIVATION_FIELD, choices=ACTIVATIONS, default="gelu"),
        "scale_embeddings": False,
    }


def read(fields: Fields, stored: frozenset[str]) -> Config:
    """The config of BertModel, and of BERT that fills in masked words or classifies texts."""
    common, words, pooled = sizes(fields), f"{WORD_HEAD}.bias" in stored, "pooler.dense.weight" in stored
    return Config(
        **common,
        max_length=fields.size("max_position_embeddings", default=512),
        positions="learned",
        word_head=words,
        vocabulary_bias=words,
        tie_embeddings=has_tied_head(stored, f"{WORD_HEAD}.decoder"),
        pooling="first-tanh" if pooled else "none",
        labels=fields.labels() if pooled and "classifier.weight" in stored else (),
        pad_id=fields.token_id("pad_token_id", vocabulary=common["vocabulary"], default=0) or 0,
    )


BLOCK = "encoder.blocks.{}"
ENCODER: dict[str, str | Source] = {
    "embedding": "embeddings.word_embeddings",
    "encoder.positions.table": "embeddings.position_embeddings",
    "encoder.segments": "embeddings.token_type_embeddings",
    "encoder.norm_embedding": "embeddings.LayerNorm",
    f"{BLOCK}.self_attention.query": "encoder.layer.{}.attention.self.query",
    f"{BLOCK}.self_attention.key": "encoder.layer.{}.attention.self.key",
    f"{BLOCK}.self_attention.value": "encoder.layer.{}.attention.self.value",
    f"{BLOCK}.self_attention.output": "encoder.layer.{}.attention.output.dense",
    f"{BLOCK}.self_residual.norm": "encoder.layer.{}.attention.output.LayerNorm",
    f"{BLOCK}.feed_forward.inner": "encoder.layer.{}.intermediate.dense",
    f"{BLOCK}.feed_forward.outer": "encoder.layer.{}.output.dense",
    f"{BLOCK}.feed_forward_residual.norm": "encoder.layer.{}.output.LayerNorm",
}
TABLE: dict[str, str | Source] = {
    **ENCODER,
    "pooling.dense": "pooler.dense",
    "classifier": "classifier",
    "word_head.dense": f"{WORD_HEAD}.transform.dense",
    "word_head.norm": f"{WORD_HEAD}.transform.LayerNorm",
    "projection": f"{WORD_HEAD}.decoder",
}


def table(config: Config, stored: frozenset[str]) -> Table:
    """The names of BERT; the bias of its guesses may stand in two places."""
    return TABLE | {"vocabulary_bias": first_stored(stored, f"{WORD_HEAD}.decoder.bias", f"{WORD_HEAD}.bias")}


# The guess whether one sentence follows another has no place in a trace.
FAMILY = Family(
    name="BERT",
    model_types=("bert",),
    config=read,
    table=table,
    prefixes=("bert.",),
    ignored=(r"cls\.seq_relationship\.(weight|bias)", r"cls\.predictions\.bias"),
    renamed={"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"},
)
