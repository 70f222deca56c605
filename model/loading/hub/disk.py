"""The disk under the cache of downloaded models: what is there, whose turn it is to write, and what it refuses."""

import errno
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

from model.errors import CheckpointError, printable
from model.loading.hub.background import go_on
from model.loading.hub.cache_folders import blobs_folder, part_of, repo_folder
from model.loading.hub.names import HubName
from model.loading.hub.repositories import HubFile
from model.loading.weight_cache import hub_folder

WAIT = 0.2  # seconds between two looks at whether to stop waiting for another download
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def present_bytes(name: HubName, files: Iterable[HubFile]) -> int:
    """How many bytes of these files are here already, of one that was cut off those that had arrived."""
    blobs = blobs_folder(name.repo)
    return sum(min(file.size, max(size_of(blobs / file.blob), size_of(part_of(blobs, file)))) for file in files)


def size_of(file: Path) -> int:
    """A file's size in bytes; 0 where there is none."""
    try:
        return file.stat().st_size
    except OSError:
        return 0


def existing_folder() -> Path:
    """The cache's folder, or the nearest above it that is there already."""
    folder = hub_folder().absolute()
    return next(one for one in (folder, *folder.parents) if one.exists())


@contextmanager
def locked(repo: str, over: Event | None = None) -> Iterator[None]:
    """Nobody else changes a model's folder meanwhile, in this process or another.

    Raises DownloadStopped once ``over`` is set; without one, CheckpointError where somebody else does.
    """
    from filelock import FileLock, Timeout  # what huggingface_hub itself locks with

    file = hub_folder() / ".locks" / f"{repo_folder(repo).name}.lock"
    file.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(file)
    while not lock.is_locked:
        if over is not None:
            go_on(over)
        try:
            lock.acquire(timeout=WAIT)
        except Timeout:
            if over is None:
                raise CheckpointError(f"{printable(repo)} is being downloaded: stop that first.") from None
    try:
        yield
    finally:
        lock.release()


@contextmanager
def written() -> Iterator[None]:
    """What the disk refuses inside, as a CheckpointError of one sentence."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise CheckpointError(
                "The disk is full. What has arrived is kept: make room and download again to go on, or delete it."
            ) from None
        why = error.strerror or "the disk fails"
        raise CheckpointError(
            f"The cache cannot be written ({why}): set HEADLIGHT_CACHE to a folder that can."
        ) from None
