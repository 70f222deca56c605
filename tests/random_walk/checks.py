"""What must hold on every page of the app, whatever was done before: asked of a page that a browser shows.

A `Watch` looks at one page. Its methods return nothing where all is well, and raise a `FaultError` of one sentence.
"""

import re
import time
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import numpy as np
from playwright.sync_api import ConsoleMessage, Error, Locator, Page
from playwright.sync_api import TimeoutError as TookTooLongError

from model import Checkpoint, load_checkpoint
from pages.parts.state.page_fields import CODEC, FIRST
from pages.parts.state.selection import LONGEST_TEXT, Selection
from pages.parts.translate.settings import Options
from tests.random_walk.brought_models import UPLOADS

RUN_PATIENCE = 60  # seconds that one run of a page may take on a busy machine
PAGE_PATIENCE = 90  # seconds: a busy machine may take that long to show a page at its address
NUMBER_PATIENCE = 20_000  # milliseconds for an exact number to come
QUIET = 600  # milliseconds: longer than any control of ours or of Streamlit waits before it tells
TOLERANCE = 1e-6
LONGEST_QUOTE = 160  # characters of an error
EXPLORE = ("", "explore", "first")
# What the sampled numbers are compared with is the trace as it is.
PLAIN = {
    "mute": False,
    "muted": frozenset(),
    "pair": "",
    "target": "",
}  # what the sampled numbers are compared with: the trace as it is
OWN_TRAINING = "film.own"  # in an address of Watch it learn
PLAIN_VIEW = {"words": False, "special": "shown", "segments": "all"}
# Lists whose choice is not in the address by design: they name what a button beside them takes, or the machine.
UNADDRESSED = ("Another token", "Device")
HUB_FIELD = "Hugging Face id"
NO_HUB = "The hub cannot be reached"  # true on a machine without internet, whatever asked for a model
# Only a field that has the keyboard can be in this state: where it loses it, Streamlit sends what is typed.
UNSENT = "[data-testid=InputInstructions]:has-text('Press Enter to apply'), html[data-unsent]"
PYTHON = re.compile(
    r"Traceback|File \"|<class |NoneType|\b[A-Z]\w+(?:Error|Exception|Warning)\b|encountered an error|\b\w+ object\b"
)

# How long nothing has been said to the server, in time that the browser had for its timers: a page that is busy with
# drawing is not quiet, nor one that has heard nothing from the server yet. What was sent counts as unanswered until
# something comes, for at most five seconds.
COUNT_QUIET = """(() => {
  const { send } = WebSocket.prototype
  const wander = (window.wander = { quiet: 0, sent: -Infinity, heard: false })
  WebSocket.prototype.send = function (...given) {
    const hear = () => Object.assign(wander, { quiet: 0, sent: -Infinity, heard: true })
    if (!this.watched) this.addEventListener("message", hear)
    this.watched = true
    Object.assign(wander, { quiet: 0, sent: performance.now() })
    return send.apply(this, given)
  }
  let last = performance.now()
  setInterval(() => {
    const now = performance.now()
    const app = document.querySelector("[data-testid=stApp]")
    const rests = wander.heard && app?.dataset.testScriptState === "notRunning" && now - wander.sent > 5000
    wander.quiet = rests ? wander.quiet + Math.min(now - last, 60) : 0
    last = now
  }, 30)
})()"""

# The title, what every control shows, what the explorer shows, and what is said in boxes. Shadow trees are looked into.
READ_PAGE = """() => {
  const all = []
  const collect = (root) => {
    for (const one of root?.querySelectorAll("*") ?? []) {
      all.push(one)
      if (one.shadowRoot) collect(one.shadowRoot)
    }
  }
  for (const part of ["stSidebar", "stMain"]) collect(document.querySelector(`[data-testid=${part}]`))
  const plain = (text) => (text ?? "").replace(/\\s+/g, " ").trim()
  const nameOf = (one) => plain(one.ariaLabel || [...(one.labels ?? [])].map((label) => label.innerText).join(" "))
  const values = {}
  const add = (kind, name, value) => {
    let [key, count] = [`${kind} “${name}”`, 1]
    while (key in values) key = `${kind} “${name}” ${(count += 1)}`
    values[key] = value
  }
  for (const one of all) {
    if (one.dataset?.tag !== undefined) add("choice", nameOf(one), true)
    else if (one.tagName === "SELECT") add("list", nameOf(one), one.value)
    else if (one.tagName === "TEXTAREA") add("text field", nameOf(one), one.value)
    else if (one.tagName !== "INPUT") continue
    else if (one.getAttribute("role") === "combobox") add("list", nameOf(one), plain(one.value))
    else if (one.type === "checkbox") add("switch", nameOf(one), one.checked)
    else if (one.type === "radio" && !one.checked) continue
    else if (one.type === "radio") add("radio", plain(one.closest("[role=radiogroup]")?.ariaLabel), nameOf(one))
    else if (one.type === "number") add("number", nameOf(one), one.value === "" ? "" : Number(one.value))
    else if (one.type === "text") add("text field", nameOf(one), one.value)
  }
  const seen = (selector) => [...document.querySelectorAll(selector)].map((box) => plain(box.innerText))
  const view = all.find((one) => one.explorer?.view)?.explorer.view
  return {
    title: all.find((one) => one.tagName === "H1" && one.checkVisibility())?.innerText ?? "",
    values,
    view: view ? { ...view, off: [...view.off].sort() } : null,
    errors: seen("[data-testid=stAlertContentError]"), // of an exception too
    notices: seen("[data-testid=stAlertContentInfo], [data-testid=stAlertContentWarning]"),
    missing: seen("[role=dialog]").filter((text) => /not found/i.test(text)),
  }
}"""

# Long lists hold only the options in sight: they are scrolled through.
READ_OPTIONS = """async (list) => {
  const texts = new Set()
  const frames = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))
  for (let step = 0; step < 200; step++) {
    for (const option of list.querySelectorAll("[role=option]")) texts.add(option.textContent)
    const before = list.scrollTop
    list.scrollTop += list.clientHeight / 2
    await frames()
    if (list.scrollTop === before) break
  }
  list.scrollTop = 0
  await frames()
  return [...texts]
}"""


class FaultError(AssertionError):
    """Something that must not be, in one sentence."""


class Watch:
    """What a browser's page shows and says, from before its first load on.

    patience, page_patience: seconds for a run to end, and for what stands on a page or in its address to come.
    """

    def __init__(self, page: Page, *, patience: float = RUN_PATIENCE, page_patience: float = PAGE_PATIENCE) -> None:
        self.page, self.patience, self.page_patience = page, patience, page_patience
        self.failed: list[str] = []
        page.add_init_script(COUNT_QUIET)
        page.on("pageerror", lambda error: self.failed.append(str(error)))
        page.on("console", self._note)

    def _note(self, message: ConsoleMessage) -> None:
        """Streamlit itself asks at the wrong place for two files before it finds them at the right one."""
        if message.type == "error" and "/_stcore/" not in message.location["url"]:
            self.failed.append(message.text)

    def settle(self) -> None:
        """Wait until all that was done is answered; then look at what every page must have."""
        self.wait()
        self.look()

    def wait(self) -> None:
        """Until the server has said all, and the page has nothing more to ask."""
        end = time.monotonic() + self.patience
        while True:
            try:
                self.page.evaluate("window.wander.quiet = 0")
                left = max(1, end - time.monotonic())
                self.page.wait_for_function(f"window.wander?.quiet > {QUIET}", polling=50, timeout=left * 1000)
                return
            except TookTooLongError:
                raise FaultError(f"The run of {self.place} does not end within {self.patience:g} seconds.") from None
            except Error:  # the page was left while it was asked
                if time.monotonic() > end:
                    raise

    def look(self) -> None:
        """Scripts that failed, error boxes, a title."""
        self.look_for_errors()
        facts = self.facts()
        for error in facts["errors"]:
            if not proper_refusal(error, facts["values"]):
                texts = facts["values"].items()
                fields = {name: text[:LONGEST_QUOTE] for name, text in texts if name.startswith("text field")}
                raise FaultError(
                    f"There is an error box on {self.place}: {error[:LONGEST_QUOTE]!r}. The page has {fields}."
                )
        for notice in facts["missing"]:
            raise FaultError(f"A dialog on {self.place} says {notice!r}.")
        if not facts["title"] and not self._has_title():
            raise FaultError(f"The page {self.place} has no title.")

    def _has_title(self) -> bool:
        """Whether it comes: a busy machine can keep a page from its first run for longer than a lost message takes."""
        try:
            self.page.locator("h1:visible").first.wait_for(timeout=self.page_patience * 1000)
        except TookTooLongError:
            return False
        return True

    def look_for_errors(self) -> None:
        """Scripts that failed since the page was first loaded."""
        if self.failed:
            raise FaultError(f"A script failed in the browser: {self.failed[0]!r}.")

    @property
    def place(self) -> str:
        """Where the page is, without the server's name, which is another one every time."""
        return urlunsplit(("", "", *urlsplit(self.page.url)[2:]))

    def facts(self) -> dict[str, Any]:
        """The title, the values of all controls, the explorer's view and the boxes of the page."""
        return self.page.evaluate(READ_PAGE)

    def open_list(self, field: Locator, *, answered: bool = True) -> None:
        """Open a list, which stays open: what it shows must be one of the things that it offers.

        answered: whether all that was done is answered; until then a list may show what it offered before. A list that
        is open already shows what was typed to search it.
        """
        value, name, was_open = field.input_value(), field.get_attribute("aria-label"), is_open(field)
        field.scroll_into_view_if_needed()  # before the click: a list that has opened closes when the page scrolls
        field.click()
        opened = self.page.get_by_role("listbox").last
        opened.get_by_role("option").first.wait_for()
        offered = [plain(option) for option in opened.evaluate(READ_OPTIONS)]
        if answered and value and not was_open and plain(value) not in offered:
            raise FaultError(f"The list {name!r} on {self.place} shows {value!r}, but offers {', '.join(offered)}.")

    def address(self) -> None:
        """The address, opened by somebody else, must give the page back. A refused or unsent text it does not hold.

        Nor what was typed to search a list that is open, nor a training of one's own: a link asks to make it anew.
        """
        unsent = self.page.locator(UNSENT).count()
        searched = self.page.locator("[role=combobox][aria-expanded=true]").count()
        if unsent or searched or OWN_TRAINING in self.place or self.facts()["errors"]:
            return
        context = self.page.context.browser.new_context(viewport=self.page.viewport_size)  # type: ignore[union-attr]
        with closing(context):
            differing = self._compared(Watch(context.new_page(), patience=self.patience))
            if differing:
                raise FaultError(f"The address {self.place} does not give the page back: {'; '.join(differing[:4])}.")

    def _compared(self, other: "Watch") -> list[str]:
        """What stays different between this page and another at its address.

        The address may be written late: a component tells again what was lost on the way.
        """
        end, opened = time.monotonic() + self.page_patience, ""
        while True:
            if self.page.url != opened:
                opened = self.page.url
                other.page.goto(opened, timeout=self.patience * 1000)
                other.wait()
            differing = list(differences(self.facts(), other.facts()))
            if not differing or time.monotonic() > end:
                return differing
            self.page.wait_for_timeout(500)

    def number(self) -> None:
        """The exact number on Explore, where a query or a key is kept and nothing else is changed, is the trace's."""
        expected = expected_number(self.page.url)
        if expected is None:
            return
        self.page.mouse.move(1, 1)
        explorer = self.page.locator(".headlight")
        if explorer.evaluate("root => root.explorer.hovered !== null"):  # the keyboard is at a token: it says another
            return
        exact = self.page.locator(".readout .exact")
        with suppress(TookTooLongError):
            exact.wait_for(timeout=NUMBER_PATIENCE)
        if not exact.is_visible():
            raise FaultError(f"The exact number of what {self.place} keeps does not come.")
        number = float(exact.inner_text())
        if abs(number - expected) > TOLERANCE:
            readout = plain(self.page.locator(".readout .said").inner_text())
            raise FaultError(f"{self.place} shows {number} ({readout}), but the trace has {expected}.")


def is_open(field: Locator) -> bool:
    """Whether a list has been opened, of which this is the field."""
    return field.get_attribute("aria-expanded") == "true"


def plain(text: str) -> str:
    """A text with its white space as a browser shows it."""
    return " ".join(text.split())


def proper_refusal(error: str, values: Mapping[str, Any]) -> bool:
    """Whether an error box is the right answer: a plain sentence, and a field holds what it refuses."""
    typed = [value for key, value in values.items() if key.startswith("text field")]
    numbers = [value for key, value in values.items() if key.startswith("number") and value != ""]
    named = [f"“{text}”" for text in typed] + [f" {number:,} " for number in numbers]
    asked = any(value for key, value in values.items() if HUB_FIELD in key)  # nothing that is typed at random is there
    named += UPLOADS
    refused = asked or NO_HUB in error or any(map(refusable, typed)) or any(value in error for value in named)
    return not PYTHON.search(error) and refused


def refusable(text: str) -> bool:
    """Whether a text leaves nothing to read, or is longer than any page reads."""
    return len(text) > LONGEST_TEXT or all(unicodedata.category(letter)[0] in "ZC" for letter in text)


def differences(here: Mapping[str, Any], there: Mapping[str, Any]) -> Iterator[str]:
    """In words, what of the facts of a page the facts of another do not give back."""
    if here["title"] != there["title"]:
        yield f"the title is {here['title']!r}, then {there['title']!r}"
    for notice in there["errors"] + there["notices"]:
        if notice not in here["errors"] + here["notices"]:
            yield f"a box appears that says {notice!r}"
    yield from differing_values(here["values"], there["values"], UNADDRESSED)
    yield from differing_values(here["view"] or {}, there["view"] or {})


def differing_values(here: Mapping[str, Any], there: Mapping[str, Any], leaving: Sequence[str] = ()) -> Iterator[str]:
    """Every value that differs, or is missing on one side."""
    for name in {**here, **there}:
        if here.get(name) != there.get(name) and not any(f"“{left}”" in name for left in leaving):
            yield f"{name} is {here.get(name, 'missing')!r}, then {there.get(name, 'missing')!r}"


@cache
def checkpoint_named(name: str) -> Checkpoint:
    """Loaded once for all samples."""
    return load_checkpoint(name, device="cpu")


def expected_number(url: str) -> float | None:
    """What the address of Explore asks to be read there; None where it asks for none, or changes what is shown."""
    parts = urlsplit(url)
    chosen, unusable = CODEC.read(dict(parse_qsl(parts.query, keep_blank_values=True)))
    selection = CODEC.resolve(chosen, FIRST)
    if parts.path.strip("/") not in EXPLORE or unusable or not is_plain(selection):
        return None
    weights = layer_weights(selection)
    heads = selection.view.heads_on(len(weights))
    if not heads:
        return None
    mean = weights[list(heads)].mean(axis=0, dtype=np.float64)
    query, key = selection.view.query, selection.view.key
    if query is not None:
        return float(mean[query].max() if key is None else mean[query, key])
    return float(mean[:, key].max())


def is_plain(selection: Selection) -> bool:
    """Whether a query or a key is kept, and the numbers shown are those of the trace as it is."""
    kept = selection.view.query is not None or selection.view.key is not None
    as_it_is = all(getattr(selection, name) == value for name, value in PLAIN.items())
    as_it_is = as_it_is and selection.of(Options).method == Options().method
    return kept and as_it_is and all(getattr(selection.view, name) == value for name, value in PLAIN_VIEW.items())


def layer_weights(selection: Selection) -> np.ndarray:
    """The weights (head, query, key) of the chosen layer and attention."""
    trace, view = checkpoint_named(selection.checkpoint).trace(selection.text), selection.view
    # An address names no attention where the page shows the only one that there is.
    stack = trace.encoder if view.attention == "encoder" and trace.encoder is not None else trace.decoder
    assert stack is not None
    weights = stack.cross_weights() if view.attention == "cross" else stack.weights()
    return weights[view.layer].numpy()
