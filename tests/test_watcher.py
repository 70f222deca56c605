"""Streamlit's file watcher: off where visitors are, on for those who edit."""

import os
import subprocess
import tomllib
from pathlib import Path

from streamlit.watcher.path_watcher import NoOpPathWatcher, get_path_watcher_class

ROOT = Path(__file__).parent.parent


def planned(target: str) -> str:
    """The command that starts the app for a target of the Makefile, which is not run."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    plan = subprocess.run(["make", "-n", target], cwd=ROOT, env=own, capture_output=True, text=True, check=True)
    (line,) = [line for line in plan.stdout.splitlines() if "streamlit run" in line]
    return line


def option(command: str, name: str) -> str:
    """What follows an option in a command."""
    words = command.split()
    return words[words.index(name) + 1]


def test_the_app_runs_without_the_watcher_unless_a_command_says_otherwise():
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert get_path_watcher_class(config["server"]["fileWatcherType"]) is NoOpPathWatcher
    assert "--server" not in planned("run")


def test_make_dev_runs_the_app_with_a_watcher_and_runs_it_again_on_every_save():
    command = planned("dev")
    assert get_path_watcher_class(option(command, "--server.fileWatcherType")) is not NoOpPathWatcher
    assert option(command, "--server.runOnSave") == "true"
