"""Child processes that hold a tokenizer each: started, asked, stopped after their time, and few at once."""

import json
import os
import signal
import struct
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

CHILD = Path(__file__).with_name("child.py")
LIBRARIES = {"library": "tokenizers", "marian": "sentencepiece"}
LENGTH = struct.Struct("<Q")
MOST_PROCESSES = 4
# Measured: a Unigram of 8 MB takes 43 bytes for each of its own, byte pairs 15; the library itself 25 MB.
LEAST_MEMORY, MEMORY_FOR_BYTE, MOST_MEMORY = 192 << 20, 64, 1536 << 20
READ_SECONDS, ASK_SECONDS = 5, 2  # of a processor, and more for what is long
BYTES_IN_SECOND, CHARACTERS_IN_SECOND = 2 << 20, 50_000
WALL = 4  # seconds that the parent waits for one of a processor, which others use too
BUSY_SECONDS = 30
LEAST_ANSWER = 1 << 16
ENVIRONMENT = ("LD_LIBRARY_PATH", "SYSTEMROOT")  # without which a Python may not start


class ProcessError(Exception):
    """Why a process gave no answer that can be used, as a clause."""


class Process:
    """One running child."""

    def __init__(self, kind: str, files: tuple[bytes, ...]) -> None:
        size = sum(map(len, files))
        self.busy = self.late = False
        self.seconds = READ_SECONDS + size // BYTES_IN_SECOND
        memory = min(LEAST_MEMORY + MEMORY_FOR_BYTE * size, MOST_MEMORY)
        arguments = (kind, len(files), memory, self.seconds, *library_folders(kind))
        try:
            self.popen = subprocess.Popen(
                [sys.executable, "-I", "-S", str(CHILD), *map(str, arguments)],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=os.sep,
                env={name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
                | {"TOKENIZERS_PARALLELISM": "false"},
                start_new_session=True,
            )
        except OSError as error:
            raise ProcessError(f"no process can be started for it: {error.strerror}") from None

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.popen.poll() is None

    def exchange(self, messages: tuple[bytes, ...], seconds: int, most: int) -> bytes:
        """Its answer, of at most so many bytes, to messages, for which it may use these seconds of a processor."""
        timer = threading.Timer(WALL * seconds, self.kill_late)
        timer.daemon = True
        timer.start()
        try:
            for message in messages:
                self.write(LENGTH.pack(len(message)))
                self.write(message)
            (length,) = LENGTH.unpack(self.read(LENGTH.size))
            if length > most:
                raise ProcessError("its answer is too long")
            return self.read(length)
        except OSError:  # the pipe of a process that has ended
            raise self.ended(seconds) from None
        except EOFError:
            raise self.ended(seconds) from None
        finally:
            timer.cancel()

    def write(self, content: bytes) -> None:
        """All of it: a pipe takes as much as it has room for."""
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(self.stdin, rest) :]

    def read(self, length: int) -> bytes:
        """So many bytes; EOFError where they do not come."""
        content = bytearray()
        while len(content) < length:
            part = os.read(self.stdout, min(length - len(content), 1 << 20))
            if not part:
                raise EOFError
            content += part
        return bytes(content)

    @property
    def stdin(self) -> int:
        """The descriptor that it reads from."""
        assert self.popen.stdin is not None
        return self.popen.stdin.fileno()

    @property
    def stdout(self) -> int:
        """The descriptor that it writes to."""
        assert self.popen.stdout is not None
        return self.popen.stdout.fileno()

    def ended(self, seconds: int) -> ProcessError:
        """Why it has."""
        self.stop()
        if self.late or (sys.platform != "win32" and self.popen.returncode == -signal.SIGXCPU):
            return ProcessError(f"it took longer than {seconds} seconds; a shorter text may do")
        return ProcessError("its process ended, for want of memory or by a fault of the library")

    def kill_late(self) -> None:
        """What happens when its time is over."""
        self.late = True
        self.kill()

    def kill(self) -> None:
        """At once, with whatever it may have started."""
        if sys.platform == "win32":
            self.popen.kill()
        elif self.running:
            with suppress(OSError):  # it has ended this very moment
                os.killpg(self.popen.pid, signal.SIGKILL)

    def stop(self) -> None:
        """End it and close its pipes; whether it still runs or not."""
        POOL.remove(self)
        self.kill()
        self.popen.wait()
        for pipe in (self.popen.stdin, self.popen.stdout):
            if pipe is not None:
                pipe.close()


class Pool:
    """The running processes, the one that was used last at the end; few at once, and few at work."""

    def __init__(self) -> None:
        self.lock = threading.RLock()  # a finalizer may stop a process wherever the interpreter is just then
        self.work = threading.BoundedSemaphore(MOST_PROCESSES)
        self.processes: list[Process] = []

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Room for one more process at work; who finds none in time is told."""
        if not self.work.acquire(timeout=BUSY_SECONDS):
            raise ProcessError("others keep it from being asked; try again")
        try:
            yield
        finally:
            self.work.release()

    def add(self, process: Process) -> None:
        """A process that starts to work, in place of the one that has been idle for longest where there are many."""
        with self.lock:
            idle = [other for other in self.processes if not other.busy]
            surplus = idle[: max(0, len(self.processes) + 1 - MOST_PROCESSES)]
            process.busy = True
            self.processes = [other for other in self.processes if other not in surplus] + [process]
        for other in surplus:
            other.stop()

    def use(self, process: Process | None) -> bool:
        """Whether this one can be asked; then it is at work and used last."""
        with self.lock:
            if process is None or process not in self.processes or not process.running:
                return False
            process.busy = True
            self.processes.remove(process)
            self.processes.append(process)
            return True

    def remove(self, process: Process) -> None:
        """It runs no longer."""
        with self.lock:
            if process in self.processes:
                self.processes.remove(process)


POOL = Pool()


class Worker:
    """A tokenizer's process: started when it is first asked, and again after it was stopped or ended by itself.

    Any thread may ask; one at a time is answered. It ends with this object, and with the program.
    """

    def __init__(self, kind: str, files: tuple[bytes, ...]) -> None:
        self.kind, self.files = kind, files
        self.lock = threading.Lock()
        self.process: Process | None = None
        self.stops: weakref.finalize | None = None

    def facts(self) -> dict[str, Any]:
        """What the process says of the tokenizer that it has read. Raises ProcessError."""
        with self.asked_alone():
            return self.start()[1]

    def ask(self, name: str, arguments: Mapping[str, Any], size: int) -> dict[str, Any]:
        """The answer to one question of so many characters or ids. Raises ProcessError."""
        seconds = ASK_SECONDS + size // CHARACTERS_IN_SECOND
        question = json.dumps([name, seconds, arguments], ensure_ascii=False).encode("utf-8")
        with self.asked_alone():
            process = self.process
            if process is None or not POOL.use(process):
                process, _ = self.start()
            return self.checked(process, (question,), seconds, LEAST_ANSWER + 512 * size)

    @contextmanager
    def asked_alone(self) -> Iterator[None]:
        """The others who ask this tokenizer wait here, and none of them takes room from other tokenizers."""
        if not self.lock.acquire(timeout=BUSY_SECONDS):
            raise ProcessError("others keep it from being asked; try again")
        try:
            with POOL.at_work():
                yield
        finally:
            if self.process is not None:
                self.process.busy = False
            self.lock.release()

    def start(self) -> tuple[Process, dict[str, Any]]:
        """A new process, which has read the files."""
        if self.stops is not None:
            self.stops()  # the pipes of the one before are still open
        self.process = process = Process(self.kind, self.files)
        self.stops = weakref.finalize(self, process.stop)
        POOL.add(process)
        most = LEAST_ANSWER + 2 * sum(map(len, self.files))
        return process, self.checked(process, self.files, process.seconds, most)

    def checked(self, process: Process, messages: tuple[bytes, ...], seconds: int, most: int) -> dict[str, Any]:
        """The answer as an object; whatever else happens ends the process."""
        sound = False
        try:
            answer = parsed(process.exchange(messages, seconds, most))
            sound = not answer.get("ended")
        finally:
            if not sound:
                process.stop()
        if "error" in answer:
            raise ProcessError(str(answer["error"]))
        return answer


def parsed(content: bytes) -> dict[str, Any]:
    """An answer that is an object of JSON in UTF-8."""
    try:
        answer = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise ProcessError("its answer makes no sense")
    return answer


def library_folders(kind: str) -> tuple[str, ...]:
    """Where the library lies that the child imports; a child has no site-packages of its own."""
    spec = find_spec(LIBRARIES[kind])
    if spec is None or not spec.submodule_search_locations:
        raise ProcessError(f"the library {LIBRARIES[kind]} is not installed")
    return tuple(str(Path(folder).parent) for folder in spec.submodule_search_locations)
