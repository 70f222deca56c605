"""Gradients in stacks that have not been trained: what residual connections and the place of the norms do to them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch.nn import functional as F

from model.config import Config
from model.edits import NO_EDITS, Edits, SublayerSite
from model.transformer import Transformer

WIDTH, HEADS, HIDDEN = 32, 4, 128
MOST_LAYERS, MOST_TOKENS = 24, 32
ORDERS = ("pre", "post")


@dataclass(frozen=True, kw_only=True)
class Fresh:
    """A stack that has not been trained: ``norm_order`` is "pre" or "post"; the seed decides the weights."""

    norm_order: str
    layers: int
    residuals: bool = True
    seed: int = 1


def fresh_model(fresh: Fresh, vocabulary: int) -> Transformer:
    """A decoder of 32 coordinates in 4 heads with our usual first weights (Glorot and Bengio 2010), without dropout."""
    config = Config(
        architecture="decoder",
        vocabulary=vocabulary,
        width=WIDTH,
        heads=HEADS,
        hidden=HIDDEN,
        layers=fresh.layers,
        max_length=MOST_TOKENS,
        norm_order=fresh.norm_order,
        dropout=0.0,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(fresh.seed)
        return Transformer(config)


def without_residuals(layers: int) -> Edits:
    """Every sublayer's update replaces the stream instead of being added to it."""
    kinds = ("self", "feed-forward")
    sites = [SublayerSite("decoder", layer, kind) for layer in range(layers) for kind in kinds]
    return Edits(without_residual=frozenset(sites))


def gradient_norms(ids: Sequence[int], fresh: Fresh) -> Float[np.ndarray, " layer"]:
    """‖∂loss/∂weights‖ (L2, over all weights of a layer) of every layer of a fresh decoder, by one backward pass.

    The loss is the mean cross-entropy of each next token of ``ids``, which are renumbered by where they first occur;
    at most the first 32 are read. Compare Xiong et al. 2020, figure 3. ValueError for fewer than two tokens or a
    stack of no layer or of more than 24.
    """
    if len(ids) < 2 or not 1 <= fresh.layers <= MOST_LAYERS or fresh.norm_order not in ORDERS:
        raise ValueError(f"{len(ids)} tokens and {fresh}, wanted 2 or more, and 1 to {MOST_LAYERS} layers")
    numbers = {token: place for place, token in enumerate(dict.fromkeys(ids[:MOST_TOKENS]))}
    renumbered = torch.tensor([numbers[token] for token in ids[:MOST_TOKENS]])
    model = fresh_model(fresh, len(numbers))
    edits = NO_EDITS if fresh.residuals else without_residuals(fresh.layers)
    with torch.enable_grad():
        logits = model(renumbered[:-1], edits=edits).logits
        F.cross_entropy(logits, renumbered[1:]).backward()
    assert model.decoder is not None
    return np.array([norm_of_gradients(block) for block in model.decoder.blocks])


def norm_of_gradients(module: torch.nn.Module) -> float:
    """The length of all gradients of a module as one vector."""
    squares = [
        parameter.grad.double().square().sum() for parameter in module.parameters() if parameter.grad is not None
    ]
    return float(torch.stack(squares).sum().sqrt())
