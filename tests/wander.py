"""A visitor who does ordinary things at random, on all pages, and fails where something must not be.

    python -m tests.wander --seconds 60 --seed 7

Each walk is a new visitor's, of a seed of its own, so that it can be gone again alone: the seeds are counted on from
the first one. The same seed makes the same choices as far as the time that everything takes allows it.
"""

import argparse
import re
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

import torch
from playwright.sync_api import Browser, Error

from pages import FOLDER
from tests.random_walk.actions import ACTION_PATIENCE, ACTIONS, DESKTOP, NothingThereError, Walk, start
from tests.random_walk.brought_models import brought_models
from tests.random_walk.checks import FaultError, Watch
from tests.running import chromium, running_app, visitor

LONGEST_WALK = 40  # actions, so that the way to a fault can be read
HURRY = 0.15  # how often the next thing is done before the last one is answered
LOADING = 60_000  # milliseconds
SCRIPT = '''"""{sentence}

Found by `python -m tests.wander --seed {seed}`, in its first walk.
"""

from tests.random_walk.brought_models import brought_models, file_at_hand
from tests.random_walk.checks import Watch
from tests.running import chromium, running_app, visitor

with (
    brought_models(),
    running_app() as (address, _),
    chromium() as browser,
    visitor(browser, width={width}, height={height}) as page,
):
    page.set_default_timeout({patience})
    page.set_default_navigation_timeout({loading})
    watch = Watch(page)
{lines}
'''


@dataclass
class Report:
    """What came of walking."""

    seeds: list[int] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    faults: dict[str, str] = field(default_factory=dict)  # the script that leads there, by the sentence

    def __str__(self) -> str:
        kinds = ", ".join(f"{name} {count}" for name, count in sorted(self.done.items()))
        missed = ", ".join(f"{name} {count}" for name, count in sorted(self.missed.items())) or "none"
        lines = [f"{sum(self.done.values())} actions, seeds {self.seeds}: {kinds}", f"came too late: {missed}"]
        for sentence, script in self.faults.items():
            lines += [f"\nFAULT: {sentence}\nThe way there, as a script for the repository's root:\n", script]
        return "\n".join([*lines, f"{len(self.faults)} faults"])


def wander(browser: Browser, address: str, *, seed: int, seconds: float) -> Report:
    """One walk after the other, until the time is over."""
    report, end = Report(), time.monotonic() + seconds
    while time.monotonic() < end:
        report.seeds.append(seed + len(report.seeds))
        lines: list[str] = []
        try:
            walk(browser, address, report, lines, end)
        except (AssertionError, Error) as fault:  # the visitor's own assertions, or a browser that is gone
            report.faults.setdefault(str(fault), script_of(str(fault), lines, report.seeds[-1]))
    return report


def walk(browser: Browser, address: str, report: Report, lines: list[str], end: float) -> None:
    """One visitor's walk. FaultError for what must not be."""
    width, height = DESKTOP
    with visitor(browser, width=width, height=height, first=True) as page:
        page.set_default_timeout(ACTION_PATIENCE)
        page.set_default_navigation_timeout(LOADING)
        way = Walk(page, Watch(page), address, Random(report.seeds[-1]), lines)
        start(way, sorted(file.stem for file in FOLDER.glob("[a-z]*.py")))
        before = report.done.total()
        while report.done.total() - before < LONGEST_WALK and time.monotonic() < end:
            step(way, report)


def step(way: Walk, report: Report) -> None:
    """One action, and mostly the wait until it is answered. One that comes too late for its control is left out."""
    (action,) = way.random.choices(list(ACTIONS), list(ACTIONS.values()))
    try:
        action(way)
        report.done[action.__name__] += 1
    except NothingThereError:
        return
    except Error as late:
        if way.page.is_closed():
            raise FaultError("The page is gone.") from None
        if is_under_the_header(late):
            raise FaultError(f"The header lies over what is pressed: {late}") from None
        report.missed[action.__name__] += 1
    way.settled = way.random.random() >= HURRY
    if way.settled:
        way.do("watch.settle()")
    else:
        way.watch.look_for_errors()


def is_under_the_header(late: Error) -> bool:
    """Whether what should be pressed lay under Streamlit's header, and not under the one button in it."""
    met = re.search("<.*stHeader.*intercepts pointer events", str(late))
    return met is not None and not re.search("stIconMaterial|stExpandSidebarButton", met[0])


def script_of(sentence: str, lines: list[str], seed: int) -> str:
    """A script that goes the same way."""
    width, height = DESKTOP
    inside = textwrap.indent("\n".join(lines), "    ")
    safe_sentence = sentence.replace("\\", "\\\\").replace('"', "'")
    window = {"width": width, "height": height}
    return SCRIPT.format(
        sentence=safe_sentence, seed=seed, lines=inside, **window, patience=ACTION_PATIENCE, loading=LOADING
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the seed, walk, print what came of it; 1 where something must not be."""
    parser = argparse.ArgumentParser(prog="python -m tests.wander", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="how long to walk; 60 where nothing is said")
    parser.add_argument("--seed", type=int, help="of the first walk; a new one where nothing is said")
    options = parser.parse_args(arguments)
    seed = Random().randrange(1_000_000) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    torch.set_num_threads(1)  # the server and the browser have work to do too
    with brought_models(), running_app() as (address, _), chromium() as browser:
        report = wander(browser, address, seed=seed, seconds=options.seconds)
    print(report)
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main())
