"""What an experiment costs: milliseconds from the click on one to its picture, in a browser, for 32 tokens.

    python -m benchmarks.breaking                       sentiment
    python -m benchmarks.breaking --checkpoint NAME     another one
    python -m benchmarks.breaking --parts               what the absence of every part does, all of them, for 64 tokens

First: the model runs, charts are made. Warm: every run is remembered. A time ends with the second frame after the
server has sent the last element and nothing on the page changes any more for 40 ms, which is taken off again.

Goals: 300 ms warm on two cores; every part of a text of 64 tokens in 500 ms. It prints; it fails on nothing.
"""

import argparse
import statistics
import time
from bisect import bisect_right
from urllib.parse import urlencode

import torch
from playwright.sync_api import Page, expect

from benchmarks.trace import machine
from model import Checkpoint, available_checkpoints, load_checkpoint
from model.measures.outcome import outcome_of, outcome_value
from pages.parts.ablations.experiments import EXPERIMENTS, NO, ExperimentPlace
from pages.parts.ablations.part_effects import AT_ONCE, edits_of_part, groups_of, longest, parts_of
from pages.parts.ablations.subjects import GROUPS, short_name
from tests.running import chromium, idle, running_app, visitor
from viz.explorer.attention_kinds import kinds_of

TEXT = " ".join(["the film was slow but good ,"] * 4 + ["and I loved it"])  # 32 tokens of the sentiment model
QUIET = 40  # ms without a change: the page is finished
MEASURE = """
async ([label, quiet]) => {
  const title = () => document.querySelector("h3")?.innerText
  const old = title()
  const app = document.querySelector("[data-testid=stApp]")
  const press = () => [...document.querySelectorAll("label")].find(one => one.innerText.trim() === label).click()
  const frame = () => new Promise(done => requestAnimationFrame(done))
  let last = performance.now()
  const watch = new MutationObserver(() => { last = performance.now(); follow() })
  const every = { subtree: true, childList: true, attributes: true, characterData: true }
  const followed = new Set()
  const follow = () => { // what components draw stands in trees of their own
    for (const { shadowRoot } of app.querySelectorAll("[data-testid^=stBidiComponent]")) {
      if (!shadowRoot || followed.has(shadowRoot)) continue
      followed.add(shadowRoot)
      watch.observe(shadowRoot, every)
    }
  }
  watch.observe(app, every)
  follow()
  const running = () => app.getAttribute("data-test-script-state") !== "notRunning"
  const start = performance.now()
  press()
  while (title() === old) await frame()
  while (running() || performance.now() - last < quiet) await frame()
  watch.disconnect()
  return last - start
}
"""


def print_parts() -> None:
    """A line for every bundled checkpoint: all parts of the formula for a text of up to 64 tokens, measured afresh."""
    torch.set_num_threads(max(1, torch.get_num_threads() - 1))  # as the app runs
    for name in available_checkpoints():
        checkpoint, times = load_checkpoint(name), []
        before = checkpoint.trace(longest_text(checkpoint, AT_ONCE))
        place = ExperimentPlace(next(iter(kinds_of(before))))
        names = parts_of(groups_of(checkpoint, place))
        edits = [each for part in names if (each := edits_of_part(EXPERIMENTS[part], checkpoint, place, NO))]
        for _ in range(5):
            start = time.perf_counter()
            outcome = outcome_of(checkpoint, before)
            for each in edits:
                outcome_value(outcome, before, checkpoint.trace_again(before, each))
            times.append(1000 * (time.perf_counter() - start))
        summary = f"first {times[0]:.0f} ms, median {statistics.median(times):.0f} ms"
        print(f"{name:16} {len(edits)} parts, {longest(before)} tokens: {summary}")


def longest_text(checkpoint: Checkpoint, tokens: int) -> str:
    """As much of a repeated sentence as every stack reads in at most so many tokens, found by halving."""
    words = TEXT.split() * 4
    counts = range(1, len(words) + 1)
    fitting = bisect_right(counts, tokens, key=lambda count: longest(checkpoint.trace(" ".join(words[:count]))))
    return " ".join(words[:fitting])


def main() -> None:
    """A line for every experiment: first, then warm."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.breaking", description="Measure the experiments.")
    parser.add_argument("--checkpoint", default="sentiment")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--parts", action="store_true")
    arguments = parser.parse_args()
    print(machine())
    if arguments.parts:
        print_parts()
        return
    with running_app() as (address, _), chromium(shell=False) as browser, visitor(browser) as page:
        for group, names in GROUPS.items():
            query = {"text": TEXT, "checkpoint": arguments.checkpoint, "experiment": names[-1]}
            page.goto(f"{address}/break?{urlencode(query)}")
            expect(page.get_by_text("What to look for.")).to_be_visible()
            idle(page)
            times: dict[str, list[float]] = {name: [] for name in names}
            for _ in range(arguments.rounds + 1):
                for name in names:
                    times[name].append(click(page, short_name(name)))
            for name, taken in times.items():
                warm = taken[1:]
                summary = f"first {taken[0]:5.0f} ms, warm {statistics.median(warm):4.0f} ms (best {min(warm):.0f})"
                print(f"{group:16} {short_name(name):32} {summary}")


def click(page: Page, label: str) -> float:
    """From a click to the finished page, in ms."""
    expect(page.locator("label").filter(has_text=label).first).to_be_visible()
    page.wait_for_timeout(150)
    return float(page.evaluate(MEASURE, [label, QUIET]))


if __name__ == "__main__":
    main()
