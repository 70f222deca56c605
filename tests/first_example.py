"""What the bundled classifier does with the app's first example, read from its weights: another file, other heads."""

import numpy as np
from jaxtyping import Float

from model import load_checkpoint
from pages.parts.state.selection import EXAMPLES

SLOW, LOVED = 3, 7  # tokens of the example


def weights() -> Float[np.ndarray, "layer head query key"]:
    """All weights of the example."""
    encoder = load_checkpoint("sentiment", device="cpu").trace(EXAMPLES[0]).encoder
    assert encoder is not None
    return encoder.weights().numpy()


def head_on_loved(weights: Float[np.ndarray, "layer head query key"]) -> tuple[int, int]:
    """The layer and the head whose queries give "loved" the most attention, the least of them."""
    least = weights[..., LOVED].min(axis=-1)
    layer, head = np.unravel_index(least.argmax(), least.shape)
    return int(layer), int(head)


def query_on_loved(head: Float[np.ndarray, "query key"]) -> int:
    """The query of a head, other than "loved" itself, that gives it most."""
    others = [query for query in range(len(head)) if query != LOVED]
    return max(others, key=lambda query: head[query, LOVED])


FOUND = head_on_loved(weights())
FOUND_NAME = "Layer {}, head {}".format(*(number + 1 for number in FOUND))
FOUND_ADDRESS = "{}.{}".format(*FOUND)
QUERY = query_on_loved(weights()[FOUND])
