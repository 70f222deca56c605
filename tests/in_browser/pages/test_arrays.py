"""The page Your arrays in a real browser: a visitor's files, one after the other, and what is taken away of them."""

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from model.loading.attention_arrays import read_attention
from tests.model.loading.test_attention_arrays import TOKENS, WEIGHTS, npz, random_weights
from tests.pages.test_arrays import HOSTILE
from tests.running import (
    answered,
    download,
    go_to,
    has_page,
    idle,
    no_complaint,
    open_menu,
    open_page,
    picture_shown,
    visitor,
)

TITLE = "Your arrays"
LAPTOP, PHONE = (1366, 768), (390, 844)
TOPS = {LAPTOP: 280, PHONE: 460}  # pixels above the picture, at most


def upload(page: Page, content: bytes, name: str) -> None:
    """Choose a file, and wait until the page has answered."""
    with answered(page):
        page.locator("input[type=file]").set_input_files(
            {"name": name, "mimeType": "application/octet-stream", "buffer": content}
        )
    idle(page)


def saved(page: Page, label: str, folder: Path) -> bytes:
    path = folder / "taken"
    download(page, label).save_as(path)
    return path.read_bytes()


def fits(page: Page, width: int) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("size", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_a_bad_file_a_good_one_and_another_after_it(browser, address, size, tmp_path):
    width, height = size
    weights = WEIGHTS.copy()
    weights[1, 2, 3, 4] = -0.5
    with visitor(browser, width=width, height=height) as page:
        open_page(page, address, TITLE)
        upload(page, npz(weights=weights, tokens=np.array(TOKENS)), "bad.npz")
        refusal = page.get_by_test_id("stAlertContentError")
        expect(refusal).to_contain_text("The weight of layer 2, head 3, query 4, key 5 (counted from 1) is -0.5")
        expect(page.locator(".headlight")).to_have_count(0)

        upload(page, npz(weights=WEIGHTS, tokens=np.array(HOSTILE)), "mine.npz")
        expect(page.get_by_text("mine.npz: 2 layers with 3 heads each, 5 tokens.")).to_be_visible()
        no_complaint(page)
        picture_shown(page)
        assert page.locator("img[src=x]").count() == 0
        box = page.locator(".st-key-picture").bounding_box()
        assert box is not None
        assert box["y"] <= TOPS[size]
        fits(page, width)
        taken = read_attention(saved(page, "All weights (NPZ)", tmp_path)).attentions["encoder"]
        assert np.array_equal(taken.weights, WEIGHTS)
        assert list(taken.queries) == HOSTILE

        cross = random_weights(3, 2, 3, 5)
        upload(page, npz(weights=cross, tokens=np.array(TOKENS[:3]), keys=np.array(TOKENS)), "cross.npz")
        expect(page.get_by_text("cross.npz: 3 layers with 2 heads each, 3 tokens and 5 keys.")).to_be_visible()
        picture_shown(page)
        with answered(page):
            page.get_by_role("group", name="Layer", exact=True).get_by_text("2", exact=True).click()
        expect(page).to_have_url(re.compile("layer=1"))
        view = json.loads(saved(page, "This view (JSON)", tmp_path))
        assert (view["attention"], view["layer"], view["provenance"]["source"]) == ("cross", 1, "cross.npz")
        assert np.array_equal(np.array(view["weights"], np.float32), cross[1])
        assert [key["token"] for key in view["keys"]] == TOKENS
        no_complaint(page)


def test_every_file_of_the_menu_is_made_of_the_visitors_file(browser, address, tmp_path):
    labels = {
        "Large picture (SVG)": b"<svg",
        "Picture (SVG)": b"<svg",
        "Picture (PDF)": b"%PDF",
        "Picture (PNG)": b"\x89PNG",
        "Web page (HTML)": b"<!doctype html>",
        "All weights (NPZ)": b"PK",
        "This view (CSV)": b"\xef\xbb\xbf# read",
        "This view (JSON)": b"{",
        "As Python": b'"""Attention of another program.',
    }
    with visitor(browser) as page:
        open_page(page, address, TITLE)
        upload(page, npz(weights=WEIGHTS, tokens=np.array(TOKENS)), "mine.npz")
        expect(page.get_by_text("mine.npz: 2 layers")).to_be_visible()
        for label, beginning in labels.items():
            content = saved(page, label, tmp_path)
            assert content.startswith(beginning), label
            assert b"mine.npz" in content or beginning in (b"PK", b"%PDF"), label
        assert np.load(io.BytesIO(saved(page, "All weights (NPZ)", tmp_path)))["source"] == "mine.npz"
        assert b"read_attention('mine.npz')" in saved(page, "As Python", tmp_path)


def test_the_file_is_there_again_after_another_page_and_goes_when_it_is_closed(browser, address):
    with visitor(browser, width=LAPTOP[0], height=LAPTOP[1]) as page:
        open_page(page, address, TITLE)
        upload(page, npz(weights=WEIGHTS, tokens=np.array(TOKENS)), "mine.npz")
        expect(page.get_by_text("mine.npz: 2 layers")).to_be_visible()
        shared = page.url
        go_to(page, "Explore")
        go_to(page, TITLE)
        expect(page.get_by_text("mine.npz: 2 layers")).to_be_visible()
        with answered(page):
            page.get_by_role("button", name="Close this file").click()
        expect(page.get_by_text("worked example: 4 layers")).to_be_visible()
        no_complaint(page)
    with visitor(browser, width=LAPTOP[0], height=LAPTOP[1], first=True) as page:
        page.goto(shared)
        has_page(page, TITLE)
        expect(page.get_by_text("No address carries a file")).to_be_visible()


def test_on_a_phone_the_menus_stand_within_the_window(browser, address):
    width, height = PHONE
    with visitor(browser, width=width, height=height, dark=True) as page:
        open_page(page, address, TITLE)
        for name in ("Share", "Download"):
            open_menu(page, name)
            box = page.locator(".bar .folded").bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
        fits(page, width)


def test_the_field_for_a_file_is_reached_by_the_keyboard(browser, address):
    with visitor(browser, width=LAPTOP[0], height=LAPTOP[1]) as page:
        open_page(page, address, TITLE)
        field = page.get_by_test_id("stFileUploader").locator("button")
        field.focus()
        expect(field).to_be_focused()
        with page.expect_file_chooser():
            field.press("Enter")
