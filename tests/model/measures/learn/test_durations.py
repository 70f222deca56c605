"""Durations by a clock that a test moves on: the least counts, and the time that may be spent ends the rounds."""

from collections.abc import Callable, Iterable

from model.measures.learn.durations import least_seconds


class MovedClock:
    """A clock that stands still but for the calls of a test."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def call_of(self, durations: Iterable[float]) -> Callable[[], object]:
        """A call that takes the next of these durations each time."""
        following = iter(durations)

        def call() -> None:
            self.now += next(following)

        return call


def test_the_least_of_all_rounds_is_the_duration_of_each_call():
    clock = MovedClock()
    calls = clock.call_of([9.0, 2.0, 5.0, 8.0]), clock.call_of([7.0, 7.0, 4.0, 30.0])
    assert least_seconds(calls, 4, 1000.0, clock) == [2, 4]


def test_no_round_begins_after_the_time_is_over():
    clock = MovedClock()
    assert least_seconds([clock.call_of([3.0, 2.0, 1.0])], 3, 4.0, clock) == [2]
    assert least_seconds([clock.call_of([3.0])], 3, 0.0, clock) == [3], "one round is always made"
