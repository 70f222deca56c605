"""Who trains and who waits."""

import time
from typing import Any

import pytest

from model.training.watched.run_settings import RunSettings
from model.training.watched.waiting_line import WaitingLine

LONG = RunSettings(width=16, steps=10_000)


def wait_until(condition) -> None:
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    pytest.fail("it did not come about in a minute")


@pytest.fixture
def line():
    line = WaitingLine(1)
    yield line
    for visitor in "abcd":
        line.kill(visitor)
    wait_until(lambda: not line.running)


def test_others_wait_in_the_order_in_which_they_came_and_begin_when_one_ends(line):
    first, second, third = (line.enter(visitor, LONG) for visitor in "abc")
    assert [line.place(turn) for turn in (first, second, third)] == [0, 1, 2]
    assert (second.trainer, third.trainer) == (None, None)
    line.kill("a")
    wait_until(lambda: second.trainer is not None)
    assert first.is_over
    assert [line.place(turn) for turn in (second, third)] == [0, 1]


def test_who_leaves_the_line_never_begins(line):
    line.enter("a", LONG)
    second, third = (line.enter(visitor, LONG) for visitor in "bc")
    line.stop("b")
    assert second.is_over
    assert line.place(third) == 1
    line.kill("a")
    wait_until(lambda: third.trainer is not None)
    assert second.trainer is None


def test_a_training_goes_over_to_who_asks_for_the_same_once_its_session_is_gone(line):
    begun, waits = line.enter("a", LONG, "first"), line.enter("b", RunSettings(width=16, steps=3), "other")
    assert line.hand_over(LONG, "c", "second", lambda session: True) is None
    assert line.hand_over(RunSettings(seed=9), "c", "second", lambda session: False) is None
    assert line.hand_over(LONG, "c", "second", lambda session: session != "first") is begun
    assert line.hand_over(waits.settings, "d", "third", lambda session: False) is waits
    line.kill("a")
    line.kill("b")
    assert line.running == [begun]
    assert line.waiting == [waits]
    line.kill("d")
    line.kill("c")
    wait_until(lambda: begun.is_over)


def test_a_training_of_nobody_s_session_goes_over_to_nobody(line):
    line.enter("a", LONG)
    assert line.hand_over(LONG, "b", "", lambda session: False) is None


def test_a_visitor_who_trains_again_has_one_training_and_the_one_before_is_stopped(line):
    first: Any = line.enter("a", LONG)
    wait_until(lambda: first.trainer.history.moments)
    second: Any = line.enter("a", RunSettings(width=16, steps=3))
    wait_until(lambda: second.is_over)
    assert first.is_over
    assert first.trainer.history.steps[-1] < LONG.steps
    assert second.trainer.history.steps[-1] == 3
    assert line.running == line.waiting == []
