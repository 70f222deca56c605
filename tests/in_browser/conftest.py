"""What the tests in a browser share."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run a test of this folder once more where it fails, as Playwright's own runner does.

    Server and browser are processes that a busy machine can hold up for any time between two steps. The summary names
    every test that needed its second run; python -m tests.wander looks for what fails rarely.
    """
    for item in items:
        if FOLDER in item.path.parents:
            item.add_marker(pytest.mark.flaky(reruns=1))
