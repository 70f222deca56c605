"""What heads do at a moment, added up cell by cell."""

from typing import Any

import numpy as np
import pytest
import torch

from model.measures.head_scores.repeated_tokens import repeated_and_control
from model.training.watched.head_measures import ROWS, SEQUENCES, head_scores
from model.training.watched.learning_run import LearningRun, letter_ids
from model.training.watched.run_settings import RunSettings


@pytest.fixture(scope="module", params=["induction", "copy"])
def run(request) -> LearningRun:
    run = LearningRun(RunSettings(task=request.param, width=16, seed=3))
    for step in range(3):
        run.take(step)
    run.model.eval()
    return run


def weights_of(run: LearningRun, ids) -> np.ndarray:
    with torch.no_grad():
        return run.model(torch.as_tensor(ids)).decoder.weights().double().numpy()


def test_previous_token_and_answer_are_means_over_queries_beside_what_a_row_gives_by_chance(run):
    scores = head_scores(run.model, run.fresh[0], letter_ids(run.task))
    sums: Any = {name: [np.zeros((2, 2)), np.zeros((2, 2)), 0] for name in ("previous_token", "answer")}
    for ids, truth, counted in zip(*(part[:ROWS] for part in run.fresh[0]), strict=True):
        weights = weights_of(run, ids)
        for query in range(len(ids)):
            answers = [key for key in range(query + 1) if counted[query] and ids[key] == truth[query]]
            for name, keys in (("previous_token", [query - 1] if query else []), ("answer", answers)):
                if keys:
                    sums[name][0] += weights[:, :, query, keys].sum(axis=-1)
                    sums[name][1] += len(keys) / (query + 1)  # rows sum to one
                    sums[name][2] += 1
    for name, (score, null, queries) in sums.items():
        np.testing.assert_allclose(scores[name].scores, score / queries, atol=1e-6)
        np.testing.assert_allclose(scores[name].nulls, null / queries, atol=1e-6)


def test_induction_is_the_weight_on_the_token_after_the_earlier_same_one_of_random_letters_twice(run):
    letters = letter_ids(run.task)
    measured, half = head_scores(run.model, run.fresh[0], letters)["induction"], min(13, run.task.length // 2)
    for side, values in enumerate(measured):
        rows = [repeated_and_control(letters, half, seed)[side] for seed in range(SEQUENCES)]
        weights = [weights_of(run, row) for row in rows]
        cells = [each[:, :, half + place, place + 1] for each in weights for place in range(half)]
        np.testing.assert_allclose(values, np.mean(cells, axis=0), atol=1e-6)
