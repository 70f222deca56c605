"""A folder of the machine that the server runs on, opened by its path: where the visitor is its owner alone."""

import os
import sys
from pathlib import Path

import streamlit as st

from model import CheckpointError
from model.loading.checkpoint_files import CONFIG
from pages.parts.models.asked_model import OPENS
from pages.parts.models.catalogue import open_folder
from pages.parts.models.outlines import check_usable
from viz.tokens import markdown_text

ALLOWED = "HEADLIGHT_FOLDERS"  # in the environment, set by the command headlight
OPTION = "--folders"  # after the script's own "--", where it is run by streamlit
HERE = ("localhost", "127.0.0.1", "::1")
LONGEST_PATH = 1000  # characters
LABEL = "A folder on this machine"
HINT = "/home/me/models/mine"
EXPLAINED = "The folder that save_pretrained wrote, with config.json and safetensors. It is read where it is."
REFUSAL = "_folder_refusal"  # in the session


def is_allowed() -> bool:
    """Whether visitors may name folders: only those of this machine can come, and its owner wants it."""
    is_asked_for = os.environ.get(ALLOWED) == "1" or OPTION in sys.argv[1:]
    return is_asked_for and st.get_option("server.address") in HERE


def show_folder() -> None:
    """The field for a path, and why it could not be opened."""
    st.text_input(LABEL, key="folder", placeholder=HINT, help=EXPLAINED, max_chars=LONGEST_PATH, on_change=take_folder)
    if refusal := st.session_state.pop(REFUSAL, ""):
        st.error(markdown_text(refusal))


def take_folder() -> None:
    """Open the folder that was typed; the address of a server that others can reach is looked at again."""
    if not is_allowed():
        return
    try:
        folder = folder_at(str(st.session_state["folder"]))
        check_usable(folder)
        st.session_state[OPENS] = open_folder(folder)
    except CheckpointError as refusal:
        st.session_state[REFUSAL] = str(refusal)
    else:
        st.session_state["folder"] = ""


def folder_at(typed: str) -> Path:
    """The folder of a path. CheckpointError where there is none with a config."""
    try:
        folder = Path(os.path.expanduser(typed.strip()))  # noqa: PTH111 Path's own raises where there is no such user
        if not folder.is_absolute():
            raise CheckpointError("The path is not absolute: begin it with / or ~.")
        if not folder.is_dir():
            raise CheckpointError("There is no such folder on this machine: check the path.")
        if not (folder / CONFIG).is_file():
            raise CheckpointError(f"That folder holds no {CONFIG}: name the one that the model was saved to.")
    except CheckpointError:  # a ValueError too, and said already
        raise
    except (OSError, ValueError):
        raise CheckpointError("That path cannot be read: check it.") from None
    return folder
