"""Where an edit acts: a head, a sublayer, a norm, a weight, a key, the positions of a stack."""

from dataclasses import dataclass

from model.errors import InputError, printable


@dataclass(frozen=True, order=True)
class HeadSite:
    """One attention head: of which stack ("encoder" or "decoder"), layer and kind ("self" or "cross")."""

    stack: str
    layer: int
    head: int
    attention: str = "self"


@dataclass(frozen=True, order=True)
class SublayerSite:
    """One sublayer of one layer: "self", "cross" or "feed-forward"; it stands inside a residual connection."""

    stack: str
    layer: int
    sublayer: str


@dataclass(frozen=True)
class NormSite:
    """One norm: beside a sublayer, on the side "before" it or "after" it, or one of the stack itself.

    Pre-norm has those before, post-norm those after. A stack's own are ``NormSite(stack, None, "embedding")`` and
    ``NormSite(stack, None, "final")``.
    """

    stack: str
    layer: int | None
    sublayer: str
    side: str = ""


@dataclass(frozen=True, order=True)
class Overwrite:
    """The weight that a head gives to one key for one query, as a number from 0 to 1.

    renormalise: divide the query's weights by their sum afterwards, so that they sum to 1 again.
    """

    site: HeadSite
    query: int
    key: int
    value: float
    renormalise: bool = False


@dataclass(frozen=True, order=True)
class Shuffle:
    """The positions of one stack in an order that a seed decides; ``seed`` is a whole number from 0."""

    stack: str
    seed: int


@dataclass(frozen=True, order=True)
class Shift:
    """The positions of one stack counted from ``by`` instead of 0."""

    stack: str
    by: int


@dataclass(frozen=True, order=True)
class HiddenKey:
    """A key that no query of one kind of attention may look at, in any head of any layer of a stack.

    ``position`` is that of the token, from 0. Of "cross" attention ``stack`` is the decoder, which looks, and the
    token one of the encoder's.
    """

    stack: str
    position: int
    attention: str = "self"

    @property
    def key_stack(self) -> str:
        """The stack that the token is in."""
        return "encoder" if self.attention == "cross" else self.stack


def expect(right: bool, what: str, value: object, expected: str) -> None:
    """InputError "edits: what: found …, expected …" unless it is right."""
    if not right:
        printed = repr(printable(value)) if isinstance(value, str) else printable(value)
        raise InputError(f"edits: {what}: found {printed}, expected {expected}.")
