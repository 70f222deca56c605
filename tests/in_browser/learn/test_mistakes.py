"""Mistakes in a browser: a choice from the list, a phone, and the files of Check yours, run as at home."""

import subprocess
import sys
import textwrap
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.running import answered, choose, download, fits, no_complaint, open_page, visitor
from tests.viz.export.test_check_yours import RIGHT, STUB

PHONE = (390, 844)


def title_says(page: Page, words: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_contain_text(words)


def run_at_home(folder: Path, script: Path) -> str:
    """What the script prints once the right function stands in it."""
    text = script.read_text(encoding="utf-8")
    script.write_text(text.replace(STUB, textwrap.indent(RIGHT, "    ")), encoding="utf-8")
    command = [sys.executable, "-I", script.name]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True, encoding="utf-8").stdout


def test_a_mistake_is_chosen_and_back_brings_the_one_before(browser, address):
    with visitor(browser, width=1366, height=768) as page:
        open_page(page, address, "Mistakes")
        title_says(page, "% positive")  # that with the largest effect
        largest = page.get_by_role("heading", level=1).inner_text()
        choose(page, "Mistake", "Post-norm called pre-norm")
        title_says(page, "Post-norm in place of pre-norm")
        assert "mistake=norm" in page.url
        with answered(page):
            page.go_back()
        title_says(page, largest)
        no_complaint(page)


def test_on_a_phone_nothing_sticks_out(browser, address):
    width, height = PHONE
    with visitor(browser, width=width, height=height) as page:
        open_page(page, address, "Mistakes", mistake="billion")
        fits(page, width)
        expect(page.locator(".matrices table")).to_have_count(2)


def test_the_files_of_both_pages_agree_with_a_right_function(browser, address, tmp_path):
    with visitor(browser, width=1366, height=768) as page:
        open_page(page, address, "Inside a head", checkpoint="stories", text="Once upon a time", layer="2", head="3")
        for label in ("Check yours (NPZ)", "Check yours (Python)"):
            file = download(page, label)
            file.save_as(tmp_path / file.suggested_filename)
        (script,) = tmp_path.glob("*.py")
        assert run_at_home(tmp_path, script).endswith("Every step that was given is right.\n")
        open_page(page, address, "Mistakes")
        for label in ("Arrays (NPZ)", "Script (Python)"):
            with page.expect_download() as started:
                page.get_by_role("button", name=label, exact=True).click()
            started.value.save_as(tmp_path / started.value.suggested_filename)
        (script,) = tmp_path.glob("mistakes*.py")
        assert "Every step that was given is right, but the mask was not tested" in run_at_home(tmp_path, script)
