"""The app as it is run, and a browser that watches where requests go: for tests, pictures and benchmarks."""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Browser, BrowserContext, Download, Page, expect, sync_playwright

from tests.browser import LAUNCH_ARGUMENTS, find_browser

ROOT = Path(__file__).parent.parent
PATIENCE = 90  # seconds: a small shared machine may be busy with something else
expect.set_options(timeout=PATIENCE * 1000)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]


@contextmanager
def running_app(app: str | Path = "app.py", *, variables: Mapping[str, str] | None = None) -> Iterator[tuple[str, int]]:
    """A freshly started server of this app or another: its address and its process id.

    variables: of its environment, beside our own.
    """
    port = free_port()
    options = {"server.port": port, "server.headless": "true", "server.fileWatcherType": "none"}
    flags = [f"--{name}={value}" for name, value in options.items()]
    command = [sys.executable, "-m", "streamlit", "run", str(app), *flags]
    with running_server(command, port, variables={**os.environ, **(variables or {})}) as started:
        yield started


@contextmanager
def running_server(
    command: Sequence[str], port: int, *, folder: Path = ROOT, variables: Mapping[str, str] | None = None
) -> Iterator[tuple[str, int]]:
    """What this command starts at the port, from a folder and with an environment: its address and its process id."""
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, cwd=folder, env=variables, stdout=quiet, stderr=quiet) as server:
        try:
            wait_for_health(f"http://localhost:{port}/_stcore/health", server)
            yield f"http://localhost:{port}", server.pid
        finally:
            server.terminate()


def wait_for_health(address: str, server: subprocess.Popen) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        assert server.poll() is None, f"the server stopped with status {server.returncode}"
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(f"the server did not answer within {PATIENCE} seconds")


@contextmanager
def chromium(*, shell: bool = True) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(shell=shell), args=list(LAUNCH_ARGUMENTS))
        yield browser
        browser.close()


@contextmanager
def visitor(
    browser: Browser, *, dark: bool = False, width: int = 1440, height: int = 1000, first: bool = False
) -> Iterator[Page]:
    """One visitor's page. Fails at the end if anything was asked of another host, or a script of the page failed.

    first: nothing of the app lies in the browser's cache yet. The others share one, which saves a part of each load.
    """
    context = new_context(browser) if first or not browser.contexts else browser.contexts[0]
    with watched(context):
        others, page = set(context.pages), context.new_page()
        page.emulate_media(color_scheme="dark" if dark else "light")
        page.set_viewport_size({"width": width, "height": height})
        try:
            yield page
        finally:
            if first:
                context.close()
            for own in set(context.pages) - others:
                forget(own)


def new_context(browser: Browser) -> BrowserContext:
    """What a browser keeps for its pages, with nothing in it yet."""
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    context.set_default_timeout(PATIENCE * 1000)
    return context


def forget(page: Page) -> None:
    """Close a page, and keep nothing of what it wrote into the browser."""
    if page.url.startswith("http"):
        page.evaluate("localStorage.clear()")
    page.close()


@contextmanager
def watched(context: BrowserContext) -> Iterator[None]:
    """Fails at the end if anything was asked of another host, or a script of a page failed."""
    foreign: list[str] = []
    failed: list[str] = []

    def note(address: str) -> None:
        if not re.match(r"(https?|wss?)://localhost[:/]|data:|blob:|about:", address):
            foreign.append(address)

    def watch(page: Page) -> None:
        page.on("websocket", lambda opened: note(opened.url))

    listeners: dict[Any, Any] = {
        "request": lambda request: note(request.url),
        "page": watch,
        "weberror": lambda error: failed.append(str(error.error)),
    }
    for event, listener in listeners.items():
        context.on(event, listener)
    yield
    for event, listener in listeners.items():
        context.remove_listener(event, listener)
    assert foreign == [], "the page asked other hosts for something"
    assert failed == [], "a script of the page failed, of a chart that cannot be drawn for instance"


@contextmanager
def answered(page: Page) -> Iterator[None]:
    """What is done inside makes the server run: wait until it has answered, and has nothing left to send.

    For pages that came by ``open_page``.
    """
    idle(page)
    before = page.evaluate("window.heard.messages")
    yield
    answer = f"({{ messages, last }}) => messages > {before} && performance.now() - last > {QUIET}"
    page.wait_for_function(f"() => ({answer})(window.heard)")
    idle(page)


def open_page(page: Page, address: str, title: str, **query: str) -> None:
    """Come by an address that names this."""
    page.add_init_script(HEAR_THE_SERVER)
    page.goto(f"{address}/{PAGES[title][0]}?{urlencode(query)}".rstrip("?"))
    has_page(page, title)


def has_page(page: Page, title: str) -> None:
    """Wait until this page is on the screen, with all its controls and pictures."""
    asks(page, PAGES[title][1])
    idle(page)
    if title not in BARELESS:
        expect(page.get_by_label("Model", exact=True)).to_be_visible()
    if page.locator(".headlight").count():
        picture_shown(page)


def asks(page: Page, question: str) -> None:
    """Wait until the page that answers this question is on the screen: its title may be what it found."""
    finding = page.locator(".st-key-finding").filter(has_text=question)  # beside that of the page before, for a moment
    expect(finding.first).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def go_to(page: Page, title: str) -> None:
    """Open another page by the sidebar."""
    open_from_menu(page, title)
    has_page(page, title)


def back(page: Page, title: str) -> None:
    """Press the browser's Back, which leads to this page."""
    with answered(page):
        page.go_back()
    has_page(page, title)


def forward(page: Page, title: str) -> None:
    """Press the browser's Forward, which leads to this page."""
    with answered(page):
        page.go_forward()
    has_page(page, title)


def entries(page: Page) -> int:
    """How many entries the browser's history has."""
    return int(page.evaluate("history.length"))


def show_text(page: Page, text: str) -> None:
    """Type a text and have it shown."""
    field = page.get_by_role("textbox", name="Text", exact=True)
    field.fill(text)
    with answered(page):
        field.press("Control+Enter")
    has_text(page, text)


def show_example(page: Page, text: str) -> None:
    """Take one of the example sentences."""
    open_menu(page, "Examples")
    with answered(page):
        page.get_by_role("button", name=text, exact=True).click()
    has_text(page, text)


def open_menu(page: Page, name: str) -> None:
    """Open a menu of the bar, unless it is open; on a phone it stands in another."""
    more, menu = page.get_by_role("button", name="More", exact=True), page.locator(f".bar .menu.{name.lower()}")
    expect(
        more.or_(menu.locator("summary")).filter(visible=True).first
    ).to_be_visible()  # the bar may yet be on its way
    if more.is_visible() and more.get_attribute("aria-expanded") == "false":
        more.click()
    if menu.get_attribute("open") is None:
        menu.locator("summary").click()


def download(page: Page, label: str) -> Download:
    """Take a file of the page from the bar."""
    idle(page)
    open_menu(page, "Download")
    with page.expect_download() as started:
        page.locator(".bar").get_by_role("button", name=label, exact=True).click()
    return started.value


def choose_checkpoint(page: Page, name: str) -> None:
    """Have another model read the text."""
    with answered(page):
        page.get_by_label("Model", exact=True).select_option(name)
    has_checkpoint(page, name)


def has_text(page: Page, text: str) -> None:
    expect(page.get_by_role("textbox", name="Text", exact=True)).to_have_value(text)


def has_checkpoint(page: Page, name: str) -> None:
    expect(page.get_by_label("Model", exact=True)).to_have_value(name)


def choose(page: Page, label: str, option: str) -> None:
    """Take another option of a list that opens. It closes where the page is scrolled, by the click itself perhaps."""
    field = page.get_by_role("combobox", name=label, exact=True)
    entry = page.get_by_role("option", name=option, exact=True)

    def opened() -> None:
        if field.get_attribute("aria-expanded") != "true":
            field.click()
        expect(entry).to_be_visible(timeout=2000)

    idle(page)
    comes_true(page, opened)
    with answered(page):
        entry.click()


def press(page: Page, name: str) -> None:
    """Press a button that has the server do something."""
    with answered(page):
        page.get_by_role("button", name=name, exact=True).click()


def pick(page: Page, words: str) -> None:
    """Take an option that stands in sight, or flip a switch, by some of its words."""
    with answered(page):
        page.locator("label").filter(has_text=words).last.click()


def no_complaint(page: Page) -> None:
    """Nothing failed, nothing was refused, and the address named nothing that is not there."""
    for complaint in ("stException", "stAlertContentError"):
        expect(page.get_by_test_id(complaint)).to_have_count(0)
    expect(page.get_by_text("gives no usable value")).to_have_count(0)
    expect(page.get_by_text("Page not found")).to_have_count(0)


def open_from_menu(page: Page, title: str) -> None:
    """Choose a page in the sidebar, which is folded on a phone."""
    sidebar = page.get_by_test_id("stSidebar")
    if sidebar.get_attribute("data-collapsed") == "true":
        page.get_by_test_id("stExpandSidebarButton").click()
    sidebar.get_by_role("link", name=title, exact=True).click()


# By their titles: the end of the address, and what stands above the page.
PAGES = {
    "Explore": ("", "Which words does each head look at?"),
    "Learn": ("learn", "Question 1 of"),
    "Mistakes": ("mistakes", "What do tutorials get wrong?"),
    "What it costs": ("costs", "How large is a model, and what does a longer text cost?"),
    "Words": ("words", "What does this word mean?"),
    "Inside a head": ("inside", "Where does this one number come from?"),
    "Positions": ("positions", "How does the model know the order of words?"),
    "Heads that matter": ("heads", "Which heads does this answer depend on?"),
    "Is attention the explanation?": ("explanation", "Does the answer depend on the words that the model looks at?"),
    "Compare": ("compare", "What differs between two texts, or two models?"),
    "Edit": ("edit", "What if this head looked elsewhere?"),
    "Break the formula": ("break", "What is each part of the formula for?"),
    "Translate": ("translate", "Which source words does the model look at?"),
    "Write": ("write", "Which words does the model look at as it writes?"),
    "Watch it learn": ("watch", "How did the heads come to do this?"),
    "How we know": ("evidence", "Why should I believe this number?"),
    "Models": ("checkpoints", "Which models are here, and how do I get another?"),
    "Your arrays": ("arrays", "What do the heads of another program look at?"),
}
BARELESS = {
    "Models",
    "Watch it learn",
    "What it costs",
    "Words",
    "Your arrays",
}  # pages without the bar: they read no text
QUIET = 80  # milliseconds
# The page may draw "running" and what follows it in one go, so that nobody sees it run: what the server sends is seen.
HEAR_THE_SERVER = """
if (!("heard" in window)) {
  window.heard = { messages: 0, last: 0 }
  window.WebSocket = class extends window.WebSocket {
    constructor(...given) {
      super(...given)
      this.addEventListener("message", () => {
        window.heard = { messages: window.heard.messages + 1, last: performance.now() }
      })
    }
  }
}"""

# In the page itself: decoding may be done before a click from outside arrives. Streamlit's own bar has a Stop too.
# Once more after a second: a press while the button is being replaced is lost, as a visitor's would be.
PRESS_STOP = """() => {
  let pressed = 0
  const pressing = setInterval(() => {
    const buttons = [...document.querySelectorAll("[data-testid=stMain] button")]
    const stop = buttons.find((button) => button.textContent.trim() === "Stop")
    if (!stop && pressed) clearInterval(pressing)
    if (!stop || performance.now() - pressed < 1000) return
    pressed = performance.now()
    stop.click()
  }, 5)
}"""


def picture_shown(page: Page) -> None:
    """Wait until the explorer is drawn and nothing is being computed."""
    expect(page.locator(".readout .said")).not_to_be_empty()
    idle(page)


def explored(page: Page, expression: str) -> Any:
    """What the page's explorer holds, as a script finds it."""
    return page.locator(".headlight").evaluate(f"root => {{ const {{ explorer }} = root; return {expression} }}")


def fits(page: Page, width: int) -> None:
    """Wait until nothing sticks out of a page so many pixels wide: Streamlit's main part scrolls by itself.

    Charts follow a change of the window a moment later.
    """
    main = "document.querySelector('[data-testid=stMain]')?.scrollWidth ?? 0"
    page.wait_for_function(f"Math.max(document.documentElement.scrollWidth, {main}) <= {width}", timeout=10_000)


def comes_true(page: Page, check: Callable[[], object]) -> None:
    """Call a check of what the page shows until it passes: a chart may come a moment after the server is idle.

    check: raises AssertionError, or says False, as long as it does not hold.
    """
    end = time.monotonic() + PATIENCE
    while True:
        try:
            outcome = check()
            assert outcome is None or outcome
            return
        except AssertionError:
            if time.monotonic() > end:
                raise
        page.wait_for_timeout(100)


def idle(page: Page) -> None:
    """Wait until the server has nothing left to send."""
    expect(page.locator("[data-testid=stApp]")).to_have_attribute("data-test-script-state", "notRunning")
