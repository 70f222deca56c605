"""How long a step takes on the page Inside a head, and a control on the page Positions, in a browser.

    python -m benchmarks.pages

Goal: 300 ms each for a text of 32 tokens on a warm server with two cores. It prints; it fails on nothing.
"""

import statistics
from urllib.parse import urlencode

from playwright.sync_api import Page, expect

from tests.running import chromium, idle, running_app, visitor
from viz.walkthrough.step_sentences import TITLES

TEXT = (
    "The film was slow and far too long, but I loved every minute of it and the end was so good that I went to see it "
    "again with friends."
)
TOKENS = 32
ROUNDS = 3
CONTROLS = {"Shift": "rotation", "Query": "sinusoidal", "Tokens": "relative", "Positions": "distances"}

# In the page: from the key press to the frame after the one in which every chart of the step named is drawn.
STEP = """
title => new Promise(done => {
  const heading = () => [...document.querySelectorAll("h3")].some(one => one.innerText.trim() === title)
  const charts = () => document.querySelectorAll("[data-testid=stVegaLiteChart]")
  const whole = () => charts().length && [...charts()].every(chart => chart.querySelector(".marks"))
  const still = () => document.querySelector("[data-testid=stApp]").dataset.testScriptState === "notRunning"
  let start
  const look = () => requestAnimationFrame(() => heading() && whole() && still()
    ? requestAnimationFrame(() => done(performance.now() - start)) : look())
  document.addEventListener("keydown", () => { start = performance.now(); look() }, {once: true, capture: true})
})
"""

# In the page: from the click to the frame after the one in which Plotly holds other numbers for this picture.
CONTROL = """
key => new Promise(done => {
  const held = () => document.querySelector(`.st-key-${key} .js-plotly-plot`)?._fullData
  const before = held()
  let start
  const look = () => requestAnimationFrame(() => held() && held() !== before
    ? requestAnimationFrame(() => done(performance.now() - start)) : look())
  document.addEventListener("click", () => { start = performance.now(); look() }, {once: true, capture: true})
})
"""


def main() -> None:
    with running_app() as (address, _), chromium(shell=False) as browser, visitor(browser, height=2400) as page:
        for depth in ("idea", "numbers"):
            times = steps(page, address, depth)
            slowest = max(times, key=lambda step: statistics.median(times[step]))
            whole = statistics.median(time for step in times.values() for time in step)
            print(f"a step, {TOKENS} tokens, {depth}: median {whole:.0f} ms (goal: at most 300); ", end="")
            print(f"slowest step {slowest}: median {statistics.median(times[slowest]):.0f} ms")
        page.goto(f"{address}/positions?{urlencode({'text': TEXT})}")
        page.set_viewport_size({"width": 1440, "height": 6200})
        expect(page.locator(".st-key-relative .js-plotly-plot")).to_be_visible()
        idle(page)
        for label, key in CONTROLS.items():
            taken = [control(page, label, key) for _ in range(ROUNDS + 1)][1:]
            print(f"Positions, {label} + 1: median {statistics.median(taken):.0f} ms (goal: at most 300)")


def steps(page: Page, address: str, depth: str) -> dict[str, list[float]]:
    """Milliseconds from the key to each step, there and back; the first round is not counted."""
    page.goto(f"{address}/inside?{urlencode({'text': TEXT, 'layer': 1, 'depth': depth})}")
    expect(page.get_by_role("heading", name=heading("embedding"))).to_be_visible()
    expect(page.get_by_label("Key", exact=True)).to_be_visible()
    idle(page)
    order, times = list(TITLES), {step: list[float]() for step in TITLES}
    for turn in range(ROUNDS):
        way = [(step, "ArrowRight") for step in order[1:]] + [(step, "ArrowLeft") for step in order[-2::-1]]
        for step, key in way:
            page.evaluate(f"title => {{ window.took = ({STEP})(title) }}", heading(step))
            page.keyboard.press(key)
            took = float(page.evaluate("window.took"))
            times[step] += [took] if turn else []
    return times


def heading(step: str) -> str:
    """ "Step 2 of 18: position"."""
    return f"Step {list(TITLES).index(step) + 1} of {len(TITLES)}: {TITLES[step]}"


def control(page: Page, label: str, key: str) -> float:
    """Milliseconds from a click on the plus of a number to the picture that depends on it."""
    field = page.get_by_test_id("stNumberInput").filter(has=page.get_by_label(label, exact=True))
    page.evaluate(f"key => {{ window.took = ({CONTROL})(key) }}", key)
    field.get_by_test_id("stNumberInputStepUp").click()
    took = float(page.evaluate("window.took"))
    idle(page)
    return took


if __name__ == "__main__":
    main()
