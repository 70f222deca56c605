"""BART (Lewis et al. 2020) and Marian (Junczys-Dowmunt et al. 2018), the models of opus-mt."""

from typing import Any

from torch import Tensor

from model.config import Config
from model.families.family import ACTIVATIONS, Family, Fields, Source, Table, first_stored, tied


def sizes(fields: Fields, stored: frozenset[str]) -> dict[str, Any]:
    """What both have in common."""
    vocabulary = fields.size("vocab_size")
    fields.only("normalize_before", False)
    fields.only("add_final_layer_norm", False)
    end_id = fields.token_id("eos_token_id", vocabulary=vocabulary, default=min(2, vocabulary - 1))
    return {
        "architecture": "encoder-decoder",
        "vocabulary": vocabulary,
        "width": fields.size("d_model", "hidden_size"),
        "heads": fields.size("encoder_attention_heads"),
        "layers": fields.layers("encoder_layers", "num_hidden_layers"),
        "hidden": fields.size("encoder_ffn_dim"),
        "decoder_heads": fields.size("decoder_attention_heads"),
        "decoder_layers": fields.layers("decoder_layers"),
        "decoder_hidden": fields.size("decoder_ffn_dim"),
        "max_length": fields.size("max_position_embeddings", default=1024),
        "norm_order": "post",
        "activation": fields.choice("activation_function", choices=ACTIVATIONS, default="gelu"),
        "scale_embeddings": fields.flag("scale_embedding", default=False),
        "tie_embeddings": tied(stored, "lm_head"),
        "vocabulary_bias": "final_logits_bias" in stored,
        "start_id": fields.token_id("decoder_start_token_id", vocabulary=vocabulary, default=end_id),
        "end_id": end_id,
    }


def read_bart(fields: Fields, stored: frozenset[str]) -> Config:
    """The config of BartForConditionalGeneration and BartModel."""
    found = sizes(fields, stored)
    pad_id = fields.token_id("pad_token_id", vocabulary=found["vocabulary"], default=1) or 0
    apart = not fields.flag("tie_word_embeddings", default=True) and set(TOKENS[1:]) <= stored
    return Config(
        **found,
        positions="learned",
        position_offset=2,
        embedding_norm=True,
        share_embeddings=not apart,
        pad_id=pad_id,
    )


def read_marian(fields: Fields, stored: frozenset[str]) -> Config:
    """The config of MarianMTModel and MarianModel."""
    found = sizes(fields, stored)
    fields.only("decoder_vocab_size", found["vocabulary"], why="both sides need one size")
    shared = fields.flag("share_encoder_decoder_embeddings", default=True)
    pad_id = fields.token_id("pad_token_id", vocabulary=found["vocabulary"], default=0) or 0
    return Config(**found, positions="sinusoidal-halves", share_embeddings=shared, pad_id=pad_id)


def flat(tensor: Tensor, config: Config) -> Tensor:
    """A bias that is stored as one row of a matrix."""
    return tensor.flatten()


def side(name: str) -> dict[str, str]:
    """The names of one stack."""
    block, layer = f"{name}.blocks.{{}}", f"{name}.layers.{{}}"
    kinds = {"self": "self_attn", "cross": "encoder_attn"} if name == "decoder" else {"self": "self_attn"}
    found = {
        f"{name}.positions.table": f"{name}.embed_positions",
        f"{name}.norm_embedding": f"{name}.layernorm_embedding",
        f"{block}.feed_forward.inner": f"{layer}.fc1",
        f"{block}.feed_forward.outer": f"{layer}.fc2",
        f"{block}.feed_forward_residual.norm": f"{layer}.final_layer_norm",
    }
    for ours, theirs in kinds.items():
        for part, short in {"query": "q", "key": "k", "value": "v", "output": "out"}.items():
            found[f"{block}.{ours}_attention.{part}"] = f"{layer}.{theirs}.{short}_proj"
        found[f"{block}.{ours}_residual.norm"] = f"{layer}.{theirs}_layer_norm"
    return found


TOKENS = ("shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight")


def table(config: Config, stored: frozenset[str]) -> Table:
    """The names of BART; one token table may be stored under several."""
    source = TOKENS if config.share_embeddings else TOKENS[1:2]
    return {
        **side("encoder"),
        **side("decoder"),
        "embedding.weight": first_stored(stored, *source),
        "target_embedding": "decoder.embed_tokens",
        "projection": "lm_head",
        "vocabulary_bias": Source("final_logits_bias", flat),
    }


DUPLICATES = (r"shared\.weight", r"(encoder|decoder)\.embed_tokens\.weight")
FAMILIES = (
    Family(model_types=("bart",), config=read_bart, table=table, prefixes=("model.",), ignored=DUPLICATES),
    Family(
        model_types=("marian",),
        config=read_marian,
        table=table,
        prefixes=("model.",),
        ignored=(*DUPLICATES, r"(encoder|decoder)\.embed_positions\.weight"),
    ),
)
