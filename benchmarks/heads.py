"""What the page Heads that matter costs in a browser, on the app as shipped, for 32 tokens of the sentiment model.

    python -m benchmarks.heads
    python -m benchmarks.heads --checkpoint stories --rounds 9

Sweep: from Enter on a text that the server has not seen until every head was muted and the pictures of the page
stand: the grid of effects, and then the whole page (waterfall, curve, logit lens). Toggle: from the press on Mute it,
or Unmute it, until the page says the new answer, and until it is finished. The first of each is left out. A finished
page is one that changes no more for 60 ms, which are taken off again.

Goals: 500 ms for the sweep with its grid, 150 ms for a toggle's new answer. It prints; it fails on nothing.
"""

import argparse
import statistics
from urllib.parse import urlencode

from playwright.sync_api import Page, expect

from benchmarks.trace import machine
from tests.running import chromium, idle, running_app, visitor

OPENING = " ".join(["the film was slow but good ,"] * 4)
ENDS = ("I loved it", "I hated it", "we loved it", "he loved it", "I liked it", "I like it", "we left it", "she saw it")
LAST_WORDS = ("and we saw it", *(f"and {end}" for end in ENDS), "but I left it")
QUIET = 60  # ms without a change: the page is finished
WATCH = """
([act, quiet]) => new Promise(done => {
  const app = document.querySelector("[data-testid=stApp]")
  const main = () => document.querySelector("[data-testid=stMain]")
  const grid = () => document.querySelector("[data-testid=stVegaLiteChart] svg path[aria-label^='layer 1, head 1:']")
  const muted = () => [...main().querySelectorAll("p")].map(p => p.innerText).find(t => t.startsWith("Muted: "))
  const seen = act === "text" ? () => grid()?.ariaLabel : muted
  const old = seen(), button = [...main().querySelectorAll("button")].find(b => /ute it$/.test(b.innerText))
  let start, last, answered = null
  const watch = new MutationObserver(() => { last = performance.now() })
  const running = () => app.getAttribute("data-test-script-state") !== "notRunning"
  const look = () => requestAnimationFrame(() => {
    const now = performance.now()
    if (answered === null && seen() !== old && (act !== "text" || seen())) answered = now - start
    if (answered === null || running() || now - last < quiet) return look()
    watch.disconnect()
    done([answered, last - start])
  })
  const begin = () => {
    start = last = performance.now()
    watch.observe(app, { subtree: true, childList: true, attributes: true, characterData: true })
    look()
  }
  if (act === "press") { begin(); button.click(); return }
  const shadows = [...document.querySelectorAll("*")].map(e => e.shadowRoot).filter(Boolean)
  shadows.map(s => s.querySelector("textarea")).find(Boolean).addEventListener("keydown", begin, { once: true })
})
"""


def sweep(page: Page, text: str) -> list[float]:
    """Milliseconds from Enter to the grid of a text, and to the finished page."""
    field = page.get_by_label("Text", exact=True)
    field.fill(text)
    page.evaluate(f"args => {{ window.took = ({WATCH})(args) }}", ["text", QUIET])
    field.press("Control+Enter")
    took: list[float] = page.evaluate("window.took")
    idle(page)
    return took


def toggle(page: Page) -> list[float]:
    """Milliseconds from a press on Mute it to the new answer, and to the finished page."""
    page.wait_for_timeout(300)
    took: list[float] = page.evaluate(WATCH, ["press", QUIET])
    idle(page)
    return took


def told(name: str, goal: int, times: list[list[float]]) -> None:
    """A line: what was aimed at, then the whole page."""
    first, whole = ([row[place] for row in times[1:]] for place in (0, 1))
    print(
        f"{name} (goal: {goal} ms): median {statistics.median(first):.0f} ms ({min(first):.0f} to {max(first):.0f}); "
        f"the whole page {statistics.median(whole):.0f} ms ({min(whole):.0f} to {max(whole):.0f})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", default="sentiment")
    parser.add_argument("--rounds", type=int, default=8, help="how often each is timed (8, at most 9)")
    arguments = parser.parse_args()
    print(machine())
    with running_app() as (address, _), chromium(shell=False) as browser, visitor(browser) as page:
        query = {"text": OPENING, "checkpoint": arguments.checkpoint, "layer": 0, "head": 0}
        page.goto(f"{address}/heads?{urlencode(query)}")
        expect(page.get_by_role("button", name="Mute it")).to_be_visible()
        idle(page)
        texts = [f"{OPENING} {words}" for words in LAST_WORDS[: arguments.rounds + 1]]
        told("Enter to the effect of every head", 500, [sweep(page, text) for text in texts])
        told("Mute it to the new answer", 150, [toggle(page) for _ in range(arguments.rounds + 1)])


if __name__ == "__main__":
    main()
