"""Batches drawn from a corpus: whole texts, runs of sentences, and sentences of certain opinion, mixed."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from model.training.data.corpora import Corpus
from model.training.data.id_rows import padded
from model.training.teacher import probabilities

# How far a run of sentences inherits the label of its text: what it weighs if it is next to nothing of the text, and
# what is added as it grows to the whole. The rest of the target is the teacher's opinion of the run itself.
LEAST_TRUST, MORE_TRUST = 0.5, 0.3
# A teacher that learned from whole texts is timid about single sentences: its log-odds count double there, and less so
# the more of the text a run holds.
SENTENCE_SHARPNESS = 2.0
# A linear teacher misreads negation: "not a bad film" has a "bad film" in it. A run with one of these words in it
# inherits more of the label of its text.
NEGATORS = ("not", "t", "no", "never", "nothing", "nobody", "hardly", "without", "cannot", "none")
NEGATED_TRUST = 0.9


class Batch(NamedTuple):
    """Padded ids, where they are real, and the probability of each label."""

    ids: Int[Tensor, "example position"]
    padding_mask: Bool[Tensor, "example position"]
    targets: Float[Tensor, "example label"]


def pad(rows: list[np.ndarray], targets: np.ndarray, pad_id: int) -> Batch:
    """The rows side by side, filled up at the end to the longest."""
    ids, padding_mask = padded(rows)
    return Batch(ids.masked_fill(~padding_mask, pad_id), padding_mask, torch.from_numpy(targets))


@dataclass(frozen=True, kw_only=True)
class Mixture:
    """Which lengths a batch may be made of: one is drawn a batch, by its share of all tokens.

    A length below the model's own stands for runs of sentences of at most that many tokens. Of the shortest kind,
    a share of the examples are sentences of known opinion instead.
    """

    lengths: tuple[int, ...]
    shares: tuple[float, ...]
    known_shares: tuple[float, ...] = ()  # of the examples of the shortest kind; for each of ``Batches.known``


@dataclass(frozen=True, kw_only=True)
class Batches:
    """An endless, reproducible row of batches: ``at(step)`` depends on nothing but the step and the seed."""

    corpus: Corpus
    mixture: Mixture
    max_length: int
    tokens: int  # of a batch, padding included
    pad_id: int
    seed: int
    known: tuple[Corpus, ...] = ()  # sentences of known opinion
    negators: tuple[int, ...] = ()  # ids of NEGATORS

    def at(self, step: int) -> Batch:
        """The batch of one step."""
        rng = np.random.default_rng((self.seed, step))
        limit = int(rng.choice(self.mixture.lengths, p=self.mixture.shares))
        if limit >= self.max_length:
            return self._whole_texts(rng)
        pool = max(8, 16 * self.tokens // limit)
        known = self._known(rng, pool) if limit == min(self.mixture.lengths) else []
        return self._batch(rng, known + list(self._runs(rng, limit, pool - len(known))))

    def _whole_texts(self, rng: np.random.Generator) -> Batch:
        """Whole texts of like length."""
        pool = rng.integers(len(self.corpus), size=max(8, 8 * self.tokens // self.max_length))
        lengths = self.corpus.text_lengths()[pool].clip(max=self.max_length)
        chosen = pool[self._like_length(rng, lengths)].tolist()
        rows = [self.corpus.whole(text)[: self.max_length] for text in chosen]
        return pad(rows, np.stack([self._target(text, *self._sentences(text)) for text in chosen]), self.pad_id)

    def _batch(self, rng: np.random.Generator, pool: list[tuple[np.ndarray, np.ndarray]]) -> Batch:
        """Some of a pool of ids and targets, of like length."""
        chosen = self._like_length(rng, np.array([len(ids) for ids, _ in pool])).tolist()
        return pad([pool[at][0] for at in chosen], np.stack([pool[at][1] for at in chosen]), self.pad_id)

    def _known(self, rng: np.random.Generator, pool: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Sentences of known opinion, those of each corpus its share of a pool: ids and targets."""
        return [
            (corpus.whole(text)[: self.max_length], corpus.targets[text])
            for corpus, share in zip(self.known, self.mixture.known_shares, strict=True)
            for text in rng.integers(len(corpus), size=int(share * pool)).tolist()
        ]

    def _runs(self, rng: np.random.Generator, limit: int, count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Runs of sentences, each from a random start as far as ``limit`` goes: ids and targets."""
        for text in rng.integers(len(self.corpus), size=count).tolist():
            start, end = self._sentences(text)
            first = int(rng.integers(start, end))
            reach = int(np.searchsorted(self.corpus.bounds, self.corpus.bounds[first] + limit, side="right")) - 1
            last = min(max(reach, first + 1), end)
            yield self.corpus.crop(first, last)[:limit], self._target(text, first, last)

    def _like_length(self, rng: np.random.Generator, lengths: np.ndarray) -> np.ndarray:
        """Neighbours in order of length, as many as a batch holds, so that little of it is padding."""
        order = rng.permutation(len(lengths))  # those of one length in no order
        order = order[lengths[order].argsort(kind="stable")]
        last = int(rng.integers(len(order)))
        count = max(1, self.tokens // max(1, int(lengths[order[last]])))
        return order[max(0, last + 1 - count) : last + 1]

    def _sentences(self, text: int) -> tuple[int, int]:
        return int(self.corpus.text_bounds[text]), int(self.corpus.text_bounds[text + 1])

    def _target(self, text: int, first: int, last: int) -> np.ndarray:
        """What is to be predicted of a run of sentences: its text's label, blended with the teacher's opinion of it."""
        label = self.corpus.targets[text]
        if self.corpus.evidence is None:
            return label
        start, end = self._sentences(text)
        share = (last - first) / (end - start)
        trust = LEAST_TRUST + MORE_TRUST * share
        if last - first < end - start and np.isin(self.corpus.crop(first, last), self.negators).any():
            trust = NEGATED_TRUST
        sharpness = SENTENCE_SHARPNESS + (1 - SENTENCE_SHARPNESS) * share
        opinion = probabilities(sharpness * self.corpus.evidence[first:last].sum(axis=0))
        return trust * label + (1 - trust) * opinion
