"""What the bundled classifier does with the app's first example, read from its weights: another file, other heads."""

import numpy as np

from model import load_checkpoint
from pages.parts.state.selection import EXAMPLES

SLOW, LOVED = 3, 7  # tokens of the example


def head_on_loved() -> tuple[int, int]:
    """The layer and the head whose queries give "loved" the most attention, the least of them."""
    encoder = load_checkpoint("sentiment", device="cpu").trace(EXAMPLES[0]).encoder
    assert encoder is not None
    least = encoder.weights()[..., LOVED].amin(dim=-1).numpy()
    layer, head = np.unravel_index(least.argmax(), least.shape)
    return int(layer), int(head)


FOUND = head_on_loved()
FOUND_NAME = "Layer {}, head {}".format(*(number + 1 for number in FOUND))
FOUND_ADDRESS = "{}.{}".format(*FOUND)
