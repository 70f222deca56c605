"""What every page declares of its address: a new page adds its line."""

from pages.parts.ablations import settings as ablations
from pages.parts.arrays import settings as arrays
from pages.parts.compare import settings as compare
from pages.parts.costs import settings as costs
from pages.parts.edit import settings as edit
from pages.parts.explanation import settings as explanation
from pages.parts.explore import settings as explore
from pages.parts.heads import settings as heads
from pages.parts.inside import settings as inside
from pages.parts.learn import settings as learn
from pages.parts.mistakes import settings as mistakes
from pages.parts.models import settings as models
from pages.parts.positions import settings as positions
from pages.parts.state.codec import Codec, PageState
from pages.parts.translate import settings as translate
from pages.parts.watch import settings as watch
from pages.parts.words import settings as words
from pages.parts.write import settings as write

FIRST = "explore"  # the page that opens at /
CODEC = Codec(
    {
        FIRST: explore.STATE,
        "inside": inside.STATE,
        "positions": positions.STATE,
        "break": ablations.STATE,
        "translate": translate.STATE,
        "write": write.STATE,
        "heads": heads.STATE,
        "explanation": explanation.STATE,
        "compare": compare.STATE,
        "edit": edit.STATE,
        "watch": watch.STATE,
        "learn": learn.STATE,
        "mistakes": mistakes.STATE,
        "words": words.STATE,
        "costs": costs.STATE,
        "arrays": arrays.STATE,
        "evidence": PageState(follows=True, follows_stand_in=True),
        "checkpoints": models.STATE,
    }
)
