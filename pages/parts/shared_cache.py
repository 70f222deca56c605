"""What is computed once and shared by all visitors: checkpoints and traces, bounded by bytes, made one at a time."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import streamlit as st
import torch
from torch import Tensor

from model import (
    Checkpoint,
    CheckpointError,
    Config,
    InputError,
    available_checkpoints,
    available_devices,
    families,
    load_checkpoint,
)
from model.loading import checkpoint_files
from model.loading.weights import MAPPED_FROM
from model.trace import Trace, map_tensors
from pages.parts.lru_cache import LRUCache
from pages.parts.models import loaded_models
from pages.parts.models.catalogue import folder_of
from pages.parts.state.selection import LONGEST_TEXT
from viz.text.card_tables import purpose

# Beside nearly 400 MB of imports, on hosts that promise 690 MB.
CHECKPOINT_BYTES = 64_000_000
TRACE_BYTES = 96_000_000


@st.cache_resource(show_spinner=False)
def leave_a_core() -> None:
    """Once a server: one processor core stays with what draws the page.

    The threads of a matrix product wait for one another, thousands of times a second. Where one of them has to share
    its core, with the server or with a browser on the same machine, all stand still: on two cores a sentence took ten
    times as long on two threads as on one.
    """
    torch.set_num_threads(max(1, torch.get_num_threads() - 1))


@st.cache_resource(show_spinner=False)
def checkpoints() -> LRUCache:
    """The loaded checkpoints of less than 64 MB, of all visitors. They do not wait for a large one that is loading."""
    return LRUCache(CHECKPOINT_BYTES)


@st.cache_resource(show_spinner=False)
def traces() -> LRUCache:
    """The computed traces, of all visitors."""
    return LRUCache(TRACE_BYTES)


def checkpoint_named(name: str) -> Checkpoint:
    """The checkpoint, from memory unless its files have changed. CheckpointError where it cannot be used."""
    key = checkpoint_key(name)
    size = file_bytes(name)

    def load() -> Checkpoint:
        return replace(load_checkpoint(folder_of(name), device=key[1]), name=name)

    if name in available_checkpoints() and size < MAPPED_FROM:
        return checkpoints().get(key, load, lambda _: size, expected=size)
    return loaded_models.loaded(key, load, size)


def checkpoint_key(name: str) -> tuple[str, str, tuple[int, ...]]:
    """Name, device and the times at which the files were written."""
    devices, device = available_devices(), st.session_state.get("device")
    return name, device if device in devices else devices[0], tuple(file_times(folder_of(name)))


def file_bytes(name: str) -> int:
    """The size of a checkpoint's files together."""
    return sum(state.st_size for state in file_states(folder_of(name)) if stat.S_ISREG(state.st_mode))


def reads_pairs(name: str) -> bool:
    """Whether a checkpoint reads two texts; one that cannot be loaded reads none, and says why where it is used."""
    try:
        return checkpoint_named(name).config.segments > 1
    except (CheckpointError, InputError):
        return False


def purpose_of(name: str) -> str:
    """What a checkpoint does, in a few words, without its weights; "cannot be used" where its files say nothing."""
    folder = folder_of(name)
    return purpose_in(str(folder), tuple(file_times(folder)))


@st.cache_data(show_spinner=False, max_entries=256)
def purpose_in(folder: str, times: tuple[int, ...]) -> str:
    """The same for a folder whose files were written at these times."""
    try:
        family, _, config = checkpoint_files.read_parts(Path(folder), checkpoint_files.read_config(Path(folder)))
        return purpose(config, checkpoint_files.read_card(Path(folder)), family)
    except CheckpointError:
        return "cannot be used"


def prompt_of(name: str) -> str:
    """What a checkpoint learned to read before a text, so that it translates it from English; "" for nothing."""
    config = config_of(name)
    if config is None or not config.is_encoder_decoder:
        return ""
    return families.family_of(checkpoint_files.read_config(folder_of(name))).prompt


def config_of(name: str) -> Config | None:
    """What a checkpoint is, without its weights; None where its files say nothing."""
    folder = folder_of(name)
    return config_in(str(folder), tuple(file_times(folder)))


@st.cache_data(show_spinner=False, max_entries=256)
def config_in(folder: str, times: tuple[int, ...]) -> Config | None:
    """The same for a folder whose files were written at these times."""
    try:
        return checkpoint_files.read_parts(Path(folder), checkpoint_files.read_config(Path(folder)))[2]
    except CheckpointError:
        return None


def file_times(folder: Path) -> list[int]:
    """When the files of a folder were written."""
    return sorted(state.st_mtime_ns for state in file_states(folder))


def file_states(folder: Path) -> Iterator[os.stat_result]:
    """What the system says of what lies in a folder; nothing of a link to nowhere, or of what is deleted meanwhile.

    By os.scandir: a page asks dozens of times in a run, and Path.glob takes longer.
    """
    if not folder.is_dir():
        return
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                yield entry.stat()


def check_lengths(*texts: str) -> None:
    """InputError for a text that is longer than a page reads."""
    for text in texts:
        if len(text) > LONGEST_TEXT:
            raise InputError(f"The text has {len(text):,} characters; at most {LONGEST_TEXT:,} are read.")


def bytes_of(trace: Trace) -> int:
    """What the memory behind the tensors of a trace takes; a stream or a bias that several of them show counts once."""
    sizes: dict[int, int] = {}

    def weigh(tensor: Tensor) -> Tensor:
        memory = tensor.untyped_storage()
        sizes[memory.data_ptr()] = memory.nbytes()
        return tensor

    map_tensors(trace, weigh)
    return sum(sizes.values())
