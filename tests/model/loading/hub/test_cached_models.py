"""What was downloaded opens without the network, is listed with what it takes of the disk, and goes when deleted."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import Tensor

from model import CheckpointError, load_checkpoint
from model.loading import hub, weight_cache
from tests.hub_server import commit_of, hub_server
from tests.model.loading.hub.conftest import plain
from tests.tiny import TEXT

ROOT = Path(__file__).parents[4]


def named(text: str) -> hub.HubName:
    return hub.parse_hub_name(text)


def same(one: Tensor | None, other: Tensor | None) -> bool:
    return one is not None and other is not None and torch.equal(one, other)


def disk_bytes() -> int:
    """What lies in the cache, each file once."""
    files = [path for path in weight_cache.cache_folder().rglob("*") if path.is_file() and not path.is_symlink()]
    return sum(path.stat().st_size for path in files if ".locks" not in path.parts and "refs" not in path.parts)


@pytest.fixture
def offline(monkeypatch):
    """Called once what is needed is here: from then on nothing answers."""
    return lambda: monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")


@pytest.fixture
def mapped(monkeypatch):
    """Even tiny weights are mapped."""
    monkeypatch.setattr("model.loading.weights.MAPPED_FROM", 1)


def test_an_empty_cache(server):
    assert hub.cached() == hub.unfinished() == []
    assert hub.cached_folder(named("gpt2")) is None
    hub.delete(named("gpt2"))


def test_what_is_cached_is_listed_with_its_bytes_and_the_last_used_first(fetched, offline):
    first, second = fetched("gpt2"), fetched("org/sharded")
    os.utime(second, (1, 1))
    offline()
    assert [model.folder for model in hub.cached()] == [first, second]
    assert sum(model.bytes for model in hub.cached()) == disk_bytes()
    load_checkpoint("org/sharded", device="cpu")
    assert [model.folder for model in hub.cached()] == [second, first]


def test_a_name_without_a_revision_is_what_the_main_branch_was(fetched, offline, repositories):
    folder = fetched("gpt2")
    offline()
    commit = commit_of(repositories["gpt2"])
    assert folder == hub.cached_folder(named("gpt2")) == hub.cached_folder(named("gpt2@main"))
    assert folder == hub.cached_folder(named(f"gpt2@{commit}"))
    assert hub.cached_folder(named("gpt2@v1")) is None
    assert hub.cached_folder(named(f"gpt2@{'0' * 40}")) is None


def test_the_main_branch_comes_before_what_was_used_later(fetched, repositories, monkeypatch):
    sharded = repositories["org/sharded"]
    with hub_server({"gpt2": repositories["gpt2"]}, revisions={"gpt2": {"v2": sharded}}) as address:
        monkeypatch.setenv("HF_ENDPOINT", address)
        main, other = fetched("gpt2"), fetched("gpt2@v2")
    os.utime(main, (1, 1))
    assert main != other
    assert (hub.cached_folder(named("gpt2")), hub.cached_folder(named("gpt2@v2"))) == (main, other)


def test_where_only_a_conversion_is_here_the_name_alone_finds_it(fetched, offline):
    folder = fetched("org/converted@refs/pr/3")
    offline()
    assert hub.cached_folder(named("org/converted")) == hub.cached_folder(named("org/converted@refs/pr/3")) == folder
    assert hub.cached_folder(named("org/converted@main")) is None


def test_deleting_frees_all_and_leaves_the_others(fetched, mapped):
    fetched("gpt2")
    kept = fetched("org/sharded")
    load_checkpoint("gpt2", device="cpu")
    load_checkpoint("org/sharded", device="cpu")
    assert disk_bytes() == sum(model.bytes for model in hub.cached())
    hub.delete(named("gpt2"))
    assert [model.folder for model in hub.cached()] == [kept]
    assert disk_bytes() == sum(model.bytes for model in hub.cached())


def test_deleting_a_commit_leaves_what_another_needs(fetched, repositories, switches, monkeypatch, tmp_path):
    fetched("gpt2")
    other = tmp_path / "gpt2"
    other.mkdir()
    for path in repositories["gpt2"].iterdir():
        (other / path.name).write_bytes(path.read_bytes())
    (other / "tokenizer.json").write_text((other / "tokenizer.json").read_text() + "\n")
    with hub_server({"gpt2": other}) as address:
        monkeypatch.setenv("HF_ENDPOINT", address)
        second = fetched("gpt2")
    hub.delete(named(f"gpt2@{commit_of(repositories['gpt2'])}"))
    assert [model.folder for model in hub.cached()] == [second]
    assert disk_bytes() == hub.cached()[0].bytes
    load_checkpoint("gpt2", device="cpu")


def test_a_deleted_model_that_is_open_stays_usable(fetched, mapped):
    fetched("org/sharded")
    checkpoint = load_checkpoint("org/sharded", device="cpu")
    before = checkpoint.trace(TEXT).logits
    hub.delete(named("org/sharded"))
    assert hub.cached() == []
    assert same(checkpoint.trace(TEXT).logits, before)


def test_an_unfinished_download_is_deleted_too(fetched, server, switches):
    switches.damaged = {"tokenizer.json"}
    with pytest.raises(CheckpointError):
        fetched("gpt2")
    (begun,) = hub.unfinished()
    hub.delete(begun.name)
    assert disk_bytes() == 0


# Opening


def test_a_model_is_loaded_by_its_id_and_agrees_with_its_folder(server, repositories):
    checkpoint, expected = load_checkpoint("gpt2", device="cpu"), load_checkpoint(repositories["gpt2"], device="cpu")
    assert checkpoint.name == f"gpt2@{commit_of(repositories['gpt2'])}"
    assert same(checkpoint.trace(TEXT).logits, expected.trace(TEXT).logits)


def test_a_cached_model_opens_offline_without_a_request(server, switches, offline):
    name = load_checkpoint("gpt2", device="cpu").name
    switches.requests.clear()
    assert load_checkpoint("gpt2", device="cpu").name == name
    assert switches.requests == []
    offline()
    assert load_checkpoint(name, device="cpu").name == name
    with pytest.raises(CheckpointError) as caught:
        load_checkpoint("org/sharded")
    assert plain(caught.value).endswith("Models that were downloaded before still open.")


def test_a_revision_is_loaded(server, repositories):
    commit = commit_of(repositories["gpt2"])
    assert load_checkpoint("org/converted", "cpu", revision="refs/pr/3").name == f"org/converted@{commit}"
    assert load_checkpoint("org/converted", "cpu", revision=commit).name == f"org/converted@{commit}"


def test_a_bundled_checkpoint_and_a_folder_come_before_the_hub(server, switches, repositories, tmp_path, monkeypatch):
    monkeypatch.chdir(repositories["gpt2"].parent)
    assert load_checkpoint("sentiment", device="cpu").name == "sentiment"
    assert load_checkpoint("gpt2", device="cpu").name == "gpt2"
    assert switches.requests == []


def test_a_plain_word_offline_lists_what_is_here(offline):
    offline()
    with pytest.raises(CheckpointError) as caught:
        load_checkpoint("sentimnt")
    assert plain(caught.value).startswith("checkpoint: found no 'sentimnt', expected a folder, the id of a model")
    assert plain(caught.value).endswith("one of sentiment, stories, translate-en-fr; the hub cannot be reached.")


@pytest.mark.parametrize("name", ["sentimnt", "./nothing", "/nothing", "a/b/c", Path("gpt"), Path("org/sharded")])
def test_a_name_that_stands_for_nothing(server, name):
    with pytest.raises(CheckpointError) as caught:
        load_checkpoint(name)
    sentence = plain(caught.value)
    assert sentence.startswith("checkpoint: found no")
    assert "expected a folder, the id of a model on the Hugging Face hub, or one of sentiment" in sentence


def test_importing_the_model_does_not_import_what_asks_the_hub():
    code = "import sys, model, model.loading.hub as h; h.cached(); print([m for m in sys.modules if m in {NAMES}])"
    names = {"huggingface_hub", "httpx2", "filelock", "hf_xet", "requests"}
    ran = subprocess.run([sys.executable, "-c", code.replace("{NAMES}", repr(names))], cwd=ROOT, capture_output=True)
    assert ran.stdout.decode().strip() == "[]"


# The weights


def test_weights_that_need_no_transpose_are_mapped_where_they_were_downloaded(fetched, mapped):
    folder = fetched("org/sharded")
    checkpoint = load_checkpoint("org/sharded", device="cpu")
    assert list(weight_cache.cache_folder().glob("*.safetensors")) == []
    with Path("/proc/self/maps").open() as maps:
        mapped_files = {line.split()[-1] for line in maps if line.rstrip().endswith(tuple("0123456789abcdef"))}
    assert {str(path.resolve()) for path in folder.glob("*.safetensors")} <= mapped_files
    assert checkpoint.trace(TEXT).logits is not None


def test_weights_that_are_transposed_are_copied_once(fetched, mapped):
    fetched("gpt2")
    for _ in range(2):
        load_checkpoint("gpt2", device="cpu")
        assert len(list(weight_cache.cache_folder().glob("*.safetensors"))) == 1


def test_downloaded_numbers_are_checked_before_they_are_mapped(repositories, monkeypatch, tmp_path, mapped):
    from safetensors.torch import load_file, save_file

    folder = tmp_path / "spoilt"
    folder.mkdir()
    for path in repositories["org/sharded"].iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    shard = sorted(folder.glob("*.safetensors"))[0]
    tensors = load_file(shard)
    name = sorted(tensors)[0]
    tensors[name].view(-1)[3] = float("nan")
    save_file(tensors, shard, {"format": "pt"})
    with hub_server({"org/spoilt": folder}) as address:
        monkeypatch.setenv("HF_ENDPOINT", address)
        for _ in range(2):
            with pytest.raises(CheckpointError, match=f"{name}: found a number that is infinite or none"):
                load_checkpoint("org/spoilt", device="cpu")
