"""Values that are computed once and kept while there is room for them."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any


class LRUCache:
    """Values under plain keys, the least recently used dropped, so that the rest stay within a number of bytes.

    One value is made at a time, and room is made before it: a small host fails at the peak, not at the average. Who
    asks for a value that is there does not wait for one that is being made.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.lock = Lock()  # of the values, never held for long
        self.making = Lock()
        self.values: OrderedDict[object, tuple[Any, int]] = OrderedDict()

    def get(self, key: object, make: Callable[[], Any], size: Callable[[Any], int], expected: int = 0) -> Any:
        """The value under the key, made where it is not there; ``expected`` bytes are freed before that."""
        kept = self._kept(key)
        if kept is None:
            with self.making:
                kept = self._kept(key)  # another visitor may have had it made meanwhile
                if kept is None:
                    self._make_room(expected)
                    value = make()
                    kept = value, size(value)
                    if kept[1] > expected:
                        self._make_room(kept[1])
                    with self.lock:
                        self.values[key] = kept
        return kept[0]

    def find(self, key: object) -> Any:
        """The value under the key; None where it is not there."""
        kept = self._kept(key)
        return None if kept is None else kept[0]

    def __contains__(self, key: object) -> bool:
        return key in self.values

    def drop(self, is_dropped: Callable[[Any], bool]) -> None:
        """Forget the values of these keys."""
        with self.lock:
            for key in [key for key in self.values if is_dropped(key)]:
                del self.values[key]

    def has_room(self, needed: int) -> bool:
        """Whether so many bytes can be kept beside what is there."""
        return sum(size for _, size in self.values.values()) + needed <= self.capacity

    def _kept(self, key: object) -> tuple[Any, int] | None:
        with self.lock:
            if key in self.values:
                self.values.move_to_end(key)
            return self.values.get(key)

    def _make_room(self, needed: int) -> None:
        with self.lock:
            while self.values and not self.has_room(needed):
                self.values.popitem(last=False)
