"""Weights from files: shards, the private copy of a large file, half precision, pickles, and what is refused."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.nn.modules.module import register_module_forward_hook

from model import CheckpointError, load_checkpoint
from model.loading import checkpoint_files, weight_cache, weights
from model.transformer import Transformer
from tests import reference, tiny
from tests.kinds import GPT2, LLAMA

IDS = {"input_ids": reference.ids(30, 90)}


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Every file counts as large, and copies go to a folder of the test's own."""
    monkeypatch.setattr(weights, "MAPPED_FROM", 0)
    monkeypatch.setenv("HEADLIGHT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def gpt2(tmp_path):
    return reference.make("GPT2LMHeadModel", tmp_path / "model", **GPT2)


def copies(cache) -> list[Path]:
    """The copies of weight files in the cache."""
    return list(cache.glob("*.safetensors"))


def refusal(folder) -> str:
    """The one line in which a folder is refused."""
    with pytest.raises(CheckpointError) as caught:
        load_checkpoint(folder, device="cpu")
    assert "\n" not in str(caught.value)
    assert str(folder.parent) not in str(caught.value)
    return str(caught.value)


def same_weights(folder, ids: list[int]) -> torch.Tensor:
    trace: Any = load_checkpoint(folder, device="cpu").trace_ids(ids)
    return trace.decoder.weights()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_mapped_weights_give_the_numbers_of_the_reference(dtype, cache, tmp_path):
    theirs = reference.make("GPT2LMHeadModel", tmp_path / "model", dtype=dtype, **GPT2)
    reference.assert_same_model(theirs, IDS)
    model = load_checkpoint(theirs.folder, device="cpu").model
    assert {parameter.dtype for parameter in model.parameters() if parameter.ndim > 1} == {dtype}
    assert {parameter.dtype for parameter in model.parameters() if parameter.ndim == 1} == {torch.float32}


@pytest.mark.parametrize("where", ["mapped", "cannot be copied", "small"])
def test_a_matrix_lies_row_by_row_wherever_it_is_read_and_however_it_is_stored(where, cache, gpt2, monkeypatch):
    if where == "cannot be copied":
        cache.write_text("a file where the folder should be")
    monkeypatch.setattr(weights, "MAPPED_FROM", 1 << 40 if where == "small" else 0)
    for _ in range(2):  # the second finds the copy of the first
        model = load_checkpoint(gpt2.folder, device="cpu").model
        assert all(parameter.is_contiguous() for parameter in model.parameters() if parameter.ndim > 1)
        reference.assert_same_model(gpt2, IDS)
    assert len(copies(cache)) == (where == "mapped")


def test_a_file_rewritten_or_deleted_while_in_use_changes_nothing(cache, gpt2):
    checkpoint, path = load_checkpoint(gpt2.folder, device="cpu"), gpt2.folder / "model.safetensors"
    before: Any = checkpoint.trace_ids(IDS["input_ids"])
    with path.open("r+b") as file:  # in the same place on the disk, as a program that saves may do it
        file.seek(-4000, os.SEEK_END)
        file.write(b"\xff" * 4000)
    path.unlink()
    after: Any = checkpoint.trace_ids(IDS["input_ids"])
    assert torch.equal(before.logits, after.logits)


def test_a_file_is_copied_once_and_again_when_it_has_changed(cache, gpt2):
    for _ in range(2):
        load_checkpoint(gpt2.folder, device="cpu")
    assert len(copies(cache)) == 1
    path = gpt2.folder / "model.safetensors"
    tensors = load_file(path)
    save_file(tensors | {"transformer.ln_f.bias": tensors["transformer.ln_f.bias"] + 1}, path)
    os.utime(path, ns=(1, 1))
    load_checkpoint(gpt2.folder, device="cpu")
    assert len(copies(cache)) == 2


@pytest.fixture
def passes():
    """Every forward pass of a whole model, as it is made."""
    models: list[Transformer] = []
    handle = register_module_forward_hook(lambda one, *_: models.append(one) if isinstance(one, Transformer) else None)
    yield models
    handle.remove()


def test_the_pass_that_proves_large_weights_is_made_once_for_every_state_of_file_and_config(cache, gpt2, passes):
    for _ in range(2):
        load_checkpoint(gpt2.folder, device="cpu")
    assert len(passes) == 1
    os.utime(gpt2.folder / "model.safetensors", ns=(1, 1))
    load_checkpoint(gpt2.folder, device="cpu")
    assert len(passes) == 2
    path = gpt2.folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"layer_norm_epsilon": 1e-3}))
    load_checkpoint(gpt2.folder, device="cpu")
    assert len(passes) == 3


def test_large_weights_that_overflow_are_refused_every_time(cache, gpt2):
    path = gpt2.folder / "model.safetensors"
    tensors = load_file(path)
    save_file(tensors | {"transformer.wte.weight": torch.full_like(tensors["transformer.wte.weight"], 3e38)}, path)
    for _ in range(2):
        assert "found numbers that overflow" in refusal(gpt2.folder)


def test_the_cache_makes_room_by_what_was_not_used_for_longest(cache, gpt2, monkeypatch, tmp_path):
    load_checkpoint(gpt2.folder, device="cpu")
    (first,) = copies(cache)
    monkeypatch.setattr(weight_cache, "CACHE_BYTES", first.stat().st_size + 1000)
    other = reference.make("GPT2LMHeadModel", tmp_path / "other", seed=1, **GPT2)
    load_checkpoint(other.folder, device="cpu")
    assert len(copies(cache)) == 1
    assert not first.exists()


def test_without_a_cache_that_can_be_written_the_file_is_read_into_memory(cache, gpt2):
    cache.write_text("a file where the folder should be")
    reference.assert_same_model(gpt2, IDS)


def test_a_number_that_is_not_finite_is_refused_and_leaves_no_copy(cache, gpt2):
    path = gpt2.folder / "model.safetensors"
    tensors = load_file(path)
    tensors["transformer.wte.weight"][7, 3] = float("nan")
    save_file(tensors, path)
    assert refusal(gpt2.folder).startswith("model.safetensors: transformer.wte.weight: found a number that is infinite")
    assert not list(cache.iterdir())


def test_a_file_that_changes_between_its_check_and_its_copy_is_refused(cache, gpt2, monkeypatch):
    path, copied = gpt2.folder / "model.safetensors", weight_cache.copied

    def change_first(source, copy):
        save_file({"other": torch.zeros(3)}, path)
        return copied(source, copy)

    monkeypatch.setattr(weight_cache, "copied", change_first)
    assert "changed while it was read" in refusal(gpt2.folder)


def test_large_finite_numbers_whose_sum_overflows_are_finite():
    assert weight_cache.finite(torch.full((10,), 3e38))
    assert not weight_cache.finite(torch.tensor([1.0, float("inf"), 2.0]))
    assert not weight_cache.finite(torch.tensor([float("inf"), float("-inf")]))


# Pickled weights


def pickled_alone(folder: Path, *names: str) -> Path:
    """The folder with links that lead nowhere in place of its weights: what opens one fails."""
    (folder / "model.safetensors").unlink()
    for name in names:
        (folder / name).symlink_to("nowhere")
    return folder


@pytest.mark.parametrize(("names", "named"), [
    (["pytorch_model.bin"], "pytorch_model.bin"),
    (["a.bin", "pytorch_model.bin", "a.pt"], "pytorch_model.bin"),
    (["pytorch_model-00001-of-00002.bin", "pytorch_model.bin.index.json"], "pytorch_model.bin.index.json"),
    (["training_args.bin", "weights.bin"], "weights.bin"),
    (["model.pt", "optimizer.pt"], "model.pt"),
    (["consolidated.00.pth"], "consolidated.00.pth"),
])  # fmt: skip
def test_pickled_weights_alone_are_named_and_never_opened(names, named, gpt2):
    message = refusal(pickled_alone(gpt2.folder, *names))
    command = "from transformers import GPT2LMHeadModel as M; M.from_pretrained('.').save_pretrained('.')"
    assert message == (
        f"{named}: Headlight opens no pickled file, because loading one can run code; where you trust it, run in its "
        f'folder: python -c "{command}", which writes safetensors.'
    )


@pytest.mark.parametrize("named", [None, [], ["A", "B"], "GPT2LMHeadModel", ["os; import os"], ["A" * 37], [7], {}])
def test_a_conversion_names_only_what_can_be_a_class(named, gpt2):
    path = gpt2.folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"architectures": named}))
    message = refusal(pickled_alone(gpt2.folder, "pytorch_model.bin"))
    assert message.endswith("load it with transformers, whose save_pretrained writes safetensors.")


def test_the_longest_refusal_of_pickled_weights_is_one_short_line(gpt2):
    path = gpt2.folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"architectures": ["A" * 36]}))
    message = refusal(pickled_alone(gpt2.folder, "x" * 100 + "\n.bin"))
    assert "A" * 36 in message
    assert message.isprintable()
    assert len(message) <= 300


def test_pickled_weights_of_our_own_kind_are_refused_without_a_command_of_transformers(tmp_path):
    checkpoint_files.save_checkpoint(tmp_path / "own", tiny.transformer(), tiny.tokenizer(), {})
    message = refusal(pickled_alone(tmp_path / "own", "model.pt"))
    assert message.startswith("model.pt: Headlight opens no pickled file")
    assert message.endswith("; where you trust it, convert it to model.safetensors.")


@pytest.mark.parametrize("names", [[], ["training_args.bin", "optimizer.pt", "scheduler.pt"], ["notes.txt"]])
def test_a_folder_without_any_weights_is_refused_as_before(names, gpt2):
    message = refusal(pickled_alone(gpt2.folder, *names))
    assert message == "model.safetensors: file: found nothing, expected a regular file."


def test_pickled_weights_beside_safetensors_are_left_alone(gpt2):
    (gpt2.folder / "pytorch_model.bin").symlink_to("nowhere")
    reference.assert_same_model(gpt2, IDS)


# Shards


@pytest.fixture
def shards(tmp_path):
    """A model in several files and an index."""
    theirs = reference.make("LlamaForCausalLM", tmp_path / "model", save_max_shard_size="20KB", **LLAMA)
    assert len(list(theirs.folder.glob("*.safetensors"))) > 2
    return theirs


def index_of(folder, change) -> None:
    path = folder / "model.safetensors.index.json"
    index = json.loads(path.read_text())
    change(index["weight_map"])
    path.write_text(json.dumps(index))


def test_mapped_shards_give_the_numbers_of_the_reference(cache, shards):
    reference.assert_same_model(shards, IDS)


@pytest.mark.parametrize(("name", "complaint"), [
    ("../secret.safetensors", "weight_map: found ../secret.safetensors, expected names"),
    ("/etc/passwd", "weight_map: found /etc/passwd, expected names"),
    ("pytorch_model.bin", "weight_map: found pytorch_model.bin, expected names"),
    (7, "weight_map: found something else"),
])  # fmt: skip
def test_an_index_names_files_of_its_own_folder_only(name, complaint, shards):
    index_of(shards.folder, lambda files: files.update({"model.norm.weight": name}))
    assert refusal(shards.folder).startswith(f"model.safetensors.index.json: {complaint}")


def test_a_missing_shard_is_named(shards):
    missing = sorted(shards.folder.glob("*.safetensors"))[1]
    missing.unlink()
    assert refusal(shards.folder).startswith(f"{missing.name}: file: found nothing")


def test_a_tensor_in_two_shards_is_refused(shards):
    first, second = sorted(shards.folder.glob("*.safetensors"))[:2]
    save_file(load_file(first) | load_file(second), second)
    assert "a tensor that another file holds too" in refusal(shards.folder)


def test_the_same_weights_in_one_file_and_in_several_give_the_same_numbers(shards, tmp_path):
    whole = reference.make("LlamaForCausalLM", tmp_path / "whole", **LLAMA)
    ids = IDS["input_ids"]
    assert torch.equal(same_weights(shards.folder, ids), same_weights(whole.folder, ids))
