"""What heads do, by their weights alone, where no model is there to read the words in another order.

The scores are those of ``head_kinds``. Every null is that of a head which is as sharp and knows nothing of where it
looks: the weights of each query are permuted among the keys that it sees, each query's by itself. For the kinds about
given cells its mean and deviation are exact. ``points_at`` is a maximum over keys, and so is its null, over permuted
weights: by accident too some key gets more than the others. Permuting leaves entropies as they are, so that ``spreads``
is compared with weights drawn at random alone.
"""

import numpy as np
from jaxtyping import Bool, Float, Int

from model.loading.attention_arrays import SPECIAL, StoredAttention
from model.measures.head_kinds import (
    CELLS,
    Measured,
    Scores,
    Sides,
    Weights,
    checked,
    leads_of,
    permuted,
    points_at,
    random_spread,
    scores_at,
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


def measure_alone(weights: Weights, sides: Sides) -> Measured:
    """Every kind's score and null, as ``head_kinds.measure`` gives them with shuffles of the text.

    errors: of ``points_at`` and the kinds about cells, the standard deviation of the score of such a head. ValueError
    for weights of other shapes than the sides.
    """
    pointing, keys = points_at(checked(weights, sides), sides)
    scores = scores_at(weights, sides, keys) | {"points_at": pointing}
    by_chance = {kind: permuted(weights, sides, kind) for kind in CELLS} | {"points_at": pointing_by_chance(weights, sides)}
    even = np.broadcast_to(random_spread(sides), pointing.shape)
    return Measured(
        sides=sides,
        scores=scores,
        nulls={kind: mean for kind, (mean, _) in by_chance.items()} | {"spreads": even},
        errors={kind: deviation for kind, (_, deviation) in by_chance.items()} | {"spreads": np.zeros_like(even)},
        shuffled=scores,
        leads=leads_of(weights, sides, keys),
        keys=keys,
    )


def pointing_by_chance(weights: Weights, sides: Sides) -> tuple[Scores, Scores]:
    """Mean and standard deviation of what the most attended key gets of permuted weights."""
    draws = min(MOST_DRAWS, max(FEWEST_DRAWS, WEIGHTS_DRAWN // weights.size))
    rng = np.random.default_rng(0)
    seen = np.broadcast_to(sides.visible.any(axis=0) & ~sides.key_special, sides.counted.shape)
    received = np.stack([pointing_of_draw(weights, sides, random_orders(seen, rng)) for _ in range(draws)])
    return received.mean(axis=0), received.std(axis=0, ddof=1)


def pointing_of_draw(weights: Weights, sides: Sides, orders: Int[np.ndarray, "query key"]) -> Scores:
    """``points_at`` of weights whose rows are in these orders, one layer in memory at a time."""
    layers = (np.take_along_axis(layer, orders[None], axis=-1) for layer in weights)
    return np.concatenate([points_at(layer[None], sides)[0] for layer in layers])


def random_orders(seen: Bool[np.ndarray, "query key"], rng: np.random.Generator) -> Int[np.ndarray, "query key"]:
    """For every query an order of the keys in which those that it sees have changed places, and no others."""
    places = np.arange(seen.shape[1])
    last = len(places) + places  # the keys that are not seen come last, in their own order
    ranked = np.argsort(np.where(seen, rng.random(seen.shape), last), axis=-1)
    ordered = np.argsort(np.where(seen, places, last), axis=-1)
    orders = np.empty_like(ranked)
    np.put_along_axis(orders, ordered, ranked, axis=-1)
    return orders
