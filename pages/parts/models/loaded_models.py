"""Models that visitors bring, and all of 64 MB and more: shared, and dropped once nobody has one open.

They have memory of their own: no model that comes with the app leaves for them, or waits while one is loaded.
"""

from collections.abc import Callable
from secrets import token_hex
from threading import Lock

import streamlit as st

from model import Checkpoint, CheckpointError
from model.loading import checkpoint_files
from model.loading.memory import free_memory, gigabytes, memory_needed
from model.loading.weights import MAPPED_FROM
from pages.parts.lru_cache import LRUCache
from pages.parts.models.catalogue import folder_of, label_of
from pages.parts.state.session_ends import when_over

SMALL_BYTES = 64_000_000  # of the small ones that are kept
RESERVE = 200_000_000  # bytes that stay free for the pages of all visitors
VISITOR = "_visitor"  # in the session: digits that tell visitors apart


class ModelMemory(LRUCache):
    """As many loaded models as the memory that is free has room for, by the machine's or its control group's count."""

    def __init__(self) -> None:
        super().__init__(capacity=0)

    def has_room(self, needed: int) -> bool:
        """Whether a model that takes so many bytes can be loaded beside those that are there."""
        return free_memory() >= needed + RESERVE

    def can_have_room(self, needed: int) -> bool:
        """Whether it could be loaded if all those that are there left."""
        with self.lock:
            freed = sum(size for _, size in self.values.values())
        return self.has_room(needed - freed)


class Visitors:
    """Which model each visitor has open; ``on_last`` is called with the name of one that nobody has open any longer."""

    def __init__(self, on_last: Callable[[str], object]) -> None:
        self.names: dict[str, str] = {}
        self.lock = Lock()
        self.on_last = on_last

    def open(self, visitor: str, name: str | None) -> None:
        """This visitor has the model open now, and no longer the one before; None: has left."""
        with self.lock:
            before = self.names.pop(visitor, None)
            if name is not None:
                self.names[visitor] = name
            is_last = before is not None and before not in self.names.values()
        if before is not None and is_last:
            self.on_last(before)


@st.cache_resource(show_spinner=False)
def small_models() -> LRUCache:
    """Those of less than 64 MB that are loaded."""
    return LRUCache(SMALL_BYTES)


@st.cache_resource(show_spinner=False)
def model_memory() -> ModelMemory:
    """The large models that are loaded."""
    return ModelMemory()


@st.cache_resource(show_spinner=False)
def visitors() -> Visitors:
    """Who has which model open, of those that did not come with the app."""
    memories = small_models(), model_memory()

    def drop(name: str) -> None:
        for memory in memories:
            memory.drop(lambda key: key[0] == name)

    return Visitors(drop)


def note_use(name: str) -> None:
    """This visitor has the model open now, and no longer the one before."""
    visitor: str = st.session_state.setdefault(VISITOR, token_hex(8))
    everybody = visitors()
    if everybody.names.get(visitor) != name:
        everybody.open(visitor, name)
        when_over("model", lambda: everybody.open(visitor, None))


def loaded(key: tuple[str, object, object], load: Callable[[], Checkpoint], weight_bytes: int) -> Checkpoint:
    """The model under a key that begins with its name. CheckpointError where the memory that is free does not do."""
    note_use(key[0])
    checkpoint: Checkpoint
    if weight_bytes < MAPPED_FROM:
        checkpoint = small_models().get(key, load, lambda _: weight_bytes, expected=weight_bytes)
    else:
        checkpoint = loaded_large(key, load, weight_bytes)
    note_use(key[0])  # again: who left while it was loading would leave it here for ever
    return checkpoint


def loaded_large(key: tuple[str, object, object], load: Callable[[], Checkpoint], weight_bytes: int) -> Checkpoint:
    """The same for one that may have to wait until others have left; where that would not help, they stay."""
    memory = model_memory()
    is_here = key in memory
    needed = 0 if is_here else needed_by(key[0], weight_bytes)
    if not is_here and not memory.can_have_room(needed):
        raise CheckpointError(too_large(key[0], needed))

    def load_if_it_fits() -> Checkpoint:
        if not memory.has_room(needed):
            raise CheckpointError(too_large(key[0], needed))
        return load()

    checkpoint: Checkpoint = memory.get(key, load_if_it_fits, lambda _: weight_bytes, expected=needed)
    return checkpoint


def needed_by(name: str, weight_bytes: int) -> int:
    """About how many bytes it takes, by its config and the headers of its files."""
    folder = folder_of(name)
    return memory_needed(checkpoint_files.read_parts(folder, checkpoint_files.read_config(folder))[2], weight_bytes)


def too_large(name: str, needed: int) -> str:
    """The refusal, with what would fit."""
    needs, free = gigabytes(needed), gigabytes(max(0, free_memory() - RESERVE))
    return f"{label_of(name)} needs about {needs} of memory; this server has {free} to spare. Choose a smaller model."
