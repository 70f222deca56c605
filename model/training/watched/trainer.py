"""The program that trains in a process of its own: settings come through a pipe, moments and weights go through one.

    python -m model.training.watched.trainer SECONDS BYTES

The most seconds that it may train, and the most memory beside that of its libraries. A message is its length in 8 bytes
and its content. It reads one, the settings as JSON, and writes two a moment: the moment as JSON, and the weights that
are kept as safetensors, nothing where none are. It ends early, with a last moment, when its time is over or the pipe
that it reads from is closed: whoever started it has stopped it, or is no longer there.
"""

import json
import os
import sys
import threading
import time
from pathlib import Path

import torch
from safetensors.torch import save

from model.loading.foreign_tokenizers.child import end_first, limit_memory, limit_time, read, write
from model.training.watched.learning_run import learning_run
from model.training.watched.run_settings import RunSettings

NICENESS = 10  # visitors' pages come first
MAPPED = Path("/proc/self/statm")


def main() -> None:
    """Train as told, until the end or until told to stop."""
    seconds, most_bytes = map(int, sys.argv[1:])
    began, messages = time.monotonic(), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no message
    limit(2 * seconds, most_bytes)
    torch.set_num_threads(1)
    settings = RunSettings.from_json(json.loads(read(sys.stdin.buffer)))
    closed = threading.Event()
    threading.Thread(target=wait_for_end, args=(closed,), daemon=True).start()

    def stopped() -> bool:
        return closed.is_set() or time.monotonic() - began > seconds

    for moment, weights in learning_run(settings, stopped):
        write(messages, json.dumps(moment.to_json()).encode())
        write(messages, b"" if weights is None else save(weights))


def wait_for_end(closed: threading.Event) -> None:
    """Until the pipe is closed; read without a buffer, whose lock an ending interpreter would ask for in vain."""
    while os.read(0, 1):
        pass
    closed.set()


def limit(seconds: int, most_bytes: int) -> None:
    """Bound what this process may use, and let others go first."""
    end_first()
    if sys.platform != "win32":
        os.nice(NICENESS)
        limit_time(seconds)
    if MAPPED.exists():  # elsewhere it is not known what the libraries take
        pages = int(MAPPED.read_text().split()[0])
        limit_memory(pages * os.sysconf("SC_PAGE_SIZE") + most_bytes)


if __name__ == "__main__":
    main()
