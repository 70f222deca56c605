"""The shape of the code: which way imports point, what product code never does, what lies in checkpoints/."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = ("model", "viz", "pages")

# What a layer may not import: pages → viz → model, never back; no layer needs what only proves or runs it.
OUTSIDE = ("app", "headlight", "tests", "benchmarks")
NOT_IMPORTED_BY = {
    "model": ("viz", "pages", "streamlit", "plotly", "altair", *OUTSIDE),
    "viz": ("pages", "streamlit", *OUTSIDE),
    "pages": OUTSIDE,
    "app.py": ("headlight", "tests", "benchmarks"),
    "headlight.py": ("app", *LAYERS, "tests", "benchmarks"),  # whose modules are imported is not settled there
}
# The one file of viz that may know Streamlit declares the explorer's browser component.
COMPONENT = re.compile(r"viz/explorer/\w+\.py: imports streamlit$")

# Names as they read once aliases are resolved: `st.html` is streamlit.html, `from torch import load` is torch.load.
FORBIDDEN_NAMES = re.compile(
    r"torch(\.serialization)?\.load"
    r"|(pickle|cPickle|_pickle|cloudpickle|dill|joblib|marshal|shelve)(\..*)?"
    r"|(builtins\.)?(eval|exec)"
    r"|streamlit(\.\w+)*\.(html|iframe)"
)
FORBIDDEN_OPTIONS = ("allow_pickle", "unsafe_allow_html")
URL = re.compile(r"(?:https?:)?//[\w-]+(?:\.[\w-]+)+[^\s\"'`)<>]*")
MARKDOWN_LINK = re.compile(
    r"(?<!!)\[[^\[\]]*\]\(https?://[^\s()]+\)"
)  # opened by a click; an image would load by itself
XML_NAMESPACE = re.compile(r"https?://www\.w3\.org/\S+/(svg|xhtml|xlink)\b")  # names that are never fetched
BROWSER_SOURCES = (".js", ".mjs", ".css", ".html", ".svg")

# Complaints that stand, each with its reason: {"pages/a.py: streamlit.html": "why this one is safe"}.
ALLOWED: dict[str, str] = {
    "pages/parts/frame/sidebar.py: streamlit.html": "one style sheet of ours, in which no text of anybody stands",
}

CHECKPOINT_SUFFIXES = (".json", ".safetensors", ".csv", ".md", ".txt")
MEGABYTE = 1_000_000
LARGEST_FILE, LARGEST_TOTAL = 16 * MEGABYTE, 60 * MEGABYTE
PICKLE_OR_ZIP = (b"\x80", b"PK")  # how a pickle of protocol 2 or later begins, and what torch.save writes


def product_files(root: Path) -> list[Path]:
    files = [root / "app.py", root / "headlight.py", *(path for layer in LAYERS for path in (root / layer).rglob("*"))]
    return sorted(path for path in files if path.is_file() and "__pycache__" not in path.parts)


def complaints(root: Path) -> set[str]:
    """Every breach in the product code under `root`, as "file: what"."""
    every_complaint = set()
    for path in product_files(root):
        name = path.relative_to(root).as_posix()
        every_complaint |= {f"{name}: {what}" for what in breaches(path, layer=name.split("/")[0])}
    return {complaint for complaint in every_complaint if not COMPONENT.match(complaint)}


def breaches(path: Path, layer: str) -> Iterator[str]:
    if path.suffix == ".py":
        tree = ast.parse(path.read_text(encoding="utf-8"))
        yield from wrong_imports(tree, layer)
        yield from forbidden_uses(tree)
        texts = [] if layer == "model" else [MARKDOWN_LINK.sub("", text) for text in strings(tree)]
    else:
        texts = [path.read_text(encoding="utf-8")] if path.suffix in BROWSER_SOURCES else []
    yield from (url.group() for text in texts for url in URL.finditer(XML_NAMESPACE.sub("", text)))


def wrong_imports(tree: ast.Module, layer: str) -> Iterator[str]:
    for _, name in imports(tree):
        package = name.split(".")[0]
        if package in NOT_IMPORTED_BY[layer]:
            yield f"imports {package}"


def forbidden_uses(tree: ast.Module) -> Iterator[str]:
    aliases = dict(imports(tree))
    names = {*(name for _, name in imports(tree)), *(dotted(node, aliases) for node in ast.walk(tree))}
    yield from (name for name in names if FORBIDDEN_NAMES.fullmatch(name))
    keywords = {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword)}
    yield from (option for option in FORBIDDEN_OPTIONS if option in keywords or option in strings(tree))


def imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """(the name in this file, the full name of what it stands for); a relative import stays in its own package."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


def dotted(node: ast.AST, aliases: dict[str, str]) -> str:
    """`st.components.v1.html` of the tree as one full name; "" for anything else."""
    if isinstance(node, ast.Name):
        return aliases.get(node.id, node.id)
    if isinstance(node, ast.Attribute) and (owner := dotted(node.value, aliases)):
        return f"{owner}.{node.attr}"
    return ""


def strings(tree: ast.Module) -> list[str]:
    """The string constants but for docstrings, which nothing displays."""
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in statements)
    return [node.value for node in constants if isinstance(node.value, str)]


def checkpoint_complaints(folder: Path) -> set[str]:
    sizes = {path: path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    every_complaint = {f"{path.name}: {size:,} bytes" for path, size in sizes.items() if size > LARGEST_FILE}
    every_complaint |= {f"{path.name}: not a kind of file for a checkpoint" for path in sizes if not is_data(path)}
    return every_complaint | ({"checkpoints: too large in all"} if sum(sizes.values()) > LARGEST_TOTAL else set())


def is_data(path: Path) -> bool:
    with path.open("rb") as file:
        start = file.read(2)
    return path.suffix in CHECKPOINT_SUFFIXES and not start.startswith(PICKLE_OR_ZIP)


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_imports_point_one_way_and_product_code_does_nothing_forbidden() -> None:
    assert sorted(complaints(ROOT)) == sorted(ALLOWED)


def test_the_check_reads_every_layer() -> None:
    read = {path.relative_to(ROOT).parts[0] for path in product_files(ROOT) if path.suffix == ".py"}
    assert read == {"app.py", "headlight.py", *LAYERS}


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("model/a.py", "import streamlit as st", "imports streamlit"),
        ("model/a.py", "def f():\n    from plotly import express", "imports plotly"),
        ("model/families/a.py", "import altair.vegalite", "imports altair"),
        ("model/a.py", "from viz.theme import accent", "imports viz"),
        ("viz/a.py", "from pages import frame", "imports pages"),
        ("viz/a.py", "def f():\n    from pages import x\ndef g():\n    from model import x", "imports pages"),
        ("viz/a.py", "import streamlit", "imports streamlit"),
        ("viz/explorer/a.py", "import pages", "imports pages"),
        ("pages/a.py", "from tests.browser import find_browser", "imports tests"),
        ("model/a.py", "import torch\nx = torch.load('a.pt')", "torch.load"),
        ("model/a.py", "from torch import load as read", "torch.load"),
        ("model/a.py", "import pickle", "pickle"),
        ("model/a.py", "from joblib import dump", "joblib.dump"),
        ("model/a.py", "f(p, allow_pickle=True)", "allow_pickle"),
        ("viz/a.py", "run = eval", "eval"),
        ("app.py", "exec('1')", "exec"),
        ("headlight.py", "from model.errors import InputError", "imports model"),
        ("pages/a.py", "import streamlit as st\nst.markdown('a', unsafe_allow_html=True)", "unsafe_allow_html"),
        ("pages/a.py", "options = {'unsafe_allow_html': True}", "unsafe_allow_html"),
        ("pages/a.py", "import streamlit as st\nst.html('a')", "streamlit.html"),
        ("pages/a.py", "import streamlit as st\nst.sidebar.html('a')", "streamlit.sidebar.html"),
        (
            "pages/a.py",
            "from streamlit import components\ncomponents.v1.html('a')",
            "streamlit.components.v1.html",
        ),
        ("pages/a.py", "import streamlit.components.v1 as components\ncomponents.html", "streamlit.components.v1.html"),
        ("pages/a.py", "f('https://example.org/a.png')", "https://example.org/a.png"),
        ("pages/a.py", "f('![picture](https://example.org/a.png)')", "https://example.org/a.png"),
        ("viz/explorer/a.js", "import x from '//cdn.example.org/x.js'", "//cdn.example.org/x.js"),
        ("viz/explorer/a.css", "@import url(https://example.org/a.css)", "https://example.org/a.css"),
    ],
)
def test_a_breach_is_found(tmp_path: Path, name: str, text: str, complaint: str) -> None:
    write(tmp_path, name, text)
    assert complaints(tmp_path) == {f"{name}: {complaint}"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("model/a.py", "import torch\nfrom . import trace\nfrom model.config import Config\nmodel.eval()"),
        ("viz/a.py", "import plotly.graph_objects as go\nfrom model.trace import Trace"),
        ("viz/explorer/a.py", "import streamlit as st\nst.components.v2.component('a')"),
        ("pages/a.py", "import streamlit as st\nfrom model import Edits\nfrom viz import theme\nst.text('a // b')"),
        ("pages/a.py", "'''See https://example.org/paper.'''\nf('[the paper](https://example.org/paper)')"),
        ("viz/explorer/a.js", "const svg = 'http://www.w3.org/2000/svg' // a comment, i.e. no address"),
    ],
)
def test_what_is_allowed_passes(tmp_path: Path, name: str, text: str) -> None:
    write(tmp_path, name, text)
    assert complaints(tmp_path) == set()


def test_the_committed_checkpoints_are_small_and_hold_no_pickle() -> None:
    assert checkpoint_complaints(ROOT / "checkpoints") == set()


def test_a_pickle_and_a_large_checkpoint_are_found(tmp_path: Path) -> None:
    for name, start in [
        ("a.pt", b"{}"),
        ("b.json", b"\x80\x04K\x01."),
        ("c.safetensors", b"PK\x03\x04"),
        ("d.json", b"{}"),
    ]:
        (tmp_path / name).write_bytes(start)
    for name in "efgh":
        with (tmp_path / f"{name}.safetensors").open("wb") as file:
            file.truncate(LARGEST_FILE + (name == "e"))
    assert {complaint.split(":")[0] for complaint in checkpoint_complaints(tmp_path)} == {
        *("a.pt", "b.json", "c.safetensors", "e.safetensors"),
        "checkpoints",
    }
