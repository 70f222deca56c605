"""Asking the hub, through the session of huggingface_hub, which is imported when something is first asked.

Where it lies (HF_ENDPOINT), the token (HF_TOKEN) and how long an answer may take (HF_HUB_DOWNLOAD_TIMEOUT, seconds) are
read from the environment each time. Nothing else is sent: no token from a login, no telemetry; and files come by plain
HTTP, without hf_xet.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Event
from typing import Any
from urllib.parse import quote

from model.errors import CheckpointError, printable
from model.loading.hub.background import go_on
from model.loading.hub.names import MAIN, HubName

HUB = "https://huggingface.co"
USUAL_PATIENCE, LONGEST_PATIENCE = 10.0, 60.0  # seconds
LARGEST_ANSWER = 16 << 20
MISSING, GATED, BUSY = 404, (401, 403), 429
NO_QUERY: Mapping[str, str] = {}


class NotOnHub(CheckpointError):  # noqa: N818 -- it says what is missing
    """A model that the hub does not have, or does not show."""


class Offline(CheckpointError):  # noqa: N818 -- it says what is missing
    """The hub cannot be reached."""


class UnreadableError(Exception):
    """An answer that is none of the hub's."""


def endpoint() -> str:
    """Where the hub is."""
    return os.environ.get("HF_ENDPOINT", "").strip().rstrip("/") or HUB


def token() -> str:
    """The access token in the environment; "" where there is none."""
    value = os.environ.get("HF_TOKEN", "").strip()
    if not (value.isascii() and value.isprintable()) or " " in value:
        raise CheckpointError("HF_TOKEN holds no access token of the hub: correct that environment variable.")
    return value


def patience() -> float:
    """How many seconds the hub may be silent."""
    try:
        seconds = float(os.environ.get("HF_HUB_DOWNLOAD_TIMEOUT", ""))
    except ValueError:
        return USUAL_PATIENCE
    return min(seconds, LONGEST_PATIENCE) if seconds > 0 else USUAL_PATIENCE


def file_address(name: HubName, file: str) -> str:
    """The address of a file at a revision."""
    return f"{endpoint()}/{name.repo}/resolve/{quote(name.revision or '', safe='')}/{quote(file)}"


@contextmanager
def answer(url: str, first: int = 0, last: int | None = None, query: Mapping[str, str] = NO_QUERY) -> Iterator[Any]:
    """The hub's answer, its body not read yet. ``first`` and ``last``: the bytes that are wanted of a file.

    A redirection to another host does not take the token along.
    """
    from huggingface_hub import __version__, get_session
    from huggingface_hub.utils import hf_raise_for_status  # type: ignore[attr-defined] # public, without saying so

    headers = {"user-agent": f"headlight; hf_hub/{__version__}", "accept-encoding": "identity"}
    if token():
        headers["authorization"] = f"Bearer {token()}"
    if first or last is not None:
        headers["range"] = f"bytes={first}-{'' if last is None else last}"
    with get_session().stream("GET", url, headers=headers, params=query, timeout=patience()) as response:
        hf_raise_for_status(response)
        yield response


def read(url: str, largest: int, over: Event, last: int | None = None, query: Mapping[str, str] = NO_QUERY) -> bytes:
    """The body of an answer, at most so many bytes, or its beginning up to the byte ``last``."""
    content = bytearray()
    most = largest if last is None else last + 1
    with answer(url, last=last, query=query) as response:
        for part in response.iter_bytes():
            go_on(over)
            content += part
            if len(content) >= most and last is not None:  # a server may send all of a file though asked for a part
                break
            if len(content) > most:
                raise UnreadableError
    return bytes(content[:most])


def ask(path: str, over: Event, **parameters: str) -> Any:
    """What the hub says of something, as JSON."""
    content = read(f"{endpoint()}/api/{path}", LARGEST_ANSWER, over, query=parameters)
    with readable():
        return json.loads(content)


@contextmanager
def readable() -> Iterator[None]:
    """An answer of the hub is looked at inside: where it lacks something, it is none."""
    try:
        yield
    except (KeyError, TypeError, ValueError, RecursionError):
        raise UnreadableError from None


@contextmanager
def explained(name: HubName) -> Iterator[None]:
    """Whatever goes wrong inside between us and the hub, as a CheckpointError of one sentence."""
    import httpx2  # what huggingface_hub itself speaks through, and whose errors it lets pass
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

    repo = printable(name.repo)
    try:
        yield
    except HfHubHTTPError as error:
        raise refusal(name, error) from None
    except httpx2.TimeoutException:
        raise CheckpointError(f"The hub was silent for {patience():.0f} seconds: try {repo} again later.") from None
    except (httpx2.TransportError, OfflineModeIsEnabled):
        raise Offline(
            f"The hub cannot be reached, so {repo} cannot be downloaded: check the connection to the internet. "
            "Models that were downloaded before still open."
        ) from None
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, UnreadableError):
        raise CheckpointError(
            f"The hub's answer about {repo} cannot be read: try again, or check HF_ENDPOINT where it is set."
        ) from None


def refusal(name: HubName, error: Any) -> CheckpointError:
    """What the hub's refusal means."""
    from huggingface_hub.errors import (
        EntryNotFoundError,
        GatedRepoError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    status, repo = error.response.status_code, printable(name.repo)
    if isinstance(error, RevisionNotFoundError):
        revision = printable(name.revision or MAIN)
        return CheckpointError(f"{repo} has no revision {revision} on the hub: name a branch, a tag or a commit of it.")
    if isinstance(error, EntryNotFoundError):
        return CheckpointError(f"A file that the hub lists for {repo} is not there: try again in a minute.")
    if isinstance(error, GatedRepoError) or (status in GATED and not isinstance(error, RepositoryNotFoundError)):
        return CheckpointError(gated(repo))
    if isinstance(error, RepositoryNotFoundError) or status == MISSING:
        private = "is shown where the token in HF_TOKEN may see it" if token() else "needs a token in HF_TOKEN"
        return NotOnHub(f"The hub has no model {repo}: check how it is spelt; one that is private {private}.")
    if status == BUSY:
        return CheckpointError(f"The hub asks for fewer requests: try {repo} again in a few minutes.")
    return CheckpointError(f"The hub answered with status {status}: try {repo} again in a minute.")


def gated(repo: str) -> str:
    """What to do about a model that is not for everybody."""
    if token():
        return (
            f"{repo} is gated, and the token in the environment variable HF_TOKEN does not open it: accept its terms "
            "on its page on the hub, with the account that the token belongs to."
        )
    return (
        f"{repo} is gated: accept its terms on its page on the hub, and start Headlight with an access token of that "
        "account in the environment variable HF_TOKEN."
    )
