"""The map of a model as a browser component: each box opens what shows it, with what is on the screen going along."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import streamlit as st

import viz.architecture
from model import Checkpoint, Config
from model.trace import Trace
from pages.parts.components.component import component
from pages.parts.frame.page_links import link_to
from pages.parts.frame.theme import theme
from pages.parts.state.page_fields import FIRST
from pages.parts.state.session import address_of, choose
from viz.architecture.boxes import Lengths, map_of
from viz.architecture.drawing import Link, draw_map
from viz.architecture.openings import BoxLink, box_links

FILES = Path(viz.architecture.__file__).with_name("architecture")
MARKUP = '<div class="map"></div>'


@dataclass(frozen=True)
class MapSource:
    """A checkpoint as far as its map needs it."""

    name: str
    config: Config


Target = tuple[str, tuple[tuple[str, str], ...]]  # a page and its address


def show_map(
    checkpoint: Checkpoint, trace: Trace | None, lit: Collection[str] | None = None, *, small: bool = False
) -> None:
    """Draw the map of a model, with the shapes of this text where a trace is given, and letters for them where not.

    lit: the names of boxes that are marked, as in ``viz.architecture.boxes``; unknown ones mark nothing.
    small: with the names of the boxes alone.
    """
    show_lengths(checkpoint, Lengths.of(trace) if trace else Lengths(), lit, small=small)


def show_lengths(
    checkpoint: Checkpoint | MapSource,
    lengths: Lengths,
    lit: Collection[str] | None = None,
    *,
    small: bool = False,
    key: str = "map",
) -> None:
    """The same for texts of these lengths. key: of this map, where a page has several."""
    model_map = map_of(checkpoint.config, lengths)
    openings = box_links(model_map, checkpoint.config)
    here = st.session_state.get("_at")
    elsewhere = {name: opening for name, opening in openings.items() if opening.page != here}
    addresses = {name: target_of(checkpoint, opening) for name, opening in elsewhere.items()}
    targets = list(dict.fromkeys(addresses.values()))
    pages = {name: targets.index(target) for name, target in addresses.items()}
    links = {
        name: Link(label=opening.label, target=as_address(addresses[name]) if name in addresses else "")
        for name, opening in openings.items()
    }
    svg = draw_map(model_map, lit=lit or (), links=links, small=small, theme=theme())
    data = {"svg": svg, "links": f"st-key-links_of_{key}", "pages": pages}
    draw = component("architecture", FILES, MARKUP)
    buttons = {name: opening for name, opening in openings.items() if name not in pages}
    draw(key=key, data=data, height="content", on_press_change=lambda: take_press(key, checkpoint, buttons))
    labels = {address: elsewhere[name].label for name, address in addresses.items()}
    hidden_links(targets, labels, key)


def target_of(checkpoint: Checkpoint | MapSource, opening: BoxLink) -> Target:
    """The page and the address at which this model is shown there."""
    address = address_of(opening.page, checkpoint=checkpoint.name, **opening.changes)
    return opening.page, tuple(address.items())


def as_address(target: Target) -> str:
    """The same as an address that a browser opens in another tab."""
    page, address = target
    query = urlencode(address)
    return f"./{'' if page == FIRST else page}{'?' if query else ''}{query}"


def hidden_links(targets: Collection[Target], labels: Mapping[Target, str], key: str) -> None:
    """The page links that the boxes press; the style sheet of the frame hides them, for the boxes are links too."""
    with st.container(key=f"links_of_{key}"):
        for target in targets:
            page, address = target
            link_to(page, labels[target], dict(address))


def take_press(key: str, checkpoint: Checkpoint | MapSource, buttons: Mapping[str, BoxLink]) -> None:
    """What a box on its own page does, if what the browser sent is one."""
    name = getattr(st.session_state.get(key), "press", None)
    if isinstance(name, str) and name in buttons:
        choose(buttons[name].changes, checkpoint=checkpoint.name)
