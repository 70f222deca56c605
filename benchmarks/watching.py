"""How long twenty visitors wait for an answer while two models train, beside how long they wait without.

    python -m benchmarks.watching

The visitors are those of ``benchmarks.hostile_uploads``: each asks for the page Explore with another sentence, thinks
for ten seconds on average, and asks again. The trainings run as the page Watch it learn runs them, two at once, each in
a process of its own on one thread, one after the other without a pause. Rounds with and without them take turns.

Goal: the 95th percentile at most doubles. It prints; it fails where a visitor gets an exception or no answer.
"""

import argparse
import asyncio
import statistics
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

from benchmarks.hostile_uploads import VISITORS, p95, session, visit
from benchmarks.trace import machine
from model.training.watched.run_settings import RunSettings
from model.training.watched.trainer_process import Trainer
from tests.running import running_app

AT_ONCE = 2
SETTINGS = RunSettings(layers=4, heads=8, width=128, steps=10_000)  # the largest that a visitor may ask for


@contextmanager
def trainings() -> Iterator[None]:
    """Two that go on until this is left; one that has ended is followed by another."""
    is_over = threading.Event()

    def train() -> None:
        while not is_over.is_set():
            trainer = Trainer(SETTINGS)
            while not trainer.is_over and not is_over.wait(0.2):
                pass
            trainer.kill()
            trainer.wait()

    threads = [threading.Thread(target=train) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        is_over.set()
        for thread in threads:
            thread.join()


async def one_round(address: str, first: int, seconds: float) -> list[float]:
    """What all visitors waited. first: the number of the first of them: no sentence is asked for twice."""
    visits = [visit(address, first + number, seconds) for number in range(VISITORS)]
    return [wait for waits in await asyncio.gather(*visits) for wait in waits]


async def warmed(address: str) -> None:
    """The server with the page and the model loaded."""
    async with session(address) as visitor:
        await visitor.run()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=2, help="with trainings, and as many without (2)")
    parser.add_argument("--seconds", type=float, default=30.0, help="of a round (30)")
    options = parser.parse_args()
    print(machine())
    waits: dict[bool, list[float]] = {False: [], True: []}
    numbers = count(0, VISITORS)
    with running_app() as (address, _):
        asyncio.run(warmed(address))
        for _ in range(options.rounds):
            waits[False] += asyncio.run(one_round(address, next(numbers), options.seconds))
            with trainings():
                waits[True] += asyncio.run(one_round(address, next(numbers), options.seconds))
    for trains, all_waits in waits.items():
        name = "two models train" if trains else "nobody trains"
        medians = f"median {1000 * statistics.median(all_waits):.0f} ms, 95th percentile {1000 * p95(all_waits):.0f} ms"
        print(f"{name}: {medians} of {len(all_waits)} answers")
    print(f"95th percentile: {p95(waits[True]) / p95(waits[False]):.2f} times")


if __name__ == "__main__":
    main()
