"""Learning to predict the next token: the loss, and what is measured of it while training."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from model.training import distributed, loop
from model.training.distributed import Share
from model.training.precision import matrix_products

NOT_COUNTED = 0  # the id of padding, which is nothing to predict


class Predicted(NamedTuple):
    """What a model says of a batch, or of this process's share of it, and what came.

    ``examples`` and ``tokens`` count the whole batch.
    """

    logits: Float[Tensor, "text position vocabulary"]
    truth: Int[Tensor, "text position"]
    examples: int
    tokens: int


Predict = Callable[[nn.Module, int, Share], Predicted]  # of a model, or of what runs it, and a batch's number


def predicted(logits: Tensor, own: Tensor, whole: Tensor, share: Share) -> Predicted:
    """What a model says of its share of the truth, ``own``; nothing of that counts where others have all of it."""
    truth = own.to(logits.device)
    if share.idle(len(whole)):
        truth = torch.full_like(truth, NOT_COUNTED)
    return Predicted(logits, truth, len(whole), int((whole != NOT_COUNTED).sum()))


def total_loss(batch: Predicted, smoothing: float = 0.0) -> Tensor:
    """The sum over the tokens of their cross-entropy in nats.

    With label smoothing as in "Attention Is All You Need", section 5.4.
    """
    logits, truth = batch.logits.flatten(0, 1).float(), batch.truth.flatten()
    return F.cross_entropy(logits, truth, ignore_index=NOT_COUNTED, label_smoothing=smoothing, reduction="sum")


def learning(training: Predict, held_out: Predict, batches: int, *, smoothing: float, precision: str) -> loop.Learning:
    """Learning to predict batches of ``training``, validated with the first ``batches`` of ``held_out``.

    ``precision`` is that of matrix products.
    """

    def loss_of_step(network: nn.Module, step: int) -> loop.StepLoss:
        network.train()
        share = distributed.share()
        with matrix_products(network, precision):
            batch = training(network, step, share)
        return loop.StepLoss(share.world * total_loss(batch, smoothing) / batch.tokens, batch.examples, batch.tokens)

    def validate(model: nn.Module) -> loop.Validation:
        with matrix_products(model, precision):
            return measure(model, held_out, batches)

    return loop.Learning(loss_of_step, validate)


@torch.inference_mode()
def measure(model: nn.Module, predict: Predict, batches: int) -> loop.Validation:
    """Loss in nats and accuracy, a token's mean, over so many batches."""
    model.eval()
    total, right, tokens = 0.0, 0, 0
    for number in range(batches):
        batch = predict(model, number, Share())
        counted = batch.truth != NOT_COUNTED
        total += total_loss(batch).item()
        right += int((batch.logits.argmax(dim=-1) == batch.truth)[counted].sum())
        tokens += batch.tokens
    return loop.Validation(total / tokens, right / tokens)
