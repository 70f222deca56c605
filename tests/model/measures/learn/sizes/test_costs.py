"""Costs by formulas, beside what torch counts and keeps; and the measurement, on lengths that take no time."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from model import Config, InputError
from model.measures.learn.sizes.costs import (
    LENGTHS,
    MEASURED,
    Contradiction,
    LengthRecord,
    TimedLength,
    TimedModel,
    contradiction,
    growth,
    operations,
    read_record,
    time_lengths,
    training_bytes,
    weight_bytes,
    write_record,
)
from model.measures.learn.sizes.model_sizes import MODEL_SIZES, resized
from model.measures.learn.sizes.parameters import groups_of, parameter_count
from tests import tiny

KINDS: list[tuple[str, dict[str, Any]]] = [
    ("encoder", {}),
    ("encoder", {"word_head": True}),
    ("decoder", {"gated": True, "kv_heads": 2, "norm_order": "parallel"}),
    ("decoder", {"head_size": 6, "tie_embeddings": False}),
    ("encoder-decoder", {"decoder_layers": 3, "decoder_hidden": 40}),
]


@pytest.mark.parametrize(("architecture", "changes"), KINDS)
def test_operations_are_those_that_torch_counts_in_a_real_pass(architecture, changes):
    config, ids = tiny.config(architecture, **changes), tiny.ids(9)
    model = tiny.transformer(architecture, **changes)
    target = {"target_ids": ids} if config.is_encoder_decoder else {}
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model(ids, **target)
    cost = operations(config, 9)
    assert cost.of_tokens + cost.of_pairs == counter.get_total_flops()


def test_twice_the_tokens_are_twice_the_operations_of_tokens_and_four_times_those_of_pairs():
    short, long = (operations(Config.paper_base(), tokens) for tokens in (100, 200))
    assert (long.of_tokens, long.of_pairs) == (2 * short.of_tokens, 4 * short.of_pairs)


def test_the_weights_of_a_trace_take_as_much_memory_as_the_formula_says():
    trace: Any = tiny.transformer("encoder-decoder", decoder_layers=3)(tiny.ids(7), target_ids=tiny.ids(7))
    kept = [trace.encoder.weights(), trace.decoder.weights(), trace.decoder.cross_weights()]
    assert weight_bytes(tiny.config("encoder-decoder", decoder_layers=3), 7) == sum(each.nbytes for each in kept)


def test_training_with_adam_keeps_as_many_bytes_as_the_formula_says():
    subject = TimedModel(tiny.config("encoder", labels=("a", "b")))
    subject.train(tiny.ids(1, 5))
    kept = [tensor for state in subject.optimiser.state.values() for tensor in state.values() if tensor.ndim]
    parameters = list(subject.model.parameters())
    gradients = [each.grad for each in parameters if each.grad is not None]
    assert sum(each.nbytes for each in [*kept, *parameters, *gradients]) == training_bytes(subject.model.config)


def test_the_record_was_measured_with_this_command_on_every_length():
    record = read_record()
    assert [point.tokens for point in record.points] == list(LENGTHS)
    assert record.command == "python -m benchmarks.costs"
    assert contradiction(record.points) is None
    for point in record.points:
        assert point.weight_bytes == weight_bytes(MEASURED, point.tokens)
        assert 0 < point.forward < point.training


def test_a_record_is_read_as_it_was_written(tmp_path):
    record = LengthRecord(points=tuple(time_lengths([2, 4])), command="c", date="2000-01-01", machine="m")
    write_record(record, tmp_path / "costs.json")
    assert read_record(tmp_path / "costs.json") == record


def test_measuring_ends_before_the_length_that_would_take_too_long():
    assert [point.tokens for point in time_lengths([2, 4, 8], limit=0.0)] == [2]
    assert [point.tokens for point in time_lengths([2, 4, 8], limit=1000.0)] == [2, 4, 8]


def test_growth_is_that_from_half_the_longest_text_to_it():
    points = [TimedLength(tokens=n, forward=float(n**2), training=float(n), weight_bytes=0) for n in (8, 16, 32)]
    assert (growth(points, "forward"), growth(points, "training")) == (4, 2)
    with pytest.raises(ValueError, match="two or more"):
        growth(points[:1], "forward")


def timed(*times: tuple[int, float, float]) -> list[TimedLength]:
    """Lengths with the seconds of a forward pass and of a training step."""
    return [TimedLength(tokens=n, forward=forward, training=training, weight_bytes=0) for n, forward, training in times]


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        (timed((128, 1.0, 3.0), (256, 2.0, 6.0), (512, 2.0, 6.0)), None),
        (timed((16, 1.1, 3.2), (32, 1.0, 3.0), (64, 1.2, 3.3)), None),  # short texts cost about the same
        (timed((256, 2.0, 8.0), (512, 7.2, 6.4)), Contradiction(tokens=512, shorter=None)),  # as on a busy machine
        (timed((256, 2.0, 9.0), (512, 7.2, 8.0)), Contradiction(tokens=512, shorter=256, what="training")),
        (
            timed((16, 5.0, 9.0), (128, 4.0, 9.0), (256, 6.0, 9.0)),
            Contradiction(tokens=128, shorter=16, what="forward"),
        ),
        (timed((16, 5.0, 4.0)), Contradiction(tokens=16, shorter=None)),
        ([], None),
    ],
)
def test_times_contradict_each_other_where_more_work_took_less_time(points, expected):
    assert contradiction(points) == expected


@pytest.mark.parametrize("name", MODEL_SIZES)
def test_the_groups_of_a_model_hold_all_of_its_parameters(name):
    config = MODEL_SIZES[name]()
    assert sum(group.total for group in groups_of(config)) == parameter_count(config)


def test_typed_sizes_replace_those_of_a_model():
    config = resized(Config.paper_base(), width=1024, heads=16, hidden=4096, layers=0, vocabulary=0)
    assert parameter_count(config) == parameter_count(MODEL_SIZES["big"]())
    assert resized(MODEL_SIZES["bert"](), vocabulary=1).vocabulary == 1
    assert resized(tiny.config("encoder-decoder", decoder_layers=3), layers=5).of_decoder().layers == 5


@pytest.mark.parametrize(
    ("positions", "sizes", "sentence"),
    [
        (
            "sinusoidal",
            {"width": 513},
            "A width of 513 cannot be shared by 8 heads. Choose a width of 512 or 520, or 3 or 9 heads.",
        ),
        (
            "sinusoidal",
            {"heads": 9},
            "A width of 512 cannot be shared by 9 heads. Choose a width of 504 or 513, or 8 or 16 heads.",
        ),
        ("sinusoidal", {"width": 5}, "A width of 5 cannot be shared by 8 heads. Choose a width of 8, or 5 heads."),
        (
            "sinusoidal",
            {"width": 521},
            "A width of 521 cannot be shared by 8 heads. Choose a width of 520 or 528, or 1 head.",
        ),
        ("sinusoidal", {"width": 16_384, "heads": 255}, "Choose a width of 16,320, or 128 or 256 heads."),
        (
            "rotary",
            {"width": 504},
            "shared by 8 heads of an even width. Choose a width of 496 or 512, or 7 or 9 heads.",
        ),
        ("rotary", {"width": 513}, "shared by 8 heads of an even width. Choose a width of 512 or 528."),
    ],
)
def test_a_width_that_the_heads_cannot_share_gets_the_nearest_sizes_that_go_together(positions, sizes, sentence):
    config = replace(Config.paper_base(), positions=positions)
    with pytest.raises(InputError, match=sentence):
        resized(config, **sizes)


def test_other_sizes_that_do_not_go_together_get_a_sentence():
    with pytest.raises(InputError, match="do not go together: layers"):
        resized(Config.paper_base(), layers=500)
