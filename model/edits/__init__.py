"""What to change in a forward pass: the values, their form in an address, their checks, what they become in the model.

No arithmetic of a pass that nothing changes lives here: that is in the modules of ``model`` itself.
"""

from model.edits.sites import HeadSite, HiddenKey, NormSite, Overwrite, Shift, Shuffle, SublayerSite
from model.edits.values import NO_EDITS, AnyEdits, Edits

__all__ = [
    "NO_EDITS",
    "AnyEdits",
    "Edits",
    "HeadSite",
    "HiddenKey",
    "NormSite",
    "Overwrite",
    "Shift",
    "Shuffle",
    "SublayerSite",
]
