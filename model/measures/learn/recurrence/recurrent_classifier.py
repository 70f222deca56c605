"""A classifier of texts that reads with ``nn.LSTM`` where ours has a stack of attention: all else is the same."""

import math
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from model.config import Config


class Classified(NamedTuple):
    """What a pass says."""

    logits: Float[Tensor, "text label"]


class RecurrentClassifier(nn.Module):
    """Token vectors, one LSTM from the first token to the last, the mean of its states, a linear classifier.

    The vectors are those of a ``Transformer`` of this config, without positions. ``state`` is the LSTM's width.
    """

    def __init__(self, config: Config, state: int) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary, config.width)
        nn.init.normal_(self.embedding.weight, std=config.width**-0.5)
        self.dropout = nn.Dropout(config.dropout)
        self.lstm = nn.LSTM(config.width, state, batch_first=True)
        self.classifier = nn.Linear(state, len(config.labels))

    def forward(self, ids: Int[Tensor, "text position"], *, padding_mask: Bool[Tensor, "text position"]) -> Classified:
        """The logits of texts that are padded at the end, where the states no longer count."""
        vectors = self.dropout(self.embedding(ids) * math.sqrt(self.config.width))
        states, _ = self.lstm(vectors)
        real = padding_mask[..., None]
        pooled = (self.dropout(states) * real).sum(dim=1) / real.sum(dim=1)
        return Classified(self.classifier(pooled))


def state_width(config: Config, parameters: int) -> int:
    """The LSTM's width with which ``RecurrentClassifier`` comes nearest to so many parameters."""

    def distance(state: int) -> int:
        with torch.device("meta"):
            model = RecurrentClassifier(config, state)
        return abs(sum(parameter.numel() for parameter in model.parameters()) - parameters)

    return min(range(1, 4 * config.width), key=distance)
