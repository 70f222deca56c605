"""What a download would bring is known before it, and what cannot be opened is refused before it, in one sentence."""

import json
import shutil
import socket
import time
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from model import CheckpointError, load_checkpoint
from model.loading import checkpoint_files, headers, hub, memory
from model.loading.hub import client
from tests.hub_server import commit_of, hub_server
from tests.model.loading.hub.conftest import plain


def listed(text: str, **options):
    return hub.listing(hub.parse_hub_name(text), **options)


def refusal(text: str) -> str:
    with pytest.raises(CheckpointError) as caught:
        listed(text)
    return plain(caught.value)


def test_a_listing_has_the_files_of_the_model_and_no_others(server, repositories, switches):
    listing = listed("gpt2")
    assert [file.path for file in listing.files] == ["config.json", "model.safetensors", "tokenizer.json"]
    assert listing.bytes == sum((repositories["gpt2"] / file.path).stat().st_size for file in listing.files)
    assert listing.name == hub.HubName("gpt2", commit_of(repositories["gpt2"]))
    assert (listing.family, listing.conversion, listing.asked) == ("GPT-2", None, "main")


@pytest.mark.parametrize("name", ["gpt2", "org/sharded", "org/marian"])
def test_parameters_and_memory_are_those_of_the_loaded_model(server, repositories, name):
    listing, model = listed(name), load_checkpoint(repositories[name], device="cpu").model
    assert listing.parameters == sum(parameter.numel() for parameter in model.parameters())
    assert listing.memory == sum(parameter.nbytes for parameter in model.parameters())


@pytest.mark.parametrize("half", [False, True])
def test_a_mapped_model_keeps_its_precision_in_memory(server, repositories, half, monkeypatch, tmp_path):
    monkeypatch.setattr("model.loading.weights.MAPPED_FROM", 1)
    folder = tmp_path / "half"
    shutil.copytree(repositories["gpt2"], folder)
    if half:
        tensors = load_file(folder / headers.WEIGHTS)
        save_file({name: tensor.half() for name, tensor in tensors.items()}, folder / headers.WEIGHTS)
    model = load_checkpoint(folder, device="cpu").model
    with hub_server({"half": folder}) as address:
        monkeypatch.setenv("HF_ENDPOINT", address)
        assert listed("half").memory == sum(parameter.nbytes for parameter in model.parameters())


def test_no_number_of_the_weights_is_read_for_a_listing(server, repositories, switches):
    switches.cut_after = 100_000  # the file is longer
    listed("gpt2")
    (asked,) = switches.asked("model.safetensors")
    assert asked["range"] == "bytes=0-65535"


def test_the_shards_of_an_index_are_listed(server, repositories):
    paths = [file.path for file in listed("org/sharded").files]
    stored = sorted(path.name for path in repositories["org/sharded"].glob("*.safetensors"))
    assert len(stored) > 2
    assert paths == ["config.json", "model.safetensors.index.json", *stored, "tokenizer.json"]


def test_of_marian_the_three_files_of_sentencepiece_are_listed(server):
    paths = [file.path for file in listed("org/marian").files]
    assert paths == ["config.json", "model.safetensors", "source.spm", "target.spm", "vocab.json"]


def test_large_files_are_named_with_the_hash_of_their_content(server):
    hashes = {file.path: file.sha256 for file in listed("gpt2").files}
    assert hashes["config.json"] is None
    assert len(hashes["model.safetensors"] or "") == 64


# Revisions


def test_a_branch_becomes_the_commit_that_it_is(server, repositories):
    listing = listed("org/converted@refs/pr/3")
    assert (listing.name.revision, listing.asked) == (commit_of(repositories["gpt2"]), "refs/pr/3")


def test_a_commit_is_taken_as_it_is(server, repositories):
    commit = commit_of(repositories["gpt2"])
    assert listed(f"gpt2@{commit}").name.revision == commit


def test_a_revision_that_is_not_there(server):
    assert refusal("gpt2@v9") == "gpt2 has no revision v9 on the hub: name a branch, a tag or a commit of it."


# Without safetensors


@pytest.mark.parametrize("all_authors", [False, True])
def test_the_conversion_of_the_hubs_own_account_is_offered(server, repositories, switches, all_authors):
    switches.all_authors = all_authors
    with pytest.raises(hub.NoSafetensors) as caught:
        listed("org/converted")
    commit, offer = commit_of(repositories["gpt2"]), caught.value.offer
    assert offer is not None
    assert (offer.name, offer.conversion) == (hub.HubName("org/converted", commit), "refs/pr/3")
    assert plain(caught.value).endswith("the hub's own conversion of it is org/converted@refs/pr/3.")
    assert [address.rpartition("/")[2] for address, _ in switches.requests].count("refs%2Fpr%2F4") == 0  # somebody's


def test_without_a_conversion_the_refusal_says_how_to_convert(server):
    with pytest.raises(hub.NoSafetensors) as caught:
        listed("org/pickled")
    assert caught.value.offer is None
    command = (
        "from transformers import GPT2LMHeadModel as M; M.from_pretrained('org/pickled').save_pretrained('pickled')"
    )
    assert f'python -c "{command}"' in plain(caught.value)


def test_a_named_revision_without_safetensors_is_not_answered_with_another(server):
    with pytest.raises(hub.NoSafetensors) as caught:
        listed("org/converted@refs/pr/1")
    assert caught.value.offer is None


# Who may


def test_what_is_not_there(server):
    sentence = "The hub has no model org/nothing: check how it is spelt; one that is private needs a token in HF_TOKEN."
    assert refusal("org/nothing") == sentence


def test_a_gated_model_names_the_variable_of_the_token(server, switches):
    switches.gated = {"gpt2"}
    assert "gpt2 is gated" in refusal("gpt2")
    assert "HF_TOKEN" in refusal("gpt2")


def test_the_token_of_the_environment_opens_a_gated_model(server, switches, monkeypatch):
    switches.gated = {"gpt2"}
    monkeypatch.setenv("HF_TOKEN", "hf_right")
    assert listed("gpt2").family == "GPT-2"


def test_a_token_without_access_is_told_from_none(server, switches, monkeypatch):
    switches.gated = {"gpt2"}
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    assert "the token in the environment variable HF_TOKEN does not open it" in refusal("gpt2")


def test_a_private_model_is_there_for_those_who_may(server, switches, monkeypatch):
    switches.private = {"gpt2"}
    assert refusal("gpt2").startswith("The hub has no model gpt2")
    monkeypatch.setenv("HF_TOKEN", "hf_right")
    assert listed("gpt2").family == "GPT-2"


def test_no_token_of_a_login_is_sent(server, switches, monkeypatch, tmp_path):
    (tmp_path / "token").write_text("hf_login")
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(tmp_path / "token"))
    listed("gpt2")
    assert not any("authorization" in headers for _, headers in switches.requests)


@pytest.mark.parametrize("token", ["two words", "hf_é", "hf\x01"])
def test_a_token_that_is_none_is_refused(server, monkeypatch, token):
    monkeypatch.setenv("HF_TOKEN", token)
    assert refusal("gpt2") == "HF_TOKEN holds no access token of the hub: correct that environment variable."


def test_only_our_name_and_the_librarys_are_told(server, switches):
    listed("gpt2")
    agents = {headers["user-agent"].partition("/")[0] for _, headers in switches.requests}
    assert agents == {"headlight; hf_hub"}
    assert not any("agent" in address or "telemetry" in address for address, _ in switches.requests)


# The network


def test_offline(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{taken.getsockname()[1]}")
        assert refusal("gpt2").startswith("The hub cannot be reached, so gpt2 cannot be downloaded")


def test_who_asked_for_no_requests_makes_none(server, switches, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)  # HF_HUB_OFFLINE=1
    assert refusal("gpt2").startswith("The hub cannot be reached")
    assert switches.requests == []


def test_a_silent_hub_is_not_waited_for(server, switches, monkeypatch):
    monkeypatch.setenv("HF_HUB_DOWNLOAD_TIMEOUT", "1")
    switches.silent = 3.0
    start = time.monotonic()
    assert refusal("gpt2") == "The hub was silent for 1 seconds: try gpt2 again later."
    assert time.monotonic() - start < 3


def test_a_look_can_be_stopped(server, switches):
    switches.silent = 3.0
    start = time.monotonic()
    with pytest.raises(hub.DownloadStopped):
        listed("gpt2", stop=lambda: time.monotonic() - start > 0.3)
    assert time.monotonic() - start < 2


@pytest.mark.parametrize(("status", "words"), [(500, "status 500"), (503, "status 503"), (429, "fewer requests")])
def test_a_hub_that_fails(server, switches, status, words):
    switches.status = status
    assert words in refusal("gpt2")


@pytest.mark.parametrize("change", [{"nonsense": True}, {"status": 418}])
def test_what_is_no_hub(server, switches, change):
    vars(switches).update(change)
    refusal("gpt2")


@pytest.mark.parametrize("address", ["nowhere", "ftp://hub", "http://", "http://[::1"])
def test_an_address_that_is_none(monkeypatch, address):
    monkeypatch.setenv("HF_ENDPOINT", address)
    refusal("gpt2")


# What is in the repository


@pytest.fixture
def spoilt(repositories, monkeypatch, tmp_path):
    """A repository to be spoilt: a folder that is served as "gpt2"."""
    folder = tmp_path / "gpt2"
    shutil.copytree(repositories["gpt2"], folder)
    with hub_server({"gpt2": folder}) as address:
        monkeypatch.setenv("HF_ENDPOINT", address)
        yield folder


def change_config(folder: Path, **changes) -> None:
    values = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(values | changes))


def test_a_config_is_checked_as_that_of_a_folder(spoilt):
    change_config(spoilt, n_head=5)
    with pytest.raises(CheckpointError) as caught:
        checkpoint_files.read_model(spoilt, checkpoint_files.read_config(spoilt))
    assert refusal("gpt2") == str(caught.value)


def test_headers_are_checked_as_those_of_a_folder(spoilt):
    change_config(spoilt, n_embd=48)
    with pytest.raises(CheckpointError) as caught:
        checkpoint_files.read_model(spoilt, checkpoint_files.read_config(spoilt))
    assert refusal("gpt2") == str(caught.value)


def test_a_header_longer_than_the_first_read_is_read_in_full(spoilt, monkeypatch):
    monkeypatch.setattr("model.loading.hub.listings.FIRST_READ", 100)
    assert listed("gpt2").family == "GPT-2"


@pytest.mark.parametrize("content", [b"", b"1234", b"\xff" * 8, b"\x02\0\0\0\0\0\0\0{}", b"\xff" * 100])
def test_weights_that_are_none(spoilt, content):
    (spoilt / headers.WEIGHTS).write_bytes(content)
    refusal("gpt2")


def test_another_kind_of_model_is_refused_before_anything_else(spoilt):
    change_config(spoilt, model_type="mamba")
    (spoilt / headers.WEIGHTS).unlink()
    assert refusal("gpt2").startswith(
        "config.json: model_type: models of type mamba cannot be opened; these can: bart, bert, "
    )


@pytest.mark.parametrize("file", ["config.json", "tokenizer.json"])
def test_a_file_that_is_missing(spoilt, file):
    (spoilt / file).unlink()
    assert refusal("gpt2").startswith(f"gpt2 has no {file}, ")


def test_a_config_of_more_than_a_megabyte_is_not_fetched(spoilt):
    change_config(spoilt, remark="x" * (1 << 20))
    assert refusal("gpt2") == "gpt2: config.json has 1 MB, and at most 1 MB is read."


def test_an_index_of_shards_that_are_not_there(spoilt):
    (spoilt / headers.WEIGHTS).unlink()
    (spoilt / headers.INDEX).write_text(json.dumps({"weight_map": {"a": "model-00001.safetensors"}}))
    assert "lists model-00001.safetensors, which is not there" in refusal("gpt2")


@pytest.mark.parametrize("file", ["../model.safetensors", "/etc/passwd", "model.bin"])
def test_an_index_that_leads_elsewhere(spoilt, file):
    (spoilt / headers.WEIGHTS).unlink()
    (spoilt / headers.INDEX).write_text(json.dumps({"weight_map": {"a": file}}))
    assert "expected names of safetensors files" in refusal("gpt2")


# What fits


def test_a_model_that_the_memory_does_not_hold(server, monkeypatch):
    monkeypatch.setattr("model.loading.hub.listings.free_memory", lambda: 100_000)
    sentence = refusal("gpt2")
    assert sentence.startswith("gpt2 needs about 1 MB of memory, and 1 MB are free")
    monkeypatch.setattr("model.loading.hub.listings.free_memory", lambda: 1 << 24)
    assert listed("gpt2").family == "GPT-2"
    with pytest.raises(CheckpointError, match="and 1 MB are free"):
        listed("gpt2", reserve=1 << 24)


def test_a_model_that_the_disk_does_not_hold(server, monkeypatch):
    usage = shutil.disk_usage("/")
    monkeypatch.setattr("shutil.disk_usage", lambda folder: usage._replace(free=60_000_000))
    assert refusal("gpt2").startswith("gpt2 takes 1 MB of the disk, and 60 MB are free")


def test_more_weights_than_are_ever_read(server, monkeypatch):
    monkeypatch.setattr("model.loading.hub.listings.LARGEST_WEIGHTS", 100_000)
    assert refusal("gpt2") == "gpt2 has 1 MB of weights, and at most 1 MB are read: choose a smaller model."


def test_what_is_needed_is_more_than_the_weights_and_grows_with_them(server, repositories):
    config = load_checkpoint(repositories["gpt2"], device="cpu").config
    assert 10**6 < memory.memory_needed(config, 10**6) < memory.memory_needed(config, 2 * 10**6)


def test_nothing_but_the_cache_is_written(server, tmp_path, monkeypatch):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    listed("gpt2")
    assert list((tmp_path / "temporary").iterdir()) == []
    assert not (tmp_path / "cache").exists()


def test_patience_is_bounded(monkeypatch):
    for value, seconds in {"": 10, "3": 3, "1e9": 60, "-1": 10, "nan": 10, "soon": 10}.items():
        monkeypatch.setenv("HF_HUB_DOWNLOAD_TIMEOUT", value)
        assert client.patience() == seconds
