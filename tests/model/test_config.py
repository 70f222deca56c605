"""The config: every rule of its fields and the sentence that refuses a value, their order, and the way through JSON."""

import dataclasses
import json
from typing import Any

import jaxtyping
import pytest

from model.config import Config

SIZES = {"architecture": "encoder", "vocabulary": 100, "width": 16, "heads": 4, "layers": 2, "hidden": 32}


def config(**changes: Any) -> Config:
    """A small encoder, but for the changes."""
    return Config.from_json({**SIZES, "max_length": 64, **changes})


def refusal(**changes: Any) -> str:
    with pytest.raises(ValueError, match=": found ") as caught:
        config(**changes)
    return str(caught.value)


@pytest.fixture
def only_the_config_checks() -> None:
    """As outside the tests: jaxtyping would refuse a value of the wrong type before the config sees it."""
    jaxtyping.config.update("jaxtyping_disable", True)  # tests/conftest.py sets it anew for every test


@pytest.mark.usefixtures("only_the_config_checks")
@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("architecture", None, "a value of type str"),
        ("width", "16", "a value of type int"),
        ("heads", True, "a value of type int"),
        ("window", 4.0, "a value of type int | None"),
        ("dropout", False, "a value of type float"),
        ("score_scale", "1", "a value of type float | None"),
        ("gated", 1, "a value of type bool"),
        ("labels", ["yes", ""], "a list of non-empty strings"),
        ("windowed_layers", [0, True], "a list of layers"),
    ],
)
def test_a_value_of_another_type_is_refused(name: str, value: object, sentence: str) -> None:
    field_value = tuple(value) if isinstance(value, list) else value
    assert refusal(**{name: value}) == f"{name}: found {str(field_value)!r}, expected {sentence}"


@pytest.mark.usefixtures("only_the_config_checks")
def test_an_integer_may_stand_for_a_number() -> None:
    assert config(rotary_factor=2, dropout=0).rotary_factor == 2


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"architecture": "recurrent"}, "one of encoder, decoder, encoder-decoder"),
        ({"norm": "batch"}, "one of layer, rms"),
        ({"norm_order": "first"}, "one of post, pre, both, parallel"),
        ({"activation": "tanh"}, "one of relu, gelu, gelu-tanh, silu"),
        ({"pooling": "max"}, "one of mean, first-tanh, first-relu, none"),
        ({"rotary_scaling": "yarn"}, "one of none, linear, llama3"),
        ({"width": 0}, "1 to 1,000,000"),
        ({"layers": 257}, "1 to 256"),
        ({"decoder_layers": 0}, "1 to 256"),
        ({"kv_heads": 0}, "nothing, or 1 to 1,000,000"),
        ({"relative_buckets": 0}, "nothing, or 1 to 1,000,000"),
        ({"position_offset": -1}, "0 to 1,000,000"),
        ({"attention_dropout": 1.0}, "at least 0 and below 1"),
        ({"norm_epsilon": 0.0}, "above 0 and at most 0.1"),
        ({"score_scale": 0.0}, "1e-06 to 1e+12"),
        ({"logit_cap": float("nan")}, "1e-06 to 1e+12"),
        ({"pad_id": 100}, "an id below 100"),
        ({"heads": 3}, "a divisor of width 16"),
        ({"decoder_heads": 5}, "a divisor of width 16"),
        ({"kv_heads": 3}, "a divisor of 4 heads"),
        ({"rotary_width": 3, "positions": "rotary"}, "an even number up to the head's width 4"),
        ({"rotary_high": 1.0, "positions": "rotary"}, "above rotary_low 1.0"),
        ({"relative_buckets": 6, "positions": "relative"}, "a multiple of 4"),
        ({"relative_distance": 16, "positions": "relative"}, "more than half of 32 buckets"),
        ({"labels": ["yes"]}, "none, or two and more"),
        ({"labels": ["yes", "no"], "architecture": "decoder"}, "none in architecture decoder"),
        ({"word_head": True, "architecture": "decoder"}, "false in architecture decoder"),
        ({"word_head": True, "labels": ["yes", "no"]}, "false beside labels"),
        ({"pooling": "none", "labels": ["yes", "no"]}, "another, for there are labels"),
    ],
)
def test_a_refusal_names_field_and_value_and_says_what_is_allowed(changes: dict[str, Any], sentence: str) -> None:
    name, value = next(iter(changes.items()))
    field_value = tuple(value) if isinstance(value, list) else value
    assert refusal(**changes) == f"{name}: found {str(field_value)!r}, expected {sentence}"


def test_what_another_field_needs_is_missing() -> None:
    assert refusal(windowed_layers=[0]) == "window: found 'None', expected a size, for there are windowed_layers"
    missing = refusal(architecture="encoder-decoder", start_id=1)
    assert missing == "end_id: found 'None', expected an id in architecture encoder-decoder"


@pytest.mark.usefixtures("only_the_config_checks")
def test_types_are_checked_before_choices_these_before_ranges_and_what_fields_have_to_do_with_each_other_last() -> None:
    assert refusal(heads=3, width=0, norm="batch", gated=1).startswith("gated: ")
    assert refusal(heads=3, width=0, norm="batch").startswith("norm: ")
    assert refusal(heads=3, kv_heads=0, hidden=0).startswith("hidden: ")
    assert refusal(heads=3, pad_id=100).startswith("pad_id: ")


def test_fields_stand_in_the_order_of_their_groups_in_python_and_in_json() -> None:
    names = [field.name for field in dataclasses.fields(Config)]
    firsts = ["architecture", "decoder_layers", "kv_heads", "positions", "norm", "segments", "pad_id"]
    assert [names.index(name) for name in firsts] == sorted(names.index(name) for name in firsts)
    assert (names[0], names[-1]) == ("architecture", "end_id")
    assert list(config().to_json()) == names


def test_a_config_comes_back_from_json_and_can_be_changed_compared_and_hashed() -> None:
    original = config(labels=["yes", "no"], windowed_layers=[1], window=8, score_scale=0.5)
    again = Config.from_json(json.loads(json.dumps(original.to_json())))
    assert again == original
    assert hash(again) == hash(original)
    assert dataclasses.replace(original, heads=8) == config(**original.to_json() | {"heads": 8}) != original
    with pytest.raises(dataclasses.FrozenInstanceError):
        original.heads = 8  # type: ignore[misc]
