"""Downloading what a listing names: each file once, from where it was cut, checked against its hash."""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import IO, Any

from model.errors import CheckpointError
from model.loading.checkpoint_files import CONFIG
from model.loading.hub import client
from model.loading.hub.background import go_on, watched
from model.loading.hub.cache_folders import blobs_folder, part_of, reference, snapshot_folder
from model.loading.hub.disk import locked, present_bytes, size_of, written
from model.loading.hub.listings import Listing
from model.loading.hub.names import HubName
from model.loading.hub.repositories import HubFile

MOST_ATTEMPTS = 3  # without a byte more
PAUSE = 1.0  # seconds before the next
READ_AT_ONCE = 1 << 20
NO_SUCH_RANGE, FAILED = 416, 500


@dataclass
class Arrived:
    """How many bytes of a download are here, written by its thread and read by the one that waits."""

    bytes: int = 0


def download(listing: Listing, *, progress: Callable[[int, int], None], stop: Callable[[], bool]) -> Path:
    """Fetch what a listing names and is not here yet; the folder that it then is in.

    progress: called with the bytes that are here and those of all, at least ten times a second. Raises DownloadStopped
    within about a second of ``stop`` saying so, CheckpointError for whatever goes wrong; what has arrived is kept.
    """
    arrived = Arrived()
    folder = watched(
        lambda over: fetch_all(listing, arrived, over),
        stop=stop,
        tick=lambda: progress(min(arrived.bytes, listing.bytes), listing.bytes),
    )
    progress(listing.bytes, listing.bytes)
    return folder


def fetch_all(listing: Listing, arrived: Arrived, over: Event) -> Path:
    """The same, in its own thread."""
    name, folder = listing.name, snapshot_folder(listing.name)
    blobs = blobs_folder(name.repo)
    arrived.bytes = present_bytes(name, listing.files)
    with written(), client.explained(name), locked(name.repo, over):
        for place in (blobs, folder):
            place.mkdir(parents=True, exist_ok=True)
        arrived.bytes = 0
        for file in sorted(listing.files, key=lambda file: file.path == CONFIG):
            fetch(name, file, blobs, arrived, over)
            link(folder / file.path, blobs / file.blob)
        record(HubName(name.repo, listing.asked), name)
    return folder


def fetch(name: HubName, file: HubFile, blobs: Path, arrived: Arrived, over: Event) -> None:
    """One file, under its hash."""
    go_on(over)
    blob, part = blobs / file.blob, part_of(blobs, file)
    if blob.exists() and size_of(blob) == file.size:
        arrived.bytes += file.size
        return
    with part.open("r+b" if part.exists() else "w+b") as opened:
        intake = Intake(opened, file, arrived, over)
        intake.read_again()
        intake.receive_all(client.file_address(name, file.path))
        opened.flush()
        os.fsync(opened.fileno())
    if intake.hash.hexdigest() != file.blob:
        part.unlink()
        raise CheckpointError(
            f"{file.path} of {name.repo} arrived damaged: its content is not what the hub lists. It has been deleted; "
            "download again."
        )
    part.replace(blob)


class Intake:
    """A file that is arriving, and the hash of what has."""

    def __init__(self, opened: IO[bytes], file: HubFile, arrived: Arrived, over: Event) -> None:
        self.opened, self.file, self.arrived, self.over = opened, file, arrived, over
        self.size, self.hash = 0, empty_hash(file)

    def take(self, content: bytes) -> None:
        """Count a piece that lies in the file now."""
        self.hash.update(content)
        self.size += len(content)
        self.arrived.bytes += len(content)

    def start_again(self) -> None:
        """Forget what has arrived."""
        self.opened.seek(0)
        self.opened.truncate()
        self.arrived.bytes -= self.size
        self.size, self.hash = 0, empty_hash(self.file)

    def read_again(self) -> None:
        """Take what an earlier download left."""
        while content := self.opened.read(READ_AT_ONCE):
            go_on(self.over)
            self.take(content)
        if self.size > self.file.size:
            self.start_again()

    def receive_all(self, url: str) -> None:
        """The rest of the file, asked for again where the connection is cut, until no more comes."""
        import httpx2
        from huggingface_hub.errors import HfHubHTTPError

        attempts = 0
        while self.size < self.file.size:
            before = self.size
            failure: Exception = httpx2.ReadError("the hub sends nothing")
            try:
                self.receive(url)
            except (httpx2.TransportError, HfHubHTTPError) as error:
                failure = error
            attempts = 0 if self.size > before else attempts + 1
            if attempts >= MOST_ATTEMPTS or is_final(failure):
                raise failure
            if self.size < self.file.size:
                self.over.wait(PAUSE)
                go_on(self.over)

    def receive(self, url: str) -> None:
        """What one request brings."""
        from huggingface_hub.errors import HfHubHTTPError

        try:
            with client.answer(url, self.size) as response:
                if self.size and not continues(response, self.size):
                    self.start_again()
                for content in response.iter_bytes():
                    go_on(self.over)
                    self.opened.write(content)
                    self.take(content)
                    if self.size > self.file.size:
                        raise client.UnreadableError
        except HfHubHTTPError as error:
            if error.response.status_code != NO_SUCH_RANGE or not self.size:
                raise
            self.start_again()


def is_final(failure: Exception) -> bool:
    """Whether the hub has refused, and not just failed."""
    status = getattr(getattr(failure, "response", None), "status_code", FAILED)
    return status < FAILED


def continues(response: Any, start: int) -> bool:
    """Whether an answer goes on from this byte, and is not the whole file again."""
    return response.status_code == 206 and response.headers.get("content-range", "").startswith(f"bytes {start}-")


def empty_hash(file: HubFile) -> Any:
    """The hash that the file's name in the cache is of, before its content."""
    if file.sha256:
        return hashlib.sha256()
    return hashlib.sha1(f"blob {file.size}\0".encode(), usedforsecurity=False)


def link(path: Path, blob: Path) -> None:
    """A link to a file under its name in the model's folder; where links are not allowed, the same file twice."""
    if path.exists():
        return
    path.unlink(missing_ok=True)
    try:
        path.symlink_to(os.path.relpath(blob, path.parent))
    except (OSError, NotImplementedError):
        os.link(blob, path)


def record(asked: HubName, name: HubName) -> None:
    """Note which commit a branch or a tag is."""
    if not asked.is_pinned:
        file = reference(asked)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name.revision or "", encoding="ascii")
