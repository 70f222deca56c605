"""Checkpoints on disk: what is saved is loaded, and whatever is wrong with a file is one plain line."""

import json
import os
import random
import re
import shutil
import struct
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jaxtyping
import pytest
import torch
from safetensors.torch import load_file, save_file

from benchmarks.fuzz import flipped
from model import CheckpointError, Edits, available_checkpoints, load_checkpoint
from model.loading import bounded_files, checkpoint_files, headers
from model.tracing.limits import trace_bytes
from tests import tiny
from tests.scripts import run_script
from tests.tiny import ARCHITECTURES, TEXT

Json = dict[str, Any]


@pytest.fixture(autouse=True)
def _as_a_user_runs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the type checks of a test run, which would refuse a wrong file before our own checks do."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A sound checkpoint of a tiny classifier, to be spoilt."""
    saved = tmp_path / "sound"
    checkpoint_files.save_checkpoint(saved, tiny.transformer(labels=("no", "yes")), tiny.tokenizer(), {"seed": 0})
    return saved


def refusal(folder: Path) -> str:
    """The line with which a spoilt checkpoint is refused."""
    with pytest.raises(CheckpointError) as caught:
        load_checkpoint(folder, device="cpu")
    return plain_line(caught.value, folder)


def plain_line(error: CheckpointError, folder: Path) -> str:
    message = str(error)
    assert message.isprintable()
    assert 0 < len(message) <= 300
    assert str(folder.parent) not in message
    assert "Traceback" not in message
    assert error.__cause__ is None
    return message


def change_json(folder: Path, file: str, change: Callable[[Json], Any]) -> None:
    path = folder / file
    values = json.loads(path.read_text(encoding="utf-8"))
    change(values)
    path.write_text(json.dumps(values), encoding="utf-8")


def change_header(folder: Path, change: Callable[[Json], Any]) -> None:
    """Rewrite the header of the weights, and leave the numbers behind it as they are."""
    path = folder / headers.WEIGHTS
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    change(header)
    changed = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(changed)) + changed + content[8 + length :])


# Round trip


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("tied", [True, False])
def test_what_is_saved_is_what_is_loaded(tmp_path, architecture, tied):
    labels = ("no", "yes") if architecture == "encoder" else ()
    checkpoint = tiny.checkpoint(architecture, tie_embeddings=tied, labels=labels, positions="learned")
    checkpoint_files.save_checkpoint(tmp_path / "a", checkpoint.model, checkpoint.tokenizer, {"seed": 7}, torch.float32)
    loaded = load_checkpoint(tmp_path / "a", device="cpu")
    assert (loaded.name, loaded.config, loaded.card) == ("a", checkpoint.config, {"seed": 7})
    trace, expected = loaded.trace(TEXT, logits=False), checkpoint.trace(TEXT, logits=False)
    stack = "decoder" if architecture != "encoder" else "encoder"
    assert torch.equal(getattr(trace, stack).final, getattr(expected, stack).final)
    assert getattr(trace, stack).tokens == getattr(expected, stack).tokens


def test_weights_are_stored_in_half_precision_and_computed_in_single(folder):
    stored = load_file(folder / headers.WEIGHTS)
    assert {tensor.dtype for tensor in stored.values()} == {torch.float16}
    model = load_checkpoint(folder, device="cpu").model
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
    assert torch.equal(model.embedding.weight, stored["embedding.weight"].float())


def test_a_loaded_model_is_in_evaluation_mode_and_asks_for_no_gradients(folder):
    model = load_checkpoint(folder, device="cpu").model
    assert not any(module.training for module in model.modules())
    assert not any(parameter.requires_grad for parameter in model.parameters())


def test_a_tied_table_is_stored_once(tmp_path):
    checkpoint_files.save_checkpoint(tmp_path / "a", tiny.transformer("encoder-decoder"), tiny.tokenizer(), {})
    stored = headers.read_header(tmp_path / "a" / headers.WEIGHTS)
    assert [name for name, tensor in stored.items() if 80 in tensor.shape] == ["embedding.weight"]


def test_a_weight_that_half_precision_cannot_hold_is_not_saved(tmp_path):
    model = tiny.transformer()
    with torch.no_grad():
        model.embedding.weight[0, 0] = 1e6
    with pytest.raises(ValueError, match="a weight is not finite"):
        checkpoint_files.save_checkpoint(tmp_path / "a", model, tiny.tokenizer(), {})


def test_a_checkpoint_may_lack_its_card_and_nothing_else(folder):
    (folder / checkpoint_files.CARD).unlink()
    assert load_checkpoint(folder, device="cpu").card == {}
    for file in (
        checkpoint_files.TOKENIZER,
        headers.WEIGHTS,
        checkpoint_files.CONFIG,
    ):  # each is read before the one that is gone
        (folder / file).unlink()
        assert refusal(folder) == f"{file}: file: found nothing, expected a regular file."


def test_neither_loading_nor_a_trace_imports_torchs_compiler():
    """It takes longer than all the rest; random numbers for a tensor without memory would import it."""
    script = """
        import sys
        from model import available_checkpoints, load_checkpoint
        for name in available_checkpoints():
            load_checkpoint(name, device="cpu").trace("It is good.")
        assert "torch._dynamo" not in sys.modules
    """
    ran = run_script(textwrap.dedent(script))
    assert ran.returncode == 0, ran.stderr


def test_every_bundled_checkpoint_loads():
    assert "sentiment" in available_checkpoints()
    for name in available_checkpoints():
        assert load_checkpoint(name, device="cpu").name == name


@pytest.mark.parametrize("name", ["nothing", "no/such/folder", "x" * 5000, "a\x00b", "\ud800", "line\nline", "../x"])
def test_an_unknown_name_lists_what_is_there(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where "../x" leads nowhere
    with pytest.raises(CheckpointError) as caught:
        load_checkpoint(name)
    assert ", ".join(available_checkpoints()) in plain_line(caught.value, Path("/no/such/folder"))


def test_a_trace_may_be_only_as_long_as_its_memory_allows():
    small = tiny.checkpoint(max_length=100_000)
    assert small.longest == 512
    with torch.device("meta"):
        heavy = tiny.checkpoint(heads=8, layers=256, max_length=512, hidden=1)
    assert trace_bytes(heavy.config, heavy.longest) <= 1 << 30 < trace_bytes(heavy.config, 2 * heavy.longest)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_tokens_of_a_trace_go_through_the_model_again(architecture):
    checkpoint, edits = tiny.checkpoint(architecture), Edits(temperature=2.0)
    trace = checkpoint.trace(TEXT)
    again, changed = checkpoint.trace_again(trace), checkpoint.trace_again(trace, edits)
    for stack in {"encoder-decoder": ("encoder", "decoder")}.get(architecture, (architecture,)):
        before, same, other = (getattr(one, stack) for one in (trace, again, changed))
        assert before.ids.tolist() == same.ids.tolist() == other.ids.tolist()
        assert torch.allclose(before.final, same.final, atol=1e-5)
        assert not torch.allclose(before.final, other.final, atol=1e-3)


# Spoilt configs


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("architecture", "recurrent"),
        ("architecture", None),
        ("vocabulary", 0),
        ("vocabulary", 10**12),
        ("width", -16),
        ("width", 16.0),
        ("width", "16"),
        ("width", [16]),
        ("heads", True),
        ("heads", 3),
        ("layers", 0),
        ("layers", 100_000),
        ("hidden", 10**9),
        ("max_length", None),
        ("positions", "spiral"),
        ("norm_order", "sandwich"),
        ("norm_epsilon", 0),
        ("norm_epsilon", -1e-5),
        ("dropout", 1),
        ("dropout", True),
        ("attention_dropout", "0.1"),
        ("scale_embeddings", 1),
        ("labels", ["yes", "yes"]),
        ("labels", ["yes"]),
        ("labels", ["yes", 1]),
        ("labels", "yes"),
        ("pad_id", 80),
        ("end_id", -1),
        ("depth\nof the model", 1),
        ("x" * 5000, "y" * 5000),
        ("__class__", {}),
    ],
)
def test_a_field_of_the_config_that_is_wrong_is_named(folder, field, value):
    change_json(folder, checkpoint_files.CONFIG, lambda config: config.update({field: value}))
    assert refusal(folder).startswith(f"config.json: {field.replace(chr(10), '?')[:60]}: found ")


@pytest.mark.parametrize("field", ["architecture", "vocabulary", "width", "heads", "layers", "hidden", "max_length"])
def test_a_field_that_is_missing_is_named(folder, field):
    change_json(folder, checkpoint_files.CONFIG, lambda config: config.pop(field))
    assert refusal(folder) == f"config.json: {field}: found 'nothing', expected a value."


def test_an_encoder_decoder_needs_a_start_and_an_end(folder):
    change_json(
        folder, checkpoint_files.CONFIG, lambda config: config.update(architecture="encoder-decoder", labels=[])
    )
    assert refusal(folder) == "config.json: start_id: found 'None', expected an id in architecture encoder-decoder."


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\x80\x04}.",
        b"\xef\xbb\xbf{}",
        b'{"width": NaN}',
        b'{"width": -Infinity}',
        b'{"width": 1e999}',
        b'{"width": 1, "width": 1}',
        b'{"a\\nb": 1, "a\\nb": 1}',
        b'{"\\ud800": 1, "\\ud800": 1}',
        b'{"architecture": "\\ud800"}',
        b'{"architecture": "\xff"}',
        b'{"width": ' + b"9" * 5000 + b"}",
        b'{"width": ' + b"[" * 50 + b"]" * 50 + b"}",
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b" " * (bounded_files.LARGEST_JSON + 1),
    ],
)
@pytest.mark.parametrize("file", [checkpoint_files.CONFIG, checkpoint_files.CARD])
def test_a_file_that_is_no_plain_json_object_is_refused(folder, file, content):
    (folder / file).write_bytes(content)
    assert refusal(folder).startswith(f"{file}: ")


@pytest.mark.parametrize(
    "file", [checkpoint_files.CONFIG, headers.WEIGHTS, checkpoint_files.TOKENIZER, checkpoint_files.CARD]
)
@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_a_folder_or_a_pipe_in_place_of_a_file_is_refused(folder, file, make):
    (folder / file).unlink()
    make(folder / file)
    assert refusal(folder) == f"{file}: file: found something else, expected a regular file."


# Spoilt weights


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"dtype": "F64"}, "data_offsets: found"),
        ({"dtype": "C64"}, "dtype: found C64"),
        ({"dtype": "I16"}, "dtype: found I16"),
        ({"dtype": None}, "dtype: found None"),
        ({"dtype": ["F16"]}, "dtype: found ['F16']"),
        ({"shape": [1, 2]}, "found shape (1, 2)"),
        ({"shape": [1 << 47] * 9}, "data_offsets: found [0, 4], expected room for shape [140"),
        ({"shape": [1] * 100_000}, "data_offsets: found [0, 4], expected room for shape [1, 1"),
        ({"shape": [-2]}, "found [-2]"),
        ({"shape": [True, 2]}, "found [True, 2]"),
        ({"shape": "2"}, "found 2"),
        ({"data_offsets": [4]}, "data_offsets: found [4]"),
        ({"data_offsets": [0, 1 << 60]}, "found [0, "),
        ({"data_offsets": [4, 0]}, "data_offsets: found [4, 0]"),
        ({"extra": 1}, "found another header entry"),
    ],
)
def test_an_entry_of_the_header_that_is_wrong_is_named(folder, entry, message):
    change_header(folder, lambda header: header["classifier.bias"].update(entry))
    assert refusal(folder).startswith(f"model.safetensors: classifier.bias: {message}")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda header: header.update({"embedding.weight": 7}), "embedding.weight: found another header entry"),
        (lambda header: header.pop("embedding.weight"), "size: found"),
        (
            lambda header: header.update(extra={"dtype": "F16", "shape": [0], "data_offsets": [0, 0]}),
            "extra: found a tensor",
        ),
        (lambda header: header.update({"a\nb" * 300: 1}), "a?ba?b"),
        (lambda header: header.update({f"{n}": 1 for n in range(5001)}), "header: found 5,0"),
        (
            lambda header: header["embedding.weight"].update(data_offsets=[1 << 40, (1 << 40) + 2560]),
            "file: found some",
        ),
    ],
)
def test_a_header_that_does_not_fit_its_model_or_its_file_is_refused(folder, change, message):
    change_header(folder, change)
    assert refusal(folder).startswith(f"model.safetensors: {message}")


def test_tensors_that_overlap_are_refused(folder):
    def swap(header: Json) -> None:
        queries = [f"encoder.blocks.{layer}.self_attention.query.weight" for layer in (0, 1)]
        header[queries[0]]["data_offsets"] = header[queries[1]]["data_offsets"]

    change_header(folder, swap)
    assert refusal(folder).startswith("model.safetensors: file: found something that safetensors refuses")


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 100, -1, -2])
def test_weights_that_are_cut_off_are_refused(folder, length):
    path = folder / headers.WEIGHTS
    path.write_bytes(path.read_bytes()[:length])
    assert refusal(folder).startswith("model.safetensors: ")


@pytest.mark.parametrize("length", [0, 1, 10**6, 1 << 30, (1 << 64) - 1])
def test_a_header_whose_stated_length_is_wrong_is_refused(folder, length):
    path = folder / headers.WEIGHTS
    path.write_bytes(struct.pack("<Q", length) + path.read_bytes()[8:])
    assert refusal(folder).startswith("model.safetensors: header: found a length of")


@pytest.mark.parametrize("name", ["classifier.weight", "encoder.blocks.1.feed_forward.outer.bias"])
def test_a_tensor_that_is_missing_or_too_much_is_named(folder, name):
    tensors = load_file(folder / headers.WEIGHTS)
    save_file(tensors | {"surplus": torch.zeros(2)}, folder / headers.WEIGHTS)
    assert refusal(folder).startswith("model.safetensors: surplus: found a tensor")
    del tensors[name]
    save_file(tensors, folder / headers.WEIGHTS)
    assert refusal(folder).startswith(f"model.safetensors: {name}: found nothing, expected a tensor")


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_weight_that_is_no_finite_number_is_refused_even_where_no_sentence_would_use_it(folder, number):
    tensors = load_file(folder / headers.WEIGHTS)
    tensors["embedding.weight"][79, 15] = number
    save_file(tensors, folder / headers.WEIGHTS)
    assert refusal(folder).startswith("model.safetensors: embedding.weight: found a number that is infinite or none")


@pytest.mark.parametrize("name", ["classifier.weight", "encoder.blocks.1.feed_forward.outer.weight"])
def test_weights_that_overflow_in_a_pass_are_refused(folder, name):
    tensors = {key: tensor.float() for key, tensor in load_file(folder / headers.WEIGHTS).items()}
    tensors[name] = torch.full_like(tensors[name], 3e38) * torch.randn_like(tensors[name]).sign()
    save_file(tensors, folder / headers.WEIGHTS)
    assert refusal(folder).startswith("model.safetensors: weights: found numbers that overflow")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_other_float_types_are_read_too(folder, dtype):
    save_file(
        {name: tensor.to(dtype) for name, tensor in load_file(folder / "model.safetensors").items()}, folder / "b"
    )
    shutil.move(folder / "b", folder / headers.WEIGHTS)
    assert load_checkpoint(folder, device="cpu").model.embedding.weight.dtype == torch.float32


# Spoilt tokenizers


@pytest.mark.parametrize("content", [b"", b"garbage", b"{}", b"[]", b"\xff\xfe", b'{"version": "1.0", "model": {}}'])
def test_a_tokenizer_that_the_library_refuses_is_refused(folder, content):
    (folder / checkpoint_files.TOKENIZER).write_bytes(content)
    assert refusal(folder).startswith("tokenizer.json: ")


@pytest.mark.parametrize("number", [80, 10_000_000])
def test_a_tokenizer_with_an_id_that_the_model_does_not_know_is_refused(folder, number):
    change_json(folder, checkpoint_files.TOKENIZER, lambda values: values["model"]["vocab"].update(surplus=number))
    assert refusal(folder) == f"tokenizer.json: vocabulary: found {number + 1:,} ids, expected at most 80."


# Any spoilt file


def decided(read: Callable[[], object], folder: Path) -> bool:
    """Whether it was read; if not, it was refused in one plain line."""
    try:
        read()
    except CheckpointError as error:
        plain_line(error, folder)
        return False
    return True


def test_any_spoilt_checkpoint_loads_or_is_refused_in_one_line(folder):
    chance, outcomes = random.Random(0), []
    sound = {
        file: (folder / file).read_bytes() for file in (checkpoint_files.CONFIG, headers.WEIGHTS, checkpoint_files.CARD)
    }
    for _ in range(100):
        file = chance.choice(list(sound))
        (folder / file).write_bytes(flipped(sound[file], len(sound[file]), chance))
        outcomes.append(decided(lambda: load_checkpoint(folder, device="cpu"), folder))
        (folder / file).write_bytes(sound[file])
    assert 10 < sum(outcomes) < 90


def test_the_messages_of_a_checkpoint_name_the_file_the_field_and_what_was_expected(folder):
    change_json(folder, checkpoint_files.CONFIG, lambda config: config.update(heads=3))
    assert re.fullmatch(r"config\.json: heads: found '3', expected a divisor of width 16\.", refusal(folder))
