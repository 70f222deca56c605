"""Moments of trainings as models: "induction-two-layers.256" is what a recorded training had become after 256 steps.

They are written to the disk as somebody opens one, stand in no list, and are known by their names alone. A visitor's
own training is called by its task and digits of all that decides it, so that one name never means two models. The
session has the last two; the server keeps some for whoever comes back to one by its name, after a reload, say.
"""

import json
import re
import shutil
import tempfile
import weakref
from collections import OrderedDict
from functools import cache
from pathlib import Path
from threading import RLock

import streamlit as st

from model.training.watched import language_film
from model.training.watched.history import History
from model.training.watched.history_files import save_snapshot
from model.training.watched.recordings import RECORDED, RECORDINGS, recorded
from model.training.watched.run_settings import RunSettings
from pages.parts.lru_cache import LRUCache
from pages.parts.state.held_texts import DIGITS, digest_of

OWN = "_watched_trainings"  # in the session: the visitor's own trainings by name, the newest last
MOST_OWN = 2
MOST_FOLDERS = 64  # on this server's disk, each of less than a megabyte
KEPT_BYTES = 16_000_000  # of the trainings that the server keeps
NAME = re.compile(r"([a-z]+(?:-[a-z0-9]+)+)\.([0-9]{1,5})", re.ASCII)


class MomentFolder:
    """A folder outside all others with one moment's files; gone with this."""

    def __init__(self, history: History, step: int) -> None:
        self.path: Path = Path(tempfile.mkdtemp(prefix="headlight-moment-"))
        self.remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
        save_snapshot(self.path, history, step)


class MomentFolders:
    """Those of a server; the one that nobody has asked for longest goes."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.folders: OrderedDict[str, MomentFolder] = OrderedDict()

    def path(self, name: str) -> Path | None:
        """Where a moment's files lie; None where there is no such moment, or it is another visitor's."""
        with self.lock:
            folder = self.folders.pop(name, None) or written(name)
            if folder is None:
                return None
            self.folders[name] = folder
            while len(self.folders) > MOST_FOLDERS:
                self.folders.popitem(last=False)
            return folder.path

    def __contains__(self, name: str) -> bool:
        with self.lock:
            return name in self.folders


def written(name: str) -> MomentFolder | None:
    """The files of a moment, written now; None where there is none of the name."""
    found = moment_of(name)
    return MomentFolder(*found) if found else None


@st.cache_resource(show_spinner=False)
def moment_folders() -> MomentFolders:
    """Those of this server."""
    return MomentFolders()


@cache
def recorded_history(name: str) -> History:
    """A recorded training, read once."""
    return recorded(name)


def training_name(settings: RunSettings) -> str:
    """What a training is called: as it was recorded, or by its task and digits of its settings."""
    for name, known in RECORDED.items():
        if known == settings:
            return name
    return f"{settings.task}-{digest_of(json.dumps(settings.to_json(), sort_keys=True))}"


def moment_name(history: History, step: int) -> str:
    """The name of a moment as a model."""
    return f"{training_name(history.settings)}.{step}"


@st.cache_resource(show_spinner=False)
def kept_trainings() -> LRUCache:
    """Trainings of visitors, by name."""
    return LRUCache(KEPT_BYTES)


def kept_training(settings: RunSettings) -> History | None:
    """What a training with these settings came to; None where the server has none."""
    history: History | None = kept_trainings().find(training_name(settings))
    return history


def history_bytes(history: History) -> int:
    """What its weights take."""
    return sum(weight.nbytes for weights in history.snapshots.values() for weight in weights.values())


def keep_training(history: History) -> None:
    """Have this visitor's training be known by its name, in the place of the oldest but one."""
    name = training_name(history.settings)
    trainings = {other: kept for other, kept in own_trainings().items() if other != name}
    st.session_state[OWN] = dict([*trainings.items(), (name, history)][-MOST_OWN:])
    known = kept_training(history.settings)
    if known is None or known.last.step < history.last.step:  # another visitor may have stopped it later
        kept_trainings().drop(lambda other: other == name)
        kept_trainings().get(name, lambda: history, history_bytes)


def own_trainings() -> dict[str, History]:
    """This visitor's, by name, the newest last."""
    return dict(st.session_state.get(OWN, {}))


def moment_of(name: str) -> tuple[History, int] | None:
    """Training and step of a moment's name, as far as they are known to this visitor."""
    parts = NAME.fullmatch(name)
    if parts is None:
        return None
    training, step = parts[1], int(parts[2])
    history: History | None = own_trainings().get(training) or kept_trainings().find(training)
    if training in RECORDED:
        history = recorded_history(training)
    return (history, step) if history is not None and step in history.snapshots else None


def snapshot_folder(name: str) -> Path | None:
    """Where a snapshot of the recorded language model lies; None for another name."""
    parts = NAME.fullmatch(name)
    if parts is None or parts[1] != language_film.NAME:
        return None
    folder = RECORDINGS / parts[1] / parts[2]
    return folder if folder.is_dir() else None


def is_moment(name: object) -> bool:
    """Whether a name is that of a moment that can be opened."""
    if not isinstance(name, str):
        return False
    return snapshot_folder(name) is not None or moment_of(name) is not None or name in moment_folders()


def moment_folder(name: str) -> Path | None:
    """Where the files of a moment lie; None where there is none of the name."""
    return snapshot_folder(name) or (moment_folders().path(name) if is_moment(name) else None)


def moment_label(name: str) -> str:
    """ "induction-two-layers, step 256"; of a visitor's own, whose name is long, half of the digits."""
    training = re.sub(f"(?<=-[0-9a-f]{{8}})[0-9a-f]{{{DIGITS - 8}}}$", "", name.rpartition(".")[0])
    return f"{training}, {step_in_words(name)}"


def step_in_words(name: str) -> str:
    """ "step 1,000", of the name of a moment."""
    return f"step {int(name.rpartition('.')[2]):,}"
