"""What heads do, by their weights alone, where no model is there to read the words in another order.

The scores are those of ``head_kinds``. Every null is that of a head which is as sharp and knows nothing of where it
looks: the weights of each query are permuted among the keys that it sees, each query's by itself. For the kinds about
given cells its mean and deviation are exact. ``points_at`` is a maximum over keys, and so is its null, over permuted
weights: by accident too some key gets more than the others. Permuting leaves entropies as they are, so that ``spreads``
is compared with weights drawn at random alone.

Many heads are looked at for many kinds, and among so many some stand out by accident. So a score counts only where it
lies further above its null, in standard deviations, than that of any head and kind of the permuted weights: the max-T
of Westfall and Young 1993 ("Resampling-Based Multiple Testing"), with as many permutations as time allows.
"""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Bool, Float, Int

from model.loading.attention_arrays import SPECIAL, StoredAttention
from model.measures.head_kinds import (
    CELLS,
    ERRORS,
    LEAST_EXCESS,
    KindScores,
    Scores,
    Sides,
    Weights,
    checked_weights,
    leads_of,
    permutation_null,
    points_at,
    random_spread,
    scores_at,
    share,
)

WEIGHTS_DRAWN, MOST_DRAWS, FEWEST_DRAWS = 20_000_000, 64, 4  # of one measurement


def sides_of_stored(stored: StoredAttention) -> Sides:
    """The queries and keys of an attention from elsewhere; tokens with usual names count as special."""
    return Sides(
        query_special=np.array([token in SPECIAL for token in stored.queries], bool),
        key_special=np.array([token in SPECIAL for token in stored.keys], bool),
        key_tokens=stored.keys,
        visible=stored.visible()[None],
        one_text=stored.one_text,
    )


def measure_alone(weights: Weights, sides: Sides) -> KindScores:
    """Every kind's score and null, as ``head_kinds.measure`` gives them with shuffles of the text.

    errors: what ``exceeding`` takes three of: of ``points_at`` and the kinds about cells, the standard deviation of the
    score of such a head, or more of it, where by accident some head of the file lies further out than three. ValueError
    for weights of other shapes than the sides.
    """
    pointing, keys = points_at(checked_weights(weights, sides), sides)
    scores = scores_at(weights, sides, keys) | {"points_at": pointing}
    drawn = scores_by_chance(weights, sides)
    chance = {kind: permutation_null(weights, sides, kind) for kind in CELLS}
    chance["points_at"] = drawn["points_at"].mean(axis=0), drawn["points_at"].std(axis=0, ddof=1)
    stricter = furthest(drawn, chance) / ERRORS
    even = np.broadcast_to(random_spread(sides), pointing.shape)
    return KindScores(
        sides=sides,
        scores=scores,
        nulls={kind: mean for kind, (mean, _) in chance.items()} | {"spreads": even},
        errors={kind: stricter * deviation for kind, (_, deviation) in chance.items()}
        | {"spreads": np.zeros_like(even)},
        shuffled=scores,
        leads=leads_of(weights, sides, keys),
        keys=keys,
    )


def scores_by_chance(weights: Weights, sides: Sides) -> dict[str, Float[np.ndarray, "draw layer head"]]:
    """The scores of permuted weights, of all kinds but ``spreads``."""
    draws = min(MOST_DRAWS, max(FEWEST_DRAWS, WEIGHTS_DRAWN // weights.size))
    rng = np.random.default_rng(0)
    seen = np.broadcast_to(sides.visible.any(axis=0), sides.counted.shape)
    drawn = [scores_of_draw(weights, sides, random_orders(seen & ~sides.key_special, rng)) for _ in range(draws)]
    return {kind: np.stack([scores[kind] for scores in drawn]) for kind in drawn[0]}


def scores_of_draw(weights: Weights, sides: Sides, orders: Int[np.ndarray, "query key"]) -> dict[str, Scores]:
    """The scores of weights whose rows are in these orders, one layer in memory at a time."""
    layers = []
    for layer in weights:
        ordered = np.take_along_axis(layer, orders[None], axis=-1)[None]
        layers.append({kind: share(ordered, cells) for kind, cells in sides.cells.items()})
        layers[-1]["points_at"] = points_at(ordered, sides)[0]
    return {kind: np.concatenate([layer[kind] for layer in layers]) for kind in layers[0]}


def furthest(
    drawn: Mapping[str, Float[np.ndarray, "draw layer head"]], chance: Mapping[str, tuple[Scores, Scores]]
) -> float:
    """How many deviations the permuted score that lies furthest above its null lies above it; three at least.

    Those that are no more than 0.05 above it do not count: nobody would name them.
    """
    most = ERRORS
    for kind, scores in drawn.items():
        mean, deviation = chance[kind]
        excess = scores - mean
        far = np.divide(excess, deviation, out=np.zeros_like(excess), where=(excess > LEAST_EXCESS) & (deviation > 0))
        most = max(most, float(far.max(initial=0)))
    return most


def random_orders(seen: Bool[np.ndarray, "query key"], rng: np.random.Generator) -> Int[np.ndarray, "query key"]:
    """For every query an order of the keys in which those that it sees have changed places, and no others."""
    places = np.arange(seen.shape[1])
    last = len(places) + places  # the keys that are not seen come last, in their own order
    ranked = np.argsort(np.where(seen, rng.random(seen.shape), last), axis=-1)
    ordered = np.argsort(np.where(seen, places, last), axis=-1)
    orders = np.empty_like(ranked)
    np.put_along_axis(orders, ordered, ranked, axis=-1)
    return orders
