"""Every page with a model of every kind: it shows the model, or says in one sentence what the model lacks and goes on.

And what a visitor brings, from the hub, as a folder or uploaded: its files can be taken, and the scripts run.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages.parts.learn.stops import PATH
from pages.parts.models.catalogue import open_folder, opened
from pages.parts.state.selection import EXAMPLES
from pages.parts.translate.settings import SENTENCES
from pages.parts.translate.sources import BY_LANGUAGE, sentences_for
from pages.parts.write.settings import BEGINNINGS
from tests.pages.test_every_page import ALL_PAGES, APP, BARELESS, bar, link
from tests.pages.test_every_page import opened as opened_page
from tests.pages.test_families import TEXT
from tests.running import ROOT
from tests.scripts import run_script

# What each lacks, as somebody reads it off its name: no decoder, no encoder, no classifier, no head at all.
KINDS = ("gpt2", "bert", "bert-classifier", "bert-bare", "marian", "t5")
TRANSLATORS, WRITERS = {"marian", "t5"}, {"gpt2"}
NEEDS = {"translate.py": TRANSLATORS, "write.py": WRITERS}
ELSEWHERE = {"explore.py", "learn.py"}  # tested for more kinds in test_families, and stop by stop below
MODELLESS = {"arrays.py", "checkpoints.py", "words.py"}
PAGES = [page for page in ALL_PAGES if page not in ELSEWHERE | MODELLESS]
NO_ANSWER = {  # stops of Learn that such a model cannot answer, from 1
    "gpt2": {2, 3, 8, 11},
    "bert-bare": {2, 3, 5, 6, 8, 10, 11},
    "t5": {2, 3, 5, 6, 8, 10, 12},
}
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def plain(text: str) -> str:
    return text.replace("\\", "")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_shows_a_model_of_any_kind_or_says_what_it_lacks(page, kind, app_folders):
    app = opened_page(page, checkpoint=kind, text=TEXT)
    assert not app.exception
    assert not app.error
    assert len(app.title) == 1
    if page not in BARELESS:
        assert bar(app)["model"] == kind
    refusals = [plain(info.value) for info in app.info if "This page needs" in info.value]
    if kind in NEEDS.get(page, {kind}):
        assert not refusals
        return
    (sentence,) = refusals
    assert sentence.startswith(f"{kind} does not ")
    assert sentence.endswith(("encoder and a decoder.", "decoder-only model."))
    assert app.button(key="offer").label
    explore = link(app, f"Explore: the attention of {kind}".replace("-", "\\-"))
    assert parse_qs(explore.query_string)["checkpoint"] == [kind]


@pytest.fixture(scope="module")
def with_bundled(folders):
    """The models that the stops of Learn open with, beside those of every kind."""
    links = [folders / name for name in ("sentiment", "stories", "translate-en-fr")]
    for link_to in links:
        link_to.symlink_to(ROOT / "checkpoints" / link_to.name, target_is_directory=True)
    yield
    for link_to in links:
        link_to.unlink()


@pytest.mark.usefixtures("with_bundled", "app_folders")
@pytest.mark.parametrize("kind", NO_ANSWER)
@pytest.mark.parametrize("stop", range(1, len(PATH) + 1))
def test_a_stop_of_learn_asks_a_model_of_any_kind_or_says_what_it_needs(stop, kind):
    app = opened_page("learn.py", checkpoint=kind, text=TEXT, stop=str(stop), guesses=f"{stop}a")
    assert not app.exception
    assert not app.error
    captions = [plain(caption.value) for caption in app.main.caption]
    told = [text for text in captions if f"{kind} cannot answer this question, which needs a" in text]
    assert len(told) == (stop in NO_ANSWER[kind])
    assert (bar(app)["model"] == kind) == (stop not in NO_ANSWER[kind])


@pytest.mark.parametrize("page", ["explore.py", "inside.py", "positions.py", "break.py", "mistakes.py", "learn.py"])
def test_a_foreign_text_is_said_to_be_unknown(page, app_folders):
    app = opened_page(page, checkpoint="bert", text="the dog 日本 bit")
    assert not app.exception
    captions = [plain(caption.value) for caption in app.main.caption]
    assert sum("of 5 tokens are unknown to the model" in text for text in captions) == 1, captions


def test_the_examples_suit_the_kind(app_folders):
    examples = {kind: bar(opened_page("inside.py", checkpoint=kind, text=TEXT))["examples"] for kind in KINDS}
    assert examples["gpt2"] == list(BEGINNINGS)
    assert examples["marian"] == list(SENTENCES)
    assert examples["t5"] == [f"translate English to German: {text}" for text in SENTENCES]
    assert examples["bert-classifier"] == examples["bert-bare"] == list(EXAMPLES)
    assert examples["bert"] == list(EXAMPLES), "its tokenizer has no token for a gap"


def test_a_translator_gets_sentences_of_its_language_as_far_as_its_name_says():
    assert sentences_for("Helsinki-NLP/opus-mt-de-en") == BY_LANGUAGE["de"]
    assert sentences_for("opus-mt-tc-big-fr-en") == BY_LANGUAGE["fr"]
    assert sentences_for("Helsinki-NLP/opus-mt-en-ROMANCE") == sentences_for("my-marian") == SENTENCES
    assert sentences_for("Helsinki-NLP/opus-mt-mul-en") == (), "no English for what reads other languages"


# What is brought


@pytest.fixture
def files(monkeypatch) -> dict[str, Callable[[], bytes | str]]:
    """Every file that the pages offer, by its label; a browser asks for one later, where there is no session."""
    offered: dict[str, Callable[[], bytes | str]] = {}

    def button(label: str, make: Callable[[], bytes | str], *_: Any, **__: Any) -> None:
        offered[label] = make

    monkeypatch.setattr(st, "download_button", button)
    return offered


@pytest.fixture
def brought(folders, tmp_path, monkeypatch) -> Iterator[Callable[[str, str], tuple[str, dict[str, Path]]]]:
    """Brings a tiny model, from the hub, as a folder or uploaded: its name, and what of it is in the session."""
    monkeypatch.setenv("HEADLIGHT_CACHE", str(tmp_path / "cache"))

    def bring(kind: str, way: str) -> tuple[str, dict[str, Path]]:
        if way == "hub":
            snapshot = tmp_path / "cache" / "hub" / f"models--tiny--{kind}" / "snapshots" / COMMIT
            shutil.copytree(folders / kind, snapshot)
            return f"tiny/{kind}@{COMMIT}", {}
        if way == "folder":
            shutil.copytree(folders / kind, tmp_path / "mine" / f"my {kind}")
            return open_folder(tmp_path / "mine" / f"my {kind}"), {}
        name = f"{kind}-1a2b3c4d"
        shutil.copytree(folders / kind, tmp_path / "given")
        return name, {name: tmp_path / "given"}

    yield bring
    opened().clear()


def page_of_brought(page: str, name: str, uploads: dict[str, Path], **address: str) -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=120)
    app.query_params.update({"checkpoint": name, "text": TEXT} | address)
    app.session_state["_picture_sent"] = app.session_state["_routed"] = True
    app.session_state["_uploads"] = uploads
    app.switch_page(f"pages/{page}").run()
    assert not app.exception
    assert not app.error
    return app


SCRIPTS = {  # page, kind, more of the address, the script's label
    "view": ("explore.py", "bert", {}, "As Python"),
    "written": ("write.py", "gpt2", {"written": "11.20.5"}, "Text as Python"),
    "broken": ("break.py", "bert-classifier", {"experiment": "scale"}, "As Python"),
    "weight": ("inside.py", "marian", {"attention": "cross"}, "As Python"),
    "translated": ("translate.py", "t5", {}, "As Python"),
}


@pytest.mark.parametrize(
    ("case", "way"), [("view", "hub"), ("view", "folder"), *((case, "upload") for case in SCRIPTS)]
)
def test_a_script_runs_for_a_model_that_was_brought(case, way, brought, files, tmp_path):
    page, kind, more, label = SCRIPTS[case]
    name, uploads = brought(kind, way)
    page_of_brought(page, name, uploads, **more)
    script = str(files[label]())
    if way == "hub":
        assert f"load_checkpoint('tiny/{kind}', revision='{COMMIT}')" in script
    place = f"import os, sys\nsys.path.insert(0, os.getcwd())\nos.chdir({str(tmp_path)!r})\n"
    place += f"os.environ['HEADLIGHT_CACHE'] = {os.environ['HEADLIGHT_CACHE']!r}\n"
    if uploads:
        missing = run_script(place + script)
        assert missing.returncode == 1
        last = missing.stderr.strip().splitlines()[-1]
        assert last.startswith(f"SystemExit: There is no folder {name}: put the model's files there")
        (tmp_path / "given").rename(tmp_path / name)
    ran = run_script(place + script)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(("kind", "way"), [("gpt2", "upload"), ("t5", "hub"), ("bert-bare", "folder")])
def test_every_file_can_be_taken_of_a_model_that_was_brought(kind, way, brought, files):
    page_of_brought("explore.py", *brought(kind, way))
    assert {"Web page (HTML)", "All weights (NPZ)", "This view (CSV)", "This view (JSON)", "As Python"} <= files.keys()
    for label, make in files.items():
        assert make(), label
