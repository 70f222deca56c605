"""Models that are not bundled, for those who walk at random: of a hub on this machine, and files of their own."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from playwright.sync_api import FilePayload

from model import available_checkpoints, load_checkpoint
from model.loading import checkpoint_files, hub
from tests import reference, tiny
from tests.folders import KINDS
from tests.hub_server import hub_server

MINE = "mine.zip"  # a model; the others are none
UPLOADS = {MINE: b"", "spoilt.zip": b"PK", "notes.txt": b"no model"}  # what a visitor has at hand
BROUGHT = ("gpt2", "llama", "bert", "bert-classifier", "bert-bare", "marian", "t5")


@contextmanager
def brought_models() -> Iterator[None]:
    """One model of each of these kinds in a cache of its own, which the servers that are started meanwhile share.

    And one of them as a zip, to be uploaded.
    """
    with TemporaryDirectory() as temporary:
        root = Path(temporary)
        folders = {f"tiny/{kind}": root / kind for kind in BROUGHT}
        for kind in BROUGHT:
            reference.make(KINDS[kind][0], root / kind, **KINDS[kind][1])
            tiny.tokenizer().save(root / kind / checkpoint_files.TOKENIZER)
        UPLOADS[MINE] = Path(shutil.make_archive(str(root / "mine"), "zip", root / BROUGHT[0])).read_bytes()
        with hub_server(folders) as endpoint:
            variables = {"HF_ENDPOINT": endpoint, "HEADLIGHT_CACHE": str(root / "cache")}
            with patch.dict(os.environ, variables):
                for repo in folders:
                    load_checkpoint(repo, device="cpu")
                yield


def file_at_hand(name: str) -> FilePayload:
    """One of the files that a visitor may upload, as Playwright takes it."""
    return {"name": name, "mimeType": "application/octet-stream", "buffer": UPLOADS[name]}


def model_names() -> list[str]:
    """What the app calls the models that every visitor finds in its list."""
    return [*available_checkpoints(), *sorted(map(str, hub.cached_folders()))]
