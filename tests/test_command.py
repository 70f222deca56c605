"""What ``pip install -e`` gives: the command, the packages and exported scripts, in folders of all kinds."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Mapping
from pathlib import Path

import pytest
from playwright.sync_api import expect

import headlight
from model import Edits, HeadSite, load_checkpoint
from model.measures.one_weight import WeightSite, path_of
from tests.running import free_port, no_complaint, open_page, running_server, visitor
from tests.scripts import run_file
from viz.explorer import View
from viz.explorer.snippet import snippet
from viz.export.array_script import showing_script
from viz.export.continuation_script import written_script
from viz.export.edited_script import edited_script
from viz.export.provenance import FileProvenance
from viz.walkthrough import step_sentences

ROOT = Path(__file__).parent.parent
PACKAGES = ("model", "viz", "pages")
TAKEN = ("app", "model", "pages", "streamlit", "tokenizers", "torch", "viz")  # what the caller's modules are called
EXPOSED = """
[server]
address = "0.0.0.0"
enableCORS = false
enableXsrfProtection = false
maxUploadSize = 999
[client]
showErrorDetails = "full"
"""
TEXT = "The film was slow, but I loved it."
EDITS = Edits(muted=frozenset({HeadSite("encoder", 0, 1)}))


def own_variables(**others: str) -> dict[str, str]:
    """The environment without what would have Python, Streamlit or Headlight behave in another way."""
    ours = ("PYTHON", "STREAMLIT_", "HEADLIGHT_")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)} | others


@pytest.fixture(scope="module")
def binaries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where python and headlight are, of an environment like this one in which Headlight is installed."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    binaries = folder / ("Scripts" if os.name == "nt" else "bin")
    purelib = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = subprocess.run([binaries / "python", "-c", purelib], capture_output=True, text=True, check=True).stdout
    present = [folder for folder in sys.path if Path(folder).name in ("site-packages", "dist-packages")]
    (Path(packages.strip()) / "0-packages.pth").write_text("\n".join(present), encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--python", str(binaries / "python"), "--disable-pip-version-check", "install"]
    offline = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet"]
    subprocess.run([*pip, *offline, "--editable", str(ROOT)], env=own_variables(), check=True)
    return binaries


@pytest.fixture
def crowded(tmp_path: Path) -> Path:
    """A folder with modules of these names in it, and settings of Streamlit that would expose the app."""
    folder = tmp_path / "crowded"
    (folder / ".streamlit").mkdir(parents=True)
    (folder / ".streamlit" / "config.toml").write_text(EXPOSED, encoding="utf-8")
    for name in TAKEN:
        (folder / f"{name}.py").write_text(f"raise RuntimeError('the {name}.py of the caller')", encoding="utf-8")
    return folder


def make_model_folder(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}", encoding="utf-8")
    return folder


def variables_for(*arguments: str) -> dict[str, str]:
    """What the app is told."""
    return headlight.variables_for(headlight.make_parser().parse_args(arguments))


def test_the_packages_are_imported_wherever_one_stands_beside_a_folder_of_such_a_name_too(binaries, tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "weights.bin").touch()
    code = f"""
import json
from model import load_checkpoint
from viz.explorer import show
checkpoint = load_checkpoint("sentiment", device="cpu")
print(json.dumps(checkpoint.classify({TEXT!r})))
print(len(show(checkpoint.trace({TEXT!r})).page))
"""
    python = [binaries / "python", "-c", code]
    ran = subprocess.run(python, cwd=tmp_path, env=own_variables(), capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    probabilities, page_length = ran.stdout.splitlines()
    assert json.loads(probabilities) == pytest.approx(
        load_checkpoint("sentiment", device="cpu").classify(TEXT), abs=1e-6
    )
    assert int(page_length) > 100_000


def test_every_data_file_of_the_packages_is_installed_with_them():
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    patterns = {pattern.removeprefix("**/*") for pattern in setuptools["package-data"]["*"]}
    files = [path for name in PACKAGES for path in (ROOT / name).rglob("*") if path.is_file()]
    needed = [path for path in files if "__pycache__" not in path.parts and not path.name.endswith((".d.ts", ".md"))]
    assert {path.suffix for path in needed} - {".py"} == patterns
    folders = {path.parent for path in needed if path.suffix == ".py"}
    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []
    assert {f"{name}*" for name in PACKAGES} == set(setuptools["packages"]["find"]["include"])


def test_the_command_says_what_it_takes(binaries, crowded):
    command, variables = [binaries / "headlight", "--help"], own_variables(PYTHONPATH=str(crowded))
    ran = subprocess.run(command, cwd=crowded, env=variables, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    for part in ("MODEL", "--arrays FILE", "--folders", "--port", "--address", "--headless", "headlight gpt2"):
        assert part in ran.stdout


REFUSED = {
    "./nonsense": "no folder",
    "gpt2@": "no folder",
    "gpt2@../..": "no folder",
    "nonsense/of/a/path": "no folder",
    "/nonsense": "no folder",
    "nonsense/": "no folder",
    "nonsense path": "no folder",
    "nonsense.npz": "no folder",
    "empty/nonsense": "no folder",
    "x" * 5000: "no folder",
    "two\nlines": "no folder",
    "empty": "no config.json",
    "model.py": "is a file",
    "--arrays=nonsense.npz": "no file",
    "--arrays=model.py": "no file of arrays",
    "--port=0": "no port",
    "--port=1e3": "no port",
    "--nonsense": "unrecognized arguments",
}


@pytest.mark.parametrize("argument", REFUSED, ids=lambda argument: argument[:20])
def test_what_cannot_be_opened_is_refused_with_one_line(argument, crowded, monkeypatch, capsys):
    (crowded / "empty").mkdir()
    monkeypatch.chdir(crowded)
    with pytest.raises(SystemExit) as exit_:
        headlight.main([argument])
    (line,) = capsys.readouterr().err.splitlines()
    assert exit_.value.code == 2
    assert REFUSED[argument] in line
    assert len(line) <= 300


def test_a_path_that_is_not_there_is_refused_before_anything_is_started(binaries, crowded):
    command, variables = [binaries / "headlight", "./nonsense"], own_variables(PYTHONPATH=str(crowded))
    ran = subprocess.run(command, cwd=crowded, env=variables, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith("headlight: There is no folder './nonsense'")
    assert ran.stderr.count("\n") == 1


def test_the_app_is_told_what_to_open(tmp_path, monkeypatch):
    mine, arrays = make_model_folder(tmp_path / "models" / "mine"), tmp_path / "models" / "a.npz"
    arrays.touch()
    monkeypatch.chdir(tmp_path / "models")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("mine", "./mine/", "../models/mine", str(mine), "~/models/mine"):
        assert variables_for(name)["HEADLIGHT_OPEN"] == str(mine)
    for name in ("a.npz", "./a.npz", str(arrays), "~/models/a.npz"):
        assert variables_for(f"--arrays={name}")["HEADLIGHT_ARRAYS"] == str(arrays)
    for name in (
        "gpt2",
        "Helsinki-NLP/opus-mt-en-de",
        "HuggingFaceTB/SmolLM2-135M",
        "EleutherAI/pythia-70m.v0",
        "gpt2@main",
        "o/n@refs/pr/1",
    ):
        assert variables_for(name)["HEADLIGHT_OPEN"] == name
    assert variables_for("stories")["HEADLIGHT_OPEN"] == str(ROOT / "checkpoints" / "stories")
    assert variables_for() == {"HEADLIGHT_FOLDERS": "1"}


def test_visitors_may_name_folders_only_where_they_are_on_this_machine():
    for here in ([], ["--address=localhost"], ["--address=127.0.0.1"], ["--address=::1"]):
        assert "HEADLIGHT_FOLDERS" in variables_for(*here)
        assert "HEADLIGHT_FOLDERS" in variables_for(*here, "--folders")
        assert "HEADLIGHT_FOLDERS" not in variables_for(*here, "--no-folders")
    for elsewhere in ("0.0.0.0", "::", "192.168.1.2", "", "localhost.example.org", "LOCALHOST"):
        assert variables_for(f"--address={elsewhere}") == {}
        with pytest.raises(headlight.RefusedError, match="this machine alone"):
            variables_for(f"--address={elsewhere}", "--folders")


def test_the_app_opens_beside_modules_and_settings_that_would_break_it(binaries, crowded, browser):
    port = free_port()
    command = [str(binaries / "headlight"), "--headless", f"--port={port}"]
    with (
        running_server(command, port, folder=crowded, variables=own_variables(PYTHONPATH=str(crowded))) as (address, _),
        visitor(browser) as page,
    ):
        open_page(page, address, "Explore")
        no_complaint(page)


def settings_in(text: str) -> dict[str, object]:
    """The settings of a config.toml, by the names that Streamlit has for them."""
    return dict(flat(tomllib.loads(text)))


def flat(values: Mapping[str, object], prefix: str = "") -> list[tuple[str, object]]:
    pairs: list[tuple[str, object]] = []
    for name, value in values.items():
        pairs += flat(value, f"{prefix}{name}.") if isinstance(value, dict) else [(f"{prefix}{name}", value)]
    return pairs


# An app that writes what it finds, in the place of ours.
REPORT = """
import json, os
from pathlib import Path
import streamlit as st
from streamlit import config

names = {names}
told = {{name: value for name, value in os.environ.items() if name.startswith("HEADLIGHT_")}}
report = {{"told": told, "settings": {{name: config.get_option(name) for name in names}}}}
Path(__file__).with_name("report.json").write_text(json.dumps(report))
st.text("written")
"""


def test_all_our_settings_hold_and_the_app_is_told_nothing_but_what_the_command_says(crowded, tmp_path, browser):
    ours = (ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8")
    expected = settings_in(ours) | {"server.address": "localhost", "server.enableCORS": True, "server.headless": True}
    project, mine, port = tmp_path / "project", make_model_folder(crowded / "mine"), free_port()
    (project / ".streamlit").mkdir(parents=True)
    (project / ".streamlit" / "config.toml").write_text(ours, encoding="utf-8")
    shutil.copy(headlight.__file__, project)
    (project / "app.py").write_text(REPORT.format(names=list(expected)), encoding="utf-8")
    inherited = {"HEADLIGHT_OPEN": "/other", "HEADLIGHT_ARRAYS": "/other.npz", "STREAMLIT_SERVER_ADDRESS": "0.0.0.0"}
    variables = own_variables(PYTHONPATH=str(crowded), **inherited)
    command = [sys.executable, str(project / "headlight.py"), "mine", "--headless", f"--port={port}"]
    with (
        running_server(command, port, folder=crowded, variables=variables) as (address, _),
        visitor(browser) as page,
    ):
        page.goto(address)
        expect(page.get_by_text("written")).to_be_visible()
    report = json.loads((project / "report.json").read_text())
    assert report["told"] == {"HEADLIGHT_OPEN": str(mine), "HEADLIGHT_FOLDERS": "1"}
    assert report["settings"] == expected


def weight_script() -> str:
    checkpoint = load_checkpoint("sentiment", device="cpu")
    site = WeightSite(attention="encoder", layer=2, head=3, query=4, key=1)
    path = path_of(checkpoint.model, checkpoint.trace(TEXT), site, Edits())
    return step_sentences.script(path, checkpoint="sentiment", text=TEXT, pair="")


SCRIPTS = {
    "view": lambda: snippet("sentiment", TEXT, View(), EDITS),
    "edits": lambda: edited_script("sentiment", TEXT, EDITS, labels=True),
    "continuation": lambda: written_script("stories", "Once", [5, 6], {0: 5}, {"method": "greedy"}, Edits()),
    "weight": weight_script,
    "arrays": lambda: showing_script("a.npz", "", View(), FileProvenance(checkpoint="a.npz", text="", sha256="0")),
}


def test_an_exported_script_runs_in_any_folder(binaries, tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPTS["view"](), encoding="utf-8")
    ran = run_file(path, binaries / "python", own_variables())
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "attention.html").stat().st_size > 100_000


@pytest.mark.parametrize("script", SCRIPTS)
def test_an_exported_script_says_that_another_module_stands_in_the_way(script, binaries, tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPTS[script](), encoding="utf-8")
    names = ["model", "viz"] if script in ("view", "arrays") else ["model"]
    for name in names:
        other = tmp_path / f"{name}.py"
        other.write_text("def load_checkpoint(path): ...", encoding="utf-8")
        ran = run_file(path, binaries / "python", own_variables())
        other.unlink()
        assert (ran.returncode, ran.stdout) == (1, "")
        (line,) = ran.stderr.splitlines()
        assert line.startswith(f"<module '{name}' from '{other}'> hides Headlight's package: rename it")
