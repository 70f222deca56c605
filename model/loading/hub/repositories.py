"""A repository of the hub at one commit: which files it has, how long they are and what tells their content."""

import re
from dataclasses import dataclass
from threading import Event
from typing import Any
from urllib.parse import quote

from model.loading.hub.client import ask, readable
from model.loading.hub.names import COMMIT, MAIN, HubName

SHA256 = re.compile(r"[0-9a-f]{64}")
LARGEST_FILE = 1 << 48  # bytes: whoever says more does not know
CONVERTER = "SFconvertbot"  # the hub's own account, which offers weights as safetensors in pull requests
MOST_CONVERSIONS = 3  # of one repository are looked at, the newest first


@dataclass(frozen=True)
class HubFile:
    """A file of a repository: its path, its size in bytes, and a hash of its content.

    sha256: of large files. git_id: git's own, of all others: the SHA-1 of a header and the content.
    """

    path: str
    size: int
    sha256: str | None = None
    git_id: str = ""

    @property
    def blob(self) -> str:
        """What huggingface_hub names the file in its cache: its hash, which no other content has."""
        return self.sha256 or self.git_id


@dataclass(frozen=True)
class Repository:
    """The files of a repository at a commit, by their paths."""

    name: HubName
    files: dict[str, HubFile]


def repository(name: HubName, over: Event) -> Repository:
    """What the hub has under a name now; its revision becomes a commit."""
    revision = quote(name.revision or MAIN, safe="")
    answer = ask(f"models/{name.repo}/revision/{revision}", over, blobs="true")
    with readable():
        if not COMMIT.fullmatch(answer["sha"]):
            raise ValueError("an answer without a commit")
        files = [file_of(entry) for entry in answer["siblings"]]
        return Repository(HubName(name.repo, answer["sha"]), {file.path: file for file in files})


def file_of(entry: dict[str, Any]) -> HubFile:
    """One file of the hub's answer. Raises KeyError, TypeError or ValueError where that is none."""
    path, size = entry["rfilename"], entry["size"]
    sha256 = entry["lfs"]["sha256"] if entry.get("lfs") else None
    git_id = entry["blobId"]
    if not isinstance(path, str) or type(size) is not int or not 0 <= size <= LARGEST_FILE:
        raise ValueError("a file without a size")
    if not COMMIT.fullmatch(git_id) or (sha256 is not None and not SHA256.fullmatch(sha256)):
        raise ValueError("a file without a hash")
    return HubFile(path, size, sha256, git_id)


def conversions(repo: str, over: Event) -> list[str]:
    """The revisions of the hub's own pull requests with safetensors, the newest first."""
    from huggingface_hub.errors import HfHubHTTPError

    try:
        answer = ask(f"models/{repo}/discussions", over, type="pull_request", author=CONVERTER)
    except HfHubHTTPError:  # a repository may have its discussions switched off
        return []
    with readable():
        requests = [entry for entry in answer["discussions"] if entry["isPullRequest"] is True]
        numbers = [int(entry["num"]) for entry in requests if entry["author"]["name"] == CONVERTER]
    return [f"refs/pr/{number}" for number in sorted(numbers, reverse=True)[:MOST_CONVERSIONS]]
