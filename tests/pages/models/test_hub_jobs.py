"""What visitors ask of the hub at once is asked once, few at a time, and a model that would not open is not offered."""

import threading
import time
from collections.abc import Callable

import pytest

from model.loading import hub
from pages.parts.models import hub_jobs
from pages.parts.models.hub_jobs import MOST_LOOKS, HubJobs, Job
from pages.parts.models.loaded_models import RESERVE

SECONDS = 20
GPT2 = hub.HubName("gpt2")


def finished(job: Job) -> Job:
    deadline = time.monotonic() + SECONDS
    while not job.is_over and time.monotonic() < deadline:
        time.sleep(0.01)
    assert job.is_over
    return job


@pytest.fixture
def hub_answers(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., object]], None]:
    """Has the hub be asked by this function."""
    return lambda answer: monkeypatch.setattr(hub, "listing", answer)


def test_two_who_look_at_once_share_a_look_and_a_fifth_model_has_to_wait(hub_answers):
    may_end = threading.Event()
    hub_answers(lambda name, **_: may_end.wait(SECONDS) and name)
    jobs = HubJobs()
    looks = [jobs.look(hub.HubName(f"model{number}")) for number in range(MOST_LOOKS)]
    assert jobs.look(hub.HubName("model0")) is looks[0]
    assert "busy with other models: try gpt2 again" in jobs.look(GPT2).refusal
    may_end.set()
    assert [finished(look).result.repo for look in looks] == [f"model{number}" for number in range(MOST_LOOKS)]
    assert finished(jobs.look(GPT2)).result == GPT2


def test_what_nobody_foresaw_is_a_sentence_and_the_next_look_may_succeed(hub_answers, monkeypatch):
    logged: list[object] = []
    monkeypatch.setattr(threading, "excepthook", logged.append)
    hub_answers(lambda *_, **__: 1 // 0)
    jobs = HubJobs()
    assert finished(jobs.look(GPT2)).refusal == hub_jobs.FAILED.format(name="gpt2")
    deadline = time.monotonic() + SECONDS
    while not logged and time.monotonic() < deadline:
        time.sleep(0.01)
    assert logged, "whoever runs the server can read of it"
    jobs.look_again(GPT2)
    hub_answers(lambda name, **_: name)
    assert finished(jobs.look(GPT2)).result == GPT2


def test_a_model_has_to_leave_as_much_memory_as_opening_it_will_ask_for(hub_answers):
    hub_answers(lambda _, *, reserve: reserve)
    assert finished(HubJobs().look(GPT2)).result == RESERVE


def test_a_download_may_be_stopped_by_whose_it_is_and_by_others_once_that_one_has_left():
    job = Job(GPT2)
    assert job.may_be_stopped_by("first")
    job.watch("first")
    job.watch("second")
    assert job.may_be_stopped_by("first")
    assert not job.may_be_stopped_by("second")
    job.watchers["first"] -= hub_jobs.GONE + 1
    assert job.may_be_stopped_by("second")
