"""What the explorer costs: packing, bytes, and milliseconds from an event to its picture, beside BertViz.

    python -m benchmarks.explorer                 the table; --app adds what needs the server
    python -m benchmarks.explorer --tokens 64     one length only

The weights are those of 12 layers of 12 heads, causal, from random scores. BertViz is compared where it is installed
(an environment of its own: requirements-dev.txt and bertviz). A browser time runs from the event to the second frame
after the picture was drawn; two frames, about 33 ms, are the waiting itself.

Goals: a switch, another layer or a hover within 60 ms at 64 and 256 tokens, 100 ms at 512; packing 256 tokens within
60 ms and a fiftieth of BertViz's head view; a twentieth of its HTML at 64 tokens, a fortieth at 256. With --app: first
load within 1.5 times that of a Streamlit page of one line, the median of six pairs; another layer that has to be
fetched within 150 ms, 10 MB a session at 256 tokens.
It prints; it fails on nothing.
"""

import argparse
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import torch
from playwright.sync_api import Browser, Page

from benchmarks.app import resident
from benchmarks.trace import machine
from model import Config
from model.checkpoint import CHECKPOINTS
from model.transformer import Transformer
from tests.running import chromium, idle, picture_shown, running_app, visitor
from viz.explorer import View
from viz.explorer.attention_kinds import Kind, Text
from viz.explorer.packing import pack
from viz.explorer.standalone import page_of

LAYERS = HEADS = 12
MILLISECONDS, MEGABYTE = 1e3, 1e6
LOADS = 7
SESSIONS = 10
FAR = "a layer further away, fetched"
POINTED = 100  # ms that a pointer is over a button before it presses
TAPPED = 80  # ms that a finger lies on a button before it is lifted, which is the press
PAUSE = 700  # ms between two layers that are fetched, so that the server has told all about the one before
MEASURE = """
async ([name, times, pause, pointed = 0, event = "pointerover"]) => {
  const { explorer } = document.querySelector(".headlight")
  const frames = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
  const wait = milliseconds => new Promise(done => setTimeout(done, milliseconds))
  const button = label => root.querySelector(`button[aria-label="${label}"]`)
  const press = label => button(label).click()
  const far = turn => `Layer ${1 + 5 * (turn + 1) % 12}`
  const root = explorer.root
  const over = explorer.matrix.host
  const move = (x, y) => {
    const box = over.getBoundingClientRect()
    over.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + x, clientY: box.top + y, bubbles: true }))
  }
  const acts = {
    toggle: turn => press(`Head ${1 + turn % 12}`),
    layer: turn => press(`Layer ${1 + (turn + 1) % 12}`),
    jump: turn => press(far(turn)),
    hover: turn => {
      const { left, top, width, height } = explorer.matrix.inner
      move(left + width * (turn % 7) / 7 + 1, top + height * (turn % 5) / 5 + 1)
    },
  }
  const taken = []
  for (let turn = 0; turn < times; turn++) {
    if (pointed) {
      button(far(turn)).dispatchEvent(new PointerEvent(event, { bubbles: true }))
      await wait(pointed)
    }
    const before = explorer.painted
    const start = performance.now()
    acts[name](turn)
    while (explorer.painted === before) await wait()
    await frames()
    taken.push(performance.now() - start)
    await wait(pause)
  }
  return taken
}
"""


def kind_of(tokens: int) -> Kind:
    """Random causal attention."""
    scores = torch.randn(LAYERS, HEADS, tokens, tokens, generator=torch.Generator().manual_seed(tokens)) * 2
    scores.masked_fill_(torch.ones(tokens, tokens, dtype=torch.bool).triu(1), -torch.inf)
    text = Text(stack="decoder", tokens=tuple(f"word{place}" for place in range(tokens)))
    weights = tuple(layer.softmax(dim=-1).numpy() for layer in scores)
    return Kind(name="decoder", queries=text, keys=text, weights=weights, causal=True)


def timed(call: Callable[[], object], rounds: int = 5) -> float:
    """The median of some calls, in ms."""
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return MILLISECONDS * statistics.median(taken)


def packing(kind: Kind) -> str:
    """Packing as the app does it and whole, beside what BertViz makes of the same weights."""
    kinds = {kind.name: kind}
    whole = pack(kinds, limit=1 << 40)
    ours = f"pack {timed(lambda: pack(kinds)):.0f} ms, whole {timed(lambda: pack(kinds, limit=1 << 40)):.0f} ms"
    sizes = f"sent {len(pack(kinds)) / MEGABYTE:.2f} MB, whole {len(whole) / MEGABYTE:.2f} MB"
    return f"{ours}; {sizes}{beside_bertviz(kind, whole)}"


def beside_bertviz(kind: Kind, whole: bytes) -> str:
    """Time and bytes of BertViz's two views, and how many times ours they are; nothing where it is not installed."""
    try:
        from bertviz import head_view, model_view
    except ImportError:
        return ""
    attention = [torch.from_numpy(layer)[None] for layer in kind.weights]
    parts = []
    for view in (head_view, model_view):
        start = time.perf_counter()
        html = view(attention, list(kind.keys.tokens), html_action="return").data
        taken = MILLISECONDS * (time.perf_counter() - start)
        ratio = taken / timed(lambda: pack({kind.name: kind}))
        parts.append(
            f"{view.__name__} {taken:,.0f} ms ({ratio:.0f} times ours), {len(html) / MEGABYTE:.1f} MB "
            f"({len(html) / len(whole):.0f} times our whole)"
        )
    return "; BertViz " + ", ".join(parts)


def in_browser(browser: Browser, kind: Kind, folder: Path) -> str:
    """Switches, layers and hovers in a page of its own, where all layers are present."""
    file = folder / "page.html"
    file.write_text(page_of({kind.name: kind}, View(attention=kind.name)), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1440, "height": 1000})
    page.goto(file.as_uri())
    page.wait_for_function("() => document.querySelector('.headlight').explorer?.painted > 0")
    spreads = [f"{name} {spread(page.evaluate(MEASURE, [name, 25, 0]))}" for name in ("toggle", "layer", "hover")]
    page.close()
    return ", ".join(spreads)


def spread(taken: list[float]) -> str:
    """Median and the slowest, the first few left out as the browser warms up."""
    warm = sorted(taken[3:])
    return f"{statistics.median(warm):.0f} ms (slowest {warm[-1]:.0f})"


def in_app(browser: Browser) -> None:
    """What needs the server, with a random model of 12 × 12 heads that is put among the checkpoints for the time."""
    folder = CHECKPOINTS / "benchmark-12x12"
    try:
        random_checkpoint(folder)
        with tempfile.TemporaryDirectory() as place, running_app() as (address, process):
            page = Path(place, "smallest.py")
            page.write_text("import streamlit as st\nst.title('There')\n", encoding="utf-8")
            with running_app(page) as (empty, _):
                first_loads(browser, address, empty)
            fetched_layers(browser, address)
            sessions(browser, address, process)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def random_checkpoint(folder: Path) -> None:
    """Small but for its heads."""
    from model.loading import checkpoint_files
    from model.tokenizer import Tokenizer

    words = [" ".join(f"w{place}" for place in range(600))]
    tokenizer = Tokenizer.train_word_pieces(iter(words * 3), size=2000)
    torch.manual_seed(0)
    sizes = {"width": 96, "heads": HEADS, "layers": LAYERS, "hidden": 96, "max_length": 512}
    config = Config(architecture="encoder", vocabulary=2000, labels=("no", "yes"), **sizes)  # type: ignore[arg-type]
    checkpoint_files.save_checkpoint(folder, Transformer(config), tokenizer, {})


def text_of(tokens: int, start: int = 0) -> str:
    """A text of about so many tokens."""
    return " ".join(str((start + place) % 10) for place in range(tokens))


def open_text(page: Page, address: str, tokens: int, start: int = 0) -> tuple[float, float]:
    """Milliseconds from going to an address to the large sentence, and to the explorer below it."""
    query = urlencode({"checkpoint": "benchmark-12x12", "text": text_of(tokens, start)})
    begun = time.perf_counter()
    page.goto(f"{address}/?{query}")
    taken = []
    for drawn in (SENTENCE, PAINTED):
        page.wait_for_function(drawn)
        taken.append(MILLISECONDS * (time.perf_counter() - begun))
    return taken[0], taken[1]


SENTENCE = (
    "() => [...document.querySelectorAll('.st-key-picture *')].some(e => e.shadowRoot?.querySelector('.sentence path'))"
)
PAINTED = (
    "() => [...document.querySelectorAll('*')].some(e => e.shadowRoot?.querySelector('.headlight')?.explorer?.painted)"
)


def first_loads(browser: Browser, address: str, smallest: str) -> None:
    """Of visitors who were never here, beside what Streamlit itself takes for a page of one line."""
    ours, theirs = [], []
    for turn in range(LOADS):
        with visitor(browser, first=True) as page:
            ours.append(open_text(page, address, 64, turn))
        with visitor(browser, first=True) as page:
            begun = time.perf_counter()
            page.goto(smallest)
            page.wait_for_selector("h1")
            theirs.append(MILLISECONDS * (time.perf_counter() - begun))
    pairs = list(zip(ours, theirs, strict=True))[1:]
    first, whole, floor = (
        statistics.median(times) for times in zip(*((*one, line) for one, line in pairs), strict=True)
    )
    ratio = statistics.median(one[0] / line for one, line in pairs)
    print(f"first load of 64 tokens on a warm server: {first:.0f} ms, with all heads {whole:.0f}; ", end="")
    print(f"a Streamlit page of one line: {floor:.0f} ms; median of {len(pairs)} pairs {ratio:.2f} (goal 1.5)")


def fetched_layers(browser: Browser, address: str) -> None:
    """The next layer of a text whose layers did not all fit into the first message, and one that is further away.

    Layers that came once are kept: only the first four jumps lead to layers that were not beside one seen before.
    """
    script = (
        MEASURE.replace("async ([name,", "async (root, [name,")
        .replace('document.querySelector(".headlight")', "root")
        .replace("const root = explorer.root\n", "")
    )
    ways = [
        ("layer", 12, 0, "", "the next layer of 500 tokens, sent ahead"),
        ("jump", 4, POINTED, "pointerover", f"{FAR}, pointed at before"),
        ("jump", 4, TAPPED, "pointerdown", f"{FAR}, tapped by a finger, from when it is lifted"),
        ("jump", 4, 0, "", f"{FAR}, pressed by a script"),
    ]
    for start, (act, times, before, event, description) in enumerate(ways):
        with visitor(browser, first=True) as page:
            open_text(page, address, 500, start)
            picture_shown(page)
            idle(page)
            taken = page.locator(".headlight").evaluate(script, [act, times, PAUSE, before, event])
        print(f"{description}: {spread(taken if act == 'layer' else taken[:1] * 3 + taken)} (goal 150)")


def sessions(browser: Browser, address: str, process: int) -> None:
    """What a session that stays open adds to the server's memory: the median, for garbage is given back at times."""
    contexts, held = [], []
    for _ in range(SESSIONS + 1):
        contexts.append(browser.new_context())
        page = contexts[-1].new_page()
        open_text(page, address, 250)
        page.wait_for_timeout(PAUSE)
        idle(page)
        held.append(resident(process))
    added = statistics.median(after - before for before, after in pairwise(held))
    print(f"memory a session of 250 tokens adds: {added:.1f} MB (goal 10)")
    for context in contexts:
        context.close()


def main() -> None:
    """Print a line for every length."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.explorer", description="Measure the explorer.")
    parser.add_argument("--tokens", type=int, nargs="*", default=[64, 256, 512])
    parser.add_argument("--app", action="store_true")
    arguments = parser.parse_args()
    print(machine())
    np.seterr(all="raise")
    with tempfile.TemporaryDirectory() as folder, chromium(shell=False) as browser:
        for tokens in arguments.tokens:
            kind = kind_of(tokens)
            print(f"{tokens} tokens: {packing(kind)}")
            print(f"{tokens} tokens in the browser: {in_browser(browser, kind, Path(folder))}")
        if arguments.app:
            in_app(browser)


if __name__ == "__main__":
    main()
