"""How edits are written in an address: every field of ``Edits`` as a word and the sites that it acts on."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from model.edits.sites import HeadSite, HiddenKey, NormSite, Overwrite, Shift, Shuffle, SublayerSite, expect
from model.errors import InputError, printable


class Form(NamedTuple):
    """How one field is said in a text."""

    field: str
    pattern: re.Pattern[str]
    read: Callable[..., Any]  # the groups of the pattern
    write: Callable[[Any], str]
    many: bool = True

    def items(self, value: object) -> list[str]:
        """What a text says of the field's value; InputError where no model has such a thing."""
        items = sorted(map(self.write, value if isinstance(value, frozenset) else [value]))
        for item in items:
            expect(self.pattern.fullmatch(item) is not None, self.field, item, "what some model has")
        return items


STACKS = {"e": "encoder", "d": "decoder"}
ATTENTIONS = {"e": ("encoder", "self"), "d": ("decoder", "self"), "c": ("decoder", "cross")}
INDEX = r"(\d{1,6})"
NUMBER = r"([0-9.e-]{1,30})"


def letter(names: dict[str, Any], full_name: object) -> str:
    """The letter that stands for a stack or an attention; "?", which no pattern allows, where there is none."""
    return next((short for short, name in names.items() if name == full_name), "?")


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
