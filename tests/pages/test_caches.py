"""What is kept for all visitors: made once, within its bytes, and nobody waits for what another visitor has made."""

import gc
import threading
import time
from collections.abc import Callable

import pytest

from pages.parts.lru_cache import LRUCache
from pages.parts.models import loaded_models
from pages.parts.models.loaded_models import RESERVE, ModelMemory, Visitors

SECONDS = 20


def size(_: object) -> int:
    return 4


def until(is_so: Callable[[], bool]) -> bool:
    """Whether it came to be within a while."""
    end = time.monotonic() + SECONDS
    while not is_so() and time.monotonic() < end:
        time.sleep(0.01)
    return is_so()


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


def test_a_model_is_dropped_once_the_last_visitor_who_has_it_open_is_gone():
    dropped: list[str] = []
    visitors = Visitors(dropped.append)
    first, second = visitors.enter("gpt2"), visitors.enter("gpt2")
    other = visitors.enter("bert")
    del first
    gc.collect()
    assert until(lambda: visitors.counts["gpt2"] == 1)
    assert not dropped
    del second
    gc.collect()
    assert until(lambda: dropped == ["gpt2"])
    assert other.name == "bert"
