"""What is kept for all visitors: made once, within its bytes, and nobody waits for what another visitor has made."""

import threading
import time

import pytest

from model import CheckpointError
from pages.parts.lru_cache import LRUCache
from pages.parts.models import loaded_models
from pages.parts.models.loaded_models import RESERVE, ModelMemory, Visitors
from pages.parts.shared_cache import file_states, file_times
from pages.parts.state.session_ends import SessionEnds

SECONDS = 20


def size(_: object) -> int:
    return 4


def test_a_value_is_made_once_and_the_rest_stay_within_their_bytes():
    cache, keys = LRUCache(10), list[str]()

    def make(key: str) -> str:
        keys.append(key)
        return key

    def get(key: str) -> str:
        return cache.get(key, lambda: make(key), size, expected=4)

    assert [get("a"), get("b"), get("a"), get("c"), get("a")] == ["a", "b", "a", "c", "a"]
    assert keys == ["a", "b", "c"]
    get("b")
    assert keys == ["a", "b", "c", "b"], "the one not used for longest had left"


def test_room_is_made_before_a_value_is():
    cache = LRUCache(10)
    cache.get("a", lambda: "a", lambda _: 8, expected=8)
    held = cache.get("b", lambda: len(cache.values), lambda _: 8, expected=8)
    assert held == 0


def test_a_value_that_could_not_be_made_is_not_kept():
    cache = LRUCache(10)
    with pytest.raises(ZeroDivisionError):
        cache.get("a", lambda: 1 // 0, size)
    assert cache.get("a", lambda: "made", size) == "made"


def test_a_value_that_is_there_is_given_while_another_is_being_made():
    cache, is_made, may_end = LRUCache(100), threading.Event(), threading.Event()
    cache.get("there", lambda: "there", size)

    def slow() -> str:
        is_made.set()
        may_end.wait(SECONDS)
        return "slow"

    maker = threading.Thread(target=cache.get, args=("slow", slow, size))
    maker.start()
    assert is_made.wait(SECONDS)
    assert cache.get("there", lambda: "made anew", size) == "there"
    assert "slow" not in cache
    may_end.set()
    maker.join(SECONDS)
    assert "slow" in cache


def test_two_who_ask_at_once_have_a_value_made_once():
    cache, made = LRUCache(100), list[int]()

    def make() -> int:
        made.append(1)
        time.sleep(0.05)
        return len(made)

    askers = [threading.Thread(target=cache.get, args=("a", make, size)) for _ in range(5)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join(SECONDS)
    assert made == [1]


def test_the_models_before_leave_where_the_memory_that_is_free_does_not_do(monkeypatch):
    memory = ModelMemory()
    taken = 500_000_000  # by each model that is loaded
    monkeypatch.setattr(loaded_models, "free_memory", lambda: 1_300_000_000 + RESERVE - taken * len(memory.values))
    for name in ("a", "b"):
        memory.get((name,), lambda: "model", size, expected=taken)
    assert ("a",) in memory
    memory.get(("c",), lambda: "model", size, expected=taken)
    assert ("a",) not in memory
    assert ("b",) in memory


def test_a_model_that_would_not_fit_anyhow_sends_no_other_away(monkeypatch):
    memory = ModelMemory()
    monkeypatch.setattr(loaded_models, "model_memory", lambda: memory)
    monkeypatch.setattr(loaded_models, "free_memory", lambda: 900_000_000 + RESERVE - 500_000_000 * len(memory.values))
    monkeypatch.setattr(loaded_models, "needed_by", lambda name, weight_bytes: weight_bytes)

    def load(name: str, weight_bytes: int) -> object:
        return loaded_models.loaded_large((name, "cpu", ()), lambda: name, weight_bytes)  # type: ignore[arg-type,return-value]

    assert load("first", 500_000_000) == "first"
    with pytest.raises(CheckpointError, match=r"huge needs about 0\.9 GB of memory; this server has 0\.4 GB to spare"):
        load("huge", 900_000_001)
    assert ("first", "cpu", ()) in memory
    assert load("second", 900_000_000) == "second"
    assert list(memory.values) == [("second", "cpu", ())]


def test_who_leaves_while_a_model_is_loading_leaves_it_to_be_dropped(monkeypatch):
    """The end of the session comes before the model does; it has to be waited for once more."""
    everybody, session, waiting = Visitors(lambda _: None), dict[str, str](), list[str]()
    monkeypatch.setattr(loaded_models, "visitors", lambda: everybody)
    monkeypatch.setattr("streamlit.session_state", session)
    monkeypatch.setattr(loaded_models, "when_over", lambda name, _: waiting.append(name))

    def load() -> object:
        everybody.open(session[loaded_models.VISITOR], None)
        return "model"

    assert loaded_models.loaded(("name of its own", "cpu", ()), load, 1) == "model"  # type: ignore[arg-type,comparison-overlap]
    assert waiting == ["model", "model"]
    assert list(everybody.names.values()) == ["name of its own"]


def test_a_model_is_dropped_once_nobody_has_it_open():
    dropped: list[str] = []
    visitors = Visitors(dropped.append)
    visitors.open("one", "gpt2")
    visitors.open("other", "gpt2")
    visitors.open("one", "bert")
    assert dropped == []
    visitors.open("other", None)
    assert dropped == ["gpt2"]
    visitors.open("one", "gpt2")
    assert dropped == ["gpt2", "bert"]
    visitors.open("nobody", None)
    assert visitors.names == {"one": "gpt2"}


def test_what_waits_for_the_end_of_a_session_is_called_once_it_stays_away():
    connected, calls = {"one", "other"}, list[str]()
    ends = SessionEnds(lambda session: session in connected, patience=0.05)
    ends.when_over("one", "model", lambda: calls.append("replaced"))
    ends.when_over("one", "model", lambda: calls.append("model"))
    ends.when_over("one", "broken", lambda: 1 // 0)
    ends.when_over("one", "upload", lambda: calls.append("upload"))
    ends.when_over("other", "model", lambda: calls.append("other"))
    ends.look()
    connected.remove("one")
    ends.look()
    assert calls == [], "it may come back"
    time.sleep(0.06)
    ends.look()
    ends.look()
    assert calls == ["model", "upload"]
    assert list(ends.calls) == ["other"]


def test_a_link_to_nowhere_and_a_file_that_is_deleted_meanwhile_are_no_files_of_a_folder(tmp_path):
    (tmp_path / "config.json").write_bytes(b"{}")
    (tmp_path / "notes").symlink_to("nowhere")
    assert file_times(tmp_path) == [(tmp_path / "config.json").stat().st_mtime_ns]
    (tmp_path / "later").write_bytes(b"12345")
    states = file_states(tmp_path)
    sizes = [next(states).st_size]
    for file in list(tmp_path.iterdir()):
        file.unlink()
    assert [*sizes, *(state.st_size for state in states)] in ([2], [5])
