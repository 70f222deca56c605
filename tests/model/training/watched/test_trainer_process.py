"""Trainings in a process of their own: followed, stopped, killed, out of time and out of memory."""

import os
import signal
import time
from typing import Any

import pytest
import torch

from model.training.watched import trainer_process
from model.training.watched.__main__ import record
from model.training.watched.run_settings import RunSettings
from model.training.watched.trainer_process import FAILED, Trainer

LONG = RunSettings(width=16, steps=10_000)


def wait_until(condition) -> None:
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    pytest.fail("it did not come about in a minute")


def runs(trainer: Any) -> bool:
    """Whether the system still has the process, or any of its group."""
    try:
        os.killpg(trainer.popen.pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_process_gives_the_same_history_as_the_training_itself():
    settings = RunSettings(width=16, steps=4)
    trainer: Any = Trainer(settings)
    trainer.wait(60)
    ours, theirs = record(settings), trainer.history
    assert (trainer.is_over, trainer.refusal) == (True, "")
    assert [each.to_json() | {"seconds": 0} for each in theirs.moments] == [
        each.to_json() | {"seconds": 0} for each in ours.moments
    ]
    for name, weight in ours.snapshots[4].items():
        assert torch.equal(theirs.snapshots[4][name], weight)


def test_a_stopped_training_keeps_what_it_came_to():
    trainer: Any = Trainer(LONG)
    wait_until(lambda: trainer.history.moments)
    trainer.stop()
    trainer.wait(60)
    assert trainer.refusal == ""
    assert trainer.history.steps[-1] == trainer.history.last.step < LONG.steps
    assert not runs(trainer)


def test_a_stopped_training_that_is_too_slow_to_end_is_killed_without_a_word(monkeypatch):
    monkeypatch.setattr(trainer_process, "GRACE", 0)
    trainer: Any = Trainer(LONG)
    os.killpg(trainer.popen.pid, signal.SIGSTOP)
    trainer.stop()
    trainer.wait(60)
    assert trainer.popen.returncode == -signal.SIGKILL
    assert trainer.refusal == ""
    assert not runs(trainer)


def test_a_killed_trainer_leaves_no_process_and_one_sentence():
    trainer: Any = Trainer(LONG)
    wait_until(lambda: len(trainer.history.moments) > 2)
    os.kill(trainer.popen.pid, signal.SIGKILL)
    trainer.wait(60)
    assert not runs(trainer)
    assert trainer.refusal.startswith(f"The training ended early, after step {trainer.history.last.step:,},")
    assert "\n" not in trainer.refusal


def test_a_training_ends_when_its_time_is_over_with_what_it_came_to():
    trainer: Any = Trainer(LONG, seconds=5)
    trainer.wait(90)
    assert "after 5 seconds" in trainer.refusal or not trainer.history.moments
    assert not trainer.history.steps or trainer.history.steps[-1] == trainer.history.last.step < LONG.steps


def test_a_training_that_took_its_last_step_ended_well_however_its_process_ended():
    trainer: Any = Trainer(RunSettings(width=16, steps=4))
    trainer.wait(60)
    trainer.popen.returncode = -9
    assert trainer.why_early() == ""


def test_a_training_without_memory_is_refused_in_one_sentence():
    ended = []
    trainer: Any = Trainer(LONG, lambda: ended.append(True), most_bytes=1 << 20)
    trainer.wait(60)
    assert (trainer.refusal, trainer.history.moments, ended) == (FAILED, (), [True])
    assert not runs(trainer)


def test_a_training_ends_with_the_program_that_started_it():
    trainer: Any = Trainer(LONG)
    wait_until(lambda: trainer.history.moments)
    trainer.popen.stdin.close()  # as the system does when a program ends, however it ends
    trainer.wait(60)
    assert not runs(trainer)


def test_a_trainer_that_hangs_is_ended_and_leaves_no_process():
    trainer: Any = Trainer(LONG)
    wait_until(lambda: trainer.history.moments)
    os.kill(trainer.popen.pid, signal.SIGSTOP)
    trainer.kill()
    trainer.wait(20)
    assert not runs(trainer)
    assert trainer.refusal
