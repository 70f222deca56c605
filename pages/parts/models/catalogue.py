"""The checkpoints that can be chosen: in checkpoints/, opened on this server by id or folder, or uploaded by a visitor.

Everything is known by its name. A model of the Hugging Face hub is called by its id and commit, "gpt2@607a…", so that
an address leads to the same weights later.
"""

import re
from pathlib import Path

import streamlit as st

from model import available_checkpoints, checkpoint
from model.checkpoint import architecture_of

UPLOADS = "_uploads"  # in the session: the folders of what this visitor uploaded, by name
HUB_NAME = re.compile(r"(?:[A-Za-z0-9][\w.-]*/)?[A-Za-z0-9][\w.-]*@[0-9a-f]{40}", re.ASCII)


@st.cache_resource(show_spinner=False)
def opened() -> dict[str, Path]:
    """What was opened on this server beside checkpoints/: folders by name, for all its visitors."""
    return {}


def uploads() -> dict[str, Path]:
    """What this visitor uploaded: folders by name, gone with the session."""
    return dict(st.session_state.get(UPLOADS, {}))


def checkpoint_names(architecture: str | None = None) -> list[str]:
    """The names that can be chosen; those of one architecture alone, as far as the files say without their weights."""
    others = {**opened(), **uploads()}
    kept = [name for name, folder in others.items() if is_usable(folder, architecture)]
    return [*available_checkpoints(architecture), *sorted(kept)]


def is_usable(folder: Path, architecture: str | None) -> bool:
    """Whether a folder is still there, and of this architecture where one is asked for."""
    return folder.is_dir() and (architecture is None or architecture_of(folder) == architecture)


def is_here(name: object) -> bool:
    """Whether a checkpoint of this name can be opened without asking anybody for it."""
    return isinstance(name, str) and name in checkpoint_names()


def is_hub_name(name: object) -> bool:
    """Whether it is the id of a hub's model with its commit, which can be downloaded where it is not here."""
    return isinstance(name, str) and HUB_NAME.fullmatch(name) is not None


def folder_of(name: str) -> Path:
    """Where the files of a checkpoint lie; a folder that does not exist where there is none of that name."""
    others = {**opened(), **uploads()}
    return others.get(name, checkpoint.CHECKPOINTS / name)


def label_of(name: str) -> str:
    """What a checkpoint is called on the screen: a model of the hub without its commit."""
    return name.partition("@")[0] if is_hub_name(name) else name
