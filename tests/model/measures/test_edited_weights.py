"""Patterns of a head as overwritten weights, and how far later heads moved: against whole passes."""

from typing import Any

import numpy as np
import pytest
import torch

from model import Edits, HeadSite, load_checkpoint
from model.edits import Overwrite
from model.edits.sites import SublayerSite
from model.measures.causes.sole_key import sole_key
from model.measures.edited_weights import (
    PATTERNS,
    copied_weights,
    head_mask,
    moved_weights,
    of_head,
    overwrites,
    pattern_weights,
    row_moved,
    set_keys,
    with_head,
    without_weights,
)
from model.measures.likely_answers import likely_answers
from model.measures.outcome import outcome_of, outcome_value

TEXT = "The film was slow, but I loved it."
CAUSAL = np.tril(np.ones((3, 3), bool))
BASE = np.array([[1, 0, 0], [0.25, 0.75, 0], [0.5, 0.25, 0.25]], np.float32)
SITES = [
    ("sentiment", HeadSite("encoder", 1, 2)),
    ("stories", HeadSite("decoder", 0, 1)),
    ("translate-en-fr", HeadSite("decoder", 2, 7, "cross")),
]


def loaded(name: Any) -> Any:
    """A checkpoint, whose traces have what its kind has."""
    return load_checkpoint(name, device="cpu")


def attention(trace, site):
    block = getattr(trace, site.stack).blocks[site.layer]
    return block.cross_attention if site.attention == "cross" else block.self_attention


@pytest.mark.parametrize(
    ("name", "key", "rows"),
    [
        ("self", 0, [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
        ("previous", 0, [[1, 0, 0], [1, 0, 0], [0, 1, 0]]),
        ("first", 0, [[1, 0, 0], [1, 0, 0], [1, 0, 0]]),
        ("even", 0, [[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]]),
        ("token", 1, [[1, 0, 0], [0, 1, 0], [0, 1, 0]]),
    ],
)
def test_a_pattern_respects_the_mask_and_leaves_rows_that_cannot_have_it(name, key, rows):
    assert pattern_weights(name, BASE, CAUSAL, key) == pytest.approx(np.array(rows))


def test_there_is_no_other_pattern():
    with pytest.raises(ValueError, match="pattern: found 'last'"):
        pattern_weights("last", BASE, CAUSAL)


@pytest.mark.parametrize(("name", "site"), SITES)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_pass_with_the_overwritten_weights_has_the_pattern(name, site, pattern):
    checkpoint = loaded(name)
    before = checkpoint.trace(TEXT)
    own = attention(before, site)
    base = own.weights[site.head].numpy()
    wanted = pattern_weights(pattern, base, head_mask(own, site.head), 1)
    after = checkpoint.trace_again(before, Edits(overwritten=overwrites(site, base, wanted)))
    assert attention(after, site).weights[site.head].numpy() == pytest.approx(wanted, abs=1e-6)


def test_the_weights_of_another_head_are_copied_to_four_digits():
    checkpoint, site = loaded("sentiment"), HeadSite("encoder", 0, 3)
    before = checkpoint.trace(TEXT)
    weights = before.encoder.blocks[0].self_attention.weights.numpy()
    wanted = copied_weights(weights[3], np.ones(weights[3].shape, bool), weights[6])
    after = checkpoint.trace_again(before, Edits(overwritten=overwrites(site, weights[3], wanted)))
    assert after.encoder.blocks[0].self_attention.weights[3].numpy() == pytest.approx(weights[6], rel=1.1e-3, abs=1e-7)


def test_rows_that_are_as_wanted_are_not_overwritten():
    wanted = BASE.astype(float).copy()
    wanted[1] = [0.5, 0.5, 0]
    cells = overwrites(HeadSite("decoder", 0, 0), BASE, wanted)
    assert {(cell.query, cell.key, cell.value) for cell in cells} == {(1, 0, 1.0), (1, 1, 1.0)}
    assert overwrites(HeadSite("decoder", 0, 0), BASE, BASE.astype(float)) == frozenset()


def test_a_head_has_its_own_weights_and_the_others_stay():
    one, other = HeadSite("encoder", 0, 0), HeadSite("encoder", 0, 1)
    edits = Edits(overwritten=frozenset([Overwrite(one, 0, 0, 0.5), Overwrite(other, 0, 0, 0.5)]), temperature=2.0)
    cells = frozenset([Overwrite(one, 1, 1, 0.25)])
    changed = with_head(edits, one, cells)
    assert of_head(changed, one) == cells
    assert of_head(changed, other) == of_head(edits, other)
    assert without_weights(changed) == Edits(temperature=2.0)


def test_the_answer_of_a_sole_key_is_that_of_the_whole_pass():
    for name, site in SITES:
        checkpoint = loaded(name)
        before = checkpoint.trace(TEXT)
        outcome, base = outcome_of(checkpoint, before), attention(before, site).weights[site.head].numpy()
        said = sole_key(checkpoint, before, site, torch.tensor([[3, 1], [2, 2]]))
        for place, (query, key) in enumerate([(3, 1), (2, 2)]):
            wanted = base.astype(float)
            wanted[query] = np.eye(base.shape[1])[key]
            after = checkpoint.trace_again(before, Edits(overwritten=overwrites(site, base, wanted)))
            assert said.probability[place] == pytest.approx(outcome_value(outcome, before, after), abs=1e-5)


def test_moved_weights_are_half_the_absolute_differences():
    checkpoint, site = loaded("sentiment"), HeadSite("encoder", 1, 2)
    before = checkpoint.trace(TEXT)
    after = checkpoint.trace_again(before, Edits(overwritten=frozenset([Overwrite(site, 3, 2, 0.9, True)])))
    moved = moved_weights(before, after)
    for layer in range(4):
        pairs = [trace.encoder.blocks[layer].self_attention.weights.double() for trace in (before, after)]
        expected = (pairs[1] - pairs[0]).abs().sum(-1).mean(-1) / 2
        assert moved[SublayerSite("encoder", layer, "self")] == pytest.approx(expected.numpy())
    assert not moved[SublayerSite("encoder", 0, "self")].any()
    assert np.count_nonzero(moved[SublayerSite("encoder", 1, "self")]) == 1


def test_the_row_that_moved_most_and_its_key():
    after = BASE.copy()
    after[2] = [0.1, 0.8, 0.1]
    assert row_moved(BASE, after) == (2, 1)
    assert row_moved(BASE, BASE) is None


def test_the_keys_that_were_set_are_not_those_that_make_room():
    row = np.array([0.1, 0.2, 0.3, 0.4])
    assert set_keys(row, {1: 0.9}) == {1}
    assert set_keys(row, {0: 0.02, 1: 0.9, 2: 0.06, 3: 0.08}) == {1}, "all others a fifth of what they were"
    assert set_keys(row, {1: 0.0, 2: 0.0, 3: 0.0}) == {1, 2, 3}, "the fourth is not overwritten"
    assert set_keys(row, {0: 0.4, 1: 0.3, 2: 0.2, 3: 0.1}) == {0, 1, 2, 3}
    assert set_keys(row, {0: 0.1, 1: 0.1, 2: 0.15, 3: 0.2}, divided=False) == {1, 2, 3}, "no row is divided"


@pytest.mark.parametrize("name", ["sentiment", "stories", "translate-en-fr"])
def test_likely_answers_are_those_of_both_passes(name):
    checkpoint = loaded(name)
    before = checkpoint.trace(TEXT)
    edits = Edits(muted=frozenset([HeadSite("encoder" if name != "stories" else "decoder", 0, 0)]))
    after, outcome = checkpoint.trace_again(before, edits), outcome_of(checkpoint, before)
    answers = likely_answers(outcome, before, after)
    for trace, numbers in ((before, answers.before), (after, answers.after)):
        logits = trace.logits if trace.logits.ndim == 2 else trace.logits[None]
        rows = outcome.rows if outcome.kind == "output" else outcome.rows * len(answers.ids)
        expected = [float(logits[row].double().softmax(-1)[at]) for row, at in zip(rows, answers.ids, strict=True)]
        assert numbers == pytest.approx(expected)
    if outcome.kind == "next":
        assert {int(trace.logits[-1].argmax()) for trace in (before, after)} <= set(answers.ids)
        assert answers.ids[0] == outcome.answers[0]
        larger = np.maximum(answers.before, answers.after)[1:]
        assert larger.tolist() == sorted(larger, reverse=True)
