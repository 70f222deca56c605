"""Ctrl-C as a wish to stop after the text at hand, so that what is measured is kept."""

import contextlib
import signal
from collections.abc import Callable, Iterator
from types import FrameType


@contextlib.contextmanager
def interruptible(*, twice_ends: bool = True) -> Iterator[Callable[[], bool]]:
    """What says whether Ctrl-C was pressed since.

    twice_ends: the second time ends the program as ever. Not so beside others that ``torchrun`` started: each of them
    hears Ctrl-C from the terminal and once more from there.
    """
    pressed = list[int]()

    def note(number: int, frame: FrameType | None) -> None:
        if pressed and twice_ends:
            raise KeyboardInterrupt
        pressed.append(number)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)
