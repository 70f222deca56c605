"""Work that waits for the network is waited for, stopped, given up, and holds no program that ends."""

import subprocess
import sys
from threading import Event

import pytest

from model import CheckpointError
from model.loading.hub.background import DownloadStopped, go_on, never, watched

SECONDS = 20
LEAVING = f"""
from threading import Event, Thread
from model.loading.hub.background import never, watched

began = Event()

def work(over):
    began.set()
    over.wait({10 * SECONDS})

Thread(target=watched, args=(work,), kwargs={{"stop": never}}, daemon=True).start()
began.wait()
"""


def test_its_result_and_its_error_are_the_callers():
    assert watched(lambda over: over.is_set(), stop=never) is False
    with pytest.raises(ZeroDivisionError):
        watched(lambda _: 1 // 0, stop=never)


def test_who_stops_or_waits_too_long_is_let_go_and_the_work_is_told():
    told = Event()

    def work(over: Event) -> None:
        assert over.wait(SECONDS)
        told.set()
        go_on(over)

    with pytest.raises(DownloadStopped):
        watched(work, stop=lambda: True)
    assert told.wait(SECONDS)
    with pytest.raises(CheckpointError, match="took longer than 0 seconds"):
        watched(work, stop=never, seconds=0.2)


def test_a_program_that_ends_does_not_wait_for_a_download():
    subprocess.run([sys.executable, "-c", LEAVING], check=True, timeout=5 * SECONDS)
