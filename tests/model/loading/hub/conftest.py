"""Repositories of tiny models, a hub on this machine that has them, and a cache of each test's own."""

from collections.abc import Callable, Iterator
from pathlib import Path

import jaxtyping
import pytest

from model.loading import hub
from tests import reference, tiny
from tests.hub_server import Switches, hub_server
from tests.kinds import GPT2, LLAMA, MARIAN
from tests.model.loading.foreign_tokenizers.test_marian import write_files

REPOSITORIES = ("gpt2", "org/sharded", "org/marian", "org/pickled", "org/converted")


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty cache, nobody's token, little patience, and no type checks, as a user runs it."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
    monkeypatch.setenv("HEADLIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_DOWNLOAD_TIMEOUT", "5")
    monkeypatch.setattr("model.loading.hub.downloads.PAUSE", 0.05)
    monkeypatch.delenv("HF_TOKEN", raising=False)


@pytest.fixture(scope="session")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A folder for each, with what real ones have beside the model."""
    root = tmp_path_factory.mktemp("repositories")
    folders = {name: root / name for name in REPOSITORIES}
    reference.make("GPT2LMHeadModel", folders["gpt2"], **GPT2)
    reference.make("LlamaForCausalLM", folders["org/sharded"], save_max_shard_size="20KB", **LLAMA)
    reference.make("MarianMTModel", folders["org/marian"], **MARIAN)
    for name in ("gpt2", "org/sharded"):
        tiny.tokenizer().save(folders[name] / "tokenizer.json")
    write_files(folders["org/marian"])
    for name in ("org/pickled", "org/converted"):
        folders[name].mkdir(parents=True)
        for file in ("config.json", "tokenizer.json"):
            (folders[name] / file).write_bytes((folders["gpt2"] / file).read_bytes())
    for folder in folders.values():
        for unwanted in ("pytorch_model.bin", "modeling_own.py", "README.md", "model.onnx"):
            (folder / unwanted).write_bytes(b"not wanted")
    return folders


@pytest.fixture
def switches() -> Switches:
    """What goes wrong in this test."""
    return Switches()


@pytest.fixture
def server(repositories: dict[str, Path], switches: Switches, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A hub that has them; a conversion of one of them is in its third pull request."""
    conversions = {"org/converted": {"refs/pr/3": repositories["gpt2"], "refs/pr/1": repositories["org/pickled"]}}
    with hub_server(repositories, switches, revisions=conversions) as address:
        monkeypatch.setenv("HF_ENDPOINT", address)
        yield address


@pytest.fixture
def fetched(server: str) -> Callable[[str], Path]:
    """Downloads a repository by its name, as a page does."""

    def fetch(text: str) -> Path:
        listed = hub.listing(hub.parse_hub_name(text))
        return hub.download(listed, progress=lambda arrived, total: None, stop=lambda: False)

    return fetch


def plain(error: BaseException) -> str:
    """The sentence of a refusal: one line, not long, without a path or a trace of code."""
    sentence = str(error)
    assert sentence.isprintable()
    assert 20 < len(sentence) <= 300
    assert sentence.endswith(".")
    assert not any(hint in sentence for hint in ("Traceback", "/tmp", "127.0.0.1", "httpx", "Error"))
    return sentence
