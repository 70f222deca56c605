"""Our own copies of large weight files, from which the system maps the parts that are used and may drop them again.

A file is never mapped where it lies, for somebody may write to it while it is in use; one that was downloaded into our
own cache is, for nobody does. In the copy every matrix lies row by row as the model uses it, also one that is stored as
(in, out): a single token is multiplied faster by it that way.
"""

import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Mapping, Set
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors import safe_open
from torch import Tensor

from model.errors import CheckpointError
from model.loading.bounded_files import refuse
from model.loading.headers import Stored, read_header

CHECKED_AT_ONCE = 1 << 22  # numbers
CACHE_BYTES = 8 << 30
STALE = 24 * 3600  # seconds after which a copy that was never finished may go


class FileState(NamedTuple):
    """What tells a file from any other, and from itself with another content; size in bytes, time in nanoseconds."""

    path: str
    inode: int
    size: int
    changed: int


def cache_folder() -> Path:
    """Where copies of large weight files lie: HEADLIGHT_CACHE, or headlight in the user's cache folder."""
    own, user = os.environ.get("HEADLIGHT_CACHE"), os.environ.get("XDG_CACHE_HOME")
    return Path(own) if own else (Path(user) if user else Path.home() / ".cache") / "headlight"


def hub_folder() -> Path:
    """Where what was downloaded from the hub lies, in the layout of huggingface_hub: files named by their content."""
    return cache_folder() / "hub"


def private_copy(path: Path, entries: Mapping[str, Stored], across: Set[str]) -> Path | None:
    """A copy of a file in our own cache, made once for every state of the file; None where none can be written.

    A downloaded file of which every matrix lies as it is used needs none: it is itself that copy.

    What lies in the cache under its last name has been checked: header as found before, and numbers. The numbers of a
    matrix ``across`` are in the order of its columns, whatever the header says of its shape.
    """
    if not across and hub_folder().resolve() in path.resolve().parents:
        return checked_download(path, entries)
    copy = cache_folder() / f"{prefix_of(path)}-{digest(sorted(entries), sorted(across))[:24]}.safetensors"
    if copy.exists():
        os.utime(copy)
        return copy
    part = copied(path, copy)
    if part is None:
        return None
    try:
        check_copy(part, path.name, entries)
        transpose(part, across)
        part.replace(copy)
    finally:
        part.unlink(missing_ok=True)
    return copy


def checked_download(path: Path, entries: Mapping[str, Stored]) -> Path:
    """A downloaded file, its header and numbers checked once for every state of it."""
    note = cache_folder() / f"{prefix_of(path)}-{digest(sorted(entries))[:24]}.checked"
    if not note.exists():
        check_copy(path, path.name, entries)
        with contextlib.suppress(OSError):  # where no note can be written, it is checked again next time
            note.touch()
    return path.resolve()


def copies_of(path: Path) -> list[Path]:
    """What was written into our own cache of a file in its present state."""
    return list(cache_folder().glob(f"{prefix_of(path)}-*"))


def prefix_of(path: Path) -> str:
    """How the names begin of what is written of a file in this state."""
    return digest(state_of(path))[:40]


def state_of(path: Path) -> FileState:
    """What tells a file from any other and from itself with another content."""
    state = path.stat()
    return FileState(str(path.resolve()), state.st_ino, state.st_size, state.st_mtime_ns)


def digest(*facts: object) -> str:
    """One name for these facts, without the odd characters that a path may hold."""
    return hashlib.sha256(repr(facts).encode(errors="surrogateescape")).hexdigest()


def copied(path: Path, copy: Path) -> Path | None:
    """The file's bytes under a name of their own beside ``copy``; None where the cache is full or not writable."""
    try:
        copy.parent.mkdir(parents=True, exist_ok=True)
        make_room(copy.parent, path.stat().st_size)
        handle, name = tempfile.mkstemp(dir=copy.parent, suffix=".part")
    except OSError:
        return None
    try:
        with path.open("rb") as file, os.fdopen(handle, "wb") as part:
            shutil.copyfileobj(file, part, 1 << 24)
    except OSError:
        Path(name).unlink(missing_ok=True)
        return None
    return Path(name)


def check_copy(part: Path, file: str, entries: Mapping[str, Stored]) -> None:
    """Refuse a copy that is not what was checked before, because the file has changed, or that is not finite."""
    try:
        header = read_header(part)
    except CheckpointError:
        header = {}
    if any(header.get(name) != one for name, one in entries.items()):
        refuse(file, "file", "one that changed while it was read", "one that stays as it is")
    with safe_open(part, framework="pt") as opened:
        for name in entries:
            check_numbers(file, {name: opened.get_tensor(name)})


def transpose(part: Path, across: Set[str]) -> None:
    """Put the numbers of these matrices in the order of their columns, each where it was in the file."""
    places = read_header(part)
    with safe_open(part, framework="pt") as opened, part.open("r+b") as file:
        for name in across:
            file.seek(places[name].start)
            file.write(columns(opened.get_tensor(name)).view(torch.uint8).numpy().tobytes())


def columns(matrix: Tensor) -> Tensor:
    """The transpose, with its rows in new memory one after the other."""
    return matrix.mT.clone(memory_format=torch.contiguous_format)


def check_numbers(file: str, tensors: Mapping[str, Tensor]) -> None:
    """Refuse a tensor that holds anything but finite numbers."""
    for name, tensor in tensors.items():
        if not finite(tensor):
            refuse(file, name, "a number that is infinite or none", "finite numbers")


def finite(tensor: Tensor) -> bool:
    """Whether every number is; looked at in pieces, for a mask of a large tensor is large too."""
    for piece in tensor.reshape(-1).split(CHECKED_AT_ONCE):
        # A sum with an infinite or undefined number in it is one itself; few sums of finite numbers are.
        if not piece.sum(dtype=torch.float32).isfinite() and not piece.isfinite().all():
            return False
    return True


def make_room(folder: Path, needed: int) -> None:
    """Delete what was not used for longest until the rest and ``needed`` bytes stay within the cache's size."""
    files = sorted(folder.glob("*.safetensors"), key=lambda file: file.stat().st_mtime)
    files += [part for part in folder.glob("*.part") if time.time() - part.stat().st_mtime > STALE]
    kept = sum(file.stat().st_size for file in files)
    while files and kept + needed > CACHE_BYTES:
        oldest = files.pop(0)
        kept -= oldest.stat().st_size
        oldest.unlink(missing_ok=True)
