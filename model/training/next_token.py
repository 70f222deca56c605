"""Learning to predict the next token: the loss, and what is measured of it while training."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from model.training import distributed, loop
from model.training.command_line import precision
from model.training.distributed import Share

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


def total_loss(found: Predicted, smoothing: float = 0.0) -> Tensor:
    """The sum over the tokens of their cross-entropy in nats.

    With label smoothing as in "Attention Is All You Need", section 5.4.
    """
    logits, truth = found.logits.flatten(0, 1).float(), found.truth.flatten()
    return F.cross_entropy(logits, truth, ignore_index=NOT_COUNTED, label_smoothing=smoothing, reduction="sum")


def learning(training: Predict, held_out: Predict, batches: int, *, smoothing: float, number: str) -> loop.Learning:
    """Learning to predict batches of ``training``, validated with the first ``batches`` of ``held_out``.

    ``number`` is the precision of matrix products.
    """

    def loss_of_step(network: nn.Module, step: int) -> loop.StepLoss:
        network.train()
        share = distributed.share()
        with precision(number, device_of(network)):
            found = training(network, step, share)
        return loop.StepLoss(share.world * total_loss(found, smoothing) / found.tokens, found.examples, found.tokens)

    def validate(model: nn.Module) -> loop.Validation:
        with precision(number, device_of(model)):
            return measure(model, held_out, batches)

    return loop.Learning(loss_of_step, validate)


@torch.inference_mode()
def measure(model: nn.Module, predict: Predict, batches: int) -> loop.Validation:
    """Loss in nats and accuracy, a token's mean, over so many batches."""
    model.eval()
    total, right, tokens = 0.0, 0, 0
    for number in range(batches):
        found = predict(model, number, Share())
        counted = found.truth != NOT_COUNTED
        total += total_loss(found).item()
        right += int((found.logits.argmax(dim=-1) == found.truth)[counted].sum())
        tokens += found.tokens
    return loop.Validation(total / tokens, right / tokens)


def device_of(model: nn.Module) -> torch.device:
    """Where a model's weights are."""
    return next(model.parameters()).device
