"""Where things lie in the cache of downloaded models: in our own cache folder, as huggingface_hub would put them.

A model at a commit is a folder of links, ``models--org--name/snapshots/<commit>``, to files named by their hashes in
``blobs`` beside it. ``refs`` says which commit a branch was when it was last asked for.
"""

from pathlib import Path

from model.loading.hub.names import COMMIT, MAIN, HubName
from model.loading.hub.repositories import HubFile
from model.loading.weight_cache import hub_folder

PREFIX, INCOMPLETE = "models--", ".incomplete"


def repo_folder(repo: str) -> Path:
    """Where everything of a model lies."""
    return hub_folder() / (PREFIX + repo.replace("/", "--"))


def snapshot_folder(name: HubName) -> Path:
    """The folder of a model at a commit."""
    return repo_folder(name.repo) / "snapshots" / (name.revision or MAIN)


def name_of(snapshot: Path) -> HubName:
    """The name of the model whose folder this is; ValueError where it is none's."""
    repo = snapshot.parent.parent.name
    if not COMMIT.fullmatch(snapshot.name) or not repo.startswith(PREFIX):
        raise ValueError("no folder of a model")
    return HubName(repo.removeprefix(PREFIX).replace("--", "/"), snapshot.name)


def blobs_folder(repo: str) -> Path:
    """Where the files lie that the folders of a model link to."""
    return repo_folder(repo) / "blobs"


def part_of(blobs: Path, file: HubFile) -> Path:
    """Where a file lies while it arrives."""
    return blobs / f"{file.blob}{INCOMPLETE}"


def reference(name: HubName) -> Path:
    """The file that says which commit a branch or a tag was."""
    return repo_folder(name.repo) / "refs" / (name.revision or MAIN)


def recorded(name: HubName) -> str | None:
    """The commit that a branch or a tag was when it was downloaded."""
    try:
        commit = reference(name).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return None
    return commit if COMMIT.fullmatch(commit) else None
