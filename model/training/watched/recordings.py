"""Trainings that were recorded: what can be watched without training, each as a history beside this file."""

from pathlib import Path

from model.training.watched.history import History
from model.training.watched.history_files import read_history
from model.training.watched.run_settings import RunSettings

RECORDINGS = Path(__file__).with_name("recorded")
RECORDED = {
    "induction-two-layers": RunSettings(task="induction"),
    "induction-one-layer": RunSettings(task="induction", layers=1),
    "reverse-with-positions": RunSettings(task="reverse"),
    "reverse-without-positions": RunSettings(task="reverse", positions="none"),
}


def recorded(name: str) -> History:
    """The recorded history of a name."""
    return read_history(RECORDINGS / name)
