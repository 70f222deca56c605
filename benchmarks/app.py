"""How long Enter to picture takes, and how much memory the server has after a first sentence.

    python -m benchmarks.app

Goals: 250 ms for a sentence of 20 tokens on a warm server, 550 MB. It prints; it fails on nothing.
"""

import re
import statistics
import subprocess
from urllib.parse import urlencode

from playwright.sync_api import Page, expect

from tests.running import chromium, picture_shown, running_app, visitor

# Twenty tokens each with the bundled checkpoint, and different, so that no trace is reused.
OPENING = "The film was slow and far too long, but I loved every minute of it and the end"
LAST_WORDS = ("was good", "was bad", "was fine", "was sad", "was late", "was short", "was old", "was new", "was right")

# In the page: from the key press to the frame after the one in which the new last word stands in the large picture, and
# to that in which it is the last token of the explorer below.
WATCH = """
word => new Promise(done => {
  const shadows = [...document.querySelectorAll("*")].map(e => e.shadowRoot).filter(Boolean)
  const find = selector => shadows.map(shadow => shadow.querySelector(selector)).find(Boolean)
  const [field, root, sheet] = [find("textarea"), find(".headlight"), find("svg[role=group]").parentNode]
  const drawn = [
    () => [...sheet.querySelectorAll("text")].some(text => text.textContent === word),
    () => root.explorer.scene.frame.rows.at(-1).label === word,
  ]
  const took = [null, null]
  let start
  const look = () => requestAnimationFrame(() => {
    drawn.forEach((is, place) => { if (took[place] === null && is()) took[place] = performance.now() - start })
    return took.includes(null) ? look() : done(took)
  })
  field.addEventListener("keydown", () => { start = performance.now(); look() }, {once: true})
})
"""


def main() -> None:
    with running_app() as (address, process), chromium(shell=False) as browser, visitor(browser) as page:
        page.goto(address)
        picture_shown(page)
        print(f"server memory after a first sentence: {resident(process):.0f} MB (goal: at most 550)")
        times = [enter_to_picture(page, f"{OPENING} {words}") for words in LAST_WORDS]
        for place, what in enumerate(("the large picture (goal: at most 250)", "the explorer below")):
            took = [both[place] for both in times]
            listed = ", ".join(f"{time:.0f}" for time in took)
            print(f"Enter to {what}, 20 tokens, warm: median {statistics.median(took[1:]):.0f} ms; all: {listed}")


def resident(process: int) -> float:
    """The memory that a process holds, in MB."""
    printed = subprocess.run(["ps", "-o", "rss=", "-p", str(process)], check=True, capture_output=True, text=True)
    return int(printed.stdout) * 1024 / 1e6


def enter_to_picture(page: Page, text: str) -> list[float]:
    """Milliseconds from Ctrl + Enter until the two pictures of the text are drawn."""
    page.get_by_label("Text", exact=True).fill(text)
    page.evaluate(f"word => {{ window.took = ({WATCH})(word) }}", text.split()[-1])
    page.get_by_label("Text", exact=True).press("Control+Enter")
    took: list[float] = page.evaluate("window.took")
    expect(page).to_have_url(re.compile(re.escape(urlencode({"text": text}))))
    picture_shown(page)
    return took


if __name__ == "__main__":
    main()
