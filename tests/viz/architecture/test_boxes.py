"""The map of a model: its numbers are those of the weights, and its boxes stand in the order of a real pass."""

import re
from typing import Any

import pytest

from model import Config, load_checkpoint
from model.measures.one_weight import STEPS
from tests import tiny
from tests.folders import KINDS
from tests.model.measures.learn.sizes.test_parameters import VARIANTS
from viz.architecture.boxes import Lengths, ModelMap, map_of
from viz.architecture.places import boxes_of_step

# The module that a box of one layer is, and the one box that only adds.
MODULES = {
    "self_attention": "self_attention", "cross_attention": "cross_attention", "feed_forward": "feed_forward",
    "self_attention.norm_before": "self_residual.norm", "self_attention.norm_after": "self_residual.norm_after",
    "cross_attention.norm_before": "cross_residual.norm", "cross_attention.norm_after": "cross_residual.norm_after",
    "feed_forward.norm_before": "feed_forward_residual.norm",
    "feed_forward.norm_after": "feed_forward_residual.norm_after",
}  # fmt: skip
POST_NORMS = {
    "self_attention.add": "self_residual.norm", "cross_attention.add": "cross_residual.norm",
    "feed_forward.add": "feed_forward_residual.norm",
}  # fmt: skip


def assert_numbers_are_those_of(model: Any) -> None:
    """In all, and in the boxes of one layer, against the weights by their names."""
    model_map = map_of(model.config)
    assert model_map.parameters == model.parameter_count() == sum(each.numel() for each in model.parameters())
    for column in model_map.columns:
        of_stack = {name: each.numel() for name, each in model.named_parameters() if name.startswith(column.stack)}
        layers = {name.split(".")[2] for name in of_stack if ".blocks." in name}
        assert column.layers == len(layers)
        assert column.each_layer == sum(count for name, count in of_stack.items() if ".blocks.0." in name)
        for box in column.layer_boxes:
            part = box.name.partition(".")[2]
            module = MODULES.get(part) or (POST_NORMS.get(part, ""))
            if module and (part not in POST_NORMS or model.config.norm_order == "post"):
                own = rf"{column.stack}\.blocks\.0\.{re.escape(module)}\.\w+(\.\w+)?"
                assert box.parameters == sum(count for name, count in of_stack.items() if re.fullmatch(own, name))


@pytest.mark.parametrize("name", [*KINDS, "own"])
def test_the_numbers_of_every_family_add_up_to_its_weights(name, folders):
    assert_numbers_are_those_of(load_checkpoint(folders / name, device="cpu").model)


@pytest.mark.parametrize(("architecture", "changes"), VARIANTS)
def test_the_numbers_of_every_variant_are_those_of_its_modules(architecture, changes):
    assert_numbers_are_those_of(tiny.transformer(architecture, **changes))


def calls_of(model: Any, stack: str) -> list[str]:
    """The modules of a stack's first layer in the order in which a pass calls them."""
    calls: list[str] = []
    block = getattr(model, stack).blocks[0]
    modules = dict(block.named_modules())
    for name in sorted({*MODULES.values()} & modules.keys()):
        modules[name].register_forward_hook(lambda *_, called=name: calls.append(called))
    ids = tiny.ids(5)
    model(ids, **({"target_ids": ids} if model.config.is_encoder_decoder else {}))
    return calls


@pytest.mark.parametrize("architecture", tiny.ARCHITECTURES)
@pytest.mark.parametrize("order", ["post", "pre", "both", "parallel"])
def test_the_boxes_of_a_layer_stand_in_the_order_of_a_pass(architecture, order):
    if order == "parallel" and architecture == "encoder-decoder":
        return  # there is no such block
    model = tiny.transformer(architecture, norm_order=order)
    names = MODULES | (POST_NORMS if order == "post" else {})
    for column in map_of(model.config).columns:
        parts = [box.name.partition(".")[2] for box in column.layer_boxes]
        assert [names[part] for part in parts if part in names] == calls_of(model, column.stack)
        assert all(sublayer.parallel == (order == "parallel") for sublayer in column.layer)


def names(model_map: ModelMap) -> list[str]:
    return [box.name for box in model_map.boxes]


@pytest.mark.parametrize(
    ("scheme", "before"),
    [("learned", True), ("sinusoidal", True), ("rotary", False), ("relative", False), ("alibi", False)],
)
def test_positions_stand_where_they_act(scheme, before):
    model_map = map_of(tiny.config("decoder", positions=scheme))
    (column,) = model_map.columns
    place = names(model_map).index("decoder.positions")
    assert ("decoder.positions" in [box.name for box in column.before]) == before
    if not before:
        assert model_map.boxes[place + 1].name == "decoder.self_attention"
    assert "decoder.positions" not in names(map_of(tiny.config("decoder", positions="none")))


def test_a_last_norm_and_an_embedding_norm_stand_where_the_model_has_them():
    assert "encoder.norm" not in names(map_of(tiny.config("encoder")))
    both = names(map_of(tiny.config("encoder", norm_order="pre", embedding_norm=True)))
    assert both.index("encoder.embedding_norm") == both.index("encoder.positions") + 1
    assert both[-1] == "encoder.norm"


def test_a_tied_projection_has_no_parameters_and_says_why():
    tied, own = (map_of(tiny.config("decoder", tie_embeddings=tie)).boxes[-2] for tie in (True, False))
    assert (tied.name, tied.parameters, tied.lines) == ("projection", 0, ("the embedding's own table",))
    assert own.parameters == 80 * 16


def test_shapes_are_those_of_the_tensors_of_a_pass():
    model = tiny.transformer("encoder-decoder", norm_order="pre", share_embeddings=False)
    trace = model(tiny.ids(7), target_ids=tiny.ids(5))
    boxes = {box.name: box for box in map_of(model.config, Lengths.of(trace)).boxes}
    tensors = {
        "encoder.embedding": trace.encoder.embedding.token,
        "decoder.positions": trace.decoder.embedding.total,
        "decoder.norm": trace.decoder.final,
        "projection": trace.logits,
    }
    for name, tensor in tensors.items():
        assert boxes[name].shape == " × ".join(map(str, tensor.shape))
    cross = trace.decoder.blocks[0].cross_attention.weights
    assert (
        boxes["decoder.cross_attention"].lines[0]
        == f"{cross.shape[0]} heads, {cross.shape[1]} × {cross.shape[2]} weights"
    )


def test_lengths_that_are_not_known_are_letters():
    boxes = {box.name: box for box in map_of(Config.paper_base(), Lengths(encoder=1000)).boxes}
    assert boxes["encoder.embedding"].shape == "1,000 × 512"
    assert boxes["decoder.cross_attention"].lines[0] == "8 heads, m × 1,000 weights"


@pytest.mark.parametrize("order", ["post", "pre", "both"])
def test_every_step_of_the_walk_stands_in_a_box_that_is_there(order):
    there = set(names(map_of(tiny.config("encoder-decoder", norm_order=order))))
    nowhere = {"pooling"} | ({"norm", "last-norm"} if order == "post" else set())  # a translator pools nothing
    for step in STEPS:
        for attention in ("encoder", "decoder", "cross"):
            lit = boxes_of_step(attention, step) & there
            assert bool(lit) == (step not in nowhere)
    assert boxes_of_step("encoder", "a step that is not known") == frozenset()


def test_a_label_of_a_stranger_is_shortened_and_visible():
    (box,) = [
        box for box in map_of(tiny.config("encoder", labels=("x" * 99, "a\nb"))).boxes if box.name == "classifier"
    ]
    assert box.lines[0].endswith("…" + " or a↵b")
    assert len(box.lines[0]) < 60
