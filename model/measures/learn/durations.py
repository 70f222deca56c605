"""How long a call takes, on a machine that may have other work to do."""

import time
from collections.abc import Callable, Sequence

Clock = Callable[[], float]


def least_seconds(
    calls: Sequence[Callable[[], object]], rounds: int, long_enough: float, clock: Clock = time.perf_counter
) -> list[float]:
    """The seconds of each call: the least of so many rounds, for other work on the machine only adds.

    A round makes every call once, so that what disturbs the machine for a while disturbs all of them alike. No further
    round begins after ``long_enough`` seconds.
    """
    least, began, done = [float("inf")] * len(calls), clock(), 0
    while done < rounds and (not done or clock() - began < long_enough):
        for place, call in enumerate(calls):
            start = clock()
            call()
            least[place] = min(least[place], clock() - start)
        done += 1
    return least
