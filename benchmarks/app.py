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
LAST_WORDS = ("was good", "was bad", "was fine", "was sad", "was long", "was short", "was old", "was new", "was right")

# In the page: from the key press to the frame after the one in which the explorer's last token is the new last word.
WATCH = """
word => new Promise(done => {
  const shadows = [...document.querySelectorAll("*")].map(e => e.shadowRoot).filter(Boolean)
  const find = selector => shadows.map(shadow => shadow.querySelector(selector)).find(Boolean)
  const [field, root] = [find("textarea"), find(".headlight")]
  const drawn = () => root.explorer.scene.frame.rows.at(-1).label === word
  let start
  const look = () => requestAnimationFrame(() => drawn() ? done(performance.now() - start) : look())
  field.addEventListener("keydown", () => { start = performance.now(); look() }, {once: true})
})
"""


def main() -> None:
    with running_app() as (address, process), chromium(shell=False) as browser, visitor(browser) as page:
        page.goto(address)
        picture_shown(page)
        print(f"server memory after a first sentence: {resident(process):.0f} MB (goal: at most 550)")
        times = [enter_to_picture(page, f"{OPENING} {words}") for words in LAST_WORDS]
        warm = sorted(times[1:])
        print(f"Enter to picture, 20 tokens, warm: median {statistics.median(warm):.0f} ms (goal: at most 250)")
        print("all times in ms: " + ", ".join(f"{time:.0f}" for time in times))


def resident(process: int) -> float:
    """The memory that a process holds, in MB."""
    printed = subprocess.run(["ps", "-o", "rss=", "-p", str(process)], check=True, capture_output=True, text=True)
    return int(printed.stdout) * 1024 / 1e6


def enter_to_picture(page: Page, text: str) -> float:
    """Milliseconds from Ctrl + Enter until the picture of the text is drawn."""
    page.get_by_label("Text", exact=True).fill(text)
    page.evaluate(f"word => {{ window.took = ({WATCH})(word) }}", text.split()[-1])
    page.get_by_label("Text", exact=True).press("Control+Enter")
    took = float(page.evaluate("window.took"))
    expect(page).to_have_url(re.compile(re.escape(urlencode({"text": text}))))
    picture_shown(page)
    return took


if __name__ == "__main__":
    main()
