"""The answer without a token, against a pass over the text without it; the agreement of orders, counted by hand."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.stats import permutation_test

from model import load_checkpoint
from model.measures.causes.omission import leave_one_out, omissible
from model.measures.causes.rank_agreement import rank_agreement
from model.measures.outcome import outcome_of, rows_of
from model.trace import Trace
from tests import tiny
from tests.folders import KINDS, make_folders

ANSWERING = [kind for kind in [*KINDS, "own"] if kind != "bert-bare"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return {folder.name: folder for folder in make_folders(tmp_path_factory.mktemp("checkpoints"))}


def traced(checkpoint: Any) -> Trace:
    return checkpoint.trace(tiny.TEXT, target="a cat" if checkpoint.config.is_encoder_decoder else None)


def probability_without(checkpoint: Any, trace: Trace, position: int) -> float:
    """The mean probability of the answers, in a trace of its own of the shorter text."""
    source, outcome = trace.text_stack, outcome_of(checkpoint, trace)
    kept = [at for at in range(len(source.ids)) if at != position]
    types = [source.segments[at] for at in kept] if source.segments and checkpoint.config.segments > 1 else None
    target = trace.decoder.ids.tolist() if trace.decoder is not None and trace.encoder is not None else None
    shorter = checkpoint.trace_ids([int(source.ids[at]) for at in kept], target, type_ids=types)
    logits = rows_of(shorter)
    assert logits is not None
    rows = outcome.rows
    if outcome.kind in ("next", "masked"):
        rows = tuple(kept.index(row) if row in kept else len(kept) - 1 for row in rows)
    chosen = logits.double().softmax(dim=-1)[list(rows), list(outcome.answers)]
    return float(chosen.mean())


@pytest.mark.parametrize("kind", ANSWERING)
def test_the_answer_without_a_token_is_that_of_the_text_without_it(kind, folders, monkeypatch):
    monkeypatch.setattr("model.tokenizer.MASKS", ("bit",))  # this vocabulary has no mask of its own
    checkpoint = load_checkpoint(folders[kind], device="cpu")
    trace = traced(checkpoint)
    positions, without = [], []
    for few, said in leave_one_out(checkpoint, trace):
        positions += few
        without += said.probability.tolist()
    assert positions == omissible(checkpoint, trace) != []
    expected = [probability_without(checkpoint, trace, at) for at in positions]
    assert without == pytest.approx(expected, abs=1e-5)


def test_special_tokens_the_mask_and_an_only_token_stay(monkeypatch):
    monkeypatch.setattr("model.tokenizer.MASKS", ("bit",))
    encoder = tiny.checkpoint("encoder", word_head=True)
    trace = encoder.trace(tiny.TEXT)
    left = omissible(encoder, trace)
    special = [at for at, one in enumerate(trace.encoder.special) if one]
    (mask,) = outcome_of(encoder, trace).rows
    assert not set(left) & {*special, mask}
    assert len(left) == len(trace.encoder.ids) - len(special) - 1
    decoder = tiny.checkpoint("decoder")
    assert omissible(decoder, decoder.trace_ids([9])) == []
    assert list(leave_one_out(decoder, decoder.trace_ids([9]))) == []


def test_without_an_answer_nothing_is_left_out():
    encoder = tiny.checkpoint("encoder")
    with pytest.raises(ValueError, match="gives no answer"):
        next(leave_one_out(encoder, encoder.trace(tiny.TEXT)))


def test_agreement_counts_pairs_in_one_order_against_pairs_in_the_other():
    first, second = np.array([0.1, -0.7, 0.3, 0.2, np.nan]), np.array([1.0, 5.0, -2.0, 3.0, 9.0])
    pairs = [
        np.sign((abs(first[one]) - abs(first[two])) * (abs(second[one]) - abs(second[two])))
        for one, two in combinations(range(4), 2)
    ]
    found = rank_agreement(first, second)
    assert found.tau == pytest.approx(sum(pairs) / len(pairs))
    assert found.tokens == 4
    drawn = permutation_test(
        (np.abs(first[:4]), np.abs(second[:4])),
        lambda one, two: rank_agreement(one, two).tau,
        permutation_type="pairings",
        n_resamples=np.inf,
    )
    assert found.probability == pytest.approx(drawn.pvalue, abs=1e-6)


@pytest.mark.parametrize(
    ("first", "second"), [([1.0, 2.0], [1.0, 2.0]), ([1.0, 1.0, 1.0], [1.0, 2.0, 3.0]), ([np.nan] * 4, [1.0] * 4)]
)
def test_without_an_order_there_is_no_agreement(first, second):
    found = rank_agreement(np.array(first), np.array(second))
    assert not found.is_known
    assert found.equal == (first == [1.0, 1.0, 1.0], False)


def test_the_same_order_agrees_and_the_reverse_does_not():
    sizes = np.arange(1.0, 8.0)
    assert rank_agreement(sizes, -(sizes**2)).tau == pytest.approx(1.0)
    assert rank_agreement(sizes, 1 / sizes).tau == pytest.approx(-1.0)
