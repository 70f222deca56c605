"""A training in a process of its own: started, followed as it goes, stopped with what there is, bounded in time."""

import json
import os
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from safetensors import SafetensorError
from safetensors.torch import load

from model.training.watched.history import History
from model.training.watched.learning_run import MOST_BYTES, Progress
from model.training.watched.moments import Moment
from model.training.watched.run_settings import RunSettings

ROOT = Path(__file__).resolve().parents[3]
SECONDS, GRACE = 120, 15  # of training, and how much longer the process may take to start and to end
ENDING = 5  # seconds from its last message to its end
MEMORY = 768 << 20  # beside that of its libraries
LENGTH = struct.Struct("<Q")
ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "HOME")
FAILED = "The training ended early because its process was ended or had too little memory: train again."
KEPT = "The training ended early, after step {step:,}, because its process was ended or had too little memory."
TIMED_OUT = (
    "The training ended after {seconds} seconds, the most that one may take here, at step {step:,} of {steps:,}: this "
    "server is slow or busy. Train again, or with fewer steps."
)
NOT_STARTED = "The training could not start on this server: try again in a minute."


class Trainer:
    """One training. ``history`` grows while it goes on; whoever reads it reads one that is whole.

    refusal: why it ended early, one sentence; what it had come to until then stays. on_end is called in a thread of its
    own, once the process has ended.
    """

    def __init__(
        self, settings: RunSettings, on_end: Callable[[], object] = lambda: None, *, seconds: int = SECONDS,
        most_bytes: int = MEMORY,
    ) -> None:  # fmt: skip
        self.history = History(settings=settings, moments=(), snapshots={})
        self.seconds, self.on_end, self.refusal = seconds, on_end, ""
        self.is_stopped = self.is_over = False
        self.popen = started(seconds, most_bytes)
        if self.popen is None:
            self.end(NOT_STARTED)
            return
        self.timer = threading.Timer(seconds + GRACE, self.kill)
        self.timer.daemon = True
        self.timer.start()
        self.thread = threading.Thread(target=self.follow, daemon=True, name="trainer")
        self.thread.start()

    def follow(self) -> None:
        """Send the settings, and take up what comes until there is nothing more."""
        assert self.popen is not None
        assert self.popen.stdin is not None
        assert self.popen.stdout is not None
        with suppress(OSError, ValueError, SafetensorError, KeyError, TypeError):  # it ended, whatever it said last
            send(self.popen.stdin, json.dumps(self.history.settings.to_json()).encode())
            while content := received(self.popen.stdout):
                moment = Moment.from_json(json.loads(content))
                weights = received(self.popen.stdout)
                self.history = self.history.after(Progress(moment, load(weights) if weights else None))
        self.await_end()
        self.timer.cancel()
        self.popen.stdout.close()
        with suppress(OSError):
            self.popen.stdin.close()
        self.end(self.why_early())

    def await_end(self) -> None:
        """Until it has ended by itself, as it is about to after its last message; after some seconds it is ended."""
        assert self.popen is not None
        with suppress(subprocess.TimeoutExpired):
            self.popen.wait(ENDING)
        self.kill()
        self.popen.wait()

    def end(self, refusal: str) -> None:
        """It is over."""
        self.refusal, self.is_over = refusal, True
        self.on_end()

    def why_early(self) -> str:
        """What to say where the process ended before the last step though nobody stopped it; else nothing."""
        assert self.popen is not None
        steps = self.history.settings.steps
        if self.is_stopped:  # where it was too slow to end by itself, it was killed for that
            return ""
        if not self.history.moments:
            return FAILED
        step = self.history.last.step
        if step == steps:
            return ""
        if self.popen.returncode == 0:
            return TIMED_OUT.format(seconds=self.seconds, step=step, steps=steps)
        return KEPT.format(step=step)

    def stop(self) -> None:
        """End it soon, with a last snapshot of what it has come to."""
        self.is_stopped = True
        if self.popen is not None and self.popen.stdin is not None and not self.is_over:
            with suppress(OSError):
                self.popen.stdin.close()
            timer = threading.Timer(GRACE, self.kill)
            timer.daemon = True
            timer.start()

    def kill(self) -> None:
        """End it at once."""
        if self.popen is None or self.popen.poll() is not None:
            return
        if sys.platform == "win32":
            self.popen.kill()
        else:
            with suppress(OSError):
                os.killpg(self.popen.pid, signal.SIGKILL)

    def wait(self, seconds: int | float | None = None) -> None:
        """Until it is over."""
        if self.popen is not None:
            self.thread.join(seconds)


def started(seconds: int, most_bytes: int) -> "subprocess.Popen[bytes] | None":
    """The process; None where the system gives none."""
    known = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "model.training.watched.trainer", str(seconds), str(most_bytes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
            env=known | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
            start_new_session=True,
        )
    except OSError:
        return None


def send(pipe: IO[bytes], content: bytes) -> None:
    """One message."""
    pipe.write(LENGTH.pack(len(content)) + content)
    pipe.flush()


def received(pipe: IO[bytes]) -> bytes:
    """One message; nothing where it has none, or at the end of the pipe. OSError for one that is cut or too long."""
    start = pipe.read(LENGTH.size)
    if len(start) < LENGTH.size:
        return b""
    (length,) = LENGTH.unpack(start)
    content = pipe.read(length) if length <= MOST_BYTES else b""
    if len(content) != length:
        raise OSError("a message that is not whole")
    return content
