"""What every page declares: a new page adds its line."""

from pages.parts import break_settings, continuation, explore_settings, inside_settings, positions_settings, translation
from pages.parts.state.codec import Codec, PageState

FIRST = "explore"  # the page that opens at /
CODEC = Codec(
    {
        FIRST: explore_settings.STATE,
        "inside": inside_settings.STATE,
        "positions": positions_settings.STATE,
        "break": break_settings.STATE,
        "translate": translation.STATE,
        "write": continuation.STATE,
        "evidence": PageState(),
        "checkpoints": PageState(),
    }
)
