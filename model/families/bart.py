"""BART (Lewis et al. 2020) and Marian (Junczys-Dowmunt et al. 2018), the models of opus-mt."""

from typing import Any

from torch import Tensor

from model.config import Config, expect
from model.families.family import ACTIVATIONS, Family, Fields, Source, Table, first_stored, has_tied_head

TOKENS = ("shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight")


def sizes(fields: Fields, stored: frozenset[str]) -> dict[str, Any]:
    """What both have in common."""
    vocabulary, heads = fields.size("vocab_size"), fields.size("encoder_attention_heads", "num_attention_heads")
    width, decoder_heads = fields.size("d_model", "hidden_size"), fields.size("decoder_attention_heads")
    for name, value in {"encoder_attention_heads": heads, "decoder_attention_heads": decoder_heads}.items():
        expect(width % value == 0, name, value, f"a divisor of d_model {width}")
    refuse(fields, num_attention_heads=heads, hidden_size=width)
    return {
        "architecture": "encoder-decoder",
        "vocabulary": vocabulary,
        "width": width,
        "heads": heads,
        "layers": fields.layers("encoder_layers", "num_hidden_layers"),
        "hidden": fields.size("encoder_ffn_dim"),
        "decoder_heads": decoder_heads,
        "decoder_layers": fields.layers("decoder_layers"),
        "decoder_hidden": fields.size("decoder_ffn_dim"),
        "max_length": fields.size("max_position_embeddings", default=1024),
        "norm_order": "post",
        "activation": fields.choice("activation_function", choices=ACTIVATIONS, default="gelu"),
        "scale_embeddings": fields.flag("scale_embedding", default=False),
        "tie_embeddings": has_tied_head(stored, "lm_head"),
        "vocabulary_bias": "final_logits_bias" in stored,
    }


def refuse(fields: Fields, **allowed: object) -> None:
    """Refuse what neither family follows: other norms, and two spellings of one field that say two things."""
    allowed |= {"normalize_before": False, "add_final_layer_norm": False, "is_encoder_decoder": True}
    for name, value in allowed.items():
        fields.only(name, value)


def ends(fields: Fields, vocabulary: int) -> dict[str, Any]:
    """What a decoder's text starts and ends with in BART."""
    end_id = fields.token_id("eos_token_id", vocabulary=vocabulary, default=min(2, vocabulary - 1))
    start_id = fields.token_id("decoder_start_token_id", vocabulary=vocabulary, default=min(2, vocabulary - 1))
    return {"start_id": start_id, "end_id": end_id}


def one_table(fields: Fields, stored: frozenset[str]) -> bool:
    """Whether source and target share their token table: unless the config ties nothing and each stores its own."""
    return fields.flag("tie_word_embeddings", default=True) or not set(TOKENS[1:]) <= stored


def read_bart(fields: Fields, stored: frozenset[str]) -> Config:
    """The config of BartForConditionalGeneration and BartModel."""
    refuse(fields, normalize_embedding=True, static_position_embeddings=False, extra_pos_embeddings=2)
    values = sizes(fields, stored)
    return Config(
        **values,
        **ends(fields, values["vocabulary"]),
        positions="learned",
        position_offset=2,
        embedding_norm=True,
        share_embeddings=one_table(fields, stored),
        pad_id=fields.token_id("pad_token_id", vocabulary=values["vocabulary"], default=1) or 0,
    )


def read_marian(fields: Fields, stored: frozenset[str]) -> Config:
    """The config of MarianMTModel and MarianModel: fixed positions, no norm of the embeddings."""
    refuse(fields, normalize_embedding=False, static_position_embeddings=True)
    values = sizes(fields, stored)
    vocabulary = values["vocabulary"]
    fields.only("decoder_vocab_size", vocabulary, why="both sides need one size")
    shared = fields.flag("share_encoder_decoder_embeddings", default=True)
    return Config(
        **values,
        **marian_ends(fields, vocabulary),
        positions="sinusoidal-halves",
        share_embeddings=shared and one_table(fields, stored),
    )


def marian_ends(fields: Fields, vocabulary: int) -> dict[str, Any]:
    """The same in Marian, which starts with padding."""
    pad_id = fields.token_id("pad_token_id", vocabulary=vocabulary, default=min(58_100, vocabulary - 1))
    start_id = fields.token_id("decoder_start_token_id", vocabulary=vocabulary, default=pad_id)
    return {
        "pad_id": pad_id,
        "start_id": start_id,
        "end_id": fields.token_id("eos_token_id", vocabulary=vocabulary, default=0),
    }


def flat(tensor: Tensor, config: Config) -> Tensor:
    """A bias that is stored as one row of a matrix."""
    return tensor.flatten()


def side(name: str) -> dict[str, str]:
    """The names of one stack."""
    block, layer = f"{name}.blocks.{{}}", f"{name}.layers.{{}}"
    kinds = {"self": "self_attn", "cross": "encoder_attn"} if name == "decoder" else {"self": "self_attn"}
    names = {
        f"{name}.positions.table": f"{name}.embed_positions",
        f"{name}.norm_embedding": f"{name}.layernorm_embedding",
        f"{block}.feed_forward.inner": f"{layer}.fc1",
        f"{block}.feed_forward.outer": f"{layer}.fc2",
        f"{block}.feed_forward_residual.norm": f"{layer}.final_layer_norm",
    }
    for ours, theirs in kinds.items():
        for part, short in {"query": "q", "key": "k", "value": "v", "output": "out"}.items():
            names[f"{block}.{ours}_attention.{part}"] = f"{layer}.{theirs}.{short}_proj"
        names[f"{block}.{ours}_residual.norm"] = f"{layer}.{theirs}_layer_norm"
    return names


def table(config: Config, stored: frozenset[str]) -> Table:
    """The names of BART; one token table may be stored under several."""
    source = (*TOKENS, TOKENS[0]) if config.share_embeddings else TOKENS[1:2]
    return {
        **side("encoder"),
        **side("decoder"),
        "embedding.weight": first_stored(stored, *source),
        "target_embedding": "decoder.embed_tokens",
        "projection": "lm_head",
        "vocabulary_bias": Source("final_logits_bias", flat),
    }


COPIES = (r"(encoder|decoder)\.embed_tokens\.weight",)
UNUSED = (r"shared\.weight", r"(encoder|decoder)\.version")  # the table of two that have their own; a remnant
FAMILIES = (
    Family(
        name="BART",
        model_types=("bart",),
        config=read_bart,
        table=table,
        prefixes=("model.",),
        ignored=UNUSED,
        copies=COPIES,
    ),
    Family(
        name="Marian",
        model_types=("marian",),
        config=read_marian,
        table=table,
        prefixes=("model.",),
        ignored=(*UNUSED, r"(encoder|decoder)\.embed_positions\.weight"),
        copies=COPIES,
        translates=True,
    ),
)
