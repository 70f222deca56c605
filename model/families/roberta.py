"""RoBERTa (Liu et al. 2019): BERT's encoder with counted positions and heads of its own."""

from model.config import Config, expect
from model.families import bert
from model.families.family import Family, Fields, Table, first_stored, has_tied_head


def read(fields: Fields, stored: frozenset[str]) -> Config:
    """The config of RobertaModel, and of RoBERTa that fills in masked words or classifies texts."""
    common, words = bert.sizes(fields), "lm_head.bias" in stored
    if words:
        fields.only("hidden_act", "gelu", why="the head for masked words knows no other")
    pad_id = fields.token_id("pad_token_id", vocabulary=common["vocabulary"], default=1) or 0
    classifies = "classifier.dense.weight" in stored
    pooled = classifies or "pooler.dense.weight" in stored
    rows = fields.size("max_position_embeddings", default=514)
    expect(rows > pad_id + 1, "max_position_embeddings", rows, f"more than pad_token_id {pad_id} and one")
    return Config(
        **common,
        max_length=rows - pad_id - 1,
        positions="counted",
        position_offset=pad_id + 1,
        word_head=words,
        vocabulary_bias=words,
        tie_embeddings=has_tied_head(stored, "lm_head.decoder"),
        pooling="first-tanh" if pooled else "none",
        labels=fields.labels() if classifies else (),
        pad_id=pad_id,
    )


def table(config: Config, stored: frozenset[str]) -> Table:
    """The names of RoBERTa: the pooler of its classifier is a part of the classifier."""
    return {
        **bert.ENCODER,
        "pooling.dense": "classifier.dense" if config.labels else "pooler.dense",
        "classifier": "classifier.out_proj",
        "word_head.dense": "lm_head.dense",
        "word_head.norm": "lm_head.layer_norm",
        "vocabulary_bias": first_stored(stored, "lm_head.decoder.bias", "lm_head.bias"),
        "projection": "lm_head.decoder",
    }


FAMILY = Family(
    name="RoBERTa",
    model_types=("roberta",),
    config=read,
    table=table,
    prefixes=("roberta.",),
    ignored=(r"lm_head\.bias",),
    renamed=bert.FAMILY.renamed,
)
