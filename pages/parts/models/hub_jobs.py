"""What is asked of the Hugging Face hub: in threads of the server, for all visitors, so that no page waits for it.

A look at a model, and a download, is a job. Whoever asks for the same while it is under way gets the same job.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import Any

import streamlit as st

from model import CheckpointError
from model.errors import UnsupportedTypeError
from model.loading import hub
from pages.parts.models.loaded_models import RESERVE

MOST_LOOKS, MOST_DOWNLOADS = 4, 2  # at a time, of all visitors together
MOST_KEPT = 64  # ended jobs whose outcome is kept
FRESH = 300.0  # seconds for which a look at the hub is believed: branches move, and memory fills
GONE = 10.0  # seconds after which whoever has not looked at a download has left it
BUSY = "The server is busy with other models: try {name} again in a minute."
FAILED = "{name} could not be fetched because of an unexpected error: try again."
Offer = hub.Listing | None


@dataclass
class Job:
    """One thing that is asked of the hub. All is written by its thread, and read by those who look at it.

    refusal: why there is no result, one sentence. is_unsupported: because its kind is none of ours. is_missing: because
    the hub has no model of this name, or none that all may see. offer: what can be had in its place. watchers: when
    each visitor looked at it last; the first of them is whose job it is.
    """

    name: hub.HubName
    result: Any = None
    refusal: str = ""
    is_unsupported: bool = False
    is_missing: bool = False
    offer: Offer = None
    arrived: int = 0
    total: int = 0
    is_over: bool = False
    is_stopped: bool = False
    ended: float = 0.0
    watchers: dict[str, float] = field(default_factory=dict)

    def watch(self, visitor: str) -> None:
        """Note that a visitor looks at it."""
        self.watchers[visitor] = time.monotonic()

    def may_be_stopped_by(self, visitor: str) -> bool:
        """Whether it is this visitor's: who began it, or whoever still looks at it once that one has left."""
        owner = [*self.watchers, visitor][0]  # in one step, for others may begin to look meanwhile
        return visitor == owner or time.monotonic() - self.watchers[owner] > GONE

    def stop(self) -> None:
        """End it soon; what has arrived is kept."""
        self.is_stopped = True

    def run(self, work: Callable[["Job"], Any]) -> None:
        """Do it, in this thread."""
        try:
            self.result = work(self)
        except hub.DownloadStopped:
            self.is_stopped = True
        except CheckpointError as refusal:
            self.refusal, self.offer = str(refusal), getattr(refusal, "offer", None)
            self.is_unsupported = isinstance(refusal, UnsupportedTypeError)
            self.is_missing = isinstance(refusal, hub.NotOnHub)
        finally:
            if self.result is None and not self.is_stopped and not self.refusal:
                self.refusal = FAILED.format(name=self.name.repo)
            self.ended, self.is_over = time.monotonic(), True


class HubJobs:
    """All jobs of a server."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.looks: dict[str, Job] = {}
        self.downloads: dict[str, Job] = {}

    def look(self, name: hub.HubName) -> Job:
        """What a download of this model would bring: the job that finds it out, or has found it out lately."""
        with self.lock:
            job = self.looks.get(str(name))
            if job is None or (job.is_over and time.monotonic() - job.ended > FRESH):
                job = self.begin(self.looks, name, MOST_LOOKS, lambda _: hub.listing(name, reserve=RESERVE))
            return job

    def look_again(self, name: hub.HubName) -> None:
        """Believe nothing of what was found out."""
        with self.lock:
            self.looks = {key: job for key, job in self.looks.items() if key != str(name) or not job.is_over}

    def download(self, listing: hub.Listing, visitor: str) -> Job:
        """The download of a model: that which is under way, or this visitor's, which goes on where one was stopped."""

        def fetch(job: Job) -> Any:
            def show(arrived: int, total: int) -> None:
                job.arrived, job.total = arrived, total

            return hub.download(listing, progress=show, stop=lambda: job.is_stopped)

        with self.lock:
            job = self.downloads.get(str(listing.name))
            if job is None or job.is_over:
                job = self.begin(self.downloads, listing.name, MOST_DOWNLOADS, fetch)
                job.total = listing.bytes
            job.watch(visitor)
            return job

    def download_of(self, name: hub.HubName) -> Job | None:
        """The last download of a model at a commit."""
        return self.downloads.get(str(name))

    def begin(self, jobs: dict[str, Job], name: hub.HubName, most: int, work: Callable[[Job], Any]) -> Job:
        """A new job; one that is refused at once where there are as many as may be."""
        job = Job(name)
        if sum(not other.is_over for other in jobs.values()) >= most:
            job.refusal, job.is_over = BUSY.format(name=name.repo), True
            return job
        for key in [key for key, other in jobs.items() if other.is_over][: max(0, len(jobs) - MOST_KEPT)]:
            del jobs[key]
        jobs.pop(str(name), None)
        jobs[str(name)] = job
        Thread(target=job.run, args=(work,), daemon=True, name="hub job").start()
        return job


@st.cache_resource(show_spinner=False)
def hub_jobs() -> HubJobs:
    """Those of this server."""
    return HubJobs()
