"""One training from random weights: what is measured on the way, and the weights at some of its steps.

Everything depends on the settings alone: on one thread, the same settings give the same moments and weights to the bit.
"""

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from model.edits import NO_EDITS, Edits
from model.training import optimisers
from model.training.watched.head_measures import head_scores
from model.training.watched.moments import CURVE_PER_DOUBLING, SNAPSHOTS_PER_DOUBLING, Moment, geometric_steps
from model.training.watched.run_settings import RunSettings
from model.training.watched.tasks import FIRST_ID, LETTERS, Batch, Task
from model.transformer import Transformer

SEQUENCES = 32  # of one batch
FRESH_BATCHES = 8
WEIGHT_DECAY = 0.01
SPREAD = 0.4  # of the numbers in the first vectors of tokens and positions
LEARNED, FRESH = 0, 1  # what sequences are drawn for
MOST_BYTES = 16 << 20  # of the weights of all snapshots
MOST_STEPS = 1 << 20  # keeps the seeds of different runs apart

Weights = dict[str, Tensor]


class Progress(NamedTuple):
    """A moment, and the weights where a snapshot is kept: half precision, by their names in the model."""

    moment: Moment
    weights: Weights | None


def generator(seed: int, purpose: int, number: int) -> torch.Generator:
    """What a batch is drawn with: other numbers for every seed, purpose and batch."""
    return torch.Generator().manual_seed((2 * seed + purpose) * MOST_STEPS + number)


def learning_run(settings: RunSettings, stopped: Callable[[], bool] = lambda: False) -> Iterator[Progress]:
    """Train; one thread must do it. ``stopped`` is asked before every step, and the last moment has a snapshot."""
    run = LearningRun(settings)
    curve, kept = set(geometric_steps(settings.steps, CURVE_PER_DOUBLING)), run.kept_steps()
    for step in range(settings.steps + 1):
        ends = step == settings.steps or stopped()
        if ends or step in curve or step in kept:
            yield run.progress(step, keep=ends or step in kept)
        if ends:
            return
        run.take(step)


class LearningRun:
    """A model that learns, and what it learned from until now."""

    def __init__(self, settings: RunSettings) -> None:
        self.settings, self.task = settings, settings.task_to_learn()
        self.schedule = settings.schedule()
        torch.manual_seed(settings.seed)
        self.model = with_spread_vectors(Transformer(settings.config(self.task)))
        self.optimiser = optimisers.optimiser_of(self.model, self.schedule.optimiser, WEIGHT_DECAY)
        self.fresh = [self.drawn(FRESH, number) for number in range(FRESH_BATCHES)]
        self.tokens, self.seconds = 0, 0.0

    def kept_steps(self) -> set[int]:
        """The steps at which weights are kept: as many as fit, a stopped training's last snapshot among them."""
        most = MOST_BYTES // (2 * self.model.parameter_count()) - 1
        kept = (geometric_steps(self.settings.steps, each) for each in SNAPSHOTS_PER_DOUBLING)
        return next(set(steps) for steps in kept if len(steps) <= most)

    def drawn(self, purpose: int, number: int) -> Batch:
        """A batch to learn from or to measure with."""
        draw = self.task.draw if purpose == LEARNED else self.task.fresh
        return draw(generator(self.settings.seed, purpose, number), SEQUENCES)

    def take(self, step: int) -> None:
        """One step of the optimiser."""
        began, batch = time.perf_counter(), self.drawn(LEARNED, step)
        self.model.train()
        loss, _ = of_batch(self.model, batch, self.settings.edits)
        self.model.zero_grad()
        (loss / batch.counted.sum()).backward()
        self.optimiser.step(self.schedule.rate(step))
        self.tokens += int(batch.counted.sum())
        self.seconds += time.perf_counter() - began

    def progress(self, step: int, *, keep: bool) -> Progress:
        """What is measured after so many steps, and the weights where they are to be kept.

        Everything is measured of the weights in half precision, as they are kept.
        """
        weights = {name: each.detach().half() for name, each in self.model.named_parameters()}
        model = self.half_precise(weights)
        edits = self.settings.edits
        loss, accuracy = measured(model, self.fresh, edits)
        scores = head_scores(model, self.fresh[0], letter_ids(self.task), edits) if keep else None
        moment = Moment(
            step=step, loss=loss, accuracy=accuracy, tokens=self.tokens, seconds=self.seconds, scores=scores
        )
        return Progress(moment, weights if keep else None)

    def half_precise(self, weights: Weights) -> Transformer:
        """The model of these weights, computing in full precision."""
        with torch.device("meta"):
            model = Transformer(self.model.config)
        model.load_state_dict({name: weight.float() for name, weight in weights.items()}, assign=True)
        return model.eval()


def with_spread_vectors(model: Transformer) -> Transformer:
    """The model with other first vectors for tokens and positions.

    With those of GPT-2, whose spread is 0.02, no head has learned to look at the previous token after 1,500 steps of
    the task induction; with these one does after 250.
    """
    assert model.decoder is not None
    for module in (model.embedding, *model.decoder.positions.modules()):
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=SPREAD)
    return model


def of_batch(model: Transformer, batch: Batch, edits: Edits = NO_EDITS) -> tuple[Tensor, Tensor]:
    """The sum of the losses of what counts in a batch, in nats, and how many of the likeliest tokens are right."""
    logits, truth = model(batch.ids, edits=edits).logits[batch.counted], batch.truth[batch.counted]
    return F.cross_entropy(logits, truth, reduction="sum"), (logits.argmax(dim=-1) == truth).sum()


@torch.inference_mode()
def measured(model: Transformer, batches: list[Batch], edits: Edits = NO_EDITS) -> tuple[float, float]:
    """Loss in nats and accuracy, a token's mean over these batches."""
    model.eval()
    losses, right = zip(*(of_batch(model, batch, edits) for batch in batches), strict=True)
    counted = sum(int(batch.counted.sum()) for batch in batches)
    return sum(map(float, losses)) / counted, sum(map(int, right)) / counted


def letter_ids(task: Task) -> list[int]:
    """The ids of letters: of those of the alphabet in tasks of letters, of all that a text has otherwise."""
    return [FIRST_ID + place for place, character in enumerate(task.characters) if is_letter(character)]


def is_letter(character: str) -> bool:
    return character.isalpha() or character in LETTERS
