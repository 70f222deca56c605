"""The film of a language model: its player's data, its moments as models, and their files."""

from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from model.trace import Trace
from model.training.watched import language_film
from model.training.watched.language_film import LanguageFilm
from pages.parts.frame.downloads import files
from pages.parts.frame.theme import theme
from pages.parts.shared_cache import check_lengths
from pages.parts.watch.moment_files import film_button, moment_button, zipped
from viz.text import watched as sentences
from viz.watched.looping_picture import Take, looping_picture
from viz.watched.player import language_data, player_data

LINE = "The king had a daughter, and the king had a son."


def film_data(film: LanguageFilm, line: str) -> dict[str, Any]:
    """The player's data. InputError for a text that is empty or too long."""
    check_lengths(line)
    return computed_data(line, film)


@st.cache_data(show_spinner=False, max_entries=16)
def computed_data(line: str, _film: LanguageFilm) -> dict[str, Any]:
    """The same; there is one film."""
    run = language_data(sentences.LANGUAGE_MODEL, _film, traces_of(_film, line))
    return player_data([run], sentences.player_words("language"), "language", f"language {line}")


def traces_of(film: LanguageFilm, line: str) -> list[Trace]:
    """The passes of a text through every snapshot."""
    return [film.checkpoint(step).trace(line) for step in film.steps]


def moment_name(film: LanguageFilm, step: int | None) -> str:
    """The last snapshot that is not after a step, as a model; None: the last of all."""
    place = max((each for each in film.steps if step is None or each <= step), default=film.steps[0])
    return f"{language_film.NAME}.{place}"


def offer_files(film: LanguageFilm, step: int | None, line: str) -> None:
    """The moment as a checkpoint and the film as a picture that moves, in the menu Download."""
    look, title = theme(), sentences.language_title(film)
    name = moment_name(film, step)
    folder = film.folder / name.rpartition(".")[2]

    def make() -> bytes:
        traces = traces_of(film, line)
        weights = np.stack([trace.text_stack.weights().numpy() for trace in traces])
        run = language_data(sentences.LANGUAGE_MODEL, film, traces)
        return looping_picture(title, [Take.of(film, weights, run)], theme=look)

    with files():
        moment_button(name, partial(zipped, folder))
        film_button("language", make)
