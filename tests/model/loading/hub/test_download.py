"""Downloads arrive whole, go on where they were cut, stop when they are told to, and nothing damaged stays."""

import hashlib
import resource
import threading
import time
from pathlib import Path

import huggingface_hub
import pytest
from huggingface_hub import scan_cache_dir, try_to_load_from_cache

from model import CheckpointError
from model.loading import hub
from model.loading.weight_cache import hub_folder
from tests.hub_server import Switches, commit_of, hub_server
from tests.model.loading.hub.conftest import plain

WEIGHTS = "model.safetensors"


def listed(text: str = "gpt2"):
    return hub.listing(hub.parse_hub_name(text))


def download(listing, *, stop=lambda: False):
    """The folder, and what was said of the progress."""
    steps: list[tuple[int, int]] = []
    return hub.download(listing, progress=lambda *step: steps.append(step), stop=stop), steps


def refusal(listing) -> str:
    with pytest.raises(CheckpointError) as caught:
        download(listing)
    return plain(caught.value)


def parts() -> list[Path]:
    return list(hub_folder().glob("*/blobs/*.incomplete"))


@pytest.mark.parametrize("name", ["gpt2", "org/sharded", "org/marian"])
def test_what_arrives_is_what_is_there_and_nothing_else(server, repositories, name):
    listing = listed(name)
    folder, steps = download(listing)
    assert {path.name for path in folder.iterdir()} == {file.path for file in listing.files}
    for path in folder.iterdir():
        assert path.read_bytes() == (repositories[name] / path.name).read_bytes()
    assert folder.name == commit_of(repositories[name])
    assert steps[-1] == (listing.bytes, listing.bytes)
    assert steps == sorted(steps)
    assert parts() == []


def test_the_layout_is_that_of_huggingface_hub(server, repositories):
    folder, _ = download(listed("org/sharded"))
    for path in folder.iterdir():
        assert try_to_load_from_cache("org/sharded", path.name, cache_dir=hub_folder()) == str(path)
    (repo,) = scan_cache_dir(hub_folder()).repos
    assert (repo.repo_id, repo.size_on_disk) == ("org/sharded", hub.cached()[0].bytes)
    assert {revision.commit_hash: revision.refs for revision in repo.revisions} == {folder.name: {"main"}}


def test_the_server_answers_huggingface_hub_as_the_real_one_does(server, repositories, tmp_path):
    commit = commit_of(repositories["gpt2"])
    theirs = huggingface_hub.hf_hub_download("gpt2", WEIGHTS, cache_dir=tmp_path / "theirs", endpoint=server)
    assert Path(theirs).read_bytes() == (repositories["gpt2"] / WEIGHTS).read_bytes()
    info = huggingface_hub.HfApi(endpoint=server).model_info("gpt2", files_metadata=True)
    assert (info.sha, Path(theirs).parent.name) == (commit, commit)
    ours, _ = download(listed())
    assert Path(theirs).resolve().name == (ours / WEIGHTS).resolve().name


def test_what_is_here_is_not_fetched_again(server, switches):
    download(listed())
    switches.requests.clear()
    _, steps = download(listed())
    assert switches.asked("tokenizer.json") == []
    assert steps[-1][0] == steps[-1][1]


def test_a_file_that_two_commits_share_is_fetched_once(server, repositories, switches):
    download(listed("org/converted@refs/pr/3"))
    switches.requests.clear()
    with hub_server({"org/converted": repositories["gpt2"]}, switches) as address:
        pytest.MonkeyPatch().setenv("HF_ENDPOINT", address)
        download(listed("org/converted"))
    assert len(switches.asked(WEIGHTS)) == 1  # the header, for the listing


# Cut, stopped, resumed


def test_a_cut_connection_is_taken_up_where_it_was_cut(server, repositories, switches):
    listing = listed()
    switches.requests.clear()
    switches.cut_after, switches.cuts = 40_000, 2
    folder, _ = download(listing)
    assert (folder / WEIGHTS).read_bytes() == (repositories["gpt2"] / WEIGHTS).read_bytes()
    assert [headers.get("range") for headers in switches.asked(WEIGHTS)] == [None, "bytes=40000-", "bytes=80000-"]


def test_a_download_that_was_given_up_goes_on_another_time(server, repositories, switches):
    listing = listed()

    def break_down(arrived: int, total: int) -> None:
        if arrived >= 20_000:
            switches.status = 503

    switches.rate, switches.cut_after = 80_000, 40_000
    with pytest.raises(CheckpointError) as caught:
        hub.download(listing, progress=break_down, stop=lambda: False)
    assert plain(caught.value) == "The hub answered with status 503: try gpt2 again in a minute."
    arrived = parts()[0].stat().st_size
    assert arrived >= 20_000
    switches.status = switches.rate = switches.cut_after = None
    switches.requests.clear()
    folder, _ = download(listing)
    assert (folder / WEIGHTS).read_bytes() == (repositories["gpt2"] / WEIGHTS).read_bytes()
    assert [headers["range"] for headers in switches.asked(WEIGHTS)] == [f"bytes={arrived}-"]


def test_a_hub_that_fails_for_a_moment_is_asked_again(server, switches):
    listing = listed()
    switches.requests.clear()
    switches.status = 503

    def recover(arrived: int, total: int) -> None:
        if switches.requests:
            switches.status = None

    folder = hub.download(listing, progress=recover, stop=lambda: False)
    assert [model.folder for model in hub.cached()] == [folder]


def test_a_hub_that_is_gone_is_given_up(server, switches):
    listing = listed()
    switches.cut_after = 0
    assert refusal(listing).startswith("The hub cannot be reached, so gpt2 cannot be downloaded")


def test_a_server_that_knows_no_ranges_begins_again(server, repositories, switches):
    listing = listed()
    switches.cut_after, switches.cuts, switches.no_ranges = 40_000, 1, True
    folder, steps = download(listing)
    assert (folder / WEIGHTS).read_bytes() == (repositories["gpt2"] / WEIGHTS).read_bytes()
    assert steps[-1] == (listing.bytes, listing.bytes)


def test_a_download_stops_within_a_second_and_resumes(server, repositories, switches):
    listing = listed()
    switches.rate = 40_000
    start = time.monotonic()
    with pytest.raises(hub.DownloadStopped):
        download(listing, stop=lambda: time.monotonic() - start > 1.0)
    assert time.monotonic() - start < 2.5
    (part,) = parts()
    arrived = part.stat().st_size
    assert 0 < arrived < listing.bytes
    assert part.read_bytes() == (repositories["gpt2"] / WEIGHTS).read_bytes()[:arrived]
    assert hub.cached() == []
    assert [(model.name, model.bytes) for model in hub.unfinished()] == [(listing.name, arrived)]
    switches.rate = None
    switches.requests.clear()
    folder, _ = download(listing)
    assert [headers["range"] for headers in switches.asked(WEIGHTS)] == [f"bytes={arrived}-"]
    assert (folder / WEIGHTS).read_bytes() == (repositories["gpt2"] / WEIGHTS).read_bytes()


def test_a_silent_hub_does_not_hold_who_stops(server, switches):
    listing = listed()
    switches.silent = 4.0
    start = time.monotonic()
    with pytest.raises(hub.DownloadStopped):
        download(listing, stop=lambda: time.monotonic() - start > 0.3)
    assert time.monotonic() - start < 2


def test_a_silent_hub_is_given_up(server, switches, monkeypatch):
    listing = listed()
    monkeypatch.setenv("HF_HUB_DOWNLOAD_TIMEOUT", "0.3")
    switches.silent, switches.silent_files = 1.0, {WEIGHTS}
    assert refusal(listing).startswith("The hub was silent for")


# Damaged


@pytest.mark.parametrize("file", [WEIGHTS, "tokenizer.json"])
def test_a_damaged_file_is_deleted_and_named(server, switches, file):
    listing = listed()
    switches.damaged = {file}
    assert refusal(listing) == (
        f"{file} of gpt2 arrived damaged: its content is not what the hub lists. It has been deleted; download again."
    )
    assert parts() == []
    assert hub.cached() == []
    switches.damaged = set()
    assert hub.cached_folder(listing.name) is None
    download(listing)
    assert [model.name for model in hub.cached()] == [listing.name]


def test_what_is_left_of_another_file_is_found_out(server, switches):
    listing = listed()
    weights = next(file for file in listing.files if file.path == WEIGHTS)
    blobs = hub_folder() / "models--gpt2" / "blobs"
    blobs.mkdir(parents=True)
    (blobs / f"{weights.sha256}.incomplete").write_bytes(b"x" * 1000)
    assert "arrived damaged" in refusal(listing)
    (blobs / f"{weights.sha256}.incomplete").write_bytes(b"x" * (weights.size + 1))
    folder, _ = download(listing)
    assert hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest() == weights.sha256


def test_a_file_that_grew_since_it_was_listed_is_refused(repositories, monkeypatch, tmp_path):
    folder = tmp_path / "gpt2"
    folder.mkdir()
    for path in repositories["gpt2"].iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    with hub_server({"gpt2": folder}, revisions={"gpt2": {"old": repositories["gpt2"]}}) as address:
        monkeypatch.setenv("HF_ENDPOINT", address)
        listing = listed()
        monkeypatch.setattr("tests.hub_server.commit_of", lambda served: listing.name.revision)
        (folder / "tokenizer.json").write_bytes(b"{" * 10_000)
        assert refusal(listing).startswith("The hub's answer about gpt2 cannot be read")


# The disk


def test_a_full_disk(server, repositories):
    listing = listed()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        sentence = refusal(listing)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert sentence.startswith("The disk is full. What has arrived is kept")
    assert [part.stat().st_size for part in parts()] == [50_000]
    folder, _ = download(listing)
    assert (folder / WEIGHTS).read_bytes() == (repositories["gpt2"] / WEIGHTS).read_bytes()


def test_a_cache_that_cannot_be_written(server, tmp_path, monkeypatch):
    listing = listed()
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HEADLIGHT_CACHE", str(tmp_path / "file"))
    assert refusal(listing) == (
        "The cache cannot be written (Not a directory): set HEADLIGHT_CACHE to a folder that can."
    )


# Others


def test_two_who_want_the_same_fetch_it_once(server, switches):
    listing = listed()
    switches.rate = 100_000
    switches.requests.clear()
    folders: list[Path] = []
    threads = [threading.Thread(target=lambda: folders.append(download(listing)[0])) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(folders)) == 1
    assert len(folders) == 3
    assert len(switches.asked(WEIGHTS)) == 1


def test_who_waits_for_anothers_download_may_stop(server, switches):
    listing = listed()
    switches.rate = 30_000
    first = threading.Thread(target=lambda: download(listing))
    first.start()
    while not parts():
        time.sleep(0.01)
    start = time.monotonic()
    with pytest.raises(hub.DownloadStopped):
        download(listing, stop=lambda: time.monotonic() - start > 0.3)
    assert time.monotonic() - start < 1.5
    with pytest.raises(CheckpointError, match=r"^gpt2 is being downloaded: stop that first"):
        hub.delete(listing.name)
    switches.rate = None
    first.join()
    assert [model.name for model in hub.cached()] == [listing.name]


def test_the_token_goes_to_the_hub_and_to_nobody_it_sends_us_to(server, repositories, switches, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_right")
    other = Switches()
    with hub_server(repositories, other) as address:
        switches.elsewhere = address
        folder, _ = download(listed())
    assert (folder / WEIGHTS).read_bytes() == (repositories["gpt2"] / WEIGHTS).read_bytes()
    assert all(headers["authorization"] == "Bearer hf_right" for _, headers in switches.requests)
    assert len(other.asked(WEIGHTS)) == 2
    assert not any("authorization" in headers for _, headers in other.requests)
