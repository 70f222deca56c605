"""A server on this machine that answers as the Hugging Face hub does, with folders for repositories, faults to order.

    with hub_server({"org/name": folder}) as address:
        monkeypatch.setenv("HF_ENDPOINT", address)

The app under test may run in another process: HF_ENDPOINT in its environment is all it needs. ``python -m
tests.hub_server folder …`` serves folders by their own names until it is interrupted.
"""

import hashlib
import json
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

LARGE = (".safetensors", ".spm", ".bin")  # files that the hub keeps in LFS, by their SHA-256
PIECE = 1 << 16
CONVERTER = "SFconvertbot"
TITLE = "Adding `safetensors` variant of this model"


@dataclass
class Switches:
    """What goes wrong, from the next request on; the rest is right. And what was asked, the newest last."""

    gated: set[str] = field(default_factory=set)  # repositories whose files need a token
    private: set[str] = field(default_factory=set)  # those of which nothing is said without one
    token: str = "hf_right"
    cut_after: int | None = None  # bytes of a body after which the connection is cut
    cuts: int = 1 << 30  # how often that happens
    damaged: set[str] = field(default_factory=set)  # file names of which the last byte arrives wrong
    silent: float = 0.0  # seconds before an answer begins
    silent_files: set[str] = field(default_factory=set)  # of these files alone, where any are named
    rate: float | None = None  # bytes a second
    no_ranges: bool = False  # the whole file is sent, whatever was asked for
    status: int | None = None  # what every request is answered with
    elsewhere: str | None = None  # address of another such server that large files are redirected to
    all_authors: bool = False  # pull requests of everybody are listed, whoever was asked for
    nonsense: bool = False  # what the interface says is no JSON
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)  # address, headers

    def asked(self, file: str) -> list[dict[str, str]]:
        """The headers of the requests for a file."""
        return [headers for address, headers in self.requests if address.endswith(f"/{file}")]


@dataclass
class Hub:
    """What a server serves: the folder of every revision of every repository."""

    repositories: dict[str, dict[str, Path]]
    switches: Switches
    lock: threading.Lock = field(default_factory=threading.Lock)

    def cut(self) -> bool:
        """Whether the next body is cut, of as many as are."""
        with self.lock:
            self.switches.cuts -= 1
            return self.switches.cuts >= 0


@contextmanager
def hub_server(
    repositories: Mapping[str, Path],
    switches: Switches | None = None,
    *,
    revisions: Mapping[str, Mapping[str, Path]] | None = None,
    **faults: Any,
) -> Iterator[str]:
    """Serve these folders as the main branches of repositories, at the address that it gives.

    switches: to be changed while it runs. faults: fields of ``Switches`` that need not be. revisions: more of them, by
    name: {"org/name": {"v1.0": folder, "refs/pr/3": folder}}; a pull request is one of the hub's own account.
    """
    named = {repo: {"main": folder, **(revisions or {}).get(repo, {})} for repo, folder in repositories.items()}
    hub = Hub(named, switches or Switches(**faults))
    server = Server(("127.0.0.1", 0), type("HubHandler", (Handler,), {"hub": hub}))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        server.hang_up()
        thread.join()


class Server(ThreadingHTTPServer):
    """A server that is gone when it is closed, for those too who still hold a connection."""

    daemon_threads, block_on_close = True, False

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.connections: list[socket.socket] = []

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer whoever connects."""
        self.connections.append(request)
        super().process_request(request, client_address)

    def hang_up(self) -> None:
        """End every connection."""
        for connection in self.connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


def commit_of(folder: Path) -> str:
    """A commit for what a folder holds."""
    return hashlib.sha1("".join(f"{path.name} {git_id(path)}\n" for path in files_of(folder)).encode()).hexdigest()


def files_of(folder: Path) -> list[Path]:
    """The files at the top of a folder."""
    return sorted(path for path in folder.iterdir() if path.is_file())


def git_id(path: Path) -> str:
    """Git's own hash of a file."""
    state = path.stat()
    return hashes(path, state.st_size, state.st_mtime_ns)[0]


def sha256(path: Path) -> str:
    """The hash of a large file."""
    state = path.stat()
    return hashes(path, state.st_size, state.st_mtime_ns)[1]


@cache
def hashes(path: Path, size: int, _changed: int) -> tuple[str, str]:
    """Both, of a file in this state."""
    git, large = hashlib.sha1(f"blob {size}\0".encode()), hashlib.sha256()
    with path.open("rb") as file:
        while content := file.read(PIECE):
            git.update(content)
            large.update(content)
    return git.hexdigest(), large.hexdigest()


def entry_of(path: Path) -> dict[str, Any]:
    """A file as the hub lists it."""
    entry: dict[str, Any] = {"rfilename": path.name, "size": path.stat().st_size, "blobId": git_id(path)}
    if path.suffix in LARGE:
        entry["lfs"] = {"sha256": sha256(path), "size": path.stat().st_size, "pointerSize": 134}
    return entry


class Handler(BaseHTTPRequestHandler):
    """Answers one request. ``hub`` is what is served."""

    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""

    def do_HEAD(self) -> None:
        """What a GET says of a file, without the file."""
        self.do_GET()

    def do_GET(self) -> None:
        """An answer of the interface, or a file."""
        address = urlsplit(self.path)
        parts = [unquote(part) for part in address.path.strip("/").split("/")]
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.hub.switches.requests.append((address.path, headers))
        if not self.hub.switches.silent_files or parts[-1] in self.hub.switches.silent_files:
            time.sleep(self.hub.switches.silent)
        try:
            if self.hub.switches.status is not None:
                self.refuse(self.hub.switches.status, "", "not now")
            elif parts[:2] == ["api", "models"]:
                self.answer_question(parts[2:], parse_qs(address.query))
            elif "resolve" in parts:
                self.answer_file(parts)
            else:
                self.refuse(HTTPStatus.NOT_FOUND, "", "no such address")
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def answer_question(self, parts: list[str], query: dict[str, list[str]]) -> None:
        """What /api/models says of a repository."""
        repository = self.repository(parts)
        if repository is None:
            return
        repo, rest = repository
        revisions = self.hub.repositories[repo]
        if self.hub.switches.nonsense:
            self.send(HTTPStatus.OK, b"<html>Welcome to our network</html>", {"Content-Type": "text/html"})
        elif rest == ["refs"]:
            self.send_json({"branches": self.references(repo), "tags": [], "converts": [], "pullRequests": []})
        elif rest == ["discussions"]:
            self.send_json(self.discussions(repo, query))
        elif rest in ([], ["revision", *rest[1:]]):
            revision = self.revision(repo, "/".join(rest[1:]) or "main")
            if revision is None:
                self.refuse(HTTPStatus.NOT_FOUND, "RevisionNotFound", "Invalid rev id")
                return
            files = [entry_of(path) for path in files_of(revisions[revision])]
            values = {"id": repo, "sha": commit_of(revisions[revision]), "siblings": files, "private": False}
            self.send_json(values | {"gated": "auto" if repo in self.hub.switches.gated else False})
        else:
            self.refuse(HTTPStatus.NOT_FOUND, "", "no such address")

    def repository(self, parts: list[str]) -> tuple[str, list[str]] | None:
        """The repository that an address begins with and what follows it; None where that has been refused."""
        for length in (2, 1):
            repo = "/".join(parts[:length])
            if repo in self.hub.repositories and (repo not in self.hub.switches.private or self.has_token()):
                return repo, parts[length:]
        status = HTTPStatus.NOT_FOUND if self.has_token() else HTTPStatus.UNAUTHORIZED
        self.refuse(status, "RepoNotFound", "Repository not found")
        return None

    def has_token(self) -> bool:
        """Whether the right token came along."""
        return self.headers.get("authorization") == f"Bearer {self.hub.switches.token}"

    def revision(self, repo: str, reference: str) -> str | None:
        """The name under which a branch, a tag, a pull request or a commit is served."""
        revisions = self.hub.repositories[repo]
        return next((name for name in revisions if reference in (name, commit_of(revisions[name]))), None)

    def references(self, repo: str) -> list[dict[str, str]]:
        """The branches of a repository."""
        revisions = self.hub.repositories[repo]
        return [{"name": "main", "ref": "refs/heads/main", "targetCommit": commit_of(revisions["main"])}]

    def discussions(self, repo: str, query: dict[str, list[str]]) -> dict[str, Any]:
        """The pull requests of the converting account, and one of somebody else's."""
        numbers = [int(name.rpartition("/")[2]) for name in self.hub.repositories[repo] if name.startswith("refs/pr/")]
        authors = [(number, CONVERTER) for number in numbers] + [(max(numbers, default=0) + 1, "somebody")]
        asked_author = query.get("author", [None])[0]
        entries = [
            {"num": number, "title": TITLE, "status": "open", "isPullRequest": True, "author": {"name": author}}
            for number, author in authors
            if asked_author in (None, author) or self.hub.switches.all_authors
        ]
        return {"count": len(entries), "start": 0, "discussions": entries}

    def answer_file(self, parts: list[str]) -> None:
        """A file at a revision."""
        repository = self.repository(parts)
        if repository is None:
            return
        repo, (_, reference, *path) = repository
        revision = self.revision(repo, reference)
        if revision is None:
            self.refuse(HTTPStatus.NOT_FOUND, "RevisionNotFound", "Invalid rev id")
            return
        if repo in self.hub.switches.gated and not self.has_token():
            refused = HTTPStatus.FORBIDDEN if "authorization" in self.headers else HTTPStatus.UNAUTHORIZED
            self.refuse(refused, "GatedRepo", f"Access to model {repo} is restricted")
            return
        file = self.hub.repositories[repo][revision] / "/".join(path)
        if not file.is_file():
            self.refuse(HTTPStatus.NOT_FOUND, "EntryNotFound", "Entry not found")
            return
        large = file.suffix in LARGE
        headers = {"ETag": f'"{sha256(file) if large else git_id(file)}"', "Accept-Ranges": "bytes"}
        headers["X-Repo-Commit"] = commit_of(self.hub.repositories[repo][revision])
        if large and self.hub.switches.elsewhere is not None:
            headers |= {"X-Linked-Etag": headers["ETag"], "X-Linked-Size": str(file.stat().st_size)}
            self.send(HTTPStatus.FOUND, b"", headers | {"Location": f"{self.hub.switches.elsewhere}{self.path}"})
        else:
            self.send_file(file, headers)

    def send_file(self, file: Path, headers: dict[str, str]) -> None:
        """A file, or the part of it that was asked for."""
        size = file.stat().st_size
        start, end, status = 0, size - 1, HTTPStatus.OK
        if (byte_range := self.headers.get("range")) and not self.hub.switches.no_ranges:
            first, _, last = byte_range.removeprefix("bytes=").partition("-")
            start, end = int(first), min(int(last) if last else end, end)
            status = HTTPStatus.PARTIAL_CONTENT
            headers = headers | {"Content-Range": f"bytes {start}-{end}/{size}"}
            if start >= size:
                self.refuse(HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, "", "")
                return
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(end - start + 1))
        self.end_headers()
        if self.command == "GET":
            self.send_pieces(file, start, end + 1)

    def send_pieces(self, file: Path, start: int, end: int) -> None:
        """The bytes of a file from ``start`` to before ``end``, with the faults that were ordered."""
        switches, sent = self.hub.switches, 0
        with file.open("rb") as opened:
            opened.seek(start)
            while start + sent < end:
                piece = opened.read(min(PIECE if switches.rate is None else 4096, end - start - sent))
                if file.name in switches.damaged and start + sent + len(piece) == file.stat().st_size:
                    piece = piece[:-1] + bytes([piece[-1] ^ 1])
                if switches.cut_after is not None and sent + len(piece) > switches.cut_after and self.hub.cut():
                    self.wfile.write(piece[: switches.cut_after - sent])
                    self.close_connection = True
                    return
                self.wfile.write(piece)
                sent += len(piece)
                if switches.rate is not None:
                    time.sleep(len(piece) / switches.rate)

    def send_json(self, values: dict[str, Any]) -> None:
        """An answer of the interface."""
        self.send(HTTPStatus.OK, json.dumps(values).encode(), {"Content-Type": "application/json"})

    def refuse(self, status: int, code: str, message: str) -> None:
        """A refusal as the hub words it: in two headers."""
        headers = {"X-Error-Code": code, "X-Error-Message": message} if code else {}
        self.send(status, json.dumps({"error": message}).encode(), {"Content-Type": "application/json", **headers})

    def send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        """An answer that is sent as a whole."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


if __name__ == "__main__":
    with hub_server({Path(folder).resolve().name: Path(folder).resolve() for folder in sys.argv[1:]}) as running:
        print(f"HF_ENDPOINT={running}", flush=True)
        threading.Event().wait()
