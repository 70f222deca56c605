"""Runs the scripts that the app gives away as people run them: each in a process of its own.

Most run in the project's folder, in processes that are forked from one which has imported the model package, for that
takes as long as most scripts themselves. ``run_file`` runs one as a file of another folder, with nothing imported yet.
"""

import io
import multiprocessing
import os
import subprocess
import sys
import traceback
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import NamedTuple
from unittest.mock import patch

ROOT = Path(__file__).parent.parent
LONGEST = 300  # seconds
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["model"])


class Ran(NamedTuple):
    """What came of a script: returncode is 1 where it raised."""

    returncode: int
    stdout: str
    stderr: str


def run_script(code: str) -> Ran:
    """Run it to its end. EOFError where its process died, TimeoutError where it takes longer than five minutes."""
    here, there = FORKS.Pipe(duplex=False)
    process = FORKS.Process(target=_run, args=(code, there))
    # A new process imports what __main__ is in this one, and after an AppTest that is app.py.
    with patch.dict(sys.modules, {"__main__": ModuleType("__main__")}):
        process.start()
    there.close()
    try:
        if not here.poll(LONGEST):
            raise TimeoutError(f"a script ran for more than {LONGEST} seconds")
        return Ran(*here.recv())
    finally:
        process.kill()
        process.join()


def _run(code: str, parent: Connection) -> None:
    os.chdir(ROOT)
    out, err, returncode = io.StringIO(), io.StringIO(), 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            exec(compile(code, "<script>", "exec"), {"__name__": "__main__"})
        except BaseException:  # noqa: BLE001 what a script raises is what it is run for
            traceback.print_exc(file=sys.stderr)
            returncode = 1
    parent.send((returncode, out.getvalue(), err.getvalue()))


def run_file(path: Path, python: Path, variables: Mapping[str, str]) -> Ran:
    """Run a script that lies in a folder, with that folder around it and this Python."""
    command, folder = [str(python), path.name], path.parent
    ran = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=LONGEST)
    return Ran(ran.returncode, ran.stdout, ran.stderr)
