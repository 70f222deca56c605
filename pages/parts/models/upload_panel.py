"""The visitor's own files as a checkpoint: unpacked into a temporary folder, which goes with the session."""

import shutil
import tempfile
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Semaphore

import streamlit as st

from model import CheckpointError
from pages.parts.models.asked_model import OPENS
from pages.parts.models.catalogue import UPLOADS
from pages.parts.models.hub_panel import show_way_to_arrays
from pages.parts.models.outlines import check_usable
from pages.parts.models.uploaded_files import ArraysError, Files, apart, checkpoint_files
from pages.parts.shared_cache import checkpoint_named
from pages.parts.state.session_ends import when_over
from viz.tokens import markdown_text

FOLDERS, ROUND, REFUSAL, LAST = "_upload_folders", "_upload_round", "_upload_refusal", "_upload_end"  # in the session
MOST_UPLOADS = 3  # of one visitor; the oldest goes
PAUSE = 1.0  # seconds between two uploads of one visitor: one who uploads in a loop leaves the server to the others
LABEL = "Your own files, 32 MB in all"
EXPLAINED = (
    "config.json, model.safetensors and tokenizer.json, as save_pretrained writes them, or one zip of them; for Marian "
    "source.spm, target.spm and vocab.json. card.json may come along. A zip gives the model its name; the digits after "
    "it are of what the files hold. No other visitor sees the files, and they are deleted when you leave."
)
NO_ROOM = "The server has no room for this upload now: try again later."


class UploadFolder:
    """A folder outside all others with the files of a checkpoint; gone with this."""

    def __init__(self, files: Files) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="headlight-upload-"))
        self.remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
        for name, content in files.items():
            (self.path / name).write_bytes(content)


@st.cache_resource(show_spinner=False)
def parsing() -> Semaphore:
    """Held while an upload is unpacked and read: one at a time, of all visitors."""
    return Semaphore(1)


def show_upload() -> None:
    """The place to drop files, and why the last could not be used."""
    turn = st.session_state.setdefault(ROUND, 0)
    given = st.file_uploader(
        LABEL, accept_multiple_files=True, key=f"upload_{turn}", help=EXPLAINED, max_upload_size=32
    )
    if given:
        wait_for_turn()
        for files in apart((file.name, file.getvalue()) for file in given)[-MOST_UPLOADS:]:
            take(files)
        if REFUSAL in st.session_state:
            st.session_state.pop(OPENS, None)  # the page that opens would take the sentence on another upload away
        st.session_state[LAST] = time.monotonic()
        st.session_state[ROUND] = turn + 1  # another key: the browser and the server let go of the files
        st.rerun()
    if refusal := st.session_state.pop(REFUSAL, None):
        st.error(markdown_text(str(refusal)))
        if isinstance(refusal, ArraysError):
            show_way_to_arrays()


def wait_for_turn() -> None:
    """Hold up a visitor whose last upload was just now."""
    time.sleep(max(0.0, st.session_state.get(LAST, float("-inf")) + PAUSE - time.monotonic()))


def take(given: Sequence[tuple[str, bytes]]) -> None:
    """Have what was uploaded among the visitor's models, and open it; or keep the error that refuses it.

    given: the files of a checkpoint by their names, or one zip of them.
    """
    try:
        with parsing():
            name, files = checkpoint_files(given)
            folder = UploadFolder(files)
            with registered(name, folder):
                check_usable(folder.path)
                checkpoint_named(name)
    except (CheckpointError, OSError, MemoryError) as refusal:
        is_ours = isinstance(refusal, CheckpointError)
        st.session_state[REFUSAL] = refusal.with_traceback(None) if is_ours else CheckpointError(NO_ROOM)
    else:
        st.session_state[OPENS] = name


@contextmanager
def registered(name: str, folder: UploadFolder) -> Iterator[None]:
    """Its name leads to the folder; no longer, where what is done inside refuses it."""
    state = st.session_state
    folders = {other: kept for other, kept in state.get(FOLDERS, {}).items() if other != name}
    before = dict(folders)
    folders = dict([*folders.items(), (name, folder)][-MOST_UPLOADS:])
    keep(folders)
    try:
        yield
    except BaseException:
        keep(before)
        folder.remove()
        raise


def keep(folders: dict[str, UploadFolder]) -> None:
    """Have these uploads in the session, and no others; they go with it."""
    when_over("uploads", lambda: [folder.remove() for folder in folders.values()])
    st.session_state[FOLDERS] = folders
    st.session_state[UPLOADS] = {name: folder.path for name, folder in folders.items()}
