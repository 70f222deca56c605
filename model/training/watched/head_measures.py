"""What the heads of a decoder do at one moment of its training, each score beside its null.

previous_token: ``model.measures.head_kinds``, on fresh sequences of the task. induction: Olsson et al. 2022, on random
tokens that come twice (``model.measures.head_scores.repeated_tokens``). copying: the module of that name there.
answer: the weight on earlier places of the token that is to be predicted, on fresh sequences, of the queries for which
there are some; its null is that of the previous token, the queries' weights permuted among the keys that they see.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from model.edits import NO_EDITS, Edits
from model.measures.head_kinds import Scores, Sides, Weights, share
from model.measures.head_scores.cell_kinds import share_by_chance
from model.measures.head_scores.copying import copying_scores
from model.measures.head_scores.kind_sums import KindSums, sums_of_text
from model.measures.head_scores.repeated_tokens import LONGEST_HALF, cells_after_match, repeated_and_control
from model.training.watched.tasks import Batch
from model.transformer import Transformer

KINDS = ("previous_token", "induction", "copying", "answer")
SEQUENCES = 16  # random ones that come twice
ROWS = 16  # fresh sequences of the task


class HeadScore(NamedTuple):
    """One kind's score of every head, and its null."""

    scores: Scores
    nulls: Scores

    def to_json(self) -> dict[str, list[list[float]]]:
        """Both as (layer, head) lists."""
        return {name: values.round(6).tolist() for name, values in self._asdict().items()}

    @classmethod
    def from_json(cls, values: Any) -> "HeadScore":
        """Those that ``to_json`` wrote. ValueError for anything else."""
        if not isinstance(values, dict) or values.keys() != set(cls._fields):
            raise ValueError("other fields than scores and nulls")
        scores, nulls = (np.array(values[name], np.float64) for name in cls._fields)
        if scores.ndim != 2 or scores.shape != nulls.shape or not np.isfinite([scores, nulls]).all():
            raise ValueError("scores that are no numbers of heads")
        return cls(scores, nulls)


@torch.inference_mode()
def head_scores(
    model: Transformer, batch: Batch, letters: Sequence[int], edits: Edits = NO_EDITS
) -> dict[str, HeadScore]:
    """Every kind's, by the first sequences of a batch and by random ones of the ids ``letters``."""
    model.eval()
    sees_all = bool(edits.unmasked)
    previous, answer = summed(of_sequence(*row, sees_all=sees_all) for row in sequences(model, batch, edits))
    return {
        "previous_token": HeadScore(previous.scores, previous.nulls),
        "induction": induction(model, letters, edits),
        "copying": HeadScore(*copying_scores(model, letters)),
        "answer": HeadScore(answer.scores, answer.nulls),
    }


def sequences(model: Transformer, batch: Batch, edits: Edits) -> Iterator[tuple[Weights, Batch]]:
    """The weights of each of the first sequences, and the sequence."""
    first = Batch(*(part[:ROWS] for part in batch))
    for row, weights in enumerate(weights_of(model, first.ids, edits)):
        yield weights, Batch(*(part[row] for part in first))


def weights_of(model: Transformer, ids: torch.Tensor, edits: Edits) -> list[Weights]:
    """The attention weights of sequences of one length, one after the other."""
    assert model.decoder is not None
    stacked = model(ids, logits=False, edits=edits).decoder.weights()  # (layer, sequence, head, query, key)
    return list(stacked.movedim(1, 0).numpy())


def of_sequence(weights: Weights, row: Batch, *, sees_all: bool) -> tuple[KindSums, KindSums]:
    """The sums of the previous token, and of the answer, over the queries of one sequence."""
    ids = row.ids.numpy()
    sides = sides_of_ids(ids.tolist(), sees_all=sees_all)
    visible = sides.visible[0]
    previous = sides.cells["previous_token"]
    answer = visible & (ids == row.truth.numpy()[:, None]) & row.counted.numpy()[:, None]
    return sums_of(weights, previous, visible), sums_of(weights, answer, visible)


def sides_of_ids(ids: list[int], *, sees_all: bool) -> Sides:
    """The queries and keys of ids that a decoder reads, none of them special. sees_all: without its mask."""
    length = len(ids)
    return Sides(
        query_special=np.zeros(length, bool),
        key_special=np.zeros(length, bool),
        key_tokens=tuple(map(str, ids)),
        visible=(np.ones((length, length), bool) if sees_all else np.tri(length, dtype=bool))[None],
        one_text=True,
    )


def sums_of(weights: Weights, cells: np.ndarray, visible: np.ndarray) -> KindSums:
    """Score and null of some cells of one sequence."""
    queries = int(cells.any(axis=1).sum())
    return sums_of_text(share(weights, cells), share_by_chance(weights, cells, visible), queries)


def summed(rows: Iterator[tuple[KindSums, ...]]) -> list[KindSums]:
    """The sums of several sequences."""
    total = list(next(rows))
    for row in rows:
        total = [one + other for one, other in zip(total, row, strict=True)]
    return total


def induction(model: Transformer, letters: Sequence[int], edits: Edits) -> HeadScore:
    """On random letters twice, as many as the model and the letters allow without one that comes more often."""
    half = min(LONGEST_HALF, model.config.max_length // 2, len(letters) // 2)
    cells = cells_after_match(2 * half, 0, half)
    pairs = [repeated_and_control(list(letters), half, seed) for seed in range(SEQUENCES)]
    repeated, control = (weights_of(model, torch.tensor([pair[side] for pair in pairs]), edits) for side in (0, 1))
    rows = zip(repeated, control, strict=True)
    (total,) = summed((sums_of_text(share(one, cells), share(other, cells), half),) for one, other in rows)
    return HeadScore(total.scores, total.nulls)
