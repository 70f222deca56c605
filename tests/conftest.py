"""What all tests share."""

import os
from collections.abc import Iterator

import pytest
import torch
from hypothesis import settings
from playwright.sync_api import Browser

from tests.running import chromium, running_app

# Tiny models lose more to handing work between threads than they gain.
torch.set_num_threads(1)

# A slow machine is no failure (deadline); an unattended run tries the same examples every time.
settings.register_profile("default", max_examples=50, deadline=None)
settings.register_profile("ci", settings.get_profile("default"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


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
