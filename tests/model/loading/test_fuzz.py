"""Spoilt configs and headers of every kind of checkpoint: each loads, or is refused in one line."""

import jaxtyping
import pytest

from benchmarks.fuzz import Outcomes, fuzz_configs, fuzz_headers
from tests.folders import make_folders


@pytest.fixture(autouse=True)
def _as_a_user_runs_it(monkeypatch):
    """Without the type checks of a test run, which would refuse a wrong file before our own checks do."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return make_folders(tmp_path_factory.mktemp("folders"))


def assert_decided(outcomes: Outcomes, least_loaded: int) -> None:
    assert not outcomes.escaped, outcomes.escaped[:3]
    assert outcomes.loaded >= least_loaded
    assert outcomes.refused > outcomes.loaded / 10


def test_three_thousand_spoilt_configs_load_or_are_refused_in_one_line(folders):
    assert_decided(fuzz_configs(folders, range(3_000)), least_loaded=150)


def test_twenty_thousand_spoilt_headers_load_or_are_refused_in_one_line(folders):
    assert_decided(fuzz_headers(folders, range(20_000)), least_loaded=1)


def test_a_case_that_is_neither_loaded_nor_refused_counts_as_escaped():
    outcomes = Outcomes()
    outcomes.add("bad", lambda: 1 // 0)
    assert outcomes.escaped == ["bad: ZeroDivisionError: integer division or modulo by zero"]
