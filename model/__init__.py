"""A Transformer written from scratch that shows everything it computes.

>>> from model import load_checkpoint
>>> checkpoint = load_checkpoint("sentiment")
>>> trace = checkpoint.trace("The dog bit the man.")
>>> trace.encoder.blocks[2].self_attention.weights.shape  # (head, query, key)
torch.Size([8, 6, 6])
"""

from model.checkpoint import Checkpoint, available_checkpoints, load_checkpoint
from model.config import Config
from model.device import available_devices
from model.edits import Edits, HeadSite, HiddenKey, NormSite, Overwrite, Shift, Shuffle, SublayerSite
from model.errors import CheckpointError, InputError
from model.trace import Trace

PROGRAM = "Headlight"  # by which scripts tell this package from a model.py of their own folder

__all__ = [
    "Checkpoint",
    "CheckpointError",
    "Config",
    "Edits",
    "HeadSite",
    "HiddenKey",
    "InputError",
    "NormSite",
    "Overwrite",
    "Shift",
    "Shuffle",
    "SublayerSite",
    "Trace",
    "available_checkpoints",
    "available_devices",
    "load_checkpoint",
]
