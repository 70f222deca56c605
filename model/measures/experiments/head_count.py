"""The same weights read as other numbers of heads: one head against many at the same width."""

import dataclasses

import numpy as np
import torch
from jaxtyping import Float

from model.config import Config
from model.errors import InputError
from model.transformer import Transformer

# Their parts have numbers for every head, or for every coordinate of one, that fit no other number of heads.
BOUND_TO_HEADS = ("relative", "rotary")


def head_counts(config: Config) -> list[int]:
    """Numbers of heads up to the model's own that divide its heads' joint width: 1, 2, 4, 8 and its own."""
    joined = config.heads * config.head_width
    return [count for count in (1, 2, 4, 8) if count < config.heads and joined % count == 0] + [config.heads]


def why_not(config: Config) -> str | None:
    """Why a model's weights cannot be read as another number of heads; None where they can."""
    if config.positions in BOUND_TO_HEADS:
        return f"its {config.positions} positions are made for its own heads"
    if config.kv_heads not in (None, config.heads) or config.query_key_norm:
        return "its keys are shared or normed head by head"
    if config.decoder_heads not in (None, config.heads):
        return "its two stacks have different numbers of heads"
    return None


def with_heads(model: Transformer, heads: int) -> Transformer:
    """The model with the same weights, its projections cut into so many heads; q·k is divided by the new √d_k.

    One head sees all coordinates: its scores are the sum of what the others computed apart. The tensors are shared,
    not copied. InputError where the model has parts that are bound to its own heads.
    """
    config = model.config
    refusal = why_not(config)
    if refusal or heads not in head_counts(config):
        raise InputError(f"heads: {refusal or f'found {heads}, expected one of {head_counts(config)}'}.")
    joined = config.heads * config.head_width
    size = joined // heads
    with torch.device("meta"):
        other = Transformer(dataclasses.replace(config, heads=heads, head_size=size, decoder_heads=None, kv_heads=None))
    other.load_state_dict(model.state_dict(), assign=True)
    return other.eval()


def favourites(weights: Float[np.ndarray, "head query key"]) -> float:
    """How many different keys are some head's favourite, of a query: the mean over the queries."""
    best = np.asarray(weights).argmax(axis=-1)
    return float(np.mean([len(set(column)) for column in best.T.tolist()]))
