"""The heads that look like one head, over the example texts and the visitor's, kept for all visitors."""

from dataclasses import dataclass

import streamlit as st

from model import InputError
from model.measures.two_runs.aligned_heads import AttentionPairing, attention_layers
from model.measures.two_runs.similar_heads import AlikeHead, TextOfTwo, alike_heads
from model.measures.two_runs.token_pairs import piece_pairs, token_pairs
from model.trace import Trace
from pages.parts.compare.two_passes import NO, TwoPasses
from pages.parts.frame.examples import examples_for
from pages.parts.lru_cache import LRUCache
from pages.parts.passes import trace_of, with_text

CACHE_BYTES, KEPT_BYTES = 1_000_000, 4_000
MOST_ALIKE = 5
MOST_TEXTS, LONGEST = 6, 96  # example texts; tokens of a text that is compared
Site = tuple[int, int]


@dataclass(frozen=True, kw_only=True, eq=False)
class HeadsAlike:
    """The most similar heads of a model, the mean similarity of all its heads, and over how many texts."""

    heads: list[AlikeHead]
    mean: float
    texts: int


@st.cache_resource(show_spinner=False)
def alike_cache() -> LRUCache:
    """What was measured, of all visitors."""
    return LRUCache(CACHE_BYTES)


def heads_alike(passes: TwoPasses, site: Site, model: int) -> HeadsAlike:
    """The heads of the first (0) or the second (1) model that look like one of the first. InputError without a text."""
    selection = passes.selections[0]
    names = [selection.text, *(text for text in examples_for(selection.checkpoint) if text != selection.text)]

    def measure() -> HeadsAlike:
        texts = [found for text in names[: MOST_TEXTS + 1] if (found := text_of_two(passes, text, site, model))]
        if not texts:
            raise InputError("No text is short enough to compare heads on.")
        alike, mean = alike_heads(texts, MOST_ALIKE, site if model == 0 else None)
        return HeadsAlike(heads=alike, mean=mean, texts=len(texts))

    key = ("alike", passes.key, site, model)
    found: HeadsAlike = alike_cache().get(key, measure, lambda _: KEPT_BYTES)
    return found


def text_of_two(passes: TwoPasses, text: str, site: Site, model: int) -> TextOfTwo | None:
    """A text as the head and the heads of a model read it; None where one of them cannot, or it is long."""
    try:
        first, second = (trace_of(with_text(passes.selections[place], text), NO) for place in (0, model))
    except InputError:
        return None
    if max(len(trace.text_stack.ids) for trace in (first, second)) > LONGEST:
        return None
    pairing = pairing_of_texts(passes.names[0], first, second, text, same=model == 0)
    rows = attention_layers(first, passes.names[0])[site[0]].weights[[site[1]]]
    others = [layer.weights for layer in attention_layers(second, passes.names[model])]
    return TextOfTwo(first=rows, second=others, pairing=pairing)


def pairing_of_texts(name: str, first: Trace, second: Trace, text: str, *, same: bool) -> AttentionPairing:
    """The partners of a text's tokens; of one model each token is its own, in a target too."""
    if not same:
        units = piece_pairs(first.text_stack, second.text_stack, [text])
        return AttentionPairing(queries=units, keys=units)
    texts, targets = (token_pairs(stack, stack) for stack in (first.text_stack, first.output_stack))
    queries, keys = {"encoder": (texts, texts), "decoder": (targets, targets), "cross": (targets, texts)}[name]
    return AttentionPairing(queries=queries, keys=keys)
