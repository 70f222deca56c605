"""Which heads are on, off and muted, and how one is looked at alone."""

from typing import Any

import streamlit as st

from pages.parts.state.selection import Selection
from pages.parts.state.session import current
from viz.explorer.view import View

Sites = frozenset[tuple[int, int]]  # (layer, head)


def muted_heads(selection: Selection) -> Sites:
    """All that are muted: those chosen, and those that are off, if the selection says so."""
    return selection.muted | (selection.view.off if selection.mute else frozenset())


def show_left_out(selection: Selection, *, muted: bool = True, edits: bool = True, instead: str = "") -> None:
    """That what was chosen elsewhere does not count here, where something was.

    muted, edits: whether these do not. instead: a sentence on how they would.
    """
    place = st.container()  # there in any case, as that of the caveats
    parts = [
        *(["heads that are muted"] if muted and muted_heads(selection) else []),
        *(["edits"] if edits and selection.edits else []),
    ]
    if parts:
        said = f"{' and '.join(parts)} do not count on this page: its numbers are of the model as it was trained."
        place.caption(f"{said[0].upper()}{said[1:]} {instead}".strip())


def only_head_on(view: View, heads: int) -> int | None:
    """The head that a visitor has chosen, as the only one of the layer that is on; None: none was.

    heads: of the layer.
    """
    on = view.heads_on(heads)
    return on[0] if len(on) == 1 and heads > 1 else None


def with_mute(selection: Selection, site: tuple[int, int], heads: int, *, muted: bool) -> dict[str, Any]:
    """What mutes a head of a layer with this many beside those that are, or gives it back.

    Heads that were off to be muted are on again, and muted, unless they leave a single head on, which is looked at.
    """
    others = muted_heads(selection) - {site}
    keeps = not selection.mute or only_head_on(selection.view, heads) is not None
    off = selection.view.off if keeps else frozenset()
    return {"muted": others | {site} if muted else others, "mute": False, "off": off}


def grid_key(name: str, chosen: tuple[int, int]) -> str:
    """The key of a picture of heads: where another head is chosen, it forgets which one was pressed."""
    selection, (layer, head) = current(), chosen
    return f"{name} {selection.checkpoint} {selection.view.attention} {layer}.{head}"


def one_head_on(selection: Selection, layer: int, head: int | None, heads: int) -> dict[str, Any]:
    """What makes one head of a layer (None: every head) the only one that is on there, with no other muted than now.

    heads: of the layer. Heads that are off because they are muted stay muted, and are no longer off.
    """
    others = {(layer, other) for other in range(heads) if head is not None and other != head}
    elsewhere = {site for site in selection.view.off if site[0] != layer and not selection.mute}
    return {"off": frozenset(elsewhere | others), "muted": muted_heads(selection), "mute": False}
