"""The sentences that the bar offers: such as the model was trained for."""

from collections.abc import Sequence

from pages.parts.cache import purpose_of
from pages.parts.state.selection import EXAMPLES
from pages.parts.translate.settings import SENTENCES
from pages.parts.write.settings import BEGINNINGS

BY_PURPOSE = {"continues texts": BEGINNINGS, "translates": SENTENCES}


def examples_for(checkpoint: str) -> Sequence[str]:
    """Beginnings for a model that writes on, everyday sentences for a translator, opinions for any other."""
    return BY_PURPOSE.get(purpose_of(checkpoint), EXAMPLES)
