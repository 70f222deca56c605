"""The trainings that are shown side by side, and what their player is drawn from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from model.training.watched.head_pictures import HeadPictures, SnapshotPictures, check_readable, snapshot_pictures
from model.training.watched.history import History
from model.training.watched.tasks import HELD_OUT, TEXT
from pages.parts.lru_cache import LRUCache
from pages.parts.models.watched_moments import moment_name, recorded_history
from pages.parts.state.selection import Selection
from pages.parts.watch.settings import FILMS, OWN, Watch
from pages.parts.watch.trainings import live_history, own_histories
from viz.text import watched as sentences
from viz.watched.player import player_data, run_data

PICTURE_BYTES = 24_000_000
LINES = {
    "induction": "wordplaywordplay",
    "copy": "light>light",
    "reverse": "light>thgil",
    "sort": "light>ghilt",
}
LINE_OF_TEXT = 32  # characters of the part that is held out


@dataclass(frozen=True, kw_only=True, eq=False)
class Film:
    """One training, or two of one task side by side.

    is_live: whether the first still goes on.
    """

    histories: tuple[History, ...]
    is_live: bool = False

    @property
    def first(self) -> History:
        return self.histories[0]

    @property
    def beside(self) -> History | None:
        """The other one."""
        return self.histories[1] if len(self.histories) > 1 else None

    @property
    def task(self) -> str:
        return self.first.settings.task

    @property
    def key(self) -> str:
        """What is shown, in a name; of a training that goes on it stays the same."""
        return " ".join(moment_name(history, history.settings.steps) for history in self.histories)

    def names(self) -> list[str]:
        """What stands above each."""
        return [sentences.run_name(history.settings) for history in self.histories]

    @property
    def last_step(self) -> int:
        """At which the axis of time ends: where a training goes on, where it is to end."""
        ends = [history.last.step for history in self.histories]
        return max([*ends, self.first.settings.steps] if self.is_live else ends)

    def default_line(self) -> str:
        """What the pictures are of unless somebody typed something."""
        if self.task != TEXT:
            return LINES[self.task]
        text = self.first.settings.text
        held_out = text[len(text) - int(HELD_OUT * len(text)) :]
        whole_words = held_out.partition(" ")[2] or held_out
        return whole_words.replace("~", " ")[:LINE_OF_TEXT]


def film_of(selection: Selection) -> Film | None:
    """What the page shows; None where the visitor has no training of their own yet."""
    name = selection.of(Watch).film
    if name != OWN:
        return Film(histories=tuple(map(recorded_history, FILMS[name])))
    histories = own_histories()
    if not histories:
        return None
    newest, *older = histories
    ended = [each for each in older if each.last.step == each.settings.steps]  # a stopped one is no rival
    same = [history for history in ended if history.settings.task == newest.settings.task]
    return Film(histories=(newest, *same[:1]), is_live=live_history() is not None)


def line_of(film: Film, selection: Selection) -> str:
    """The text that the pictures are of."""
    return selection.of(Watch).line or film.default_line()


def film_data(film: Film, line: str) -> dict[str, Any]:
    """The player's data. InputError for a text that a model of the film cannot read."""
    check_line(film, line)
    runs = [
        run_data(name, history, pictures_of(history, line), max(1, film.last_step))
        for name, history in zip(film.names(), film.histories, strict=True)
    ]
    return player_data(runs, sentences.player_words(film.task), film.task, f"{film.key} {line}")


def check_line(film: Film, line: str) -> None:
    """InputError for a text that a model of the film cannot read."""
    for history in film.histories:
        check_readable(history, line)


@st.cache_resource(show_spinner=False)
def picture_cache() -> LRUCache:
    """The pictures of snapshots, of all visitors."""
    return LRUCache(PICTURE_BYTES)


def pictures_of(history: History, line: str) -> HeadPictures:
    """Those of all snapshots; each is computed once."""
    kept = [
        picture_cache().get((moment_name(history, step), line), make_of(history, step, line), picture_bytes)
        for step in history.steps
    ]
    return HeadPictures.joined(line, kept)


def make_of(history: History, step: int, line: str) -> Any:
    """What computes one snapshot's."""
    return lambda: snapshot_pictures(history, step, line)


def picture_bytes(pictures: SnapshotPictures) -> int:
    """What they take."""
    return int(pictures.weights.nbytes + pictures.guesses.nbytes)


def nearest_step(history: History, step: int | None) -> int:
    """The last snapshot that is not after a step; None: the last of all."""
    steps: Sequence[int] = history.steps
    return max((each for each in steps if step is None or each <= step), default=steps[0])
