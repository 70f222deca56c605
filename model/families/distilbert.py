"""DistilBERT (Sanh et al. 2019): BERT without segments and pooler, with half the layers."""

from model.config import Config
from model.families.family import ACTIVATIONS, Family, Fields, Table, has_tied_head


def read(fields: Fields, stored: frozenset[str]) -> Config:
    """The config of DistilBertModel, and of DistilBERT that fills in masked words or classifies texts."""
    vocabulary, words = fields.size("vocab_size"), "vocab_projector.bias" in stored
    classifies = "pre_classifier.weight" in stored
    return Config(
        architecture="encoder",
        vocabulary=vocabulary,
        width=fields.size("dim", "hidden_size"),
        heads=fields.size("n_heads", "num_attention_heads"),
        layers=fields.layers("n_layers", "num_hidden_layers"),
        hidden=fields.size("hidden_dim"),
        max_length=fields.size("max_position_embeddings", default=512),
        positions="learned",
        norm_order="post",
        norm_epsilon=1e-12,  # a constant of its code, not of its config
        embedding_norm=True,
        activation=fields.choice("activation", choices=ACTIVATIONS, default="gelu"),
        scale_embeddings=False,
        word_head=words,
        vocabulary_bias=words,
        tie_embeddings=has_tied_head(stored, "vocab_projector"),
        pooling="first-relu" if classifies else "none",
        labels=fields.labels() if classifies else (),
        pad_id=fields.token_id("pad_token_id", vocabulary=vocabulary, default=0) or 0,
    )


BLOCK, LAYER = "encoder.blocks.{}", "transformer.layer.{}"
TABLE: Table = {
    "embedding": "embeddings.word_embeddings",
    "encoder.positions.table": "embeddings.position_embeddings",
    "encoder.norm_embedding": "embeddings.LayerNorm",
    f"{BLOCK}.self_attention.query": f"{LAYER}.attention.q_lin",
    f"{BLOCK}.self_attention.key": f"{LAYER}.attention.k_lin",
    f"{BLOCK}.self_attention.value": f"{LAYER}.attention.v_lin",
    f"{BLOCK}.self_attention.output": f"{LAYER}.attention.out_lin",
    f"{BLOCK}.self_residual.norm": f"{LAYER}.sa_layer_norm",
    f"{BLOCK}.feed_forward.inner": f"{LAYER}.ffn.lin1",
    f"{BLOCK}.feed_forward.outer": f"{LAYER}.ffn.lin2",
    f"{BLOCK}.feed_forward_residual.norm": f"{LAYER}.output_layer_norm",
    "pooling.dense": "pre_classifier",
    "classifier": "classifier",
    "word_head.dense": "vocab_transform",
    "word_head.norm": "vocab_layer_norm",
    "vocabulary_bias": "vocab_projector.bias",
    "projection": "vocab_projector",
}


def table(config: Config, stored: frozenset[str]) -> Table:
    """The names of DistilBERT."""
    return TABLE


FAMILY = Family(
    name="DistilBERT",
    model_types=("distilbert",),
    config=read,
    table=table,
    prefixes=("distilbert.",),
    renamed={"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"},
)
