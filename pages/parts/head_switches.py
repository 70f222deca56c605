"""Which heads are on, off and muted, and how one is looked at alone."""

from typing import Any

from pages.parts.state.selection import Selection

Sites = frozenset[tuple[int, int]]  # (layer, head)


def muted_heads(selection: Selection) -> Sites:
    """All that are muted: those chosen, and those that are off, if the selection says so."""
    return selection.muted | (selection.view.off if selection.mute else frozenset())


def one_head_on(selection: Selection, layer: int, head: int | None, heads: int) -> dict[str, Any]:
    """What makes one head of a layer (None: every head) the only one that is on there, with no other muted than now.

    heads: of the layer. Heads that are off because they are muted stay muted, and are no longer off.
    """
    others = {(layer, other) for other in range(heads) if head is not None and other != head}
    elsewhere = {site for site in selection.view.off if site[0] != layer and not selection.mute}
    return {"off": frozenset(elsewhere | others), "muted": muted_heads(selection), "mute": False}
