"""Work that waits for the network, in a thread of its own, so that whoever waits for it can stop within a moment."""

import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from threading import Event, Thread
from typing import TypeVar

from model.errors import CheckpointError

TICK = 0.1  # seconds between two looks at whether to stop
GRACE = 1.0  # seconds that stopped work may take to put down what it holds
Result = TypeVar("Result")


class DownloadStopped(Exception):  # noqa: N818 -- no error: it was asked for
    """What was asked of the hub has been stopped; what had arrived is kept."""


def never() -> bool:
    """Whether to stop: no."""
    return False


def watched(
    work: Callable[[Event], Result],
    *,
    stop: Callable[[], bool],
    tick: Callable[[], None] = lambda: None,
    seconds: float = float("inf"),
) -> Result:
    """The result of ``work``, which is to end soon after its event is set.

    tick: called again and again in the caller's own thread. Raises DownloadStopped where ``stop`` says so, and
    CheckpointError where it takes longer than so many seconds; the thread then ends by itself when the network answers.
    """
    over, future, end = Event(), Future[Result](), time.monotonic() + seconds

    def run() -> None:
        try:
            future.set_result(work(over))
        except BaseException as error:  # noqa: BLE001 -- it is raised again in the caller's thread
            future.set_exception(error)

    # A program that ends waits for the threads of an executor; for a download that would be minutes.
    Thread(target=run, daemon=True, name="hub").start()
    try:
        while not wait({future}, timeout=TICK).done:
            tick()
            if stop():
                raise DownloadStopped
            if time.monotonic() > end:
                raise CheckpointError(f"The hub took longer than {seconds:.0f} seconds: try again in a minute.")
        return future.result()
    finally:
        over.set()
        wait({future}, timeout=GRACE)


def go_on(over: Event) -> None:
    """DownloadStopped where nobody waits for the result any more."""
    if over.is_set():
        raise DownloadStopped
