"""The files of the page Watch it learn: a moment as a checkpoint, and the film as a picture that moves."""

import io
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from model.training.watched.history import History
from pages.parts.frame.downloads import button, files
from pages.parts.frame.theme import theme
from pages.parts.models.watched_moments import MomentFolder, moment_label, moment_name
from pages.parts.watch.films import Film, nearest_step, pictures_of
from viz.export.share_picture import plain_text
from viz.text import watched as sentences
from viz.watched.looping_picture import Take, looping_picture
from viz.watched.player import run_data

CHECKPOINT_HELP = (
    "config.json, model.safetensors, tokenizer.json and card.json of this step: load_checkpoint reads the folder, and "
    "the page Models opens the zip."
)
FILM_HELP = "A picture that plays the training in ten seconds, rests for two and begins again, for slides."


def offer_files(film: Film, step: int | None, line: str) -> None:
    """Both, in the menu Download. step: the moment that is looked at."""
    look, title = theme(), plain_text(sentences.title(film.first))
    with files():
        for history in film.histories:
            at = nearest_step(history, step)
            moment_button(moment_name(history, at), partial(zipped_moment, history, at))

        def make() -> bytes:
            takes = [
                Take.of(history, pictures.weights, run_data(name, history, pictures, film.last_step))
                for name, history in zip(film.names(), film.histories, strict=True)
                for pictures in [pictures_of(history, line)]
            ]
            return looping_picture(title, takes, theme=look)

        film_button(film.first.settings.task, make)


def film_button(task: str, make: Callable[[], bytes]) -> None:
    """The film of a task, within ``files``."""
    button("Film (GIF)", f"watch-{task}.gif", make, FILM_HELP)


def moment_button(name: str, make: Callable[[], bytes]) -> None:
    """The file of one moment, within ``files``. make: its content; called where there is no session."""
    button(f"{moment_label(name)} (ZIP)", f"{name}.zip", make, CHECKPOINT_HELP)


def zipped_moment(history: History, step: int) -> bytes:
    """A moment's files as one."""
    folder = MomentFolder(history, step)  # held while it is read: with it go its files
    return zipped(folder.path)


def zipped(folder: Path) -> bytes:
    """The files of a folder as one."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.iterdir()):
            archive.write(path, path.name)
    return content.getvalue()
