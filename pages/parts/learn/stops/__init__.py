"""The stops of the path, one module each: what a stop asks, measures and draws. No arithmetic, no state."""

from importlib import import_module
from importlib.util import find_spec

from pages.parts.learn.settings import OPENINGS
from pages.parts.learn.stop import Stop

NAMES = tuple(OPENINGS)
PATH: tuple[Stop, ...] = tuple(
    import_module(f"{__name__}.{name}").STOP for name in NAMES if find_spec(f"{__name__}.{name}")
)
