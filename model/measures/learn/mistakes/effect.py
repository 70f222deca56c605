"""A text and a model that a mistake is tried on, and what it changes there."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from model.measures.experiments.padding import read as read_text
from model.measures.learn.mistakes.classifier_pass import Forms, can_read, read
from model.trace import AttentionTrace
from model.transformer import Transformer

MOST_TOKENS = 128  # of a text, that are read: a batch of as many texts as heads has to fit into memory


@dataclass(frozen=True, kw_only=True)
class Curves:
    """Two lines over the same places."""

    places: tuple[int, ...]
    right: Float[np.ndarray, " place"]
    wrong: Float[np.ndarray, " place"]


@dataclass(frozen=True, kw_only=True)
class Tables:
    """Two matrices of one shape."""

    right: Float[np.ndarray, "row column"]
    wrong: Float[np.ndarray, "row column"]


@dataclass(frozen=True, kw_only=True)
class Effect:
    """What a mistake changes. picture: in both forms.

    answers: the probability of the label that the right form finds most probable, in the right and in the wrong form;
    None where the mistake has no answer, or the model no classifier of a kind that ``can_read`` allows.
    label: its place among the config's labels. error: what torch says of the wrong lines, "" where they run.
    """

    picture: Curves | Tables
    answers: tuple[float, float] | None = None
    label: int = 0
    error: str = ""

    @property
    def moved(self) -> float:
        """By how much the answer's probability is another one."""
        return abs(self.answers[0] - self.answers[1]) if self.answers else 0.0


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A model, a text of at most MOST_TOKENS, and what the first layer of the stack that reads it computed."""

    model: Transformer
    ids: Int[Tensor, " position"]
    attention: AttentionTrace


def subject_of(model: Transformer, ids: Sequence[int]) -> Subject:
    """The first tokens of a text, read anew. ValueError for a text without any."""
    if not len(ids):
        raise ValueError("0 tokens, wanted 1 or more")
    few = torch.tensor(list(ids[:MOST_TOKENS]), device=model.embedding.weight.device)
    with torch.no_grad():
        attention = read_text(model, few, None).text_stack.blocks[0].self_attention
    return Subject(model=model, ids=few, attention=attention)


def with_answers(subject: Subject, changed: Forms, picture: Curves | Tables) -> Effect:
    """The picture with the answer in both forms, where the model has one."""
    if not can_read(subject.model.config):
        return Effect(picture=picture)
    ids = subject.ids[None]
    label, right = answer(read(subject.model, ids).probabilities)
    wrong = probabilities_of(label, read(subject.model, ids, forms=changed).probabilities)
    return Effect(picture=picture, answers=(float(right[0]), float(wrong[0])), label=label)


def answer(probabilities: Float[Tensor, "row label"]) -> tuple[int, Float[np.ndarray, " row"]]:
    """The most probable label of the first row, and its probability in each."""
    label = int(probabilities[0].argmax())
    return label, probabilities_of(label, probabilities)


def probabilities_of(label: int, probabilities: Float[Tensor, "row label"]) -> Float[np.ndarray, " row"]:
    """One label's, in float64."""
    return probabilities[:, label].double().cpu().numpy()


def farthest(right: Float[np.ndarray, " place"], wrong: Float[np.ndarray, " place"]) -> tuple[float, float]:
    """Both numbers where they differ most."""
    place = int(np.abs(right - wrong).argmax())
    return float(right[place]), float(wrong[place])


def error_of(run: Callable[[], object]) -> str:
    """The first sentence of the RuntimeError that lines raise; "" where they run."""
    try:
        run()
    except RuntimeError as error:
        return str(error).splitlines()[0]
    return ""


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Random numbers on the CPU that are always the same; what follows is as if none had been drawn."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield
