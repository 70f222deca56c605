"""What is chosen in the explorer, and the numbers that it then shows: the same rules that data.js follows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from model.measures.head_kinds import KINDS
from model.measures.head_scores.cell_kinds import KINDS_OVER_TEXTS
from viz.explorer.attention_kinds import Kind, Text
from viz.explorer.layout import LOWEST, MANY_KEYS
from viz.tokens import visible

SHOWS = ("all", "grid", "lines", "matrix", "text", "table")
SPECIAL = ("shown", "hidden", "renormalised")
SEGMENTS = ("all", "AA", "AB", "BA", "BB")
SCALES = ("root", "linear", "log")
MAXIMA = ("auto", "one", "shared", "head")
COLOURS = ("blue", "orange", "grey")
ORDERS = ("layers", "measure")
# What can be shown of every head, whether a text and a model have it or not: statistics of this text, by how much kinds
# of heads exceed their nulls in it and over many texts, the length of what a head adds, and what becomes of the answer
# without it. head_measures.py has them.
STATISTICS = ("entropy", "distance", "self", "previous", "next", "first", "special", "punctuation")
ABOVE, OVER_TEXTS, MOVED, MUTED = "above.", "texts.", "moved", "muted"
MEASURES = (
    "",
    *STATISTICS,
    *(f"{ABOVE}{kind}" for kind in KINDS),
    MOVED,
    MUTED,
    *(f"{OVER_TEXTS}{kind}" for kind in KINDS_OVER_TEXTS),
)
CHOICES: dict[str, tuple[Any, ...]] = {
    "attention": ("encoder", "decoder", "cross"),
    "show": SHOWS,
    "special": SPECIAL,
    "segments": SEGMENTS,
    "scale": SCALES,
    "maximum": MAXIMA,
    "colours": COLOURS,
    "measure": MEASURES,
    "order": ORDERS,
}
MOST = 10_000  # more than any layer, head or position is counted


@dataclass(frozen=True, kw_only=True)
class View:
    """Everything that the explorer's controls set. Indices count from 0; positions are those of the tokens.

    off: (layer, head) pairs of ``attention`` that are switched off.
    special: whether tokens that the tokenizer added are shown, hidden, or hidden with what is left of a row made to
        add up to 1 again.
    words: pieces merged into words: the sum over keys, the mean over queries.
    segments: which segment attends to which, "AB": those of the first to those of the second; "all" for no choice.
    threshold, top: weights below the one, or beyond a query's so many largest (0: no limit), are not drawn.
    measure: what the bar under each thumbnail shows, one of ``MEASURES``.
    order: thumbnails layer by layer, or the head with most of the measure first.
    maximum: what full colour stands for: weight 1, the largest weight of all heads shown, or of each head; "auto" is
        weight 1, and of more than 60 keys, whose weights are small, the largest of each head.
    """

    attention: str = "encoder"
    layer: int = 0
    off: frozenset[tuple[int, int]] = frozenset()
    show: str = "all"
    query: int | None = None
    key: int | None = None
    special: str = "shown"
    words: bool = False
    segments: str = "all"
    threshold: float = 0.0
    top: int = 0
    scale: str = "root"
    maximum: str = "auto"
    colours: str = "blue"
    measure: str = ""
    order: str = "layers"

    def __post_init__(self) -> None:
        """ValueError, naming the field, for a value that no control could set."""
        check_values(vars(self))

    @classmethod
    def from_message(cls, message: object) -> "View":
        """The view that a browser reports. ValueError for anything else: what a browser sends can be anything."""
        if not isinstance(message, dict):
            raise ValueError(f"view: found a {type(message).__name__}, expected fields")
        defaults = {field.name: field.default for field in fields(cls)}
        values = defaults | {name: value for name, value in message.items() if name in defaults}
        check_values(values)
        off = frozenset((layer, head) for layer, head in values["off"])
        return cls(**values | {"off": off, "threshold": float(values["threshold"])})  # 0 comes as a whole number

    def to_message(self) -> dict[str, Any]:
        """The same as plain values, as the browser takes it."""
        return vars(self) | {"off": sorted(map(list, self.off))}

    def scaled_for(self, keys: int) -> "View":
        """The view with what "auto" means where there are so many keys."""
        return replace(self, maximum="head" if keys > MANY_KEYS else "one") if self.maximum == "auto" else self

    def heads_on(self, heads: int, layer: int | None = None) -> tuple[int, ...]:
        """The heads of a layer (its own, where none is named) that are not off."""
        layer = self.layer if layer is None else layer
        return tuple(head for head in range(heads) if (layer, head) not in self.off)


def check_values(values: Mapping[str, Any]) -> None:
    """ValueError, naming the field, unless these can be the fields of a view."""
    for name, allowed in CHOICES.items():
        if values[name] not in allowed:
            raise ValueError(f"{name}: found {values[name]!r}, expected one of {', '.join(allowed)}")
    sites = values["off"]
    if not isinstance(sites, list | frozenset) or not all(isinstance(site, list | tuple) for site in sites):
        raise ValueError("off: expected pairs of a layer and a head")
    if not all(len(site) == 2 for site in sites):
        raise ValueError("off: expected pairs of a layer and a head")
    places = {name: values[name] for name in ("layer", "top", "query", "key") if values[name] is not None}
    for name, place in [*places.items(), *(("off", place) for site in sites for place in site)]:
        if type(place) is not int or not 0 <= place < MOST:
            raise ValueError(f"{name}: found {place!r}, expected a whole number from 0 to {MOST - 1}")
    if values["layer"] is None or values["top"] is None or type(values["words"]) is not bool:
        raise ValueError("layer, top: expected numbers; words: expected True or False")
    if type(values["threshold"]) not in (int, float) or not 0 <= values["threshold"] <= 1:
        raise ValueError(f"threshold: found {values['threshold']!r}, expected a number from 0 to 1")


@dataclass(frozen=True)
class TokenGroup:
    """The tokens from ``first`` to ``last`` that make one row or column, and how it is called."""

    first: int
    last: int
    label: str

    @property
    def name(self) -> str:
        """ "5 · slow", "5–6 · slowly": positions are counted from 1 on the screen."""
        last = f"–{self.last + 1}" if self.last > self.first else ""
        return f"{self.first + 1}{last} · {self.label}"


@dataclass(frozen=True)
class ShownNumbers:
    """What a view shows of one layer: the matrix of every head that is on, and their mean."""

    queries: tuple[TokenGroup, ...]
    keys: tuple[TokenGroup, ...]
    heads: tuple[int, ...]
    weights: Float[np.ndarray, "head query key"]

    @property
    def mean(self) -> Float[np.ndarray, "query key"]:
        """The mean of the heads that are on, in float32; of one head its own weights, bit for bit."""
        return self.weights.mean(axis=0, dtype=np.float64).astype(np.float32)


def shown_numbers(kind: Kind, view: View) -> ShownNumbers:
    """The numbers of a view: rows and columns left out, then renormalised, then merged, as ``view`` says.

    Without any of these the trace's own floats, bit for bit.
    """
    heads = view.heads_on(kind.heads)
    queries, keys = positions_of(kind.queries, view, 0), positions_of(kind.keys, view, 1)
    weights = kind.weights[view.layer][list(heads)][:, queries][:, :, keys]
    if view.special == "renormalised" and weights.shape[1:] != kind.weights[view.layer].shape[1:]:
        weights = renormalised(weights)
    rows = groups_of(kind.queries, words=view.words, positions=queries)
    columns = groups_of(kind.keys, words=view.words, positions=keys)
    if view.words:
        weights = merged_words(weights, rows, columns, queries, keys)
    return ShownNumbers(tuple(rows), tuple(columns), heads, weights)


def positions_of(text: Text, view: View, side: int) -> list[int]:
    """The positions that are left: queries are side 0, keys side 1."""
    special = text.special if text.special is not None and view.special != "shown" else None
    segment = None if view.segments == "all" or text.segments is None else "AB".index(view.segments[side])
    return [
        position
        for position in range(len(text.tokens))
        if not (special is not None and special[position])
        and (segment is None or text.segments is None or text.segments[position] == segment)
    ]


def renormalised(weights: Float[np.ndarray, "head query key"]) -> Float[np.ndarray, "head query key"]:
    """Rows that add up to 1 again; one with nothing left stays 0."""
    sums = weights.sum(axis=-1, keepdims=True, dtype=np.float64)
    return np.divide(weights, sums, out=np.zeros(weights.shape), where=sums > 0).astype(np.float32)


def groups_of(text: Text, *, words: bool, positions: Sequence[int] | None = None) -> list[TokenGroup]:
    """The rows or columns that positions make: each its own, or the pieces of a word together."""
    groups: list[TokenGroup] = []
    for position in range(len(text.tokens)) if positions is None else positions:
        piece = text.tokens[position]
        if words and groups and same_word(text, groups[-1].last, position):
            last = groups.pop()
            groups.append(TokenGroup(last.first, position, last.label + piece.removeprefix("##")))
        else:
            groups.append(TokenGroup(position, position, piece))
    return [TokenGroup(group.first, group.last, visible(group.label)) for group in groups]


def same_word(text: Text, left: int, right: int) -> bool:
    """Whether two neighbouring positions are pieces of one word of one segment."""
    if text.words is None or right != left + 1 or text.words[left] is None:
        return False
    one_segment = text.segments is None or text.segments[left] == text.segments[right]
    return text.words[left] == text.words[right] and one_segment


def merged_words(
    weights: Float[np.ndarray, "head query key"],
    rows: Sequence[TokenGroup],
    columns: Sequence[TokenGroup],
    queries: Sequence[int],
    keys: Sequence[int],
) -> Float[np.ndarray, "head row column"]:
    """Word by word: what a query gives to a word is the sum over its pieces, what a word gives the mean over its own.

    So every row still adds up to what it did (Clark et al. 2019, "What Does BERT Look At?", section 4.1).
    """
    into = np.array([[group.first <= key <= group.last for key in keys] for group in columns], np.float64)
    onto = np.array([[group.first <= query <= group.last for query in queries] for group in rows], np.float64)
    onto /= onto.sum(axis=1, keepdims=True)
    return (onto @ weights.astype(np.float64) @ into.T).astype(np.float32)


def drawn_weights(shown_weights: Float[np.ndarray, "... key"], view: View) -> Float[np.ndarray, "... key"]:
    """The weights that are drawn: below the threshold, or beyond the largest so many of a query, they are 0.

    Of equal weights at the limit the earlier keys are kept.
    """
    kept = np.where(shown_weights >= view.threshold, shown_weights, 0)
    if not 0 < view.top < kept.shape[-1]:
        return kept
    order = np.argsort(-kept, axis=-1, kind="stable")
    ranks = np.argsort(order, axis=-1, kind="stable")
    return np.where(ranks < view.top, kept, 0)


def strength(weights: Float[np.ndarray, "..."], view: View, largest: float) -> Float[np.ndarray, "..."]:
    """How strong a weight is drawn, 0 to 1: its share of what full colour stands for, on the chosen scale."""
    shares = np.clip(weights / largest if largest > 0 else np.zeros_like(weights), 0, 1)
    if view.scale == "root":
        return np.sqrt(shares)
    if view.scale == "log":
        return np.clip(1 - np.log10(np.maximum(shares, LOWEST)) / np.log10(LOWEST), 0, 1)
    return shares


def largest_of(weights: Float[np.ndarray, "head query key"], view: View) -> list[float]:
    """What full colour stands for in each head; "auto" counts as weight 1 until ``scaled_for`` says what it means."""
    if view.maximum in ("auto", "one") or not weights.size:
        return [1.0] * len(weights)
    if view.maximum == "shared":
        return [float(weights.max())] * len(weights)
    return [float(head.max()) for head in weights]


def exact_row(kind: Kind, view: View, query: int) -> dict[str, Any]:
    """The floats of one query as decimals that give them back: each head's that is on, and their mean's.

    query: the first position of the row. ValueError where the view has no such row, layer or head.
    """
    if view.layer >= kind.layers or not view.heads_on(kind.heads):
        raise ValueError("the view shows no head")
    selection = shown_numbers(kind, view)
    row = next((place for place, group in enumerate(selection.queries) if group.first == query), None)
    if row is None:
        raise ValueError(f"the view has no row for query {query}")
    pairs = zip(selection.heads, selection.weights, strict=True)
    heads = {str(head): decimals(weights[row]) for head, weights in pairs}
    return {"mean": decimals(selection.mean[row]), "heads": heads}


def giver(kind: Kind, view: View, key: int) -> int:
    """The first position of the query that gives most to the key whose first position is ``key``.

    ValueError where the view has no such key, layer or head, or no query.
    """
    if view.layer >= kind.layers or not view.heads_on(kind.heads):
        raise ValueError("the view shows no head")
    selection = shown_numbers(kind, view)
    column = next((place for place, group in enumerate(selection.keys) if group.first == key), None)
    if column is None or not selection.queries:
        raise ValueError(f"the view has no column for key {key}")
    return selection.queries[int(selection.mean[:, column].argmax())].first


def decimals(weights: Float[np.ndarray, "key"]) -> list[str]:
    """The shortest decimal of each that gives the same float back, never in powers of ten."""
    return [np.format_float_positional(weight, unique=True, trim="0") for weight in weights]
