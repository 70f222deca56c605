"""The browser of the tests: the system's Chromium, else Playwright's own download, else Debian's package.

`python -m tests.browser` makes sure that there is one; `find_browser` says where it is. Tests take Chromium's headless
shell where there is one: the same engine without a window, in which a page of the app loads a third faster.
"""

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

SYSTEM_SHELLS = ("chromium-headless-shell", "chrome-headless-shell")
SYSTEM_BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
LAUNCH_ARGUMENTS = (
    "--no-sandbox",  # the sandbox does not start for root, whom containers run as
    "--disable-gpu",
    "--no-first-run",
    # no traffic but the tests' own
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PLAYWRIGHT_PATH = (
    "from playwright.sync_api import sync_playwright\n"
    "with sync_playwright() as playwright: print(playwright.chromium.executable_path)"
)
INSTALL_PLAYWRIGHT = (sys.executable, "-m", "playwright", "install", "chromium")
# Only dpkg's own lock is waited for by apt-get; the lock on the package lists needs the loop. Some releases have no
# package of the shell.
INSTALL_DEBIAN = (
    "sh",
    "-c",
    "until apt-get update; do sleep 5; done; for package in chromium chromium-headless-shell; do"
    " apt-get -o DPkg::Lock::Timeout=300 install -y $package; done",
)


class BrowserMissingError(RuntimeError):
    """No Chromium starts on this machine: the tests fail, they do not skip."""


@cache
def find_browser(*, shell: bool = True) -> str:
    """The path of a Chromium that starts.

    shell: whether a headless shell comes first; False for a browser as people use it, whose speed is measured.
    """
    downloaded = playwright_browser()
    shells = [*SYSTEM_SHELLS, shell_beside(downloaded)] if shell else []
    for candidate in [*shells, *SYSTEM_BROWSERS, downloaded]:
        path = shutil.which(candidate)
        if path and starts(path):
            return path
    raise BrowserMissingError("no Chromium here: run `python -m tests.browser`, or install Chromium or Chrome")


def starts(path: str) -> bool:
    """Ask rather than look: Ubuntu's package is a stub that advises a snap, and a library may be missing."""
    return answer(path, "--version") is not None


def playwright_browser() -> str:
    """In a process of its own, because the caller may be inside Playwright, which cannot start twice."""
    return (answer(sys.executable, "-c", PLAYWRIGHT_PATH) or "").strip()


def shell_beside(downloaded: str) -> str:
    """The headless shell that Playwright's download brings along: …/chromium-1/chrome-linux64/chrome has one in
    …/chromium_headless_shell-1/chrome-headless-shell-linux64/chrome-headless-shell. "" where Playwright named none.
    """
    if not downloaded:
        return ""
    folder = Path(downloaded).parent
    name = folder.parent.name.replace("chromium-", "chromium_headless_shell-")
    system = folder.name.removeprefix("chrome-")
    return str(folder.parent.with_name(name) / f"chrome-headless-shell-{system}" / "chrome-headless-shell")


def answer(*command: str) -> str | None:
    """What the command printed; None where it cannot start, fails or takes long."""
    try:
        return subprocess.run(command, check=True, timeout=30, capture_output=True, text=True).stdout
    except (OSError, subprocess.SubprocessError):
        return None


def install_browser() -> str:
    """The path of a Chromium that starts, after installing one where there is none."""
    os.environ.setdefault("PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT", "10000")
    os.environ.setdefault("DEBIAN_FRONTEND", "noninteractive")
    installers: list[tuple[str, ...]] = [INSTALL_PLAYWRIGHT]
    if shutil.which("apt-get") and os.geteuid() == 0:
        installers.append(INSTALL_DEBIAN)
    for command in installers:
        try:
            return find_browser()
        except BrowserMissingError:
            attempt(command)
    return find_browser()


def attempt(command: tuple[str, ...]) -> None:
    """Whether it worked is for find_browser to say."""
    with suppress(subprocess.TimeoutExpired):
        subprocess.run(command, check=False, timeout=300)


if __name__ == "__main__":
    print(install_browser())
