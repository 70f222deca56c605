"""What all tests share."""

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import jaxtyping
import pytest
import torch
from hypothesis import settings
from playwright.sync_api import Browser

from tests.running import chromium, running_app

# No test asks the real hub: nobody answers at this address. huggingface_hub reads it when it is imported.
os.environ["HF_ENDPOINT"] = "http://127.0.0.1:9"

# Tiny models lose more to handing work between threads than they gain.
torch.set_num_threads(1)

# A slow machine is no failure (deadline); an unattended run tries the same examples every time.
settings.register_profile("default", max_examples=50, deadline=None)
settings.register_profile("ci", settings.get_profile("default"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


# To check every shape and type makes a test of small models three to five times as long. A test with many cases does it
# in some of them, spread over all; what it says of the numbers it checks in every one.
CASES_CHECKED = 2
UNCHECKED = pytest.StashKey[bool]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Choose the cases in which shapes and types are not checked."""
    cases = defaultdict(list)
    for item in items:
        cases[item.nodeid.partition("[")[0]].append(item)
    for of_one_test in cases.values():
        every = -(-len(of_one_test) // CASES_CHECKED)
        for place, item in enumerate(of_one_test):
            item.stash[UNCHECKED] = place % every != 0


@pytest.fixture(autouse=True)
def shapes_checked(request: pytest.FixtureRequest) -> None:
    """Whether model/ and viz/ check shapes and types while this test runs."""
    jaxtyping.config.update("jaxtyping_disable", request.node.stash[UNCHECKED])


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoints folder with a tiny random model of every kind, without cards.

    Of the whole run: a test that adds to it takes away what it added.
    """
    from tests.folders import make_folders  # not above: it brings huggingface_hub, which is to see HF_ENDPOINT

    root = tmp_path_factory.mktemp("checkpoints")
    make_folders(root)
    return root


@pytest.fixture
def app_folders(folders: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, and the app has no other checkpoints."""
    monkeypatch.setattr("model.checkpoint.CHECKPOINTS", folders)
    return folders


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Not for the whole run: while it is open, the main thread has an event loop that other tests may not want."""
    with chromium() as started:
        yield started


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Where the app runs that all browser tests share."""
    with running_app() as (started, _):
        yield started
