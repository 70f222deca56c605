"""How far every head of one pass is from its partner in another, kept for all visitors, and as a file."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO

import numpy as np
import streamlit as st
from jaxtyping import Float, Int

from model.measures.two_runs.aligned_heads import aligned_rows, chance_distances, head_distances, nearest_heads
from pages.parts.compare.settings import PARTNERS, CompareSettings
from pages.parts.compare.two_passes import TwoPasses
from pages.parts.lru_cache import LRUCache
from viz.tokens import counted, token_named

ORDERS = 20
CACHE_BYTES, KEY_BYTES = 4_000_000, 4_000
Site = tuple[int, int]


@dataclass(frozen=True, kw_only=True, eq=False)
class ComparedHeads:
    """Every head of the first pass beside its partner. partners: that of each head, its layer and its head.

    nearest: whether partners are the heads that differ least, and not those at the same place.
    """

    passes: TwoPasses
    distances: Float[np.ndarray, "layer head"]
    partners: Int[np.ndarray, "layer head 2"]
    nearest: bool

    def most(self) -> Site:
        """The head that is furthest from its partner."""
        layer, head = np.unravel_index(int(self.distances.argmax()), self.distances.shape)
        return int(layer), int(head)

    def in_order(self) -> list[Site]:
        """All heads, that with the largest distance first."""
        return sorted(np.ndindex(*self.distances.shape), key=lambda site: (-self.distances[site], site))

    def partner(self, site: Site) -> Site:
        """The head of the second pass beside it."""
        layer, head = self.partners[site]
        return int(layer), int(head)

    def rows(self, site: Site) -> tuple[Float[np.ndarray, "pair column"], Float[np.ndarray, "pair column"]]:
        """The weights of a head and of its partner on the aligned units."""
        (layer, head), (other_layer, other_head) = site, self.partner(site)
        first, second = self.passes.layers
        weights = first[layer].weights[[head]], second[other_layer].weights[[other_head]]
        one, other = aligned_rows(*weights, self.passes.pairing)
        return one[0], other[0]

    def by_chance(self, site: Site) -> float:
        """How far a head would be from its partner if that looked at its keys in random order: the mean of some."""
        first, second = (rows[None] for rows in self.rows(site))
        return float(np.mean([chance_distances(first, second, seed) for seed in range(ORDERS)]))

    def most_attended(self, site: Site) -> tuple[str, str]:
        """The key to which the aligned queries give most, in A and in B, Markdown; of one column the name in A."""
        _, names = self.passes.unit_names()
        columns = self.passes.pairing.keys.columns()
        unit = "token" if self.passes.one_model else "word"
        most = [int(rows.sum(axis=0).argmax()) for rows in self.rows(site)]
        first, second = (
            token_named(side, columns[column][place] or 0, unit, counted_at(columns[column]))
            for place, (column, side) in enumerate(zip(most, names, strict=True))
        )
        return first, first if most[0] == most[1] else second

    def table(self) -> str:
        """A line for each head, the furthest first, as CSV; layers and heads count from 1."""
        written = StringIO()
        table = csv.writer(written, lineterminator="\n")
        table.writerow(["layer in A", "head in A", "layer in B", "head in B", "distance"])
        for site in self.in_order():
            table.writerow([*map(counted, (*site, *self.partner(site))), repr(float(self.distances[site]))])
        return written.getvalue()

    def weights_table(self, site: Site) -> str:
        """A line for each query and key of a head, as CSV; positions count from 1, "" for what one side lacks."""
        written = StringIO()
        table = csv.writer(written, lineterminator="\n")
        names = [f"{what} in {side}" for what in ("query", "key") for side in "AB"]
        head = [f"{name}, {part}" for name in names for part in ("position", "token")]
        table.writerow([*head, "weight in A", "weight in B", "B - A"])
        table.writerows(self.lines(site))
        return written.getvalue()

    def lines(self, site: Site) -> Iterator[list[str]]:
        """Those of ``weights_table``."""
        first, second = self.rows(site)
        queries, keys = self.passes.unit_names()
        for row, query in enumerate(self.passes.pairing.queries.pairs):
            for column, key in enumerate(self.passes.pairing.keys.columns()):
                weights = float(first[row, column]), float(second[row, column])
                names = [*named(queries, query), *named(keys, key)]
                yield [*names, *map(repr, (*weights, weights[1] - weights[0]))]


def counted_at(column: tuple[int | None, int | None]) -> int:
    """By which position the pictures count the column of a key: that in A, where A has it."""
    first, second = column
    return (second or 0) if first is None else first


@st.cache_resource(show_spinner=False)
def distances_cache() -> LRUCache:
    """What was measured, of all visitors."""
    return LRUCache(CACHE_BYTES)


def compared_heads(settings: CompareSettings, passes: TwoPasses) -> ComparedHeads:
    """Every head of A beside its partner in B: at its place where there are as many, else the most similar one."""
    sizes = [[len(layer.weights) for layer in layers] for layers in passes.layers]
    nearest = sizes[0] != sizes[1] or (settings.partner == PARTNERS[1] and not passes.one_model)

    def measure() -> tuple[np.ndarray, np.ndarray]:
        first, second = passes.layers
        if not nearest:
            places = np.moveaxis(np.indices((len(first), sizes[0][0])), 0, -1)
            return head_distances(first, second, passes.pairing), places
        found = nearest_heads(first, second, passes.pairing)
        return found.distances, np.stack((found.layers, found.heads), axis=-1)

    key = ("compared", passes.key, nearest)
    distances, partners = distances_cache().get(key, measure, lambda each: KEY_BYTES + 3 * each[0].nbytes)
    return ComparedHeads(passes=passes, distances=distances, partners=partners, nearest=nearest)


def named(names: tuple[list[str], list[str]], units: tuple[int | None, int | None]) -> list[str]:
    """Number and name of a unit in A, and in B."""
    return [
        part
        for side, unit in zip(names, units, strict=True)
        for part in (("", "") if unit is None else (counted(unit), side[unit]))
    ]
