"""What to change in a forward pass: plain, hashable values that travel through cache keys, addresses and scripts."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from model.errors import InputError, printable

LEAST_FACTOR, LARGEST_FACTOR = 1e-6, 1e6
LARGEST_SHIFT, LARGEST_SEED = 1_000_000, 999_999_999


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


@dataclass(frozen=True, kw_only=True, repr=False)
class Edits:
    """The changes to apply, together; ``Edits()`` changes nothing. Raises InputError where two contradict each other.

    In the order in which they act:

    unpositioned, shuffled, shifted: stacks without positions (vectors and biases are 0, nothing is rotated), with the
    same positions in another order, or with later ones. A shuffle gives tokens the places 0 to n - 1, a shift moves
    these.

    unmasked, causal: stacks in whose self-attention a query sees every key, or none after it. Where a stack is both,
    its own mask is replaced by the causal one, a window included. Padding stays masked.

    hidden: keys that no query may look at, whatever else a mask allows: the score is -inf, and the weights that are
    left of a row sum to 1, or are 0 where nothing is left. The token may not look at itself either; its own stream
    and what is read off it stay. A key that is not there, as in text yet to be produced, hides nothing.

    scale, temperature: what q·k is multiplied by in every attention instead of the model's own scale (1: no √d_k),
    and what that scale is divided by.

    uniform: heads whose weights are the same for all keys that the mask allows. overwritten: single weights, which
    may lie where the mask forbids, but not on a hidden key, unless they are 0; one whose query or key is not there
    changes nothing.

    averaged, muted, muted_layers: heads whose context is replaced, before the output projection, by its mean over the
    positions, or by 0, and whole attentions muted. The projection's bias, which belongs to no head, stays.

    without_residual: sublayers whose update replaces the stream instead of being added to it (in a parallel block,
    "self" is the one connection that there is). without_norm: norms that let through what they are given.
    """

    unpositioned: frozenset[str] = frozenset()
    shuffled: frozenset[Shuffle] = frozenset()
    shifted: frozenset[Shift] = frozenset()
    unmasked: frozenset[str] = frozenset()
    causal: frozenset[str] = frozenset()
    hidden: frozenset[HiddenKey] = frozenset()
    scale: float | None = None
    temperature: float = 1.0
    uniform: frozenset[HeadSite] = frozenset()
    overwritten: frozenset[Overwrite] = frozenset()
    averaged: frozenset[HeadSite] = frozenset()
    muted: frozenset[HeadSite] = frozenset()
    muted_layers: frozenset[SublayerSite] = frozenset()
    without_residual: frozenset[SublayerSite] = frozenset()
    without_norm: frozenset[NormSite] = frozenset()

    def __post_init__(self) -> None:
        for name, factor in (("scale", self.scale), ("temperature", self.temperature)):
            right = factor is None or LEAST_FACTOR <= factor <= LARGEST_FACTOR
            expect(right, name, factor, f"{LEAST_FACTOR:g} to {LARGEST_FACTOR:g}")
        for shuffle in self.shuffled:
            expect(0 <= shuffle.seed <= LARGEST_SEED, "seed", shuffle.seed, f"0 to {LARGEST_SEED}")
        for shift in self.shifted:
            expect(abs(shift.by) <= LARGEST_SHIFT, "shift", shift.by, f"-{LARGEST_SHIFT} to {LARGEST_SHIFT}")
        for key in self.hidden:
            expect(key.position >= 0, "hidden", key.position, "a position from 0")
        for cell in self.overwritten:
            expect(0 <= cell.value <= 1, "weight", cell.value, "0 to 1")
            expect(min(cell.query, cell.key) >= 0, "query and key", (cell.query, cell.key), "positions from 0")
        self._check_together()

    def _check_together(self) -> None:
        weights = Counter((cell.site, cell.query, cell.key) for cell in self.overwritten)
        expect(not twice(weights), "overwritten", len(self.overwritten), "one value for every weight")
        looks = {HiddenKey(cell.site.stack, cell.key, cell.site.attention) for cell in self.overwritten if cell.value}
        expect(not looks & self.hidden, "overwritten", "a weight on a hidden key", "0 there")
        for name, changed in (("shuffled", self.shuffled), ("shifted", self.shifted)):
            stacks = Counter(change.stack for change in changed)
            expect(not twice(stacks), name, len(changed), "one for every stack")
            expect(not self.unpositioned & set(stacks), name, "a stack without positions", "one that has some")

    def seed(self, stack: str) -> int | None:
        """What decides the order of a stack's positions; None where it is the right one."""
        return next((shuffle.seed for shuffle in self.shuffled if shuffle.stack == stack), None)

    def shift(self, stack: str) -> int:
        """How much later a stack's positions are."""
        return next((shift.by for shift in self.shifted if shift.stack == stack), 0)

    def __repr__(self) -> str:
        """Python that makes the value again, in an order that is always the same."""
        changed = {field.name: getattr(self, field.name) for field in fields(self)}
        changed = {name: value for name, value in changed.items() if value != getattr(NO_EDITS, name)}
        return f"Edits({', '.join(f'{name}={written(value)}' for name, value in changed.items())})"

    def class_names(self) -> list[str]:
        """What has to be imported from ``model`` for ``repr`` to be evaluated."""
        sets = [value for field in fields(self) if isinstance(value := getattr(self, field.name), frozenset)]
        items = {item for value in sets for item in value} | {cell.site for cell in self.overwritten}
        return sorted({type(item).__name__ for item in items if not isinstance(item, str)} | {"Edits"})

    def to_text(self) -> str:
        """A short form for addresses, of letters, digits and "-._~" alone; "" where nothing is changed.

        ``mute_e0.3_c1.2~temperature_2.5``: edits are joined by "~"; each is a word and what it is done to, joined by
        "_". Of a head, e, d and c stand for the encoder, the decoder and the decoder's cross-attention, then layer
        and head, from 0; of a hidden key its position stands after the letter. Raises InputError for a head or
        sublayer of a kind that no model has.
        """
        said = {word: form.items(getattr(self, form.field)) for word, form in FORMS.items()}
        return "~".join("_".join([word, *items]) for word, items in said.items() if items)

    @classmethod
    def from_text(cls, text: str) -> "Edits":
        """The value that ``to_text`` made a text of. Raises InputError for any other text."""
        found: dict[str, Any] = {}
        for word, *items in (part.split("_") for part in text.split("~") if text):
            form = FORMS.get(word)
            matches = [form.pattern.fullmatch(item) for item in items] if form else []
            if form is None or form.field in found or not matches or None in matches:
                break
            read = [form.read(*match.groups()) for match in matches if match]
            found[form.field] = frozenset(read) if form.many else read[0]
        edits = cls(**found)
        expect(edits.to_text() == text, "text", text, "one that Edits.to_text gives")
        return edits


AnyEdits = Edits | Sequence[Edits]  # one for all sentences of a batch, or one for each


class Form(NamedTuple):
    """How one field is said in a text."""

    field: str
    pattern: re.Pattern[str]
    read: Callable[..., Any]  # the groups of the pattern
    write: Callable[[Any], str]
    many: bool = True

    def items(self, value: object) -> list[str]:
        """What a text says of the field's value; InputError where no model has such a thing."""
        said = sorted(map(self.write, as_set(value))) if value != getattr(NO_EDITS, self.field) else []
        for item in said:
            expect(self.pattern.fullmatch(item) is not None, self.field, item, "what some model has")
        return said


STACKS = {"e": "encoder", "d": "decoder"}
ATTENTIONS = {"e": ("encoder", "self"), "d": ("decoder", "self"), "c": ("decoder", "cross")}
INDEX = r"(\d{1,6})"
NUMBER = r"([0-9.e-]{1,30})"


def written(value: object) -> str:
    """The repr of a value; of a set, in order."""
    return f"frozenset([{', '.join(sorted(map(repr, value)))}])" if isinstance(value, frozenset) else repr(value)


def as_set(value: object) -> frozenset[Any]:
    """A set as it is; anything else as a set of one."""
    return value if isinstance(value, frozenset) else frozenset([value])


def twice(counts: Counter) -> bool:
    """Whether anything was counted more than once."""
    return any(count > 1 for count in counts.values())


def letter(names: dict[str, Any], wanted: object) -> str:
    """The letter that stands for a stack or an attention; "?", which no pattern allows, where there is none."""
    return next((short for short, name in names.items() if name == wanted), "?")


def short_number(value: float) -> str:
    """The shortest decimal that gives the same number back."""
    return repr(float(value)).removesuffix(".0")


def number(text: str) -> float:
    """The number of a text; InputError where it is none."""
    try:
        return float(text)
    except ValueError:
        raise InputError(f"edits: found {printable(text)!r}, expected a number.") from None


def write_head(site: HeadSite) -> str:
    """``e0.3``: layer 0, head 3 of the encoder."""
    return f"{letter(ATTENTIONS, (site.stack, site.attention))}{site.layer}.{site.head}"


def read_head(short: str, layer: str, head: str) -> HeadSite:
    """The head that ``write_head`` wrote."""
    stack, attention = ATTENTIONS[short]
    return HeadSite(stack, int(layer), int(head), attention)


def write_attention(site: SublayerSite) -> str:
    """``c1``: the cross-attention of layer 1."""
    return f"{letter(ATTENTIONS, (site.stack, site.sublayer))}{site.layer}"


def read_attention(short: str, layer: str) -> SublayerSite:
    """The attention that ``write_attention`` wrote."""
    stack, attention = ATTENTIONS[short]
    return SublayerSite(stack, int(layer), attention)


def write_hidden(key: HiddenKey) -> str:
    """``e9``: the token at position 9 of the encoder; ``c9``: the same, hidden from the decoder."""
    return f"{letter(ATTENTIONS, (key.stack, key.attention))}{key.position}"


def read_hidden(short: str, position: str) -> HiddenKey:
    """The key that ``write_hidden`` wrote."""
    stack, attention = ATTENTIONS[short]
    return HiddenKey(stack, int(position), attention)


def write_weight(cell: Overwrite) -> str:
    """``e0.3.5.1-0.25``: query 5, key 1; with an ``n`` after it, renormalised."""
    end = "n" if cell.renormalise else ""
    return f"{write_head(cell.site)}.{cell.query}.{cell.key}-{short_number(cell.value)}{end}"


def read_weight(short: str, layer: str, head: str, query: str, key: str, value: str, end: str) -> Overwrite:
    """The weight that ``write_weight`` wrote."""
    return Overwrite(read_head(short, layer, head), int(query), int(key), number(value), end == "n")


def write_sublayer(site: SublayerSite) -> str:
    """``d1.feed-forward``."""
    return f"{letter(STACKS, site.stack)}{site.layer}.{site.sublayer}"


def read_sublayer(short: str, layer: str, sublayer: str) -> SublayerSite:
    """The sublayer that ``write_sublayer`` wrote."""
    return SublayerSite(STACKS[short], int(layer), sublayer)


def write_norm(site: NormSite) -> str:
    """``e0.self.before``, or ``e.final`` of a norm of the stack itself."""
    layer = "" if site.layer is None else site.layer
    return ".".join([f"{letter(STACKS, site.stack)}{layer}", site.sublayer, *([site.side] if site.side else [])])


def read_norm(short: str, layer: str | None, sublayer: str | None, side: str | None, own: str | None) -> NormSite:
    """The norm that ``write_norm`` wrote."""
    return NormSite(STACKS[short], int(layer) if layer else None, sublayer or own or "", side or "")


HEAD = re.compile(rf"([edc]){INDEX}\.{INDEX}")
STACK = re.compile(r"([ed])")
SUBLAYER = r"(self|cross|feed-forward)"


def heads_form(field: str) -> Form:
    """How a set of heads is said."""
    return Form(field, HEAD, read_head, write_head)


def stacks_form(field: str) -> Form:
    """How a set of stacks is said."""
    return Form(field, STACK, lambda short: STACKS[short], lambda stack: letter(STACKS, stack))


def number_form(field: str) -> Form:
    """How a number is said."""
    return Form(field, re.compile(NUMBER), number, short_number, many=False)


FORMS = {
    "unplace": stacks_form("unpositioned"),
    "shuffle": Form(
        "shuffled",
        re.compile(r"([ed])(\d{1,9})"),
        lambda short, seed: Shuffle(STACKS[short], int(seed)),
        lambda item: f"{letter(STACKS, item.stack)}{item.seed}",
    ),
    "shift": Form(
        "shifted",
        re.compile(r"([ed])(-?\d{1,7})"),
        lambda short, by: Shift(STACKS[short], int(by)),
        lambda item: f"{letter(STACKS, item.stack)}{item.by}",
    ),
    "unmask": stacks_form("unmasked"),
    "causal": stacks_form("causal"),
    "hide": Form("hidden", re.compile(rf"([edc]){INDEX}"), read_hidden, write_hidden),
    "scale": number_form("scale"),
    "temperature": number_form("temperature"),
    "uniform": heads_form("uniform"),
    "weight": Form(
        "overwritten", re.compile(rf"{HEAD.pattern}\.{INDEX}\.{INDEX}-{NUMBER}(n?)"), read_weight, write_weight
    ),
    "average": heads_form("averaged"),
    "mute": heads_form("muted"),
    "mutelayer": Form("muted_layers", re.compile(rf"([edc]){INDEX}"), read_attention, write_attention),
    "noresidual": Form(
        "without_residual", re.compile(rf"([ed]){INDEX}\.{SUBLAYER}"), read_sublayer, write_sublayer
    ),
    "nonorm": Form(
        "without_norm",
        re.compile(rf"([ed])(?:{INDEX}\.{SUBLAYER}\.(before|after)|\.(embedding|final))"),
        read_norm,
        write_norm,
    ),
}  # fmt: skip


def expect(right: bool, what: str, found: object, expected: str) -> None:
    """InputError "edits: what: found …, expected …" unless it is right."""
    if not right:
        shown = repr(printable(found)) if isinstance(found, str) else printable(found)
        raise InputError(f"edits: {what}: found {shown}, expected {expected}.")


NO_EDITS = Edits()
