"""Records the trainings that can be watched, each as a history in a folder of its own.

    python -m model.training.watched
    python -m model.training.watched induction-two-layers --out runs/watched

On one machine the same versions of Python and torch give the same files but for the seconds.
"""

import argparse
from pathlib import Path

import torch

from model.training.watched.history import History
from model.training.watched.history_files import write_history
from model.training.watched.learning_run import learning_run
from model.training.watched.recordings import RECORDED, RECORDINGS
from model.training.watched.run_settings import RunSettings


def record(settings: RunSettings) -> History:
    """The whole training."""
    history = History(settings=settings, moments=(), snapshots={})
    for progress in learning_run(settings):
        history = history.after(progress)
    return history


def summary(name: str, history: History) -> str:
    """What a training came to, in one line."""
    last, change = history.last, history.sudden_change()
    sudden = f", sudden about step {change.step}" if change else ""
    return f"{name}: accuracy {last.accuracy:.4f}, loss {last.loss:.4f} nats, {last.seconds:.0f} s{sudden}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m model.training.watched", description="Record small trainings.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(RECORDED)}; all unless told otherwise")
    parser.add_argument("--out", type=Path, default=RECORDINGS, help="folder for the histories")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in RECORDED]:
        parser.error(f"found {unknown[0]}, expected one of {', '.join(RECORDED)}")
    torch.set_num_threads(1)
    for name in options.names or RECORDED:
        history = record(RECORDED[name])
        write_history(options.out / name, history)
        print(summary(name, history), flush=True)


if __name__ == "__main__":
    main()
