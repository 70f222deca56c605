"""Patterns that one head could have, the overwritten weights that give it one, and what moved in the heads after it."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Float

from model.edits import Edits, HeadSite, Overwrite
from model.edits.sites import SublayerSite
from model.measures.causes.resumed_pass import attention_at, attention_sites
from model.measures.comparison import double
from model.trace import AttentionTrace, Trace

PATTERNS = ("self", "previous", "first", "even", "token")
DIGITS = 4  # significant, of an overwritten weight: what an address has room for
SAME = 1e-6  # weights that differ by less are the same
SMALLEST = 1e-7  # a weight that shares in nothing, so that no ratio is by 0

Weights = Float[np.ndarray, "query key"]
Mask = Bool[np.ndarray, "query key"]


def head_mask(attention: AttentionTrace, head: int) -> Mask:
    """Which keys each query of a head may see."""
    mask = np.asarray(attention.mask)
    return mask if mask.ndim == 2 else mask[head]


def pattern_weights(name: str, base: Weights, mask: Mask, key: int = 0) -> Weights:
    """The weights of a head whose queries all look at one place.

    name: at themselves ("self"), at the token before ("previous"; the first looks at itself), at the first token
    ("first"), evenly at all that the mask allows ("even"), at the token ``key`` ("token"). A query whose mask hides
    that place keeps the weights that it has. ValueError for another name.
    """
    if name not in PATTERNS:
        raise ValueError(f"pattern: found {name!r}, wanted one of {PATTERNS}")
    wanted = np.zeros(base.shape)
    if name == "even":
        wanted = mask / np.maximum(mask.sum(axis=-1, keepdims=True), 1)
    else:
        queries = np.arange(len(base))
        at_zero = np.zeros_like(queries)
        places = {
            "self": queries,
            "previous": np.maximum(queries - 1, 0),
            "first": at_zero,
            "token": at_zero + key,
        }
        wanted[queries, np.minimum(places[name], base.shape[1] - 1)] = 1
    forbidden = ((wanted > 0) & ~mask).any(axis=-1, keepdims=True)
    possible = ~forbidden & (wanted.sum(axis=-1, keepdims=True) > SAME)
    return np.where(possible, wanted, double(base))


def copied_weights(base: Weights, mask: Mask, other: Weights) -> Weights:
    """The weights of another head of the same texts, as far as this head's mask allows them; other rows stay."""
    allowed = np.where(mask, double(other), 0)
    sums = allowed.sum(axis=-1, keepdims=True)
    return np.where(sums > SAME, allowed / np.where(sums > SAME, sums, 1), double(base))


def overwrites(site: HeadSite, base: Weights, wanted: Weights) -> frozenset[Overwrite]:
    """The overwritten weights that turn the rows of ``base`` into those of ``wanted``; rows that are so stay.

    Each row is written as shares of its largest weight, to four significant digits, and divided by its sum in the pass;
    what is 0 in both is left out. Rows of ``wanted`` sum to 1.
    """
    cells = set()
    for query in np.flatnonzero(np.abs(double(base) - wanted).max(axis=-1) > SAME):
        row = wanted[query] / wanted[query].max()
        for key in np.flatnonzero((base[query] != 0) | (row != 0)):
            value = float(f"{row[key]:.{DIGITS}g}")
            cells.add(Overwrite(site, int(query), int(key), value, renormalise=True))
    return frozenset(cells)


def of_head(edits: Edits, site: HeadSite) -> frozenset[Overwrite]:
    """The overwritten weights of one head."""
    return frozenset(cell for cell in edits.overwritten if cell.site == site)


def with_head(edits: Edits, site: HeadSite, cells: frozenset[Overwrite]) -> Edits:
    """The edits with these overwritten weights in one head, in place of those it had. InputError where they clash."""
    return replace(edits, overwritten=(edits.overwritten - of_head(edits, site)) | cells)


def without_weights(edits: Edits) -> Edits:
    """The edits without any overwritten weight."""
    return replace(edits, overwritten=frozenset())


def moved_weights(before: Trace, after: Trace) -> Mapping[SublayerSite, Float[np.ndarray, " head"]]:
    """How much of its attention each head moved between two passes over the same tokens, by attention.

    ½ Σ |after − before| over the keys (total variation), the mean over the queries: 0 for the same weights, 1 where
    every query looks at other keys altogether.
    """
    return {
        site: 0.5 * np.abs(weights(after, site) - weights(before, site)).sum(axis=-1).mean(axis=-1)
        for site in attention_sites(before)
    }


def weights(trace: Trace, site: SublayerSite) -> Float[np.ndarray, "head query key"]:
    """The weights of an attention of a pass, in float64."""
    return double(attention_at(trace, site).weights)


def set_keys(base: Float[np.ndarray, " key"], values: Mapping[int, float], *, divided: bool = True) -> set[int]:
    """The keys of a row whose weights somebody set: of these overwritten ones, before they are divided by their sum.

    Of a row that is overwritten as a whole not those that only make room, each with its share of the rest, where these
    are the most. Where nothing is ``divided``, those that are other than they were. As setKeys in
    pages/parts/edit/weight_rows.js.
    """
    if not divided:
        return {key for key, value in values.items() if not np.isclose(value, base[key], 1e-3)}
    if any(weight and key not in values for key, weight in enumerate(base)):
        return set(values)
    ratios = {key: value / max(float(base[key]), SMALLEST) for key, value in values.items()}
    alike = [{key for key, other in ratios.items() if np.isclose(other, ratio, 1e-3)} for ratio in ratios.values()]
    room = max(alike, key=len, default=set())
    return set(values) - room if 2 * len(room) > len(values) else set(values)


def row_moved(before: Weights, after: Weights) -> tuple[int, int] | None:
    """The query whose weights changed most, and of its keys the one that gained most; None where nothing changed."""
    changes = double(after) - double(before)
    query = int(np.abs(changes).sum(axis=-1).argmax())
    return None if np.abs(changes[query]).max() <= SAME else (query, int(changes[query].argmax()))
