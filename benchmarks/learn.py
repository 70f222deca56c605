"""What a stop of the page Learn costs: milliseconds from the click that leads to it to its finished page, in a browser.

    python -m benchmarks.learn

First: the stop was not seen before; its model may have to be loaded. Warm: its passes are remembered. Guess: from the
click on a guess to the answer's picture. A time ends with the last change of the page before it stays as it is for
40 ms while the server rests.

Goal: 300 ms warm on two cores. It prints; it fails on nothing.
"""

import statistics
from urllib.parse import urlencode

from playwright.sync_api import Page

from benchmarks.breaking import QUIET
from benchmarks.trace import machine
from pages.parts.learn.stops import PATH
from tests.running import asks, chromium, idle, running_app, visitor

ROUNDS = 3
MEASURE = """
async ([selector, quiet]) => {
  const app = document.querySelector("[data-testid=stApp]")
  const title = () => document.querySelector("h1")?.innerText
  const frame = () => new Promise(done => requestAnimationFrame(done))
  const running = () => app.getAttribute("data-test-script-state") !== "notRunning"
  const old = title()
  let last = performance.now()
  const watch = new MutationObserver(() => { last = performance.now() })
  watch.observe(app, { subtree: true, childList: true, attributes: true, characterData: true })
  const start = performance.now()
  document.querySelector(selector).click()
  while (title() === old) await frame()
  while (running() || performance.now() - last < quiet) await frame()
  watch.disconnect()
  return last - start
}
"""
NEXT, BACK, GUESS = ".st-key-next_stop button", ".st-key-previous_stop button", ".st-key-guesses button"


def main() -> None:
    """A line for every stop."""
    print(machine())
    with running_app() as (address, _), chromium(shell=False) as browser, visitor(browser, first=True) as page:
        for stop in range(1, len(PATH) + 1):
            first, warm, guess = times_of(page, address, stop)
            print(
                f"{stop:2} {PATH[stop - 1].name:45} first {first:5.0f} ms, warm {warm:4.0f} ms, guess {guess:4.0f} ms"
            )


def times_of(page: Page, address: str, stop: int) -> tuple[float, float, float]:
    """The first time, and the medians of coming again and of guessing."""
    there, beside = (NEXT, BACK) if stop > 1 else (BACK, NEXT)
    arrivals, guesses = [], []
    page.goto(f"{address}/learn?{urlencode({'stop': stop - 1 if stop > 1 else 2})}")
    at_stop(page, stop - 1 if stop > 1 else 2)
    for _ in range(ROUNDS + 1):
        arrivals.append(timed(page, there))
        at_stop(page, stop)
        timed(page, beside)
    for _ in range(ROUNDS):
        page.goto(f"{address}/learn?{urlencode({'stop': stop})}")
        at_stop(page, stop)
        guesses.append(timed(page, GUESS))
    return arrivals[0], statistics.median(arrivals[1:]), statistics.median(guesses)


def at_stop(page: Page, stop: int) -> None:
    asks(page, f"Question {stop} of {len(PATH)}")
    idle(page)


def timed(page: Page, selector: str) -> float:
    """From a click to the finished page, in ms."""
    page.locator(selector).first.wait_for()  # a page may still be on its way where its question stands already
    taken = float(page.evaluate(MEASURE, [selector, QUIET]))
    idle(page)
    return taken


if __name__ == "__main__":
    main()
