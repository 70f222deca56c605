"""The checkpoints that can be chosen: in checkpoints/, opened on this server, downloaded from the hub, or uploaded.

Moments of trainings that are watched can be opened too, and stand in no list.

Everything is known by its name. A model of the Hugging Face hub is called by its id and commit, "gpt2@607a…", so that
an address leads to the same weights later.
"""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

import streamlit as st

from model import available_checkpoints, checkpoint
from model.checkpoint import architecture_of
from model.loading import hub
from pages.parts.models.watched_moments import is_moment, moment_folder, moment_label

UPLOADS = "_uploads"  # in the session: the folders of what this visitor uploaded, by name
OPENING = Lock()
OPEN = "HEADLIGHT_OPEN"  # in the environment: a folder or an id of the hub that the app was started for


@st.cache_resource(show_spinner=False)
def opened() -> dict[str, Path]:
    """The folders that were opened on this server beside checkpoints/, by name, for all its visitors."""
    return {}


def uploads() -> dict[str, Path]:
    """What this visitor uploaded: folders by name, gone with the session."""
    return dict(st.session_state.get(UPLOADS, {}))


def downloaded() -> dict[str, Path]:
    """What was downloaded from the hub: folders by name."""
    return {str(name): folder for name, folder in hub.cached_folders().items()}


def others() -> dict[str, Path]:
    """All that is not in checkpoints/, by name."""
    return {**downloaded(), **opened(), **uploads()}


def checkpoint_names(architecture: str | None = None) -> list[str]:
    """The names that can be chosen; those of one architecture alone, as far as the files say without their weights."""
    kept = [name for name, folder in others().items() if is_usable(folder, architecture)]
    return [*available_checkpoints(architecture), *sorted(kept)]


def is_usable(folder: Path, architecture: str | None) -> bool:
    """Whether a folder is still there, and of this architecture where one is asked for."""
    return folder.is_dir() and (architecture is None or architecture_of(folder) == architecture)


def is_here(name: object) -> bool:
    """Whether a checkpoint of this name can be opened without asking anybody for it."""
    if not isinstance(name, str):
        return False
    if is_hub_name(name):
        return hub.cached_folder(hub.parse_hub_name(name)) is not None
    return name in {**opened(), **uploads()} or name in available_checkpoints() or is_moment(name)


def is_hub_name(name: object) -> bool:
    """Whether it is the id of a hub's model with its commit, which can be downloaded where it is not here."""
    if not isinstance(name, str):
        return False
    try:
        return hub.parse_hub_name(name).is_pinned
    except ValueError:
        return False


def folder_of(name: str) -> Path:
    """Where the files of a checkpoint lie; a folder that does not exist where there is none of that name."""
    if is_hub_name(name):
        return hub.cached_folder(hub.parse_hub_name(name)) or checkpoint.CHECKPOINTS / name
    return {**opened(), **uploads()}.get(name) or moment_folder(name) or checkpoint.CHECKPOINTS / name


def loaded_from(name: str) -> str | Path:
    """What a script loads in its place, see ``loading_code``: its name, its folder, or for an upload one of its name.

    Nobody else has what was uploaded, and its folder here goes with the visit; a moment of a training is downloaded.
    """
    return Path(name) if name in uploads() or is_moment(name) else opened().get(name, name)


def label_of(name: str) -> str:
    """What a checkpoint is called on the screen: a model of the hub without its commit."""
    if is_moment(name):
        return moment_label(name)
    return name.partition("@")[0] if is_hub_name(name) else name


def open_folder(folder: Path) -> str:
    """Have a folder of this machine among the models; its last name, with a number where that is taken."""
    folder = folder.resolve()
    with OPENING:  # all who come as the server starts have it open the same folder
        for name, opened_folder in opened().items():
            if opened_folder == folder:
                return name
        name = free_name(folder.name or "folder")
        opened()[name] = folder
        return name


def free_name(name_wished: str) -> str:
    """A name that nothing in the catalogue has yet."""
    taken = {*available_checkpoints(), *others()}
    numbers = (f"{name_wished}-{number}" for number in range(2, len(taken) + 3))
    return name_wished if name_wished not in taken else next(name for name in numbers if name not in taken)


def asked_at_start() -> str:
    """What the app was started for, by its name here: "" for nothing, and for what is still to be downloaded."""
    asked = os.environ.get(OPEN, "")
    if Path(asked).is_absolute():
        return open_folder(Path(asked)) if Path(asked).is_dir() else ""
    start_name = hub_name_at_start()
    folder = hub.cached_folder(start_name) if start_name else None
    return f"{start_name.repo}@{folder.name}" if start_name and folder else ""


def hub_name_at_start() -> hub.HubName | None:
    """The id of the hub that the app was started for, if it was one."""
    asked = os.environ.get(OPEN, "")
    try:
        return hub.parse_hub_name(asked) if asked and not Path(asked).is_absolute() else None
    except ValueError:
        return None


def labels_of(names: Sequence[str]) -> list[str]:
    """What each of several is called; those of one label differ by the first digits of their commit."""
    counts = Counter(map(label_of, names))

    def told_apart(name: str) -> str:
        label = label_of(name)
        return f"{label} @ {name.rpartition('@')[2][:7]}" if counts[label] > 1 and is_hub_name(name) else label

    return list(map(told_apart, names))
