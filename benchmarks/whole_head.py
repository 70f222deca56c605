"""What the whole head costs: making and sending its numbers, and milliseconds from pointing at a weight to the picture.

    python -m benchmarks.whole_head               the table
    python -m benchmarks.whole_head --tokens 64   one length only

The head is one of the checkpoint `sentiment`, in the app as it is run. A browser time runs from the pointer's event to
the second frame after what is lit was drawn; two frames, about 33 ms, are the waiting itself. A turn of the knob draws
the whole picture again at another scale, as a stop of Learn does.

Goal: a hover and a turn of the knob within 60 ms at 64 tokens.
It prints; it fails on nothing.
"""

import argparse
import json
from urllib.parse import urlencode

from playwright.sync_api import Browser

from benchmarks.explorer import spread, timed
from benchmarks.trace import machine
from model import load_checkpoint
from model.measures.whole_head import whole_head
from pages.parts.learn.stops import PATH
from tests.running import chromium, idle, running_app, visitor
from viz.explorer.attention_kinds import kinds_of
from viz.walkthrough.whole_head import whole_head_figure

KILOBYTE = 1e3
TIMES = 30
WIDTHS = (1366, 390)
MEASURE = """
async (root, [act, times]) => {
  const frames = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
  const { held } = root
  const panel = held.plan.panels.find(({ part }) => part === "weights")
  const taken = []
  const turnKnob = (turn) => {
    held.slider.value = String((turn % 8) - 4 + 0.25)
    held.slider.dispatchEvent(new Event("input"))
  }
  const hover = (turn) => {
    const box = held.over.getBoundingClientRect()
    const [x, y] = [7, 5].map(turns => ((turn % turns) + 0.5) / turns)
    const clientX = box.left + panel.left + panel.width * x
    const clientY = box.top + panel.top + panel.height * y
    held.over.dispatchEvent(new PointerEvent("pointermove", { clientX, clientY, bubbles: true }))
  }
  for (let turn = 0; turn < times; turn++) {
    const before = held.painted
    const start = performance.now()
    act === "hover" ? hover(turn) : turnKnob(turn)
    if (held.painted === before) throw new Error("nothing was drawn")
    await frames()
    taken.push(performance.now() - start)
  }
  return taken
}
"""


def text_of(tokens: int) -> str:
    """A text of so many tokens."""
    return " ".join(["film"] * tokens)


def making(tokens: int) -> str:
    """The numbers from a trace, and their size as they are sent."""
    trace = load_checkpoint("sentiment").trace(text_of(tokens))
    assert trace.encoder is not None
    attention, kind = trace.encoder.blocks[1].self_attention, kinds_of(trace)["encoder"]

    def figure() -> str:
        return json.dumps(whole_head_figure(whole_head(attention, 3), kind.queries, kind.keys))

    return f"made in {timed(figure):.1f} ms, {len(figure()) / KILOBYTE:.0f} kB"


def in_browser(browser: Browser, place: str, act: str, width: int) -> str:
    """Hovers over weights here and there, or turns of the knob."""
    with visitor(browser, width=width, height=844) as page:
        page.goto(place)
        page.locator(".whole .said").filter(has_text="attends to key").wait_for()
        idle(page)
        taken: list[float] = page.locator(".whole").evaluate(MEASURE, [act, TIMES])
        return spread(taken)


def knob_at(address: str, tokens: int) -> str:
    """The stop of Learn with the knob, its answer guessed."""
    stop = [each.name for each in PATH].index("From QKᵀ to weights") + 1
    return f"{address}/learn?{urlencode({'stop': stop, 'guesses': f'{stop}a', 'text': text_of(tokens)})}"


def main() -> None:
    """Print a line for every length."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.whole_head", description="Measure the whole head.")
    parser.add_argument("--tokens", type=int, nargs="*", default=[10, 64, 512])
    arguments = parser.parse_args()
    print(machine())
    with running_app() as (address, _), chromium(shell=False) as browser:
        for tokens in arguments.tokens:
            place = f"{address}/inside?{urlencode({'text': text_of(tokens), 'layer': 1, 'head': 3})}"
            wide, narrow = (in_browser(browser, place, "hover", width) for width in WIDTHS)
            turns = in_browser(browser, knob_at(address, tokens), "turn", WIDTHS[0])
            print(f"{tokens} tokens: {making(tokens)}; hover {wide}, on a phone {narrow}; knob {turns}")


if __name__ == "__main__":
    main()
