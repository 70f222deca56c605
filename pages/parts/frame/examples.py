"""The sentences that the bar offers: such as the model was trained for."""

from collections.abc import Sequence

from model import CheckpointError, InputError
from model.tokenizer import MASKS
from pages.parts.cache import checkpoint_named, purpose_of
from pages.parts.state.selection import EXAMPLES
from pages.parts.translate.settings import SENTENCES
from pages.parts.write.settings import BEGINNINGS

BY_PURPOSE = {"continues texts": BEGINNINGS, "translates": SENTENCES}
FILLS = "fills in masked words"
WITH_A_GAP = (  # the mask token stands in the gap
    "The capital of France is {}.",
    "She poured the {} into her cup.",
    "The dog {} the man.",
    "The trophy does not fit into the suitcase because the {} is too large.",
)


def examples_for(checkpoint: str) -> Sequence[str]:
    """Beginnings for a model that writes on, everyday sentences for a translator, gaps for one that fills them.

    Opinions for any other.
    """
    purpose = purpose_of(checkpoint)
    mask = mask_token(checkpoint) if purpose == FILLS else ""
    return [text.format(mask) for text in WITH_A_GAP] if mask else BY_PURPOSE.get(purpose, EXAMPLES)


def mask_token(checkpoint: str) -> str:
    """How the model's tokenizer writes the token that stands for a missing word; "" where it has none."""
    try:
        tokenizer = checkpoint_named(checkpoint).tokenizer
        return next((mask for mask in MASKS if tokenizer.first_masked(tokenizer.encode(mask).ids) is not None), "")
    except (CheckpointError, InputError):
        return ""
