"""The downloaded models: which there are, and deleting them. Nothing here asks the network or imports huggingface_hub.

Of a model's folder the link to config.json is made last: where it is, everything is.
"""

import contextlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from model.loading.checkpoint_files import CONFIG
from model.loading.hub.cache_folders import INCOMPLETE, blobs_folder, name_of, recorded, repo_folder, snapshot_folder
from model.loading.hub.disk import locked, written
from model.loading.hub.names import HubName
from model.loading.weight_cache import copies_of, hub_folder


@dataclass(frozen=True)
class CachedModel:
    """A downloaded model: its name with the commit, its folder, its bytes on the disk, and when it was last opened.

    bytes: of its files, shared ones among them, and of their copies in the order of columns. used: seconds since 1970.
    """

    name: HubName
    folder: Path
    bytes: int
    used: float


def cached() -> list[CachedModel]:
    """The models that open without the network, the last used first."""
    return [model for model in snapshots() if is_whole(model.folder)]


def cached_folders() -> dict[HubName, Path]:
    """The folders of the models that open without the network, by name; in a fraction of the time of ``cached``."""
    folders = {}
    for folder in filter(is_whole, hub_folder().glob("*/snapshots/*")):
        with contextlib.suppress(ValueError):
            folders[name_of(folder)] = folder
    return folders


def unfinished() -> list[CachedModel]:
    """The downloads that were begun and not brought to an end; ``bytes`` have arrived."""
    return [model for model in snapshots() if not is_whole(model.folder)]


def is_whole(folder: Path) -> bool:
    """Whether everything of a model is there."""
    return (folder / CONFIG).exists()


def snapshots(repo: str | None = None) -> list[CachedModel]:
    """Every folder of one model or of all, the last used first."""
    pattern = "*" if repo is None else repo_folder(repo).name
    models = []
    for folder in hub_folder().glob(f"{pattern}/snapshots/*"):
        with contextlib.suppress(OSError, ValueError):  # deleted meanwhile; a folder that is no model's
            models.append(CachedModel(name_of(folder), folder, bytes_of(folder), folder.stat().st_mtime))
    return sorted(models, key=lambda model: -model.used)


def bytes_of(folder: Path) -> int:
    """What a model takes of the disk; of a download that is not finished, what lies beside its last files too."""
    files = [file for file in folder.iterdir() if file.exists()]
    if not is_whole(folder):
        files += blobs_folder(name_of(folder).repo).glob(f"*{INCOMPLETE}")
    copies = [copy for file in files for copy in copies_of(file)]
    return sum(file.stat().st_size for file in [*files, *copies])


def cached_folder(name: HubName) -> Path | None:
    """The folder of a downloaded model; None where it is not there in full.

    Without a revision that is the main branch as it was when it was last asked for, else the last used of all.
    """
    commit = name.revision if name.is_pinned else recorded(name)
    folders = [snapshot_folder(HubName(name.repo, commit))] if commit is not None else []
    if name.revision is None:
        folders += [model.folder for model in snapshots(name.repo)]
    return next(filter(is_whole, folders), None)


def mark_used(folder: Path) -> None:
    """Note that a downloaded model has been opened now."""
    with contextlib.suppress(OSError):
        os.utime(folder)


def delete(name: HubName) -> None:
    """Delete a downloaded model and its copies, without a revision every commit of it; what is open stays usable.

    CheckpointError where it is being downloaded or the cache cannot be written.
    """
    folder = repo_folder(name.repo)
    if not folder.exists():
        return
    with written(), locked(name.repo):
        kept = [model.folder for model in snapshots(name.repo) if name.revision not in (None, model.folder.name)]
        needed = {file.resolve() for snapshot in kept for file in snapshot.iterdir()}
        unneeded = [blob for blob in blobs_folder(name.repo).glob("*") if blob.resolve() not in needed]
        for file in [*(copy for blob in unneeded for copy in copies_of(blob)), *unneeded]:
            file.unlink(missing_ok=True)
        if not kept:
            shutil.rmtree(folder)
        elif (deleted := snapshot_folder(name)).exists():
            shutil.rmtree(deleted)
