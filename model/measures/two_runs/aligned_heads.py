"""Where the heads of two passes look differently: their weights on the units that are partners, and one number a head.

Pieces that make one unit are merged word by word (Clark et al. 2019, "What Does BERT Look At?", section 4.1): the sum
over keys, the mean over queries. So every row still adds up to what it did.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from model.measures.two_runs.token_pairs import Pairing, Unit
from model.trace import AttentionTrace, Trace

Weights = Float[Tensor, "_ _ _"]  # (head, query, key)
Rows = Float[np.ndarray, "_ pair column"]  # of every head
MOST_COMPARED = 2e8  # differences of two weights in the search for the nearest heads
STACKS = {"encoder": ("encoder", "self"), "decoder": ("decoder", "self"), "cross": ("decoder", "cross")}


@dataclass(frozen=True, kw_only=True)
class AttentionPairing:
    """The partners among the queries of an attention, and among its keys: of self-attention the same."""

    queries: Pairing
    keys: Pairing


@dataclass(frozen=True, kw_only=True, eq=False)
class NearestHeads:
    """For every head of the first the head of the second whose rows differ least, and by how much.

    distances: see ``row_distances``, over the queries in ``compared``; their number of all that have a partner.
    """

    layers: np.ndarray
    heads: np.ndarray
    distances: Float[np.ndarray, "layer head"]


def attention_layers(trace: Trace, name: str) -> list[AttentionTrace]:
    """The layers of one attention: "encoder", "decoder" or "cross". ValueError where the pass has none of that name."""
    stack_name, kind = STACKS[name]
    stack = getattr(trace, stack_name)
    layers = [] if stack is None else [getattr(block, f"{kind}_attention") for block in stack.blocks]
    if not layers or layers[0] is None:
        raise ValueError(f"the pass has no {name} attention")
    return layers


def aligned_rows(first: Weights, second: Weights, pairing: AttentionPairing) -> tuple[Rows, Rows]:
    """The rows of the queries that are partners, over every key of both texts (``Pairing.columns``).

    A key that one text lacks has the weight 0 there. Float64.
    """
    columns = pairing.keys.columns()
    rows = []
    for side, weights in enumerate((first, second)):
        keys, queries = ((each.first, each.second)[side] for each in (pairing.keys, pairing.queries))
        named = [column[side] for column in columns]
        into = [() if unit is None else keys[unit] for unit in named]
        rows.append(over_units(weights, [queries[pair[side]] for pair in pairing.queries.pairs], into))
    return rows[0], rows[1]


def over_units(weights: Weights, queries: Sequence[Unit], keys: Sequence[Unit]) -> Rows:
    """The rows of these units over those: the mean of their queries, the sum of their keys; 0 for a unit of none."""
    numbers = weights.double()
    if any(len(unit) != 1 for unit in queries) or any(len(unit) > 1 for unit in keys):
        onto, into = mean_of_pieces(queries, weights.shape[-2]), sum_of_pieces(keys, weights.shape[-1])
        return (onto @ numbers @ into).numpy()
    beside = torch.cat((numbers, torch.zeros_like(numbers[..., :1])), dim=-1)  # the last column is of what is not there
    places = [unit[0] if unit else -1 for unit in keys]
    return beside[:, [unit[0] for unit in queries]][..., places].numpy()


def row_distances(first: Rows, second: Rows) -> Float[np.ndarray, " _"]:
    """How far apart two heads look: ½ Σ |second − first| over the keys, the mean over the rows.

    The total variation distance: the share of a row's weight that has to go to other keys to make the one row the
    other. From 0 for equal rows to 1 for rows that have no key in common; a key without a partner counts with all its
    weight. NaN without rows.
    """
    if not first.shape[1]:
        return np.full(len(first), np.nan)
    return np.abs(second - first).sum(axis=-1).mean(axis=-1) / 2


def chance_distances(first: Rows, second: Rows, seed: int = 0) -> Float[np.ndarray, " _"]:
    """The same with the weights of each row of the second in random order among the keys that it looks at.

    How far apart two heads would look of which the second spreads its attention as it does, but over keys by chance.
    """
    generator, shuffled = np.random.default_rng(seed), second.copy()
    for row in range(second.shape[1]):
        seen = np.flatnonzero(second[:, row].any(axis=0))
        shuffled[:, row, seen] = generator.permuted(second[:, row, seen], axis=1)
    return row_distances(first, shuffled)


def head_distances(
    first: Sequence[AttentionTrace], second: Sequence[AttentionTrace], pairing: AttentionPairing
) -> Float[np.ndarray, "layer head"]:
    """Every head of the first beside the same head of the second. ValueError where they have other heads."""
    sizes = [[len(attention.weights) for attention in layers] for layers in (first, second)]
    if sizes[0] != sizes[1]:
        raise ValueError(f"heads of the layers: {sizes[0]} beside {sizes[1]}")
    return np.stack(
        [
            row_distances(*aligned_rows(one.weights, other.weights, pairing))
            for one, other in zip(first, second, strict=True)
        ]
    )


def nearest_heads(
    first: Sequence[AttentionTrace], second: Sequence[AttentionTrace], pairing: AttentionPairing
) -> NearestHeads:
    """For every head of the first that of the second with the least distance; of equals the first.

    Of long texts the partner is sought over queries that are evenly spread, as many as keep the number of differences
    below ``MOST_COMPARED``; its distance is then that over all.
    """
    heads = sum(len(one.weights) for one in first) * sum(len(one.weights) for one in second)
    pairs = pairing.queries.pairs
    most = max(1, int(MOST_COMPARED / (heads * len(pairing.keys.columns()))))
    step = -(-len(pairs) // most)
    few = AttentionPairing(
        queries=Pairing(first=pairing.queries.first, second=pairing.queries.second, pairs=pairs[::step]),
        keys=pairing.keys,
    )
    chosen, distances = [], []
    for one in first:
        every = np.stack([nearest_in(one, other, few) for other in second], axis=1)  # head, other layer, other head
        best = [divmod(int(each.argmin()), each.shape[1]) for each in every]
        chosen.append(best)
        distances.append(
            [
                distance_of(one.weights[[head]], second[layer].weights[[other]], pairing)
                for head, (layer, other) in enumerate(best)
            ]
        )
    places = np.array(chosen)
    return NearestHeads(layers=places[..., 0], heads=places[..., 1], distances=np.array(distances))


def distance_of(first: Weights, second: Weights, pairing: AttentionPairing) -> float:
    """The distance of two heads, each alone in its layer."""
    return float(row_distances(*aligned_rows(first, second, pairing))[0])


def nearest_in(first: AttentionTrace, second: AttentionTrace, pairing: AttentionPairing) -> Float[np.ndarray, "_ _"]:
    """The distance of every head of a layer from every head of another."""
    one, other = aligned_rows(first.weights, second.weights, pairing)
    return np.stack([row_distances(np.broadcast_to(row, other.shape), other) for row in one])


def mean_of_pieces(units: Sequence[Unit], length: int) -> Float[Tensor, "unit position"]:
    """What makes the rows of units of the rows of positions."""
    onto = torch.zeros(len(units), length, dtype=torch.float64)
    for place, unit in enumerate(units):
        onto[place, list(unit)] = 1 / len(unit)
    return onto


def sum_of_pieces(units: Sequence[Unit], length: int) -> Float[Tensor, "position unit"]:
    """What makes the columns of units of the columns of positions; one without positions is 0."""
    into = torch.zeros(length, len(units), dtype=torch.float64)
    for place, unit in enumerate(units):
        into[list(unit), place] = 1
    return into
