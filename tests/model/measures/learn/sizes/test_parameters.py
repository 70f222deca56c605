"""Parameters by their formulas: those of real models, built without memory for their weights, part by part."""

import re
from math import prod
from typing import Any

import pytest
import torch

from model import Config, load_checkpoint
from model.measures.learn.sizes.model_sizes import MODEL_SIZES
from model.measures.learn.sizes.parameters import Part, parameter_count, parts_of
from model.transformer import Transformer
from tests import tiny
from tests.folders import KINDS

PUBLISHED = {"base": 63_082_496, "gpt2": 124_439_808, "bert": 109_482_240}  # base: its layers added up by hand
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("encoder", {}),
    ("encoder", {"labels": ("a", "b", "c"), "pooling": "first-relu", "embedding_norm": True}),
    ("encoder", {"word_head": True, "vocabulary_bias": True, "segments": 2, "norm": "rms"}),
    ("encoder", {"word_head": True, "tie_embeddings": False, "positions": "relative"}),
    ("decoder", {"norm_order": "pre", "positions": "learned", "position_offset": 2}),
    ("decoder", {"norm_order": "parallel", "positions": "rotary", "projection_bias": False, "hidden_bias": False}),
    ("decoder", {"norm_order": "both", "norm": "rms", "kv_heads": 2, "query_key_norm": True, "head_size": 6}),
    ("decoder", {"gated": True, "output_bias": False, "tie_embeddings": False, "positions": "alibi"}),
    ("encoder-decoder", {}),
    ("encoder-decoder", {"share_embeddings": False, "tie_embeddings": False, "vocabulary_bias": True}),
    ("encoder-decoder", {"decoder_layers": 3, "decoder_heads": 2, "decoder_hidden": 40, "positions": "relative"}),
    ("encoder-decoder", {"norm_order": "pre", "positions": "counted", "pooling": "first-tanh"}),
]

# Where the weights of a part stand in the model, by other names than the parts have.
PLACES = {
    "embedding": "embedding", "positions": "{}.positions", "segments": "{}.segments",
    "embedding_norm": "{}.norm_embedding", "norm": "{}.norm", "pooling": "pooling", "classifier": "classifier",
    "word_head": "word_head", "projection": "projection|vocabulary_bias",
    "self_attention": "{}.blocks.[0-9]+.self_attention", "cross_attention": "{}.blocks.[0-9]+.cross_attention",
    "feed_forward": "{}.blocks.[0-9]+.feed_forward",
    "self_attention.norm_before": "{}.blocks.[0-9]+.self_residual.norm",
    "self_attention.norm_after": "{}.blocks.[0-9]+.self_residual.norm(_after)?",
    "cross_attention.norm_before": "{}.blocks.[0-9]+.cross_residual.norm",
    "cross_attention.norm_after": "{}.blocks.[0-9]+.cross_residual.norm(_after)?",
    "feed_forward.norm_before": "{}.blocks.[0-9]+.feed_forward_residual.norm",
    "feed_forward.norm_after": "{}.blocks.[0-9]+.feed_forward_residual.norm(_after)?",
}  # fmt: skip


def place_of(part: Part, config: Config) -> str:
    """A pattern of the names of a part's weights."""
    if part.name == "embedding" and part.stack == "decoder" and config.is_encoder_decoder:
        return "target_embedding"
    place = PLACES[part.name].format(part.stack)
    return place.replace("(_after)?", "_after" if config.norm_order == "both" else "")


def counted(model: Transformer, pattern: str) -> int:
    """The numbers in the weights whose names begin so."""
    return sum(
        weight.numel()
        for name, weight in model.named_parameters()
        if re.fullmatch(rf"({pattern})(\.(?!norm_).*)?", name)
    )


def assert_parts_are_those_of(model: Transformer) -> None:
    parts = parts_of(model.config)
    assert {f"{part.stack} {part.name}": part.total for part in parts} == {
        f"{part.stack} {part.name}": counted(model, place_of(part, model.config)) for part in parts
    }
    assert parameter_count(model.config) == model.parameter_count()


@pytest.mark.parametrize(("architecture", "changes"), VARIANTS)
def test_every_part_has_as_many_parameters_as_the_modules_of_a_real_model(architecture, changes):
    assert_parts_are_those_of(tiny.transformer(architecture, **changes))


@pytest.mark.parametrize("name", MODEL_SIZES)
def test_models_that_are_spoken_of_have_as_many_as_if_they_were_built(name):
    config = MODEL_SIZES[name]()
    with torch.device("meta"):
        model = Transformer(config)
    assert parameter_count(config) == model.parameter_count() == PUBLISHED.get(name, parameter_count(config))


@pytest.mark.parametrize("name", [*KINDS, "own"])
def test_the_parts_of_every_family_are_those_of_its_weights(name, folders):
    assert_parts_are_those_of(load_checkpoint(folders / name, device="cpu").model)


def test_the_attention_of_the_paper_is_four_matrices_and_four_vectors():
    (attention,) = [part for part in parts_of(Config.paper_base()) if part.name == "cross_attention"]
    assert attention.monomials == {("d", "d"): 4, ("d",): 4}
    assert attention.each == 4 * 512 * 512 + 4 * 512
    assert attention.total == 6 * attention.each


@pytest.mark.parametrize(("architecture", "changes"), VARIANTS)
def test_the_products_of_a_formula_add_up_to_the_number(architecture, changes):
    for part in parts_of(tiny.config(architecture, **changes)):
        values = [count * prod(part.symbols[s] for s in shape) for shape, count in part.monomials.items()]
        assert sum(values) == part.each > 0
