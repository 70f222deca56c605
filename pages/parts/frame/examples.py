"""The sentences that the bar offers: such as the model was trained for."""

from collections.abc import Sequence

from model import CheckpointError, InputError
from model.tokenizer import MASKS
from pages.parts.models.catalogue import label_of
from pages.parts.shared_cache import checkpoint_named, prompt_of, purpose_of
from pages.parts.state.selection import EXAMPLES
from pages.parts.translate.settings import SENTENCES
from pages.parts.translate.sources import sentences_for
from pages.parts.write.settings import BEGINNINGS

CONTINUES, TRANSLATES, FILLS = "continues texts", "translates", "fills in masked words"
WITH_A_GAP = (  # the mask token stands in the gap
    "The capital of France is {}.",
    "She poured the {} into her cup.",
    "The dog {} the man.",
    "The trophy does not fit into the suitcase because the {} is too large.",
)


def examples_for(checkpoint: str) -> Sequence[str]:
    """Beginnings for a model that writes on, sentences of its language for a translator, gaps for one that fills them.

    Tasks for a model that learned to be told them; opinions for any other.
    """
    purpose = purpose_of(checkpoint)
    if purpose == CONTINUES:
        return BEGINNINGS
    if purpose == TRANSLATES:
        return sentences_for(label_of(checkpoint))
    if prompt := prompt_of(checkpoint):
        return [prompt + text for text in SENTENCES]
    mask = mask_token(checkpoint) if purpose == FILLS else ""
    return [text.format(mask) for text in WITH_A_GAP] if mask else EXAMPLES


def mask_token(checkpoint: str) -> str:
    """How the model's tokenizer writes the token that stands for a missing word; "" where it has none."""
    try:
        tokenizer = checkpoint_named(checkpoint).tokenizer
        return next((mask for mask in MASKS if tokenizer.first_masked(tokenizer.encode(mask).ids) is not None), "")
    except (CheckpointError, InputError):
        return ""
