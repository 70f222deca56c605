"""The processes themselves: what one may do, how it ends, how many there are."""

import gc
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from model.loading.foreign_tokenizers import processes, read_library_tokenizer
from model.loading.foreign_tokenizers.processes import MOST_PROCESSES, POOL, ProcessError, Worker
from model.tokenizer import Tokenizer
from tests.model.loading.foreign_tokenizers.odd_files import WORD_LEVEL, file

on_linux = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="reads /proc")


def tokenizer(number: int = 0) -> Tokenizer:
    """A small tokenizer, another for every number."""
    return read_library_tokenizer(file(WORD_LEVEL | {"vocab": {"<unk>": 0, "the": 1, f"dog{number}": 2}}), 80)


def process_id(one: Tokenizer) -> int:
    one.encode("the dog")
    return one.backend.worker.process.popen.pid


def is_running(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


@on_linux
def test_a_process_has_its_pipes_and_can_open_nothing():
    one = tokenizer(1)
    with open(os.devnull) as inherited:  # noqa: PTH123 -- a descriptor that a child could inherit
        os.set_inheritable(inherited.fileno(), True)
        number = process_id(one)
    folder = Path(f"/proc/{number}/fd")
    opened = {int(link.name): str(link.readlink()).split(":")[0] for link in folder.iterdir()}
    assert opened == {0: "pipe", 1: "/dev/null", 2: "/dev/null", 3: "pipe"}
    for limit in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE, resource.RLIMIT_NPROC):
        assert resource.prlimit(number, limit) == (0, 0)
    memory = resource.prlimit(number, resource.RLIMIT_AS)
    assert memory[0] == memory[1] < 256 << 20
    assert resource.prlimit(number, resource.RLIMIT_CPU)[0] <= 4
    assert os.getsid(number) == number != os.getsid(0)
    assert Path(f"/proc/{number}/oom_score_adj").read_text() == "1000\n", "where memory is full it ends, not the server"


@on_linux
def test_a_process_gets_nothing_of_the_environment_or_the_caller_s_folder(tmp_path, monkeypatch):
    for name in ("json", "tokenizers", "struct", "resource"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('shadowed')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("HF_TOKEN", "secret")
    one = tokenizer(2)
    number = process_id(one)
    environment = Path(f"/proc/{number}/environ").read_bytes().split(b"\0")
    assert {entry.split(b"=")[0].decode() for entry in environment if entry} <= {
        "TOKENIZERS_PARALLELISM", *processes.ENVIRONMENT
    }  # fmt: skip
    assert Path(f"/proc/{number}/cwd").readlink() == Path("/")
    loaded = Path(f"/proc/{number}/maps").read_text()
    assert "torch" not in loaded
    assert "numpy" not in loaded


def test_a_process_that_is_killed_is_replaced_at_the_next_text():
    one = tokenizer(3)
    before = one.encode("the dog")
    number = process_id(one)
    os.kill(number, signal.SIGKILL)
    one.backend.worker.process.popen.wait()
    assert one.encode("the dog") == before
    assert process_id(one) != number


def test_a_process_ends_with_its_tokenizer():
    one = tokenizer(4)
    number = process_id(one)
    assert is_running(number)
    del one
    gc.collect()
    assert not is_running(number)


def test_few_processes_run_and_the_one_used_last_stays():
    several = [tokenizer(number) for number in range(10, 10 + MOST_PROCESSES + 2)]
    numbers = [process_id(one) for one in several]
    assert [is_running(number) for number in numbers] == [False] * 2 + [True] * MOST_PROCESSES
    process_id(several[2])
    process_id(several[0])  # a new process, in place of the third, which was used longest ago
    assert is_running(numbers[2])
    assert not is_running(numbers[3])
    assert len(POOL.processes) == MOST_PROCESSES


def test_many_threads_ask_many_tokenizers():
    several = [tokenizer(number) for number in range(20, 20 + MOST_PROCESSES + 3)]
    wrong: list[object] = []

    def ask(shift: int) -> None:
        for turn in range(12):
            place = (shift * 5 + turn) % len(several)
            ids = several[place].encode(f"the dog{20 + place} cat").ids
            if ids != (0,):  # a word level without a pre-tokenizer knows whole texts alone
                wrong.append(ids)
            if several[place].decode([1, 2]) != f"the dog{20 + place}":
                wrong.append(place)

    threads = [threading.Thread(target=ask, args=(shift,)) for shift in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(POOL.processes) <= MOST_PROCESSES


def test_a_process_that_says_nothing_is_stopped_after_its_time(monkeypatch):
    """A child that waits uses no processor, so only the parent's clock ends it."""
    one = tokenizer(5)
    number = process_id(one)
    os.kill(number, signal.SIGSTOP)
    monkeypatch.setattr(processes, "WALL", 0.1)
    start = time.monotonic()
    with pytest.raises(ProcessError, match="it took longer than 2 seconds"):
        one.backend.worker.ask("decode", {"ids": [1]}, 1)
    assert time.monotonic() - start < 10
    assert not is_running(number)


@on_linux
def test_a_process_that_ends_just_before_it_is_stopped_is_stopped_all_the_same(monkeypatch):
    one = tokenizer(6)
    number, process, before = process_id(one), one.backend.worker.process, one.encode("the dog")
    os.kill(number, signal.SIGKILL)
    process.popen.wait()
    with monkeypatch.context() as patch:
        patch.setattr(processes.Process, "running", True)  # as it was a moment ago
        process.stop()
    assert one.encode("the dog") == before


@pytest.mark.parametrize("answer", [b"", b"[1]", b"{", b"\xff", b"[" * 100_000, b'"text"', b"1e999"])
def test_an_answer_that_is_no_object_is_refused(answer):
    with pytest.raises(ProcessError, match="its answer makes no sense"):
        processes.parsed(answer)


def test_a_machine_that_starts_no_process_is_told_apart(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(ProcessError, match="no process can be started for it: No such file"):
        Worker("library", (file(),)).facts()


@on_linux
def test_processes_end_with_the_program_however_it_ends():
    script = """
import sys, time
from model.loading.foreign_tokenizers import read_library_tokenizer
from tests.model.loading.foreign_tokenizers.odd_files import file
one = read_library_tokenizer(file(), 80)
print(one.backend.worker.process.popen.pid, flush=True)
time.sleep(float(sys.argv[1]))
"""
    for seconds in ("0", "60"):
        ran = subprocess.Popen([sys.executable, "-c", script, seconds], stdout=subprocess.PIPE, text=True)
        assert ran.stdout is not None
        number = int(ran.stdout.readline())
        if seconds != "0":
            ran.kill()
        ran.wait()
        ran.stdout.close()
        deadline = time.monotonic() + 10
        while is_running(number) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not is_running(number)
