"""Making unlikely what a language model repeats in its own text.

A model that learned from books alone, asked for its likeliest text, soon says one sentence again and again: the more
often it has said it, the likelier it finds it. So in some steps it writes, and what it repeats is made less likely:
Welleck et al. 2020, "Neural Text Generation with Unlikelihood Training", section 5.2.
"""

from typing import cast

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from model.cache import Cache
from model.training import distributed, loop
from model.training.data.books import Windows
from model.training.precision import device_of, matrix_products
from model.transformer import Transformer

PROMPT, WRITTEN = 50, 100  # tokens of a text that are read, and that are written after them
TEXTS = 24  # of a step
RUN = 4  # tokens in a row that stand there twice are a repeat


def with_own_text(learning: loop.Learning, windows: Windows, share: float, precision: str) -> loop.Learning:
    """The same learning, a share of whose steps, chosen at random, are about the model's own text."""

    def loss_of_step(network: nn.Module, step: int) -> loop.StepLoss:
        if np.random.default_rng((windows.seed, 2, step)).random() >= share:
            return learning.loss_of_step(network, step)
        prompts = distributed.share().of(windows.at(step)[:TEXTS, :PROMPT]).to(device_of(network))
        with matrix_products(network, precision):
            texts = continued(cast(Transformer, getattr(network, "module", network)), prompts, WRITTEN)
            logits = network(texts[:, :-1]).logits[:, PROMPT - 1 :]
        written = texts[:, PROMPT:]
        return loop.StepLoss(unlikelihood(logits, written, repeated(written, RUN)), len(texts), texts.numel())

    return learning._replace(loss_of_step=loss_of_step)


@torch.no_grad()
def continued(model: Transformer, prompts: Int[Tensor, "text prompt"], count: int) -> Int[Tensor, "text position"]:
    """Texts, and behind each the ``count`` tokens that a model likes best, one after the other."""
    model.eval()
    texts, new, past = prompts, prompts, None
    for _ in range(count):
        decoder = model.decode(new, past=past)
        past, new = Cache.of(decoder), model.predict(decoder.final[:, -1:]).argmax(dim=-1)
        texts = torch.cat([texts, new], dim=1)
    model.train()
    return texts


def repeated(texts: Int[Tensor, "text position"], run: int) -> Bool[Tensor, "text position"]:
    """Whether a token is in a run of so many tokens that stood in the text before."""
    runs = texts.unfold(1, run, 1)
    same = (runs[:, :, None] == runs[:, None]).all(dim=-1)
    again = same.tril(diagonal=-1).any(dim=-1)
    inside = torch.zeros_like(texts, dtype=torch.bool)
    for place in range(run):
        inside[:, place : place + again.shape[1]] |= again
    return inside


def unlikelihood(
    logits: Float[Tensor, "text position vocabulary"],
    texts: Int[Tensor, "text position"],
    unwanted: Bool[Tensor, "text position"],
) -> Float[Tensor, ""]:
    """The mean over all tokens of -log(1 - p) of the unwanted ones, in nats; 0 for the others."""
    chance = logits.float().softmax(dim=-1).gather(-1, texts[..., None])[..., 0]
    return -(torch.log1p(-chance.clamp(max=1 - 1e-5)) * unwanted).mean()
