"""What to change in a forward pass: plain, hashable values that travel through cache keys and addresses."""

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class HeadSite:
    """One attention head: of which stack ("encoder" or "decoder"), layer and kind ("self" or "cross")."""

    stack: str
    layer: int
    head: int
    attention: str = "self"


@dataclass(frozen=True, kw_only=True)
class Edits:
    """The changes to apply; ``Edits()`` changes nothing.

    muted: heads whose context is zeroed before the output projection, so that they add nothing to the stream
    (the projection's bias, which belongs to no head, stays).
    """

    muted: frozenset[HeadSite] = frozenset()

    def muted_heads(self, stack: str, layer: int, attention: str) -> frozenset[int]:
        """The heads to mute in one attention."""
        here = (stack, layer, attention)
        return frozenset(site.head for site in self.muted if (site.stack, site.layer, site.attention) == here)
