"""The attentions of a trace or of a file, each with the two texts that it runs between."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from model.loading.attention_arrays import SIDES, SPECIAL, AttentionArrays
from model.trace import StackTrace, Trace

TITLES = {
    "encoder": "encoder self-attention",
    "decoder": "decoder self-attention",
    "cross": "cross-attention, decoder to encoder",
}


@dataclass(frozen=True, kw_only=True)
class Text:
    """What is known of the tokens on one side. A fact that a text does not have is None."""

    stack: str  # "encoder" or "decoder"
    tokens: tuple[str, ...]
    special: tuple[bool, ...] | None = None
    words: tuple[int | None, ...] | None = None
    segments: tuple[int, ...] | None = None  # only where there are two


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of attention: the weights of its layers, and what its queries and keys are.

    ``weights`` holds one (head, query, key) array a layer, as they stand in the trace; nothing is copied.
    """

    name: str  # "encoder", "decoder" or "cross"
    queries: Text
    keys: Text
    weights: tuple[Float[np.ndarray, "head query key"], ...]
    causal: bool  # no weight lies right of the diagonal

    @property
    def layers(self) -> int:
        return len(self.weights)

    @property
    def heads(self) -> int:
        return len(self.weights[0])


def kinds_of(trace: Trace) -> dict[str, Kind]:
    """The kinds of attention that a trace has, by name, in the order in which they are computed."""
    texts = {name: text_of(name, stack) for name in ("encoder", "decoder") if (stack := getattr(trace, name))}
    kinds = [self_kind(name, stack, texts[name]) for name in texts if (stack := getattr(trace, name))]
    decoder = trace.decoder
    if decoder is not None and decoder.blocks[0].cross_attention is not None:
        weights = tuple(np.asarray(block.cross_attention.weights) for block in decoder.blocks if block.cross_attention)
        sides = {"queries": texts["decoder"], "keys": texts["encoder"]}
        kinds.append(Kind(name="cross", weights=weights, causal=False, **sides))
    return {kind.name: kind for kind in kinds}


def kinds_of_arrays(arrays: AttentionArrays) -> dict[str, Kind]:
    """The kinds of attention that another program computed, by name. Tokens with usual names count as special."""
    texts: dict[tuple[str, tuple[str, ...]], Text] = {}
    kinds = {}
    for name, stored in arrays.attentions.items():
        queries, keys = (
            texts.setdefault((stack, tokens), text_named(stack, tokens))
            for stack, tokens in zip(SIDES[name], (stored.queries, stored.keys), strict=True)
        )
        weights = tuple(stored.weights)
        kinds[name] = Kind(name=name, queries=queries, keys=keys, weights=weights, causal=stored.causal)
    return kinds


def text_named(stack: str, tokens: tuple[str, ...]) -> Text:
    """A text of which no more than its tokens is known."""
    special = tuple(token in SPECIAL for token in tokens)
    return Text(stack=stack, tokens=tokens, special=special if any(special) else None)


def self_kind(name: str, stack: StackTrace, text: Text) -> Kind:
    weights = tuple(np.asarray(block.self_attention.weights) for block in stack.blocks)
    masks = (np.asarray(block.self_attention.mask) for block in stack.blocks)
    causal = not any(np.triu(mask, 1).any() for mask in masks)
    return Kind(name=name, queries=text, keys=text, weights=weights, causal=causal)


def text_of(name: str, stack: StackTrace) -> Text:
    """A stack's tokens. Two segments are known only where both occur."""
    two = stack.segments is not None and len(set(stack.segments)) > 1
    segments = stack.segments if two else None
    return Text(stack=name, tokens=stack.names(), special=stack.special, words=stack.words, segments=segments)
