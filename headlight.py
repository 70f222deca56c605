"""The command ``headlight``, which opens the app from any folder. ``pip install -e .`` installs it.

What it was asked for goes to the app in environment variables: HEADLIGHT_OPEN, the absolute path of a model's folder or
a Hugging Face id; HEADLIGHT_ARRAYS, the absolute path of a file; HEADLIGHT_FOLDERS, "1" where visitors may name folders
of this machine. Of its own packages it imports none: they are Headlight's only after ``own_modules_first``.
"""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent
APP, CHECKPOINTS = ROOT / "app.py", ROOT / "checkpoints"
HERE = ("localhost", "127.0.0.1", "::1")  # addresses that this machine alone can reach
VARIABLES = ("HEADLIGHT_OPEN", "HEADLIGHT_ARRAYS", "HEADLIGHT_FOLDERS")
CONFIG = "config.json"  # what makes a folder a model's
ARRAYS = (".npz", ".safetensors")
FILES = (*ARRAYS, ".bin", ".gguf", ".json", ".npy", ".onnx", ".pt", ".pth", ".py", ".zip")  # endings of no model's id
# As huggingface_hub checks an id: a name, or an owner and a name; no part begins or ends with a hyphen or a dot.
HUB_ID = re.compile(r"(?!.*(?:--|\.\.))(?:\b[\w.-]+\b/)?\b[\w.-]{1,96}\b", re.ASCII)
REVISION = re.compile(r"(?!.*\.\.)[\w.+/-]{1,100}", re.ASCII)  # a branch, a tag or a commit; the app looks closer
LONGEST_NAME = 120  # characters of a name in a refusal
EXAMPLES = """\
examples:
  headlight                          the bundled models
  headlight gpt2                     a model of the Hugging Face Hub, by its id
  headlight ~/models/mine            a folder that transformers saved
  headlight --arrays attention.npz   attention that another program saved
"""


class RefusedError(Exception):
    """What cannot be opened, as one sentence."""


class Parser(argparse.ArgumentParser):
    """Refuses with one line instead of the whole usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"headlight: {message}\n")


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Open the app as asked; the exit status is 2 where nothing can be opened."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    try:
        variables = variables_for(options)
    except RefusedError as refusal:
        parser.error(str(refusal))
    for name in VARIABLES:  # those that the caller's own environment has say nothing
        os.environ.pop(name, None)
    os.environ.update(variables)
    run(streamlit_flags(options))


def make_parser() -> Parser:
    """The options of the command."""
    parser = Parser(
        prog="headlight",
        description="Open Headlight in the browser: everything that a Transformer computes for a sentence.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    opened = parser.add_mutually_exclusive_group()
    opened.add_argument("model", nargs="?", metavar="MODEL", help="a model's folder, Hugging Face id, or bundled name")
    opened.add_argument("--arrays", metavar="FILE", help=f"a file with arrays of attention, {' or '.join(ARRAYS)}")
    parser.add_argument(
        "--folders",
        action=argparse.BooleanOptionalAction,
        help="whether the app opens any folder of this machine that is typed into it (default: yes, at localhost)",
    )
    parser.add_argument("--port", type=port, help="the server's port (default: 8501, or the next that is free)")
    parser.add_argument(
        "--address", default="localhost", help="the address to listen at (default: localhost, for this machine alone)"
    )
    parser.add_argument("--headless", action="store_true", help="start the server without opening a browser")
    return parser


def port(text: str) -> int:
    """The number of a port."""
    if not re.fullmatch(r"\d{1,5}", text, re.ASCII) or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"{quoted(text)} is no port: give a number from 1 to 65535")
    return int(text)


def variables_for(options: argparse.Namespace) -> dict[str, str]:
    """The environment variables that tell the app what was asked for. Raises RefusedError where it cannot be had."""
    if not APP.is_file():
        raise RefusedError("The app is not beside this command: install Headlight by pip install -e and its folder.")
    at_home = options.address in HERE
    if options.folders and not at_home:
        raise RefusedError("--folders is for visitors of this machine alone: leave it out, or leave --address out.")
    folders = at_home if options.folders is None else options.folders
    variables = {"HEADLIGHT_FOLDERS": "1"} if folders else {}
    if options.model is not None:
        variables["HEADLIGHT_OPEN"] = model_to_open(options.model)
    if options.arrays is not None:
        variables["HEADLIGHT_ARRAYS"] = arrays_to_open(options.arrays)
    return variables


def model_to_open(name: str) -> str:
    """The absolute path of a model's folder, or a Hugging Face id; whether there is such a model, the app finds out."""
    path = CHECKPOINTS / name if is_bundled(name) else path_of(name)
    if kind(path) == "folder":
        if kind(path / CONFIG) != "file":
            raise RefusedError(
                f"The folder {quoted(name)} holds no {CONFIG}: name the one that the model was saved to."
            )
        return str(path.resolve())
    if kind(path) == "file":
        remedy = "write --arrays before it" if path.suffix in ARRAYS else "name a model's folder instead"
        raise RefusedError(f"{quoted(name)} is a file: {remedy}.")
    if not is_hub_id(name):
        raise RefusedError(
            f"There is no folder {quoted(name)}; a Hugging Face id is written gpt2, owner/name or owner/name@revision."
        )
    return name


def arrays_to_open(name: str) -> str:
    """The absolute path of a file of arrays."""
    path = path_of(name)
    if kind(path) != "file":
        raise RefusedError(f"There is no file {quoted(name)}.")
    if path.suffix not in ARRAYS:
        raise RefusedError(f"{quoted(name)} is no file of arrays: its name has to end with {' or '.join(ARRAYS)}.")
    return str(path.resolve())


def is_bundled(name: str) -> bool:
    """Whether it is the bare name of a checkpoint that comes with Headlight, as ``load_checkpoint`` takes it."""
    return Path(name).name == name and kind(CHECKPOINTS / name / CONFIG) == "file"


def is_hub_id(name: str) -> bool:
    """Whether it is written like an id, and not like a file or a path from a folder that is here."""
    repo, at, revision = name.partition("@")
    owner = repo.rpartition("/")[0]
    is_path = Path(repo).suffix in FILES or (owner and kind(Path(owner)) == "folder")
    return bool(HUB_ID.fullmatch(repo) and (REVISION.fullmatch(revision) or not at)) and not is_path


def path_of(name: str) -> Path:
    """The path that a person typed. A shell leaves the ~ in --arrays=~/a.npz as it is."""
    return Path(os.path.expanduser(name))  # noqa: PTH111 Path's own raises where there is no such user


def kind(path: Path) -> str:
    """ "folder", "file" or "", whatever the path is made of."""
    try:
        return "folder" if path.is_dir() else "file" if path.is_file() else ""
    except OSError:  # a name that is too long, a folder above it that may not be read
        return ""


def quoted(name: str) -> str:
    """A name as it may stand in a refusal: on one line, and not too long."""
    return repr(name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…")


def streamlit_flags(options: argparse.Namespace) -> list[str]:
    """What is asked of Streamlit, which takes a flag before a variable STREAMLIT_… of the caller."""
    flags = {"address": options.address, "port": options.port, "headless": "true" if options.headless else None}
    return [f"--server.{name}={value}" for name, value in flags.items() if value is not None]


def run(flags: Sequence[str]) -> NoReturn:
    """Start the server, and leave when it has ended.

    It stands in Headlight's folder: Streamlit reads the .streamlit/config.toml of the folder where it is started, and
    what the caller's sets and ours does not would hold.
    """
    own_modules_first()
    os.chdir(ROOT)
    from streamlit.web import cli

    cli.main(["run", str(APP), *flags], prog_name="streamlit")
    sys.exit()


def own_modules_first() -> None:
    """Import Headlight's packages from its folder and all else from what is installed, not from the caller's folders.

    The folders of PYTHONPATH come last, for some clusters keep torch in one; the folder of the script, which is the
    caller's after ``python -m headlight``, does not count.
    """
    if not sys.flags.safe_path:
        del sys.path[0]
    folders = [Path(folder).absolute() for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    sys.path.sort(key=lambda folder: Path(folder).absolute() in folders)
    sys.path.insert(0, str(ROOT))


if __name__ == "__main__":
    main()
