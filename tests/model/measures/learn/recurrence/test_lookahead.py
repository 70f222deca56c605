"""What a decoder predicts with its mask and without, beside its logits read with NumPy."""

import numpy as np
import pytest
import torch

from model import load_checkpoint
from model.measures.learn.recurrence.lookahead import UNMASKED, Lookahead, lookahead
from model.measures.teacher_forcing import ForcedToken
from tests import tiny

TEXT = "Once upon a time there was a little girl who lived with her mother in a small house."


def softmax(row: np.ndarray) -> np.ndarray:
    powers = np.exp(row - row.max())
    return powers / powers.sum()


@pytest.mark.parametrize("text", [TEXT, "My brother is a doctor.", "Fine."])
def test_the_means_are_of_the_next_tokens_probabilities(text):
    checkpoint = load_checkpoint("stories", "cpu")
    runs = [checkpoint.trace(text), checkpoint.trace(text, edits=UNMASKED)]
    ahead = lookahead(*runs)
    assert ahead is not None
    for mean, run in zip(ahead.means, runs, strict=True):
        assert run.decoder is not None
        assert run.logits is not None
        ids, rows = run.decoder.ids.tolist(), run.logits.double().numpy()
        shares = [softmax(rows[place])[token] for place, token in enumerate(ids[1:])]
        assert mean == pytest.approx(np.mean(shares), rel=1e-9)


def test_a_text_of_one_token_has_no_next_one():
    trace = tiny.transformer("decoder")(torch.tensor([3]))
    assert lookahead(trace, trace) is None


@pytest.mark.parametrize(("unmasked", "effect"), [(0.5, 1), (0.31, 0), (0.29, 0), (0.1, -1)])
def test_the_effect_has_the_sign_of_the_change_where_it_is_clear(unmasked, effect):
    assert Lookahead(masked=(token(0.3),), unmasked=(token(unmasked),)).effect == effect


def token(probability: float) -> ForcedToken:
    return ForcedToken(token_id=0, probability=probability, log_probability=0.0, rank=0, likeliest=())
