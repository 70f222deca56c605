"""The file that a visitor looks at: parsed once, kept with the session and gone with it, bounded over all sessions."""

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from weakref import ref

import streamlit as st

from model import CheckpointError, InputError
from model.loading.attention_arrays import AttentionArrays, content_of, read_attention
from pages.parts.explore.heads_worth_a_look import Heads
from pages.parts.frame.examples import examples_for
from pages.parts.lru_cache import LRUCache
from pages.parts.shared_cache import checkpoint_key, checkpoint_named
from pages.parts.state.page_fields import CODEC
from viz.explorer.attention_kinds import Kind, kinds_of_arrays
from viz.export.data_files import trace_npz

PAGE = "arrays"
OPENED, UPLOAD = "_arrays", "arrays_upload"  # in the session: the file, and the control that takes one
NAMED = "HEADLIGHT_ARRAYS"  # in the server's environment: a file on its own machine, to open on
ARRAY_BYTES = 128 << 20  # of the parsed files of all sessions
PACKED_BYTES = 16_000_000  # of what one file's browser was sent
EXAMPLE = "worked example"


class OpenedFile:
    """A file by the name that people know it by. Nothing of it is in memory that its session does not hold.

    key: what tells it from another. read: gives its bytes, InputError where there are none.
    """

    def __init__(self, key: object, name: str, read: Callable[[], bytes]) -> None:
        self.key, self.name, self.read = key, name, read
        self.sha256 = ""
        self.refusal = ""
        self.arrays: AttentionArrays | None = None
        self.packed = LRUCache(PACKED_BYTES)
        self.heads: dict[str, Heads] = {}  # by the name of the attention

    @property
    def is_own(self) -> bool:
        """Whether a visitor brought it."""
        return isinstance(self.key, tuple) and self.key[0] == "upload"

    @property
    def is_example(self) -> bool:
        return isinstance(self.key, tuple) and self.key[0] == "example"

    def parse(self) -> AttentionArrays:
        """What is in it. InputError, the same sentence every time, where it cannot be shown."""
        if self.refusal:
            raise InputError(self.refusal)
        try:
            content = self.read()
            self.sha256 = hashlib.sha256(content).hexdigest()[:16]
            return read_attention(content)
        except InputError as refusal:
            self.refusal = str(refusal)
            raise


class FilesInMemory:
    """The parsed files of all sessions: where they take too much, those used longest ago are parsed anew when needed.

    One is parsed at a time. The sessions hold the files; here stands only which were used last.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.parsing, self.lock = Lock(), Lock()
        self.used: list[ref[OpenedFile]] = []  # the last used comes last

    def arrays_of(self, file: OpenedFile) -> AttentionArrays:
        """A file's arrays, from memory unless they had to go. InputError where it cannot be shown."""
        arrays = file.arrays
        if arrays is None:
            with self.parsing:
                arrays = file.arrays = file.parse()
        with self.lock:
            self.used = [each for each in self.used if each() not in (None, file)] + [ref(file)]
            self._free()
        return arrays

    def _free(self) -> None:
        total = 0
        for place, opened in enumerate(reversed(self.used)):
            file = opened()
            if file is None or file.arrays is None:
                continue
            total += file.arrays.nbytes
            if place and total > self.capacity:  # the last used stays in any case
                file.arrays = None


@st.cache_resource(show_spinner=False)
def files_in_memory() -> FilesInMemory:
    """Those of this server."""
    return FilesInMemory(ARRAY_BYTES)


def opened_file() -> OpenedFile:
    """What the page shows: the visitor's file, else the one that the server was started with, else the example."""
    kept: OpenedFile | None = st.session_state.get(OPENED)
    if kept is not None and kept.is_own:
        return kept
    new = server_file() or example_file()
    if kept is None or kept.key != new.key:
        st.session_state[OPENED] = kept = new
    return kept


def server_file() -> OpenedFile | None:
    """The file that the server's environment names, if any."""
    named = os.environ.get(NAMED, "")
    if not named:
        return None
    path = Path(named)
    written = path.stat().st_mtime_ns if path.is_file() else 0
    return OpenedFile(("server", named, written), path.name, lambda: content_of(path))


def example_model() -> str:
    """The model that the example is made with."""
    return str(CODEC.opening(PAGE)["checkpoint"])


def example_file() -> OpenedFile:
    """The attention of a bundled model, saved just now as any program would."""
    name = example_model()

    def read() -> bytes:
        try:
            return trace_npz(checkpoint_named(name).trace(examples_for(name)[0]))
        except CheckpointError as refusal:
            raise InputError(str(refusal)) from None

    return OpenedFile(("example", *checkpoint_key(name)), EXAMPLE, read)


def kinds_and_notes(file: OpenedFile) -> tuple[dict[str, Kind], tuple[str, ...]]:
    """The kinds of attention in a file, and what is odd about them. InputError where it cannot be shown."""
    arrays = files_in_memory().arrays_of(file)
    return kinds_of_arrays(arrays), arrays.notes
