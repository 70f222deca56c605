"""The stops of the path, one module each: what a stop asks, measures and draws. No arithmetic, no state."""

from importlib import import_module
from importlib.util import find_spec

from pages.parts.learn.stop import Stop

NAMES = (
    "where_it_looks",
    "looking_and_mattering",
    "word_order",
    "words_as_vectors",
    "whole_head",
    "heads_needed",
    "neighbours",
    "stack",
    "feed_forward",
    "blindfold",
    "one_word_at_a_time",
    "recurrent_network",
)
PATH: tuple[Stop, ...] = tuple(
    import_module(f"{__name__}.{name}").STOP for name in NAMES if find_spec(f"{__name__}.{name}")
)
