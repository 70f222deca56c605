"""A model of 500 MB from a hub's click to its picture: the server's memory, and another visitor meanwhile.

    python -m benchmarks.large_model

The hub is this machine; the repository has the shapes of GPT-2 small, random float32 numbers and the tokenizer of
`stories`. Memory is the server's resident set, beside what it took with a small model's picture on the screen.

Goals: growth of at most 1.15 times the file; the other visitor waits no longer than twice as long; most of the growth
is given back after the visitor has left. It prints; it fails on nothing.
"""

import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import torch
from playwright.sync_api import Browser, Page
from transformers import GPT2Config, GPT2LMHeadModel

from benchmarks.trace import machine
from model.checkpoint import CHECKPOINTS
from pages.parts.state.session_ends import INTERVAL, PATIENCE
from tests.hub_server import hub_server
from tests.running import chromium, idle, open_page, running_app, show_text, visitor

REPO, MEGABYTE, QUIET_TEXTS = "gpt2", 1e6, 8


def make_repository(folder: Path) -> int:
    """A GPT-2 of random numbers. The bytes of its weights."""
    torch.manual_seed(0)
    GPT2LMHeadModel(GPT2Config()).save_pretrained(folder)
    shutil.copy(CHECKPOINTS / "stories" / "tokenizer.json", folder)
    return (folder / "model.safetensors").stat().st_size


@contextmanager
def app_with_hub(root: Path) -> Iterator[tuple[str, psutil.Process, int]]:
    """The app's address, its process, and the bytes of the weights that its hub offers."""
    weight_bytes = make_repository(root / REPO)
    with hub_server({REPO: root / REPO}) as endpoint:
        variables = {"HF_ENDPOINT": endpoint, "HEADLIGHT_CACHE": str(root / "cache")}
        with running_app(variables=variables) as (address, process):
            yield address, psutil.Process(process), weight_bytes


def text_time(page: Page, number: int) -> float:
    """Seconds from a new sentence to its picture, for the other visitor."""
    start = time.perf_counter()
    show_text(page, f"The film was slow, but I loved it {number} times.")
    return time.perf_counter() - start


def download_beside(page: Page, other: Page) -> tuple[float, list[float]]:
    """Seconds from the click to Explore on the model, and the other visitor's waits meanwhile."""
    page.get_by_role("button", name="Get gpt2", exact=True).click()
    button = page.get_by_test_id("stMain").get_by_role("button").filter(has_text="Download").filter(has_text="MB")
    button.wait_for()
    start, waits = time.perf_counter(), list[float]()
    button.click()
    while "/checkpoints" in page.url:
        waits.append(text_time(other, 100 + len(waits)))
        page.wait_for_timeout(50)
    idle(page)
    page.locator("canvas, svg").first.wait_for()
    return time.perf_counter() - start, waits


def measure(browser: Browser, address: str, process: psutil.Process, weight_bytes: int) -> None:
    """All of it, printed."""
    with visitor(browser) as other:
        open_page(other, address, "Explore")
        quiet = [text_time(other, number) for number in range(QUIET_TEXTS)]
        with visitor(browser) as page:
            open_page(page, address, "Models")
            before = process.memory_info().rss
            seconds, waits = download_beside(page, other)
            grown = process.memory_info().rss - before
        time.sleep(PATIENCE + 2 * INTERVAL)
        text_time(other, 0)
        left = process.memory_info().rss - before
    print(f"file {weight_bytes / MEGABYTE:.0f} MB; from the click to the picture {seconds:.1f} s")
    print(f"growth {grown / MEGABYTE:.0f} MB, {grown / weight_bytes:.2f} of the file")
    print(f"{PATIENCE + 2 * INTERVAL} s after the visitor has left: {left / MEGABYTE:.0f} MB")
    before_and_meanwhile = statistics.median(quiet), statistics.median(waits)
    print("another visitor's sentence: {:.2f} s before, {:.2f} s meanwhile".format(*before_and_meanwhile))


def main() -> None:
    """Print the figures."""
    print(machine())
    with (
        tempfile.TemporaryDirectory() as folder,
        app_with_hub(Path(folder)) as (address, process, weight_bytes),
        chromium() as browser,
    ):
        measure(browser, address, process, weight_bytes)


if __name__ == "__main__":
    main()
